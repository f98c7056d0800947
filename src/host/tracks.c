/* task_track: tasks, the wraps of their ids (flips), and what else the runtime reports in the same records.
 *
 * Task ids have 16 bits. The batch of a task counts how often the ids of its stream wrapped before it:
 *
 *     time   10     20     45         50    60     65
 *     id     65533  65534  (flip)     3     65535  (flip)  4 …
 *     batch  0      0                 1     1              2
 *
 * A flip says from which id on (task_id) tasks launched just before it still belong to the old batch; those with
 * smaller ids, back to the nearest one that is not smaller, had wrapped already and move to the new batch. */
#include <string.h>

#include "base/format.h"
#include "base/map.h"
#include "base/sort.h"
#include "decode/host_records.h"
#include "decode/records.h"
#include "host/names.h"
#include "host/records.h"

#define TYPE_MAINTENANCE 6
#define TYPE_FLIP        98
#define KIND_DPU         1u     /* bits 12-15 of the device */
#define MAX_FLIPS        65535u /* of one stream: more than that are not believed */

/* ---- decoding --------------------------------------------------------------------------------------------------- */

/* Task types that rules speak of. A name that is not here but begins with KERNEL is an operator, others are not. */
static const struct {
    const char *name;
    uint16_t traits;
    uint8_t ge_type;
} task_types[] = {
    {"KERNEL_AICORE", TASK_IS_OPERATOR | TASK_HAS_CONTEXTS | TASK_NAMES_OPERATOR | TASK_IS_AICORE, GE_AI_CORE},
    {"KERNEL_AICPU", TASK_IS_OPERATOR | TASK_NAMES_OPERATOR | TASK_IS_AICPU, GE_AI_CPU},
    {"KERNEL_AIVEC", TASK_IS_OPERATOR | TASK_HAS_CONTEXTS | TASK_NAMES_OPERATOR, GE_AI_VECTOR_CORE},
    {"KERNEL_SIMT", TASK_IS_OPERATOR | TASK_HAS_CONTEXTS | TASK_NAMES_OPERATOR | TASK_IS_SIMT, GE_AI_VECTOR_CORE},
    {"KERNEL_MIX_AIC", TASK_IS_OPERATOR | TASK_HAS_CONTEXTS | TASK_NAMES_OPERATOR | TASK_IS_MIX, GE_MIX_AIC},
    {"KERNEL_MIX_AIV", TASK_IS_OPERATOR | TASK_HAS_CONTEXTS | TASK_NAMES_OPERATOR | TASK_IS_MIX, GE_MIX_AIV},
    {"FFTS_PLUS", TASK_IS_GRAPH | TASK_HAS_CONTEXTS, 0},
    {"STARS_COMMON", TASK_IS_OPERATOR, 0},
    {"MEMCPY_ASYNC", TASK_IS_MEMCPY, 0},
};

struct type_facts {
    str_id name;
    uint16_t traits;
    uint8_t ge_type;
};

struct track_load {
    struct records *r;
    struct map known; /* type number -> index in types */
    ARRAY(struct type_facts) types;
};

static struct type_facts facts_of(const struct records *r, uint64_t type)
{
    struct type_facts f = {.name = dictionary_type(r->dictionary, LEVEL_RUNTIME, type)};
    const char *name = strpool_text(r->strings, f.name);
    for (size_t i = 0; i < sizeof task_types / sizeof *task_types; i++) {
        if (strcmp(name, task_types[i].name)) continue;
        f.traits = task_types[i].traits;
        f.ge_type = task_types[i].ge_type;
        return f;
    }
    if (!strncmp(name, "KERNEL", 6)) f.traits = TASK_IS_OPERATOR;
    return f;
}

static struct type_facts type_of(struct track_load *l, uint64_t type)
{
    bool is_new;
    uint32_t at = *map_put(&l->known, type, (uint32_t)l->types.n, &is_new);
    if (is_new) array_push(&l->types, facts_of(l->r, type));
    return l->types.at[at];
}

static str_id dim_text(struct strpool *strings, const uint16_t dim[3])
{
    char buf[3 * FORMAT_U64 + 2], *end = buf;
    for (int i = 0; i < 3; i++) {
        if (i) *end++ = ',';
        end = format_u64(end, dim[i]);
    }
    return strpool_add(strings, buf, (size_t)(end - buf));
}

static void read_extension(struct track *t, const struct task_track_record *k, struct strpool *strings)
{
    if (k->head.data_length != TASK_TRACK_EXTENDED) return;
    if (t->traits & TASK_IS_SIMT) {
        uint16_t grid[3], block[3];
        memcpy(grid, k->extension.simt.grid, sizeof grid);
        memcpy(block, k->extension.simt.block, sizeof block);
        t->grid_dim = dim_text(strings, grid);
        t->block_dim = dim_text(strings, block);
        return;
    }
    t->has_blocks = true;
    t->block_num = k->extension.kernel.blocks;
    t->mix_block_num = (uint32_t)k->extension.kernel.blocks * (k->extension.kernel.modes & 7);
}

static void visit_track(const uint8_t *record, const struct record_place *place, void *context)
{
    struct track_load *l = context;
    struct records *r = l->r;
    struct task_track_record k;
    memcpy(&k, record, sizeof k);
    bool whole = r->chip->unique_task_ids;
    if (k.task_type == TYPE_FLIP) {
        array_push(&r->flips, ((struct flip){k.head.time, (uint32_t)k.device << 16 | k.stream_id, (uint16_t)k.task,
                                             (uint16_t)(k.task >> 16)}));
        return;
    }
    if (k.task_type == TYPE_MAINTENANCE || k.device >> 12 == KIND_DPU) return;
    struct type_facts type = type_of(l, k.task_type);
    struct track t = {
        .time = k.head.time,
        .thread_id = k.head.thread_id,
        .stream_id = k.stream_id,
        .device_id = k.device,
        .traits = type.traits,
        .ge_type = type.ge_type,
        .task_id = whole ? k.task : k.task & 0xFFFF,
        .batch_id = whole ? 0 : k.task >> 16,
        .type = type.name,
        .kernel_name = k.kernel_name ? records_text(r, place, k.kernel_name) : STR_NA,
        .grid_dim = STR_NA,
        .block_dim = STR_NA,
    };
    read_extension(&t, &k, r->strings);
    array_push(&r->tracks, t);
}

void records_load_tracks(struct records *r)
{
    struct track_load l = {.r = r};
    const struct input_files *files = prof_dir_files(r->session->host, INPUT_TASK_TRACK);
    array_reserve(&r->tracks, records_count(files, sizeof(struct task_track_record)));
    records_each(files, sizeof(struct task_track_record), record_valid_host, r->diag, r->progress, visit_track, &l);
    array_trim(&r->tracks);
    if (r->session->all_export && !r->chip->unique_task_ids)
        batches_assign(r->tracks.at, r->tracks.n, r->flips.at, r->flips.n);
    records_sort(r->tracks.at, sizeof *r->tracks.at, r->tracks.n);
    map_free(&l.known);
    array_free(&l.types);
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

static uint32_t stream_of(const struct track *t)
{
    return (uint32_t)t->device_id << 16 | t->stream_id;
}

/* Indices of the tasks that need a batch, by (stream, time). */
static struct sort_key *sorted_tracks(const struct track *tracks, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){tracks[i].time, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = stream_of(&tracks[order[i].index]);
    sort_keys(order, n);
    return order;
}

static struct sort_key *sorted_flips(const struct flip *flips, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){flips[i].time, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = flips[order[i].index].stream;
    sort_keys(order, n);
    return order;
}

/* Tasks that a flip takes into its batch although they were launched before it. */
struct pulled {
    size_t first, end; /* positions among the tasks of the stream */
};

/* The position behind the nearest task before with an id of at least `id`: `larger` holds positions whose ids descend,
 * each the nearest one with an id not below those that follow. */
static size_t behind_nearest(const struct track *tracks, const struct sort_key *order, const uint32_t *larger,
                             size_t depth, uint32_t id)
{
    size_t low = 0, high = depth; /* larger[low - 1] is the last one that is big enough */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (tracks[order[larger[mid]].index].task_id >= id) low = mid + 1;
        else high = mid;
    }
    return low ? larger[low - 1] + (size_t)1 : 0;
}

/* order[n]: the tasks of one stream by time; flip_order[m]: its flips by time. */
static void assign_stream(struct track *tracks, const struct sort_key *order, size_t n, const struct flip *flips,
                          const struct sort_key *flip_order, size_t m)
{
    struct pulled *pulled = mem_alloc(m * sizeof *pulled);
    uint32_t *larger = mem_alloc(n * sizeof *larger);
    size_t depth = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        struct track *t = &tracks[order[i].index];
        for (; b < m && t->time > flips[flip_order[b].index].time; b++) {
            const struct flip *f = &flips[flip_order[b].index];
            pulled[b] = (struct pulled){
                f->number == FLIP_DESTROYED ? i : behind_nearest(tracks, order, larger, depth, f->task_id), i};
        }
        t->batch_id = (uint32_t)b;
        while (depth && tracks[order[larger[depth - 1]].index].task_id < t->task_id) depth--;
        larger[depth++] = (uint32_t)i;
    }
    /* Where several flips pull, the last one wins: go back from it, each task is set once. */
    for (size_t untouched = n; b-- > 0;) {
        size_t end = pulled[b].end < untouched ? pulled[b].end : untouched;
        for (size_t i = pulled[b].first; i < end; i++) tracks[order[i].index].batch_id = (uint32_t)b + 1;
        if (pulled[b].first < untouched) untouched = pulled[b].first;
    }
    free(larger);
    free(pulled);
}

void batches_assign(struct track *tracks, size_t n, const struct flip *flips, size_t n_flips)
{
    if (!n_flips) {
        for (size_t i = 0; i < n; i++) tracks[i].batch_id = 0;
        return;
    }
    struct sort_key *order = sorted_tracks(tracks, n), *flip_order = sorted_flips(flips, n_flips);
    for (size_t i = 0, end, f = 0; i < n; i = end) {
        uint64_t stream = order[i].key;
        for (end = i; end < n && order[end].key == stream;) end++;
        while (f < n_flips && flip_order[f].key < stream) f++;
        size_t f_end = f;
        while (f_end < n_flips && flip_order[f_end].key == stream) f_end++;
        if (f_end - f <= MAX_FLIPS) assign_stream(tracks, order + i, end - i, flips, flip_order + f, f_end - f);
        f = f_end;
    }
    free(flip_order);
    free(order);
}
