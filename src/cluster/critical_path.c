#include "cluster/critical_path.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sort.h"

#define FOLLOWS_NS 1000 /* at most that much between an operator and the one that waited for it in its lane */
#define NOBODY     UINT32_MAX

/* In the order of unsigned numbers. */
static uint64_t ordered(int64_t ns)
{
    return (uint64_t)ns ^ 1ull << 63;
}

/* ---- the path ---- */

static struct sort_key *sort_ends(const struct path_event *events, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){ordered(events[i].end_ns), (uint32_t)i};
    sort_keys(order, n);
    return order;
}

/* How many of order[n] have a key up to that one, or below it. */
static size_t count_keys(const struct sort_key *order, size_t n, uint64_t key, bool key_too)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (order[mid].key < key || (key_too && order[mid].key == key)) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* What ended last, but not after ns; of several the first. */
static uint32_t last_ended(const struct sort_key *order, size_t n, int64_t ns)
{
    size_t count = count_keys(order, n, ordered(ns), true);
    return count ? order[count_keys(order, count, order[count - 1].key, false)].index : NOBODY;
}

/* For each event the one in its lane that began before it. */
static uint32_t *find_previous(const struct path_event *events, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    uint32_t *previous = mem_alloc(n * sizeof *previous);
    struct map lanes = {0};
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){ordered(events[i].start_ns), (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++)
        order[i].key = *map_put(&lanes, events[order[i].index].lane, (uint32_t)lanes.n, NULL);
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t last = i && order[i - 1].key == order[i].key ? order[i - 1].index : NOBODY;
        bool together = last != NOBODY && events[last].start_ns == events[order[i].index].start_ns;
        previous[order[i].index] = together ? previous[last] : last;
    }
    map_free(&lanes);
    free(order);
    return previous;
}

static bool follows(const struct path_event *before, const struct path_event *e)
{
    uint64_t end = ordered(before->end_ns), start = ordered(e->start_ns);
    return start <= end || start - end <= FOLLOWS_NS;
}

/* Everything on the way began before what it leads to, so that the way ends. */
void critical_path(const struct path_event *events, size_t n, bool *on_path)
{
    struct sort_key *ends = sort_ends(events, n);
    uint32_t *previous = find_previous(events, n);
    for (size_t i = 0; i < n; i++) on_path[i] = false;
    for (uint32_t at = last_ended(ends, n, INT64_MAX); at != NOBODY;) {
        uint32_t before = previous[at];
        on_path[at] = true;
        if (before == NOBODY || !follows(&events[before], &events[at]))
            before = last_ended(ends, n, events[at].start_ns);
        at = before;
    }
    free(previous);
    free(ends);
}

/* ---- how long alone ---- */

void serial_times(const struct path_event *events, size_t n, uint64_t *serial_ns)
{
    struct sort_key *points = mem_alloc(2 * n * sizeof *points); /* of event i: 2i begins, 2i + 1 ends */
    uint64_t *alone_at = mem_alloc(2 * n * sizeof *alone_at);    /* how long there was just one, up to a point */
    int64_t running = 0;
    uint64_t alone = 0;
    for (size_t i = 0; i < n; i++) {
        points[2 * i] = (struct sort_key){ordered(events[i].start_ns), (uint32_t)(2 * i)};
        points[2 * i + 1] = (struct sort_key){ordered(events[i].end_ns), (uint32_t)(2 * i + 1)};
    }
    sort_keys(points, 2 * n);
    for (size_t k = 0; k < 2 * n; k++) {
        if (k && running == 1) alone += points[k].key - points[k - 1].key;
        alone_at[points[k].index] = alone;
        running += points[k].index & 1 ? -1 : 1;
    }
    for (size_t i = 0; i < n; i++) serial_ns[i] = alone_at[2 * i + 1] - alone_at[2 * i];
    free(alone_at);
    free(points);
}
