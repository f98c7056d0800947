/* Counter records of the Ascend 950: ffts_profile, 128-byte records with ten counters.
 *
 * A kernel is reported by a context record of its main cores. A mix kernel has a second one, of its slave cores. Both
 * say when those cores began and ended, which is their total time. Blocks, where they were asked for, are reported one
 * by one; nothing is summed up.
 *
 *     mains    by task, then as read ──┬─▶ rows ─▶ the i-th row of a task belongs to its i-th run
 *     slaves   by task, then as read ──┘           (one that has no such run is a row of its own, an orphan)
 *     blocks   as read ─▶ d->blocks */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "device/parts.h"

#define PMU_RECORD    128u
#define RECORD_EVENTS 10u

static_assert(RECORD_EVENTS <= PMU_MAX_EVENTS, "a side holds the counters of a record");

enum { FUNC_BLOCK = 41, FUNC_CONTEXT = 42 };

enum {
    AT_WORD = 0,
    AT_TASK = 4,
    AT_CYCLES = 8,
    AT_FLAGS = 17,
    AT_VECTOR = 20, /* bit 0 */
    AT_CORE = 21,
    AT_COUNTERS = 32,
    AT_START = 112,
    AT_END = 120,
};

enum { FLAG_MAIN = 1, FLAG_MIX = 2 };

/* A context record; its counters are d->pmu.sides.at[side]. */
struct context_record {
    uint32_t task, side;
    bool vector, mix;
};

typedef ARRAY(struct context_record) context_array;

struct reader {
    struct device_data *d;
    const struct clock *clock;
    context_array mains, slaves;
    bool counters; /* there are columns for them */
};

/* To two decimals. Counters often tick once per ns: then every tenth value lies between two of them, and which one is
 * nearer hangs on the last bit of the double. A decimal text rounds right. */
static double rounded_us(const struct clock *c, uint64_t start, uint64_t end)
{
    char text[64];
    if (end <= start) return 0;
    snprintf(text, sizeof text, "%.2f", clock_device_duration_us(c, end - start));
    return strtod(text, NULL);
}

static void add_context(struct reader *r, const uint8_t *record)
{
    unsigned flags = record[AT_FLAGS];
    struct context_record context = {
        .task = get_u32(record + AT_TASK),
        .side = (uint32_t)r->d->pmu.sides.n,
        .vector = record[AT_VECTOR] & 1,
        .mix = flags & FLAG_MIX,
    };
    struct pmu_side *side = array_add(&r->d->pmu.sides);
    *side = (struct pmu_side){
        .cycles = get_u64(record + AT_CYCLES),
        .total_us = rounded_us(r->clock, get_u64(record + AT_START), get_u64(record + AT_END)),
    };
    for (unsigned i = 0; i < RECORD_EVENTS; i++) side->counter[i] = get_u64(record + AT_COUNTERS + 8 * i);
    if (flags & FLAG_MAIN) array_push(&r->mains, context);
    else array_push(&r->slaves, context);
}

static void add_block(struct reader *r, const uint8_t *record)
{
    array_push(&r->d->blocks, ((struct device_block){
                                  .start = get_u64(record + AT_START),
                                  .end = get_u64(record + AT_END),
                                  .task_id = get_u32(record + AT_TASK),
                                  .stream_id = STREAM_UNKNOWN,
                                  .core = record[AT_CORE],
                                  .vector = record[AT_VECTOR] & 1,
                              }));
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    unsigned func = get_u16(record + AT_WORD) & 0x3F;
    if (func == FUNC_BLOCK) add_block(r, record);
    else if (func == FUNC_CONTEXT && r->counters) add_context(r, record);
}

static void sort_by_task(context_array *contexts)
{
    struct sort_key *order = mem_alloc(contexts->n * sizeof *order);
    for (size_t i = 0; i < contexts->n; i++) order[i] = (struct sort_key){contexts->at[i].task, (uint32_t)i};
    sort_keys(order, contexts->n);
    sort_permute(contexts->at, sizeof *contexts->at, order, contexts->n);
    free(order);
}

/* Slave records of one task are used in order; *at is where the search for the next one begins. */
static uint32_t slave_of(const context_array *slaves, const struct context_record *main, size_t *at)
{
    while (*at < slaves->n && slaves->at[*at].task < main->task) ++*at;
    bool has = main->mix && *at < slaves->n && slaves->at[*at].task == main->task;
    return has ? slaves->at[(*at)++].side : NONE;
}

static void add_row(struct device_data *d, const struct context_record *main, uint32_t slave)
{
    array_push(&d->pmu.rows,
               main->vector ? ((struct pmu_row){slave, main->side}) : ((struct pmu_row){main->side, slave}));
}

/* Give the newest row to the next run of its task, from run *at on. */
static void give_row(struct device_data *d, uint32_t task, size_t *at)
{
    uint32_t row = (uint32_t)d->pmu.rows.n - 1;
    while (*at < d->tasks.n && d->tasks.at[*at].task_id < task) ++*at;
    if (*at < d->tasks.n && d->tasks.at[*at].task_id == task) d->tasks.at[(*at)++].pmu = row;
    else array_push(&d->pmu.orphans, ((struct pmu_orphan){row, STREAM_UNKNOWN, task, CONTEXT_NONE, 0}));
}

static void make_rows(struct reader *r, const struct device_source *from)
{
    struct device_data *d = r->d;
    sort_by_task(&r->mains);
    sort_by_task(&r->slaves);
    array_reserve(&d->pmu.rows, r->mains.n);
    for (size_t i = 0, slave = 0, run = 0; i < r->mains.n; i++) {
        add_row(d, &r->mains.at[i], slave_of(&r->slaves, &r->mains.at[i], &slave));
        give_row(d, r->mains.at[i].task, &run);
    }
    diag_count(from->diag, DIAG_INFO, from->dir->name, DIAG_NO_OFFSET, d->pmu.orphans.n,
               "counter records belong to no task");
}

void pmu_load_unique(struct device_data *d, const struct device_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_FFTS_PROFILE);
    if (!files->n || !strcmp(from->dir->meta.ai_core_mode, "sample-based")) return;
    const char *why = pmu_set_up(&d->pmu, &from->dir->meta, from->dir->chip);
    if (why)
        diag_note(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, "counters are not exported: %s", why);
    struct reader r = {.d = d, .clock = &from->dir->clock, .counters = !why};
    records_each(files, PMU_RECORD, record_valid_stars, from->diag, from->progress, visit, &r);
    array_trim(&d->pmu.sides);
    array_trim(&d->blocks);
    make_rows(&r, from);
    array_free(&r.mains);
    array_free(&r.slaves);
}
