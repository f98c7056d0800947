/* Step records to iterations.
 *
 * Of each model, records arrive in order of time, but with pipelined stages the records of the next iteration come
 * before those of the running one have ended. So they are first dealt out to open entries, and then played in the order
 * of the entries:
 *
 *     by time     start fp  bp  fp' iter_end bp' iter_end' end        (fp' … : second iteration)
 *     entries     [start fp bp iter_end] [fp' bp' iter_end'] end
 *     iterations  1: start … iter_end    2: iter_end … iter_end'
 *
 * Explicit steps (begin and end marked by the program) are rows of the same table, without forward and backward. */
#include "device/parts.h"

/* --- what the player makes -------------------------------------------------------------------------------------- */

struct iteration {
    uint64_t model, index;
    uint64_t start, fp, bp, end; /* device counter, 0 = not seen */
    bool marked;
};

struct reduce {
    uint64_t start, end;
    uint32_t lane; /* its stream, by first appearance in the iteration */
    uint32_t end_task;
    uint16_t stream;
};

enum state { STATE_IDLE, STATE_STARTED, STATE_NEXT };

struct player {
    struct device_data *d;
    const struct clock *clock;
    const step_records *records;
    ARRAY(struct iteration) iterations;
    enum state state;
    struct iteration current;
    ARRAY(struct reduce) reduces;     /* of the current iteration */
    struct map lanes;                 /* stream -> lane */
    ARRAY(uint32_t) last_of_lane;     /* index in reduces */
    ARRAY(struct sort_key) get_nexts; /* of the current iteration: records */
    uint64_t empty;                   /* iterations without a duration */
};

static int64_t point_ns(const struct clock *c, uint64_t ticks)
{
    return ticks ? clock_device_ns(c, ticks) : 0;
}

static int64_t duration_ns(const struct clock *c, uint64_t from, uint64_t to)
{
    return from && to > from ? clock_device_duration_ns(c, to - from) : 0;
}

static void clear_iteration(struct player *p)
{
    p->current.start = p->current.fp = p->current.bp = 0;
    p->reduces.n = p->last_of_lane.n = p->get_nexts.n = 0;
    if (p->lanes.n) map_free(&p->lanes);
}

static void flush_reduces(struct player *p)
{
    struct sort_key *order = mem_alloc(p->reduces.n * sizeof *order);
    for (size_t i = 0; i < p->reduces.n; i++) order[i] = (struct sort_key){p->reduces.at[i].lane, (uint32_t)i};
    sort_keys(order, p->reduces.n);
    for (size_t i = 0; i < p->reduces.n; i++) {
        const struct reduce *r = &p->reduces.at[order[i].index];
        array_push(&p->d->reduces, ((struct step_reduce){
                                       .model_id = (uint32_t)p->current.model,
                                       .iteration_id = (uint32_t)p->current.index,
                                       .iteration_end_ns = point_ns(p->clock, p->current.end),
                                       .start_ns = point_ns(p->clock, r->start),
                                       .end_ns = point_ns(p->clock, r->end),
                                       .duration_ns = duration_ns(p->clock, r->start, r->end),
                                       .end_task_id = r->end_task,
                                       .stream_id = r->stream,
                                   }));
    }
    free(order);
}

/* Of each (stream, number) the last start before an end belongs to it. */
static void flush_get_nexts(struct player *p)
{
    sort_keys(p->get_nexts.at, p->get_nexts.n);
    const struct step_record *start = NULL;
    for (size_t i = 0; i < p->get_nexts.n; i++) {
        const struct step_record *r = &p->records->at[p->get_nexts.at[i].index];
        if (i && p->get_nexts.at[i].key != p->get_nexts.at[i - 1].key) start = NULL;
        if (!(r->tag & 1)) {
            start = r;
        } else if (start) {
            array_push(&p->d->get_nexts, ((struct step_get_next){
                                             .model_id = (uint32_t)p->current.model,
                                             .iteration_id = (uint32_t)p->current.index,
                                             .start_ns = point_ns(p->clock, start->time),
                                             .end_ns = point_ns(p->clock, r->time),
                                         }));
            start = NULL;
        }
    }
}

static void end_iteration(struct player *p, uint64_t time)
{
    p->current.end = time;
    if (p->current.start == time) p->empty++;
    else array_push(&p->iterations, p->current);
    flush_reduces(p);
    flush_get_nexts(p);
    p->current.index++;
    clear_iteration(p);
}

static void start_iteration(struct player *p, uint64_t time, enum state state)
{
    if (state == STATE_STARTED) clear_iteration(p);
    p->current.start = time;
    p->state = state;
}

/* --- playing ---------------------------------------------------------------------------------------------------- */

static void play_reduce(struct player *p, const struct step_record *r)
{
    bool fresh;
    uint32_t lane = *map_put(&p->lanes, r->stream, (uint32_t)p->last_of_lane.n, &fresh);
    if (fresh) array_push(&p->last_of_lane, NONE);
    if (!(r->tag & 1)) {
        p->last_of_lane.at[lane] = (uint32_t)p->reduces.n;
        array_push(&p->reduces, ((struct reduce){.start = r->time, .lane = lane, .stream = r->stream}));
    } else if (p->last_of_lane.at[lane] != NONE) {
        struct reduce *last = &p->reduces.at[p->last_of_lane.at[lane]];
        last->end = r->time;
        last->end_task = r->task;
    }
}

static void play(struct player *p, uint32_t index)
{
    const struct step_record *r = &p->records->at[index];
    switch (r->tag) {
    case STEP_MODEL_START:
        if (p->state != STATE_STARTED) start_iteration(p, r->time, STATE_STARTED);
        break;
    case STEP_MODEL_END:
        if (p->state == STATE_STARTED) {
            end_iteration(p, r->time);
            p->state = STATE_IDLE;
        }
        break;
    case STEP_ITERATION_END:
        if (p->state != STATE_IDLE) {
            end_iteration(p, r->time);
            start_iteration(p, r->time, STATE_NEXT);
        }
        break;
    case STEP_FP_START: p->current.fp = r->time; break;
    case STEP_BP_END: p->current.bp = r->time; break;
    default:
        if (r->tag >= STEP_GET_NEXT_FIRST) {
            uint64_t key = (uint64_t)r->stream << 16 | r->tag / 2;
            array_push(&p->get_nexts, ((struct sort_key){key, index}));
        } else {
            play_reduce(p, r);
        }
    }
}

/* --- dealing out ------------------------------------------------------------------------------------------------ */

struct entry {
    uint32_t first, last; /* its records, linked by next[] */
    uint16_t last_tag;    /* newest of the tags 0 … 4 */
    bool model_start;
};

struct dealer {
    struct player *player;
    uint32_t *next;
    ARRAY(struct entry) entries;
    size_t front;                         /* entries before it are played */
    size_t below[STEP_ITERATION_END + 1]; /* no entry before it has last_tag < the index: last_tag only grows */
};

static void add_entry(struct dealer *d, uint32_t record, uint16_t last_tag, bool model_start)
{
    array_push(&d->entries, ((struct entry){record, record, last_tag, model_start}));
}

static void append(struct dealer *d, struct entry *e, uint32_t record)
{
    d->next[e->last] = record;
    e->last = record;
}

/* The first open entry whose last tag is below `tag`, or NULL. */
static struct entry *entry_below(struct dealer *d, unsigned tag)
{
    size_t *at = &d->below[tag];
    if (*at < d->front) *at = d->front;
    while (*at < d->entries.n && d->entries.at[*at].last_tag >= tag) ++*at;
    return *at < d->entries.n ? &d->entries.at[*at] : NULL;
}

static void flush(struct dealer *d, size_t upto)
{
    for (; d->front < upto; d->front++)
        for (uint32_t r = d->entries.at[d->front].first; r != NONE; r = d->next[r]) play(d->player, r);
}

/* A model end closes what the first open model start began. */
static void flush_model(struct dealer *d)
{
    unsigned starts = 0;
    size_t upto = d->front;
    for (; upto < d->entries.n; upto++)
        if (d->entries.at[upto].model_start && ++starts == 2) break;
    flush(d, upto);
}

static void deal(struct dealer *d, uint32_t record)
{
    uint16_t tag = d->player->records->at[record].tag;
    struct entry *e = NULL;
    d->next[record] = NONE;
    if (tag == STEP_MODEL_END) {
        flush_model(d);
        play(d->player, record);
    } else if (tag <= STEP_ITERATION_END) {
        if (tag != STEP_MODEL_START) e = entry_below(d, tag);
        if (e) append(d, e, record), e->last_tag = tag;
        else add_entry(d, record, tag, tag == STEP_MODEL_START);
    } else if (tag >= STEP_REDUCE_FIRST) {
        if (tag < STEP_GET_NEXT_FIRST || tag >= STEP_EXPLICIT_START) e = entry_below(d, STEP_ITERATION_END);
        else if (d->front < d->entries.n) e = &d->entries.at[d->entries.n - 1];
        if (e) append(d, e, record);
        else add_entry(d, record, STEP_ITERATION_END, false);
    }
}

static void play_models(struct player *p)
{
    struct dealer d = {.player = p, .next = mem_alloc(p->records->n * sizeof *d.next)};
    for (size_t i = 0, end; i < p->records->n; i = end) {
        uint64_t model = p->records->at[i].model;
        p->state = STATE_IDLE;
        p->current = (struct iteration){.model = model, .index = 1};
        clear_iteration(p);
        for (end = i; end < p->records->n && p->records->at[end].model == model; end++) deal(&d, (uint32_t)end);
        flush(&d, d.entries.n);
    }
    array_free(&d.entries);
    free(d.next);
}

/* --- explicit steps --------------------------------------------------------------------------------------------- */

static void add_explicit_steps(struct player *p, const struct device_source *from)
{
    ARRAY(struct sort_key) marks = {0};
    const struct step_record *records = p->records->at;
    for (size_t i = 0; i < p->records->n; i++)
        if (records[i].tag == STEP_EXPLICIT_START || records[i].tag == STEP_EXPLICIT_END)
            array_push(&marks, ((struct sort_key){records[i].index, (uint32_t)i}));
    sort_keys(marks.at, marks.n);
    uint64_t odd = 0;
    for (size_t i = 0, end; i < marks.n; i = end) {
        for (end = i + 1; end < marks.n && marks.at[end].key == marks.at[i].key;) end++;
        const struct step_record *a = &records[marks.at[i].index], *b = &records[marks.at[end - 1].index];
        if (end - i != 2) odd++;
        else if (a->time == b->time) p->empty++;
        else array_push(&p->iterations, ((struct iteration){a->model, a->index, a->time, 0, 0, b->time, true}));
    }
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, odd,
               "explicit steps left out: not exactly one begin and one end");
    array_free(&marks);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static void sort_iterations(struct player *p)
{
    size_t n = p->iterations.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){p->iterations.at[i].end, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(p->iterations.at, sizeof *p->iterations.at, order, n);
    free(order);
}

/* Ticks from the last iteration that had ended before row i's forward pass began until then. */
static uint64_t data_aug(const struct player *p, size_t i)
{
    uint64_t fp = p->iterations.at[i].fp;
    size_t low = 0, high = i;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (p->iterations.at[mid].end < fp) low = mid + 1;
        else high = mid;
    }
    return low ? fp - p->iterations.at[low - 1].end : 0;
}

static void add_rows(struct player *p)
{
    for (size_t i = 0; i < p->iterations.n; i++) {
        const struct iteration *it = &p->iterations.at[i];
        array_push(&p->d->steps, ((struct step){
                                     .model_id = (uint32_t)it->model,
                                     .iteration_id = (uint32_t)it->index,
                                     .fp_start_ns = point_ns(p->clock, it->fp),
                                     .bp_end_ns = point_ns(p->clock, it->bp),
                                     .iteration_end_ns = point_ns(p->clock, it->end),
                                     .iteration_time_ns = duration_ns(p->clock, it->start, it->end),
                                     .fp_bp_ns = duration_ns(p->clock, it->fp, it->bp),
                                     .refresh_ns = duration_ns(p->clock, it->bp, it->end),
                                     .data_aug_ns = clock_device_duration_ns(p->clock, data_aug(p, i)),
                                     .start = it->start,
                                     .end = it->end,
                                     .marked = it->marked,
                                 }));
    }
}

static bool same_record(const struct step_record *a, const struct step_record *b)
{
    return a->time == b->time && a->index == b->index && a->model == b->model && a->stream == b->stream &&
           a->tag == b->tag;
}

/* By (model, time); a record that was reported twice counts once. */
static void sort_records(step_records *records)
{
    struct sort_key *order = mem_alloc(records->n * sizeof *order);
    for (size_t i = 0; i < records->n; i++) order[i] = (struct sort_key){records->at[i].time, (uint32_t)i};
    sort_keys(order, records->n);
    for (size_t i = 0; i < records->n; i++) order[i].key = records->at[order[i].index].model;
    sort_keys(order, records->n);
    sort_permute(records->at, sizeof *records->at, order, records->n);
    free(order);
    size_t kept = 0;
    for (size_t i = 0; i < records->n; i++)
        if (!kept || !same_record(&records->at[kept - 1], &records->at[i])) records->at[kept++] = records->at[i];
    records->n = kept;
}

void steps_build(struct device_data *d, step_records *records, const struct device_source *from)
{
    struct player p = {.d = d, .clock = &from->dir->clock, .records = records};
    sort_records(records);
    play_models(&p);
    add_explicit_steps(&p, from);
    sort_iterations(&p);
    add_rows(&p);
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, p.empty,
               "iterations left out: they begin and end at the same time");
    array_free(&p.iterations);
    array_free(&p.reduces);
    array_free(&p.last_of_lane);
    array_free(&p.get_nexts);
    map_free(&p.lanes);
}
