/* Counter records to matches: ffts_profile, 128-byte records.
 *
 * A context record holds the counters of a whole kernel on its main cores (cube or vector). A mix kernel also runs on
 * the cores of the other kind, its slaves: those only send one block record each, to be summed.
 *
 *     file         context ……… block block block … context …
 *     sides        [main] [main] [main] …            96 bytes each, decoded in place, stay until the end
 *     contexts     who sent it and when              sorted like the tasks and merged with them → matches
 *     sums         [run: slave counters] …           added up while reading: no block is kept
 *
 * A record belongs to the run of its (stream, task, context) in which it ended. (Where the reference reads counters
 * with its scripts: the i-th record of a key belongs to its i-th run, and records whose counters overflowed are left
 * out.) How many blocks count at most only the host knows; that limit is nearly never reached, and if it is, the file
 * is read once more when the limit is known.
 *
 * A chip whose cores are of one kind has context records only: all counters are on the cube side, of whole tasks. */
#include "device/pmu_records.h"

#define PMU_RECORD    128u
#define RECORD_EVENTS 8u
#define FFTS_PLUS     4u
#define OVERFLOW_FLAG 0x0400u

enum { SUBTASK_AIC = 0, SUBTASK_MIX_AIC = 6, SUBTASK_MIX_AIV = 7 };

enum { FUNC_CONTEXT = 40, FUNC_BLOCK = 41 };

enum {
    AT_WORD = 0,
    AT_SID = 4,
    AT_TID = 6,
    AT_SUBTASK_TYPE = 16, /* low 8 bits; context: and the overflow flag */
    AT_SUBTASK_ID = 18,
    AT_FFTS_TYPE = 20,  /* context: bits 13–15 */
    AT_CORE = 20,       /* block: bit 0 is set on a vector core */
    AT_BLOCK_FFTS = 21, /* block: bits 5–7 */
    AT_CYCLES = 32,
    AT_COUNTERS = 48,
    AT_END = 120,
};

/* Who sent a context record, and when it ended. */
struct context_record {
    struct stamped at;
    uint32_t context, side;
    uint8_t accelerator;
};

struct reader {
    struct device_data *d;
    bool split;   /* the cores are of two kinds */
    bool scripts; /* records are matched like the reference's scripts match them */
    struct block_summer *summer;
    ARRAY(struct context_record) contexts;
    struct record_place overflow; /* the first context record with overflowed counters */
    uint64_t n_overflow;
};

/* --- decoding --------------------------------------------------------------------------------------------------- */

static enum accelerator accelerator_of(unsigned ffts_type, unsigned subtask_type)
{
    if (ffts_type == FFTS_PLUS && subtask_type == SUBTASK_MIX_AIC) return ACCELERATOR_MIX_AIC;
    if (ffts_type == FFTS_PLUS && subtask_type == SUBTASK_MIX_AIV) return ACCELERATOR_MIX_AIV;
    if (!ffts_type || (ffts_type == FFTS_PLUS && subtask_type == SUBTASK_AIC)) return ACCELERATOR_AIC;
    return ACCELERATOR_AIV;
}

static struct task_ids ids_of(const uint8_t *record, bool expanded)
{
    return task_ids(get_u16(record + AT_SID), get_u16(record + AT_TID), 0, expanded);
}

static void add_context(struct reader *r, const uint8_t *record, const struct record_place *place)
{
    unsigned ffts_type = get_u16(record + AT_FFTS_TYPE) >> 13, flags = get_u16(record + AT_SUBTASK_TYPE);
    bool subtask = r->split && ffts_type == FFTS_PLUS;
    if (flags & OVERFLOW_FLAG) {
        if (!r->n_overflow++) r->overflow = *place;
        if (r->scripts) return;
    }
    struct task_ids ids = ids_of(record, r->summer->expanded);
    array_push(&r->contexts,
               ((struct context_record){
                   .at = {get_u64(record + AT_END), ids.task, ids.stream, 0},
                   .context = subtask ? get_u16(record + AT_SUBTASK_ID) : CONTEXT_NONE,
                   .side = (uint32_t)r->d->pmu.sides.n,
                   .accelerator = r->split ? (uint8_t)accelerator_of(ffts_type, flags & 0xFF) : ACCELERATOR_AIC,
               }));
    struct pmu_side *side = array_add(&r->d->pmu.sides);
    *side = (struct pmu_side){.cycles = get_u64(record + AT_CYCLES)};
    for (unsigned i = 0; i < RECORD_EVENTS; i++) side->counter[i] = get_u64(record + AT_COUNTERS + 8 * i);
}

/* --- block sums ------------------------------------------------------------------------------------------------- */

static uint64_t task_run_key(const struct device_task *t)
{
    return run_key(t->task_id, t->stream_id, t->context_id);
}

static void index_runs(struct block_summer *s)
{
    s->indexed = true;
    for (size_t i = 0; i < s->d->tasks.n; i++)
        if (s->d->tasks.at[i].context_id != CONTEXT_NONE)
            map_put(&s->runs, task_run_key(&s->d->tasks.at[i]), (uint32_t)i, NULL);
}

static bool ends_before(const struct block_summer *s, size_t task, uint64_t key, uint64_t time)
{
    return task < s->d->tasks.n && task_run_key(&s->d->tasks.at[task]) == key && s->d->tasks.at[task].end < time;
}

static bool ran_at(const struct device_task *t, uint64_t key, uint64_t time)
{
    return t->start <= time && time <= t->end && task_run_key(t) == key;
}

/* The run of `key` that ran at `time`, or NONE. Runs of a key follow each other, ascending. */
static uint32_t find_run(const struct block_summer *s, uint64_t key, uint64_t time)
{
    size_t at = map_get(&s->runs, key, NONE), step = 1;
    if (at == NONE) return NONE;
    while (ends_before(s, at + step - 1, key, time)) { /* steps of 1, 2, 4 … forward */
        at += step;
        step *= 2;
    }
    for (; step; step /= 2)
        if (ends_before(s, at + step - 1, key, time)) at += step;
    return at < s->d->tasks.n && ran_at(&s->d->tasks.at[at], key, time) ? (uint32_t)at : NONE;
}

/* Index of the sum that a block belongs to, or NONE. */
static uint32_t find_sum(struct block_summer *s, uint64_t key, uint64_t time, enum accelerator accelerator)
{
    if (s->last != NONE) {
        const struct block_sum *last = &s->sums.at[s->last];
        if (last->accelerator == accelerator && ran_at(&s->d->tasks.at[last->task], key, time)) return s->last;
    }
    if (!s->indexed) index_runs(s);
    uint32_t task = find_run(s, key, time);
    if (task == NONE) return NONE;
    bool fresh;
    uint64_t sum_key = (uint64_t)task * 2 + (accelerator == ACCELERATOR_MIX_AIV);
    s->last = *map_put(&s->sum_of, sum_key, (uint32_t)s->sums.n, &fresh);
    if (fresh) array_push(&s->sums, ((struct block_sum){.task = task, .accelerator = (uint8_t)accelerator}));
    return s->last;
}

static void add_block(struct block_summer *s, const uint8_t *record)
{
    enum accelerator accelerator = accelerator_of(record[AT_BLOCK_FFTS] >> 5, record[AT_SUBTASK_TYPE]);
    bool vector = record[AT_CORE] & 1;
    bool slave = (accelerator == ACCELERATOR_MIX_AIC && vector) || (accelerator == ACCELERATOR_MIX_AIV && !vector);
    if (!slave) return;
    struct task_ids ids = ids_of(record, s->expanded);
    uint64_t key = run_key(ids.task, ids.stream, get_u16(record + AT_SUBTASK_ID));
    uint32_t at = find_sum(s, key, get_u64(record + AT_END), accelerator);
    if (at == NONE) {
        s->homeless++;
        return;
    }
    struct block_sum *sum = &s->sums.at[at];
    if (s->limits && sum->blocks >= block_limit(&s->limits[sum->task])) return;
    sum->blocks++;
    sum->side.cycles += get_u64(record + AT_CYCLES);
    for (unsigned i = 0; i < RECORD_EVENTS; i++) sum->side.counter[i] += get_u64(record + AT_COUNTERS + 8 * i);
}

static unsigned func_of(const uint8_t *record)
{
    return get_u16(record + AT_WORD) & 0x3F;
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    unsigned func = func_of(record);
    if (func == FUNC_CONTEXT) add_context(r, record, place);
    else if (func == FUNC_BLOCK && r->split) add_block(r->summer, record);
}

static void visit_block(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    if (func_of(record) == FUNC_BLOCK) add_block(context, record);
}

void pmu_sum_blocks_again(struct block_summer *s, const struct prof_dir *dir)
{
    for (size_t i = 0; i < s->sums.n; i++) {
        s->sums.at[i].side = (struct pmu_side){0};
        s->sums.at[i].blocks = 0;
    }
    struct diag *known = diag_new(); /* what is wrong with the file has been said the first time */
    records_each(prof_dir_files(dir, INPUT_FFTS_PROFILE), PMU_RECORD, record_valid_stars, known, NULL, visit_block, s);
    diag_free(known);
}

/* --- matching --------------------------------------------------------------------------------------------------- */

/* Order of the context records like that of the tasks, by end within a key. */
static struct sort_key *sort_contexts(struct reader *r, const flip_array *flips, const struct device_source *from)
{
    size_t n = r->contexts.n;
    struct context_record *at = r->contexts.at;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){at[i].at.time, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(at, sizeof *at, order, n);
    if (batches_used(from) && flips->n) {
        for (size_t i = 0; i < n; i++) order[i].index = (uint32_t)i;
        batch_number(flips, order, n, at, sizeof *at, from->dir->chip->native_tasks);
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (struct sort_key){run_key(at[i].at.task, at[i].at.stream, at[i].context), (uint32_t)i};
    sort_keys(order, n);
    return order;
}

enum fit { RECORD_TOO_EARLY, RECORD_FITS, RECORD_TOO_LATE };

/* Tasks of other kinds have no counters. */
static bool ran_on_cores(const struct device_task *t)
{
    return t->type_number < 0 || t->type_number == SQE_AI_CORE || t->type_number == SQE_AIV;
}

static enum fit fit(const struct context_record *r, uint64_t key, const struct device_task *t, bool by_order)
{
    uint64_t task_key = task_run_key(t);
    if (key != task_key) return key < task_key ? RECORD_TOO_EARLY : RECORD_TOO_LATE;
    if (by_order && !ran_on_cores(t)) return RECORD_TOO_LATE;
    if (by_order && r->at.batch != t->batch_id) return r->at.batch < t->batch_id ? RECORD_TOO_EARLY : RECORD_TOO_LATE;
    if (by_order) return RECORD_FITS;
    return r->at.time < t->start ? RECORD_TOO_EARLY : r->at.time > t->end ? RECORD_TOO_LATE : RECORD_FITS;
}

static void leave_over(struct pmu_pending *pending, const struct context_record *record, struct pmu_match m, size_t nth)
{
    struct pmu_orphan orphan = {NONE, record->at.stream, record->at.task, record->context, record->at.batch};
    m.task = NONE;
    array_push(&pending->left_over, ((struct pmu_left_over){m, orphan, (uint32_t)nth}));
}

static void match(struct reader *r, struct pmu_pending *pending, const struct sort_key *order, const freq_changes *freq,
                  const struct device_source *from)
{
    const struct device_data *d = r->d;
    for (size_t i = 0, t = 0, first_of_key = 0; i < r->contexts.n;) {
        const struct context_record *record = &r->contexts.at[order[i].index];
        uint64_t key = order[i].key;
        if (key != order[first_of_key].key) first_of_key = i;
        enum fit f = t < d->tasks.n ? fit(record, key, &d->tasks.at[t], r->scripts) : RECORD_TOO_EARLY;
        double mhz = freq_at(freq, record->at.time, from->dir->meta.aic_mhz);
        struct pmu_match m = {mhz, (uint32_t)t, record->side, record->accelerator};
        if (f == RECORD_FITS) {
            array_push(&pending->matches, m);
        } else if (f == RECORD_TOO_EARLY && r->scripts) {
            leave_over(pending, record, m, i - first_of_key);
        }
        i += f != RECORD_TOO_LATE;
        t += f != RECORD_TOO_EARLY;
    }
}

static void say_losses(const struct reader *r, const struct pmu_pending *pending, const struct device_source *from)
{
    const char *name = from->dir->name;
    if (r->n_overflow)
        diag_count(from->diag, DIAG_WARNING, r->overflow.file->shown, r->overflow.offset, r->n_overflow,
                   r->scripts ? "counters overflowed, left out" : "counters overflowed");
    diag_count(from->diag, DIAG_INFO, name, DIAG_NO_OFFSET, r->contexts.n - pending->matches.n,
               "counter records belong to no task");
    diag_count(from->diag, DIAG_INFO, name, DIAG_NO_OFFSET, r->summer->homeless,
               "block counter records belong to no task");
}

void pmu_load(struct device_data *d, const flip_array *flips, const freq_changes *freq,
              const struct device_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_FFTS_PROFILE);
    if (!files->n || !strcmp(from->dir->meta.ai_core_mode, "sample-based")) return;
    const char *why = pmu_set_up(&d->pmu, &from->dir->meta, from->dir->chip);
    if (why) {
        diag_note(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, "counters are not exported: %s", why);
        return;
    }
    struct pmu_pending *pending = mem_zalloc(1, sizeof *pending);
    pending->summer = (struct block_summer){.d = d, .expanded = from->expanded, .last = NONE};
    d->pending = pending;
    bool scripts = !from->dir->chip->native_tasks || from->session->script_tasks;
    d->pmu.no_batch = !from->dir->chip->native_tasks && !batches_used(from);
    if (scripts) d->pmu.rounded_time = true;
    struct reader r = {
        .d = d,
        .split = from->dir->chip->mix_pmu,
        .scripts = d->pmu.custom || scripts,
        .summer = &pending->summer,
    };
    records_each(files, PMU_RECORD, record_valid_stars, from->diag, from->progress, visit, &r);
    array_trim(&d->pmu.sides);

    struct sort_key *order = sort_contexts(&r, flips, from);
    match(&r, pending, order, freq, from);
    say_losses(&r, pending, from);
    free(order);
    array_free(&r.contexts);
}

void pmu_free_pending(struct device_data *d)
{
    struct pmu_pending *pending = d->pending;
    if (!pending) return;
    array_free(&pending->matches);
    array_free(&pending->left_over);
    array_free(&pending->summer.sums);
    map_free(&pending->summer.runs);
    map_free(&pending->summer.sum_of);
    free(pending);
    d->pending = NULL;
}
