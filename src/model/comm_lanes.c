/* Order of communication rows, and the lanes that the timeline shows them in: one for each group that has sub-tasks, in
 * order of first use, with the planes that were used. */
#include "base/map.h"
#include "base/sort.h"
#include "model/comm.h"

static uint64_t ascending(int64_t ns)
{
    return (uint64_t)ns ^ 1ull << 63;
}

/* Launched operators come first, fused ones behind them, each by start. */
static void sort_ops(struct device_model *d)
{
    size_t n = d->comm_ops.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){ascending(d->comm_ops.at[i].start_ns), (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = d->comm_ops.at[order[i].index].source == COMM_FUSED;
    sort_keys(order, n);
    uint32_t *moved = mem_alloc(n * sizeof *moved);
    for (size_t i = 0; i < n; i++) moved[order[i].index] = (uint32_t)i;
    sort_permute(d->comm_ops.at, sizeof *d->comm_ops.at, order, n);
    for (size_t i = 0; i < d->comm_tasks.n; i++)
        if (d->comm_tasks.at[i].op != NONE) d->comm_tasks.at[i].op = moved[d->comm_tasks.at[i].op];
    d->n_fused_ops = 0;
    for (size_t i = 0; i < n; i++) d->n_fused_ops += d->comm_ops.at[i].source == COMM_FUSED;
    free(moved);
    free(order);
}

static void sort_tasks(struct device_model *d)
{
    size_t n = d->comm_tasks.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){ascending(d->comm_tasks.at[i].start_ns), (uint32_t)i};
    sort_keys(order, n);
    sort_permute(d->comm_tasks.at, sizeof *d->comm_tasks.at, order, n);
    free(order);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void comm_finish(struct device_model *d)
{
    sort_ops(d);
    sort_tasks(d);
    struct map lanes = {0}, planes = {0};
    for (size_t i = 0; i < d->comm_tasks.n; i++) {
        struct comm_task *t = &d->comm_tasks.at[i];
        bool fresh;
        t->lane = *map_put(&lanes, t->group, (uint32_t)d->comm_groups.n, &fresh);
        if (fresh) array_push(&d->comm_groups, ((struct comm_group){.name = t->group}));
        uint32_t plane = t->plane_id < 0 ? 0 : (uint32_t)t->plane_id;
        map_put(&planes, (uint64_t)t->lane << 32 | plane, 1, &fresh);
        if (fresh) array_push(&d->comm_groups.at[t->lane].planes, plane);
    }
    for (size_t g = 0; g < d->comm_groups.n; g++)
        qsort(d->comm_groups.at[g].planes.at, d->comm_groups.at[g].planes.n, sizeof(uint32_t), by_number);
    for (size_t i = 0; i < d->comm_ops.n; i++) d->comm_ops.at[i].lane = map_get(&lanes, d->comm_ops.at[i].group, NONE);
    map_free(&lanes);
    map_free(&planes);
}
