/* One call reports how much it copies in all and how much one task copies at most. The tasks with the call's thread and
 * time take their share in the order (batch, task): a full share each, the last one the rest. */
#include "host/copies.h"

#include "base/sort.h"

#define DIRECTIONS      8u
#define DIRECTION_OTHER UINT16_MAX

/* Copy tasks by (batch, task), launch order within. */
static size_t sorted_copy_tasks(const struct host_data *h, str_id type, struct sort_key **out)
{
    size_t n = 0;
    for (size_t i = 0; i < h->tasks.n; i++) n += h->tasks.at[i].type == type;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    n = 0;
    for (size_t i = 0; i < h->tasks.n; i++) {
        const struct host_task *t = &h->tasks.at[i];
        if (t->type == type) order[n++] = (struct sort_key){(uint64_t)t->batch_id << 32 | t->task_id, (uint32_t)i};
    }
    sort_keys(order, n);
    *out = order;
    return n;
}

/* The last record with the task's thread and time, n = none. */
static size_t find_copy(const struct copy *copies, size_t n, const struct host_task *t)
{
    size_t low = 0, high = n; /* the first record behind */
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct copy *c = &copies[mid];
        if (c->thread_id < t->thread_id || (c->thread_id == t->thread_id && c->time <= t->time)) low = mid + 1;
        else high = mid;
    }
    if (low && copies[low - 1].thread_id == t->thread_id && copies[low - 1].time == t->time) return low - 1;
    return n;
}

static struct memcpy_info share(const struct copy *c, uint64_t *remaining, uint32_t host_task)
{
    struct memcpy_info m = {host_task, 0, DIRECTION_OTHER};
    if (!c || !*remaining) return m;
    m.size = *remaining <= c->max_size ? *remaining : c->max_size;
    m.direction = c->direction < DIRECTIONS ? c->direction : DIRECTION_OTHER;
    *remaining -= m.size;
    return m;
}

static void sort_by_task(struct host_data *h)
{
    size_t n = h->memcpys.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){h->memcpys.at[i].host_task, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(h->memcpys.at, sizeof *h->memcpys.at, order, n);
    free(order);
}

void copies_assign(struct host_data *h, const struct copy *copies, size_t n, str_id type)
{
    struct sort_key *order;
    size_t n_tasks = sorted_copy_tasks(h, type, &order);
    for (size_t i = 0; i < n_tasks; i++) {
        uint32_t connection = h->tasks.at[order[i].index].connection;
        if (connection && connection <= h->apis.n) h->apis.at[connection - 1].flags |= API_FLOW_START;
    }
    if (n && !n_tasks) array_push(&h->memcpys, ((struct memcpy_info){NONE, UINT64_MAX, DIRECTION_OTHER}));
    if (n) {
        uint64_t *remaining = mem_alloc(n * sizeof *remaining);
        for (size_t i = 0; i < n; i++) remaining[i] = copies[i].size;
        array_reserve(&h->memcpys, n_tasks);
        for (size_t i = 0; i < n_tasks; i++) {
            size_t at = find_copy(copies, n, &h->tasks.at[order[i].index]);
            bool found = at < n;
            uint64_t nothing = 0;
            array_push(&h->memcpys,
                       share(found ? &copies[at] : NULL, found ? &remaining[at] : &nothing, order[i].index));
        }
        free(remaining);
        sort_by_task(h);
    }
    free(order);
}
