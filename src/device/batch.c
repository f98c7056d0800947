/* Batch ids.
 *
 * Task ids are 16 bits and begin anew when they run out (or when a stream is destroyed); a flip record says when. The
 * batch of a task is the number of flips of its stream before it started. Tasks of the new batch may have been logged
 * just before the flip: a flip that says which ids were already given out moves them back.
 *
 *     tasks   65533 65534 | 0   1 | 2     flip after id 1, "ids up to 2": 0 and 1 belong to the new batch
 *     batch     0     0     1   1   1
 */
#include "device/parts.h"

#define TASK_NONE_GIVEN 0xFFFFu

void flips_sort(flip_array *flips)
{
    struct sort_key *order = mem_alloc(flips->n * sizeof *order);
    for (size_t i = 0; i < flips->n; i++) order[i] = (struct sort_key){flips->at[i].time, (uint32_t)i};
    sort_keys(order, flips->n);
    for (size_t i = 0; i < flips->n; i++) order[i].key = flips->at[order[i].index].stream;
    sort_keys(order, flips->n);
    sort_permute(flips->at, sizeof *flips->at, order, flips->n);
    free(order);
}

static struct stamped *item(void *items, size_t stride, struct sort_key at)
{
    return (struct stamped *)((char *)items + stride * at.index);
}

/* Number the items of one stream, in[n], with its flips[n_flips]. */
static void number_stream(const struct flip *flips, size_t n_flips, const struct sort_key *in, size_t n, void *items,
                          size_t stride)
{
    size_t at = 0;
    for (size_t b = 0; b <= n_flips; b++) {
        for (; at < n && (b == n_flips || item(items, stride, in[at])->time <= flips[b].time); at++)
            item(items, stride, in[at])->batch = (uint16_t)b;
        if (b == n_flips || !flips[b].task || flips[b].task == TASK_NONE_GIVEN) continue;
        for (size_t k = at; k && item(items, stride, in[k - 1])->task <= flips[b].task; k--)
            item(items, stride, in[k - 1])->batch = (uint16_t)(b + 1);
    }
}

void batch_number(const flip_array *flips, struct sort_key *by_stream, size_t n, void *items, size_t stride)
{
    for (size_t i = 0; i < n; i++) by_stream[i].key = item(items, stride, by_stream[i])->stream;
    sort_keys(by_stream, n);
    for (size_t f = 0, i = 0; f < flips->n && i < n;) {
        uint16_t stream = flips->at[f].stream;
        size_t f_end = f, i_end;
        while (f_end < flips->n && flips->at[f_end].stream == stream) f_end++;
        while (i < n && by_stream[i].key < stream) i++;
        for (i_end = i; i_end < n && by_stream[i_end].key == stream;) i_end++;
        number_stream(&flips->at[f], f_end - f, &by_stream[i], i_end - i, items, stride);
        f = f_end;
        i = i_end;
    }
}
