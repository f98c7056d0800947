/* Counters of whole tasks: aicore and aiVectorCore, 128-byte records; and those that the scheduler of the Ascend 310
 * reports (ts_timeline.c).
 *
 * A record does not say when its task ran: the i-th record of a stream and task id belongs to the i-th task of that id
 * that counts. Which do, and how many blocks they had, the host says. */
#include "device/task_runs.h"

#include "session/metadata.h"

#define PMU_RECORD    128u
#define RECORD_EVENTS 8u

enum { AT_TASK = 6, AT_CYCLES = 16, AT_COUNTERS = 32, AT_STREAM = 96 };

struct reader {
    struct device_data *d;
    struct whole_pending *pending;
};

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    array_push(&r->pending->records, ((struct whole_record){
                                         .side = (uint32_t)r->d->pmu.sides.n,
                                         .stream = plain_stream(get_u16(record + AT_STREAM), false),
                                         .task = get_u16(record + AT_TASK),
                                     }));
    struct pmu_side *side = array_add(&r->d->pmu.sides);
    *side = (struct pmu_side){.cycles = get_u64(record + AT_CYCLES)};
    for (unsigned i = 0; i < RECORD_EVENTS; i++) side->counter[i] = get_u64(record + AT_COUNTERS + 8 * i);
}

struct whole_pending *whole_pending_new(struct device_data *d, bool vector, const struct input_files *files,
                                        const struct device_source *from)
{
    const struct metadata *meta = &from->dir->meta;
    const char *why =
        vector ? pmu_set_up_vector(&d->pmu, meta, from->dir->chip) : pmu_set_up(&d->pmu, meta, from->dir->chip);
    if (why) {
        diag_note(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, "counters are not exported: %s", why);
        return NULL;
    }
    struct whole_pending *pending = mem_zalloc(1, sizeof *pending);
    pending->cores = vector ? meta->aiv_num : meta->ai_core_num;
    d->whole_pending = pending;
    return pending;
}

/* The files of one kind of cores, none when they hold samples. */
static const struct input_files *whole_files(const struct device_source *from, enum input_id id, const char *mode_key)
{
    static const struct input_files none;
    char *mode = meta_text(from->dir->meta.sample, mode_key, "");
    bool sampled = !strcmp(mode, "sample-based");
    free(mode);
    return sampled ? &none : prof_dir_files(from->dir, id);
}

void pmu_whole_load(struct device_data *d, const struct device_source *from)
{
    const struct input_files *cube = whole_files(from, INPUT_AICORE, "ai_core_profiling_mode");
    const struct input_files *vector = whole_files(from, INPUT_AI_VECTOR_CORE, "aiv_profiling_mode");
    const struct input_files *files = cube->n ? cube : vector;
    if (!files->n) return;
    struct reader r = {d, whole_pending_new(d, files == vector, files, from)};
    if (!r.pending) return;
    if (cube->n && vector->n)
        diag_note(from->diag, DIAG_INFO, vector->at[0].shown, DIAG_NO_OFFSET,
                  "not exported: the reports have room for the counters of one kind of cores");
    array_reserve(&d->pmu.sides, records_count(files, PMU_RECORD));
    records_each(files, PMU_RECORD, NULL, from->diag, from->progress, visit, &r);
    array_trim(&d->pmu.sides);
}

/* --- attaching -----------------------------------------------------------------------------------------------------
 */

static double total_us(const struct pmu *p, uint64_t cycles, uint32_t blocks, uint32_t cores)
{
    return p->aic_mhz > 0 ? pmu_total_us(p, (double)cycles / p->aic_mhz, blocks, cores, 0) : 0;
}

static uint64_t record_key(const struct whole_record *r)
{
    return (uint64_t)r->stream << 16 | r->task;
}

static uint64_t task_key(const struct device_task *t)
{
    return (uint64_t)(t->stream_id & 0xFFFF) << 16 | (t->task_id & 0xFFFF);
}

/* Tasks that count by (stream, task, start); returns how many. */
static size_t sort_tasks(const struct device_data *d, const struct device_blocks *blocks, struct sort_key *order)
{
    size_t n = 0;
    for (size_t i = 0; i < d->tasks.n; i++)
        if (blocks[i].counts) order[n++] = (struct sort_key){d->tasks.at[i].start, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = task_key(&d->tasks.at[order[i].index]);
    sort_keys(order, n);
    return n;
}

static void add_row(struct device_data *d, const struct whole_record *r, uint32_t task, uint32_t blocks)
{
    struct pmu_side *side = &d->pmu.sides.at[r->side];
    if (!r->timed) side->total_us = total_us(&d->pmu, side->cycles, blocks, d->whole_pending->cores);
    d->tasks.at[task].pmu = (uint32_t)d->pmu.rows.n;
    array_push(&d->pmu.rows, ((struct pmu_row){r->side, NONE}));
}

void pmu_whole_attach(struct device_data *d, const struct device_blocks *blocks, struct diag *diag, const char *name)
{
    struct whole_pending *pending = d->whole_pending;
    if (!pending) return;
    size_t n_records = pending->records.n;
    struct sort_key *tasks = mem_alloc(d->tasks.n * sizeof *tasks);
    struct sort_key *records = mem_alloc(n_records * sizeof *records);
    size_t n_tasks = sort_tasks(d, blocks, tasks);
    for (size_t i = 0; i < n_records; i++)
        records[i] = (struct sort_key){record_key(&pending->records.at[i]), (uint32_t)i};
    sort_keys(records, n_records);
    array_reserve(&d->pmu.rows, n_tasks < n_records ? n_tasks : n_records);
    for (size_t r = 0, t = 0; r < n_records && t < n_tasks;) {
        if (records[r].key < tasks[t].key) {
            r++;
        } else if (records[r].key > tasks[t].key) {
            t++;
        } else {
            add_row(d, &pending->records.at[records[r++].index], tasks[t].index, blocks[tasks[t].index].block_num);
            t++;
        }
    }
    diag_count(diag, DIAG_INFO, name, DIAG_NO_OFFSET, n_records - d->pmu.rows.n, "counter records belong to no task");
    free(tasks);
    free(records);
    pmu_whole_free_pending(d);
}

void pmu_whole_free_pending(struct device_data *d)
{
    if (!d->whole_pending) return;
    array_free(&d->whole_pending->records);
    free(d->whole_pending);
    d->whole_pending = NULL;
}
