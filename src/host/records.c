/* One visitor per kind turns a record into its struct; the kinds are read side by side. What many launches share
 * (tensor descriptions, communication facts) is kept once and carried as a number. */
#include "host/records.h"

#include <string.h>

#include "base/jobs.h"
#include "base/map.h"
#include "base/sort.h"
#include "decode/host_records.h"
#include "decode/records.h"
#include "host/apis.h"
#include "host/names.h"

/* ---- by thread and time ----------------------------------------------------------------------------------------- */

struct stamp {
    RECORD_STAMP;
};

static struct stamp stamp_of(const void *elements, size_t size, size_t i)
{
    struct stamp s;
    const char *at = (const char *)elements + i * size;
    memcpy(&s.time, at + offsetof(struct stamp, time), sizeof s.time);
    memcpy(&s.thread_id, at + offsetof(struct stamp, thread_id), sizeof s.thread_id);
    return s;
}

void records_sort(void *elements, size_t size, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){stamp_of(elements, size, i).time, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = stamp_of(elements, size, order[i].index).thread_id;
    sort_keys(order, n);
    sort_permute(elements, size, order, n);
    free(order);
}

/* The first element whose thread is not below `thread_id`. */
static size_t lower_bound(const void *elements, size_t size, size_t n, uint64_t thread_id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (stamp_of(elements, size, mid).thread_id < thread_id) low = mid + 1;
        else high = mid;
    }
    return low;
}

void records_of_thread(const void *elements, size_t size, size_t n, uint32_t thread_id, size_t *first, size_t *end)
{
    *first = lower_bound(elements, size, n, thread_id);
    *end = lower_bound(elements, size, n, (uint64_t)thread_id + 1);
}

/* ---- one visitor per kind -----------------------------------------------------------------------------------------
 */

static void too_many(struct records *r, const struct record_place *place)
{
    diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset,
              "records that claim more entries than they have room for: the rest is not known");
}

/* `count` cut to what there is room for. */
static uint32_t clamp(struct records *r, const struct record_place *place, uint32_t count, uint32_t room)
{
    if (count <= room) return count;
    too_many(r, place);
    return room;
}

str_id records_text(const struct records *r, const struct record_place *place, uint64_t hash)
{
    str_id text = dictionary_find(r->dictionary, hash, NONE);
    if (text != NONE) return text;
    diag_count(r->diag, DIAG_WARNING, place->file->shown, place->offset, hash != 0,
               "names that no dictionary has: their numbers are shown");
    return strpool_add_u64(r->strings, hash);
}

static void visit_basic(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct node_basic_record b;
    memcpy(&b, record, sizeof b);
    array_push(&r->basics, ((struct basic){
                               .time = b.head.time,
                               .thread_id = b.head.thread_id,
                               .name = records_text(r, place, b.op_name),
                               .type = records_text(r, place, b.op_type),
                               .ge_type = b.task_type,
                               .blocks = b.blocks,
                               .hf32 = b.op_flag != 0,
                               .dynamic = place->file->aging,
                           }));
}

static void visit_attr(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct node_attr_record a;
    memcpy(&a, record, sizeof a);
    array_push(&r->attrs, ((struct attr){
                              .time = a.head.time,
                              .thread_id = a.head.thread_id,
                              .name = records_text(r, place, a.op_name),
                              .text = dictionary_find(r->dictionary, a.attr, NONE),
                          }));
}

static void visit_tensors(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct tensor_info_record t;
    memcpy(&t, record, sizeof t);
    uint32_t n = clamp(r, place, t.count, TENSORS_PER_RECORD);
    array_push(&r->tensors, ((struct tensors){
                                .time = t.head.time,
                                .thread_id = t.head.thread_id,
                                .name = records_text(r, place, t.op_name),
                                .signature = intern_put(&r->signatures, t.tensors, n * sizeof *t.tensors, NULL),
                            }));
}

static void visit_contexts(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct context_id_record c;
    memcpy(&c, record, sizeof c);
    uint32_t n = clamp(r, place, c.count, CONTEXTS_PER_RECORD);
    struct contexts k = {
        .time = c.head.time,
        .thread_id = c.head.thread_id,
        .name = records_text(r, place, c.op_name),
        .first = (uint32_t)r->context_ids.n,
        .count = n,
    };
    for (uint32_t i = 0; i < n; i++) array_push(&r->context_ids, c.ids[i]);
    if (c.head.level == LEVEL_NODE) array_push(&r->node_contexts, k);
    else if (c.head.level == LEVEL_COMMUNICATION) array_push(&r->comm_contexts, k);
}

static void visit_comm(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct hccl_info_record h;
    struct comm_info info;
    memcpy(&h, record, sizeof h);
    memset(&info, 0, sizeof info); /* interned by its bytes */
    info.name = records_text(r, place, h.item);
    info.group = records_text(r, place, h.group);
    info.group_key = h.group;
    info.plane_id = (int32_t)h.plane_id;
    info.local_rank = h.local_rank;
    info.remote_rank = h.remote_rank;
    info.rank_size = h.rank_size;
    info.notify_id = h.notify_id;
    info.estimated_us = h.estimated_us;
    info.size = (int64_t)h.size;
    info.context_id = h.context_id;
    info.data_type = comm_number(h.data_type);
    info.link_type = comm_number(h.link_type);
    info.transport_type = comm_number(h.transport_type);
    info.rdma_type = comm_number(h.rdma_type);
    array_push(&r->comms, ((struct comm_record){
                              .time = h.head.time,
                              .thread_id = h.head.thread_id,
                              .info = intern_put(&r->infos, &info, sizeof info, NULL),
                          }));
}

static void visit_comm_op(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct hccl_op_record h;
    memcpy(&h, record, sizeof h);
    array_push(&r->comm_ops, ((struct comm_op_info){
                                 .time = h.head.time,
                                 .thread_id = h.head.thread_id,
                                 .algorithm = records_text(r, place, h.algorithm),
                                 .group = records_text(r, place, h.group),
                                 .count = h.count,
                                 .group_key = h.group,
                                 .data_type = h.data_type,
                                 .relay = h.flags & 1,
                                 .retry = h.flags >> 1 & 1,
                             }));
}

static void visit_fusion(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct fusion_op_record f;
    memcpy(&f, record, sizeof f);
    uint32_t n = clamp(r, place, f.count, FUSION_OPS);
    ARRAY(char) ops = {0};
    for (uint32_t i = 0; i < n; i++) {
        str_id name = records_text(r, place, f.ops[i]);
        size_t length = strpool_length(r->strings, name);
        array_reserve(&ops, ops.n + length + 1);
        if (i) ops.at[ops.n++] = ';';
        memcpy(ops.at + ops.n, strpool_text(r->strings, name), length);
        ops.n += length;
    }
    array_push(&r->fusions, ((struct fusion){
                                .time = f.head.time,
                                .thread_id = f.head.thread_id,
                                .op =
                                    {
                                        .name = records_text(r, place, f.name),
                                        .ops = n ? strpool_add(r->strings, ops.at, ops.n) : STR_EMPTY,
                                        .input = f.input,
                                        .output = f.output,
                                        .weight = f.weight,
                                        .workspace = f.workspace,
                                        .total = f.total,
                                    },
                            }));
    array_free(&ops);
}

static void visit_copy(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct memcpy_record c;
    (void)place;
    memcpy(&c, record, sizeof c);
    array_push(&r->copies, ((struct copy){
                               .time = c.head.time,
                               .thread_id = c.head.thread_id,
                               .size = c.size,
                               .max_size = c.max_size,
                               .direction = c.direction,
                           }));
}

static void visit_graph(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct graph_id_record g;
    memcpy(&g, record, sizeof g);
    array_push(&r->host->model_names, ((struct model_name){g.model_id, records_text(r, place, g.name)}));
}

static void visit_logic_stream(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct logic_stream_record l;
    memcpy(&l, record, sizeof l);
    uint32_t n = clamp(r, place, l.count, LOGIC_STREAMS);
    for (uint32_t i = 0; i < n; i++) map_put(&r->host->logical_streams, l.physical[i], l.logic_stream, NULL);
}

/* ---- what a kind needs when all of it was read ----------------------------------------------------------------------
 */

#define SORT(array) records_sort((array).at, sizeof *(array).at, (array).n)

static void finish_basics(struct records *r)
{
    SORT(r->basics);
}

static void finish_attrs(struct records *r)
{
    SORT(r->attrs);
}

/* The signature of parts[n] (indices in tensors) one behind the other. */
static uint32_t join_signatures(struct records *r, const struct sort_key *parts, size_t n)
{
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < n; i++) bytes += intern_length(&r->signatures, r->tensors.at[parts[i].index].signature);
    char *joined = mem_alloc(bytes);
    for (size_t i = 0; i < n; i++) {
        uint32_t signature = r->tensors.at[parts[i].index].signature;
        size_t length = intern_length(&r->signatures, signature);
        if (length) memcpy(joined + at, intern_at(&r->signatures, signature), length);
        at += length;
    }
    uint32_t number = intern_put(&r->signatures, joined, bytes, NULL);
    free(joined);
    return number;
}

/* Records of one operator at one time are parts of one description: tensors[first … end) have the same thread and time.
 * Returns where the joined ones end, written from `to`, in order of their first parts. All parts of an operator are put
 * together at once, or many of them would cost their number squared. */
static size_t join_launch(struct records *r, size_t first, size_t end, size_t to)
{
    struct map number_of = {0}; /* of names, in order of appearance */
    size_t n = end - first;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct sort_key){*map_put(&number_of, r->tensors.at[first + i].name, (uint32_t)number_of.n, NULL),
                                     (uint32_t)(first + i)};
    map_free(&number_of);
    sort_keys(order, n);
    for (size_t i = 0, behind; i < n; i = behind) {
        struct tensors whole = r->tensors.at[order[i].index];
        for (behind = i + 1; behind < n && order[behind].key == order[i].key;) behind++;
        if (behind > i + 1) whole.signature = join_signatures(r, order + i, behind - i);
        r->tensors.at[to++] = whole; /* its first part is not before that place */
    }
    free(order);
    return to;
}

static void finish_tensors(struct records *r)
{
    SORT(r->tensors);
    size_t n = r->tensors.n, to = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const struct tensors *t = &r->tensors.at[i];
        end = i + 1;
        while (end < n && r->tensors.at[end].time == t->time && r->tensors.at[end].thread_id == t->thread_id) end++;
        if (end == i + 1) r->tensors.at[to++] = *t;
        else to = join_launch(r, i, end, to);
    }
    r->tensors.n = to;
    array_trim(&r->tensors);

    array_reserve(&r->tensor_texts, r->signatures.items.n);
    for (uint32_t i = 0; i < r->signatures.items.n; i++)
        array_push(&r->tensor_texts,
                   tensors_describe(r->strings, intern_at(&r->signatures, i),
                                    intern_length(&r->signatures, i) / sizeof(struct tensor_record), TENSORS_LAUNCHED));
    intern_free(&r->signatures);
}

static void finish_contexts(struct records *r)
{
    SORT(r->node_contexts);
    SORT(r->comm_contexts);
}

/* Entry 0, "no info", comes first. */
static void begin_comms(struct records *r)
{
    struct comm_info none;
    memset(&none, 0, sizeof none);
    none.name = none.group = STR_NA;
    none.plane_id = -1;
    none.local_rank = none.remote_rank = UINT32_MAX;
    none.notify_id = UINT64_MAX;
    none.estimated_us = -1;
    none.size = -1;
    none.context_id = CONTEXT_NONE;
    none.data_type = none.link_type = none.transport_type = none.rdma_type = COMM_NA;
    intern_put(&r->infos, &none, sizeof none, NULL);
}

static void finish_comms(struct records *r)
{
    SORT(r->comms);
    array_reserve(&r->host->comm_infos, r->infos.items.n);
    r->host->comm_infos.n = r->infos.items.n;
    memcpy(r->host->comm_infos.at, r->infos.bytes.at, r->infos.bytes.n);
    intern_free(&r->infos);
}

static void finish_comm_ops(struct records *r)
{
    SORT(r->comm_ops);
}

static void finish_fusions(struct records *r)
{
    SORT(r->fusions);
}

static void finish_copies(struct records *r)
{
    SORT(r->copies);
    r->host->has_memcpy_records = r->copies.n > 0;
}

/* ---- the kinds ------------------------------------------------------------------------------------------------------
 */

/* Largest first, so that the threads end together. */
static const struct kind {
    enum input_id input;
    void (*load)(struct records *r); /* a kind that is read in its own way; the rest is not used then */
    void (*begin)(struct records *r);
    record_visit visit;
    void (*finish)(struct records *r);
} kinds[] = {
    {.load = apis_load},
    {.load = records_load_tracks},
    {INPUT_TENSOR_INFO, .visit = visit_tensors, .finish = finish_tensors},
    {INPUT_NODE_BASIC_INFO, .visit = visit_basic, .finish = finish_basics},
    {INPUT_CONTEXT_ID_INFO, .visit = visit_contexts, .finish = finish_contexts},
    {INPUT_HCCL_INFO, .begin = begin_comms, .visit = visit_comm, .finish = finish_comms},
    {INPUT_NODE_ATTR_INFO, .visit = visit_attr, .finish = finish_attrs},
    {INPUT_HCCL_OP_INFO, .visit = visit_comm_op, .finish = finish_comm_ops},
    {INPUT_FUSION_OP_INFO, .visit = visit_fusion, .finish = finish_fusions},
    {INPUT_MEMCPY_INFO, .visit = visit_copy, .finish = finish_copies},
    {INPUT_GRAPH_ID_MAP, .visit = visit_graph},
    {INPUT_LOGIC_STREAM_INFO, .visit = visit_logic_stream},
    {.load = records_load_capture},
};

static void load_kind(size_t item, void *context)
{
    struct records *r = context;
    const struct kind *k = &kinds[item];
    if (k->load) {
        k->load(r);
        return;
    }
    if (k->begin) k->begin(r);
    if (k->input != INPUT_CONTEXT_ID_INFO || r->chip->context_ids)
        records_each(prof_dir_files(r->session->host, k->input), input_kind(k->input)->record_size, record_valid_host,
                     r->diag, r->progress, k->visit, r);
    if (k->finish) k->finish(r);
}

void records_load(struct records *r, unsigned threads)
{
    jobs_each(threads, sizeof kinds / sizeof *kinds, load_kind, r);
}

void records_free(struct records *r)
{
    array_free(&r->basics);
    array_free(&r->attrs);
    array_free(&r->tensors);
    array_free(&r->tensor_texts);
    array_free(&r->node_contexts);
    array_free(&r->comm_contexts);
    array_free(&r->context_ids);
    array_free(&r->comms);
    array_free(&r->comm_ops);
    array_free(&r->fusions);
    array_free(&r->tracks);
    array_free(&r->flips);
    array_free(&r->copies);
    array_free(&r->captured_streams);
    array_free(&r->captured_ops);
    intern_free(&r->signatures);
    intern_free(&r->infos);
}
