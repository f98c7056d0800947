/* Runs to tasks: in the order of stream and task id, runs of one id by start. */
#include "device/task_runs.h"

/* By (start, order of the log). */
static void sort_by_start(run_array *runs, struct sort_key *order)
{
    for (size_t i = 0; i < runs->n; i++) order[i] = (struct sort_key){runs->at[i].at.time, (uint32_t)i};
    sort_keys(order, runs->n);
    sort_permute(runs->at, sizeof *runs->at, order, runs->n);
}

static void emit(struct device_data *d, const struct run *r, const struct type_names *names)
{
    array_push(&d->tasks, ((struct device_task){
                              .start = r->at.time,
                              .end = r->end,
                              .stream_id = r->at.stream,
                              .task_id = r->at.task,
                              .context_id = CONTEXT_NONE,
                              .batch_id = r->at.batch,
                              .type = names->task[r->type & 63],
                              .pmu = NONE,
                              .type_number = r->type,
                              .in_ms = r->in_ms,
                          }));
}

void run_tasks(struct device_data *d, run_array *runs, const flip_array *flips, const struct type_names *names,
               const struct device_source *from)
{
    size_t n = runs->n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    sort_by_start(runs, order);
    if (batches_used(from) && flips->n) {
        for (size_t i = 0; i < n; i++) order[i].index = (uint32_t)i;
        batch_number(flips, order, n, runs->at, sizeof *runs->at, from->dir->chip->native_tasks);
    }
    for (size_t i = 0; i < n; i++) {
        const struct stamped *at = &runs->at[i].at;
        order[i] = (struct sort_key){run_key(at->task, at->stream, CONTEXT_NONE), (uint32_t)i};
    }
    sort_keys(order, n);
    array_reserve(&d->tasks, d->tasks.n + n);
    for (size_t i = 0; i < n; i++) emit(d, &runs->at[order[i].index], names);
    free(order);
    array_free(runs);
}
