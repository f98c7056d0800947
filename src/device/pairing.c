/* Starts and ends to tasks.
 *
 *     log, by time      s1 s2 e1 s3 e3 e2 …
 *     order, by key     [task stream context] s s e e | s e | s e …      one group = one launch, all its runs
 *     tasks             in the order of the groups, each group in the order of its starts
 *
 * In a group whose starts and ends are equal in number the i-th start belongs to the i-th end: runs of one launch may
 * overlap (threads of an FFTS+ context). Where that cannot be (an end is missing or was logged without its start), a
 * start only counts when its end comes before the next start. The reference's scripts have but this second rule. */
#include "device/parts.h"

struct group {
    ARRAY(const struct log_record *) starts, ends;
};

struct pairing {
    struct device_data *d;
    const struct type_names *names;
    struct group group;
    bool by_index;                   /* runs of one launch may overlap */
    uint64_t lost_starts, lost_ends; /* records without a partner */
};

static void sort_by_time(log_array *log, struct sort_key *order)
{
    for (size_t i = 0; i < log->n; i++) order[i] = (struct sort_key){log->at[i].at.time, (uint32_t)i};
    sort_keys(order, log->n);
    sort_permute(log->at, sizeof *log->at, order, log->n);
}

static void sort_by_run(const log_array *log, struct sort_key *order)
{
    for (size_t i = 0; i < log->n; i++) {
        const struct log_record *r = &log->at[i];
        order[i] = (struct sort_key){run_key(r->at.task, r->at.stream, r->context), (uint32_t)i};
    }
    sort_keys(order, log->n);
}

static void number_batches(log_array *log, struct sort_key *order, const flip_array *flips,
                           const struct device_source *from)
{
    size_t starts = 0;
    for (size_t i = 0; i < log->n; i++)
        if (!log->at[i].is_end) order[starts++].index = (uint32_t)i;
    batch_number(flips, order, starts, log->at, sizeof *log->at, from->dir->chip->native_tasks);
}

static void emit(struct pairing *p, const struct log_record *start, const struct log_record *end)
{
    bool whole = start->context == CONTEXT_NONE;
    array_push(&p->d->tasks, ((struct device_task){
                                 .start = start->at.time,
                                 .end = end->at.time,
                                 .stream_id = start->at.stream,
                                 .task_id = start->at.task,
                                 .context_id = start->context,
                                 .batch_id = start->at.batch,
                                 .type = whole ? p->names->task[start->type & 63] : p->names->subtask[start->type],
                                 .pmu = NONE,
                                 .type_number = whole ? start->type : -1,
                             }));
}

static bool pairs_by_index(const struct group *g)
{
    if (g->starts.n != g->ends.n) return false;
    for (size_t i = 0; i < g->starts.n; i++)
        if (g->ends.at[i]->at.time < g->starts.at[i]->at.time) return false;
    return true;
}

static void pair_by_index(struct pairing *p)
{
    for (size_t i = 0; i < p->group.starts.n; i++) emit(p, p->group.starts.at[i], p->group.ends.at[i]);
}

/* An end before the first start lost its start; a start that is followed by another one before its end lost its end. */
static void pair_by_queue(struct pairing *p)
{
    const struct group *g = &p->group;
    size_t s = 0, e = 0, paired = 0;
    while (s < g->starts.n && e < g->ends.n) {
        uint64_t end = g->ends.at[e]->at.time;
        if (end < g->starts.at[s]->at.time) {
            e++;
        } else if (s + 1 < g->starts.n && end >= g->starts.at[s + 1]->at.time) {
            s++;
        } else {
            emit(p, g->starts.at[s++], g->ends.at[e++]);
            paired++;
        }
    }
    p->lost_starts += g->starts.n - paired;
    p->lost_ends += g->ends.n - paired;
}

static void pair_group(struct pairing *p, const log_array *log, const struct sort_key *order, size_t n)
{
    const struct log_record *first = &log->at[order[0].index], *second = n == 2 ? &log->at[order[1].index] : NULL;
    if (second && !first->is_end && second->is_end) { /* nearly all groups */
        emit(p, first, second);
        return;
    }
    p->group.starts.n = p->group.ends.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct log_record *r = &log->at[order[i].index];
        if (r->is_end) array_push(&p->group.ends, r);
        else array_push(&p->group.starts, r);
    }
    if (p->by_index && pairs_by_index(&p->group)) pair_by_index(p);
    else pair_by_queue(p);
}

void pair_tasks(struct device_data *d, log_array *log, const flip_array *flips, const struct type_names *names,
                const struct device_source *from)
{
    struct pairing p = {.d = d, .names = names, .by_index = from->dir->chip->native_tasks};
    struct sort_key *order = mem_alloc(log->n * sizeof *order);
    sort_by_time(log, order);
    if (batches_used(from) && flips->n) number_batches(log, order, flips, from);
    sort_by_run(log, order);
    array_reserve(&d->tasks, log->n / 2 + 1);
    for (size_t i = 0, end; i < log->n; i = end) {
        for (end = i + 1; end < log->n && order[end].key == order[i].key;) end++;
        pair_group(&p, log, &order[i], end - i);
    }
    array_trim(&d->tasks);
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, p.lost_starts, "task starts without an end");
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, p.lost_ends, "task ends without a start");
    array_free(&p.group.starts);
    array_free(&p.group.ends);
    free(order);
    array_free(log);
}
