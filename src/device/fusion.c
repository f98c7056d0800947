/* Parts of fused tasks: a fused task runs in parts on CPU, AI CPU, AI core and CCU, which log their own starts and
 * ends.
 *
 * Parts of a task carry no number. They are paired first in, first out: the i-th start of a task with its i-th end.
 * An end before the oldest open start lost its start. */
#include "device/parts.h"

static uint8_t unit_of(uint8_t units)
{
    return units ? (uint8_t)(31 - __builtin_clz(units)) : FUSION_UNKNOWN;
}

static void emit(struct device_data *d, const struct fusion_record *start, uint64_t end, const struct type_names *names)
{
    array_push(&d->fusions, ((struct fusion_part){
                                .start = start->time,
                                .end = end,
                                .type = names->task[start->type & 63],
                                .task_id = start->task,
                                .acc_id = start->acc_id,
                                .unit = unit_of(start->units),
                                .mission_id = start->mission,
                            }));
}

/* Pair what one task logged, order[0..n) by time; returns how many parts that gave. */
static size_t pair_task(struct device_data *d, const fusion_array *log, const struct sort_key *order, size_t n,
                        const struct type_names *names)
{
    size_t s = 0, parts = 0;
    for (size_t e = 0; e < n; e++) {
        const struct fusion_record *end = &log->at[order[e].index];
        if (!end->is_end) continue;
        while (s < n && log->at[order[s].index].is_end) s++;
        if (s == n) break;
        const struct fusion_record *start = &log->at[order[s].index];
        if (start->time > end->time) continue;
        emit(d, start, end->time, names);
        s++;
        parts++;
    }
    return parts;
}

static void sort_parts(struct device_data *d, struct sort_key *order)
{
    for (size_t i = 0; i < d->fusions.n; i++) order[i] = (struct sort_key){d->fusions.at[i].start, (uint32_t)i};
    sort_keys(order, d->fusions.n);
    sort_permute(d->fusions.at, sizeof *d->fusions.at, order, d->fusions.n);
}

void fusion_pair(struct device_data *d, fusion_array *log, const struct type_names *names,
                 const struct device_source *from)
{
    struct sort_key *order = mem_alloc(log->n * sizeof *order);
    for (size_t i = 0; i < log->n; i++) order[i] = (struct sort_key){log->at[i].time, (uint32_t)i};
    sort_keys(order, log->n);
    for (size_t i = 0; i < log->n; i++) order[i].key = log->at[order[i].index].task;
    sort_keys(order, log->n);
    size_t lost = log->n;
    for (size_t i = 0, end; i < log->n; i = end) {
        for (end = i + 1; end < log->n && order[end].key == order[i].key;) end++;
        lost -= 2 * pair_task(d, log, &order[i], end - i, names);
    }
    sort_parts(d, order);
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, lost,
               "starts or ends of parts of fused tasks without the other");
    free(order);
    array_free(log);
}
