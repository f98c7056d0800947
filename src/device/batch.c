/* Batch ids.
 *
 * Task ids are 16 bits and begin anew when they run out (or when a stream is destroyed); a flip record says when. The
 * batch of a task is the number of flips of its stream before it started. Tasks of the new batch may have been logged
 * just before the flip: a flip that says which ids were already given out moves them back.
 *
 *     tasks   65533 65534 | 0   1 | 2     flip after id 1, "ids up to 2": 0 and 1 belong to the new batch
 *     batch     0     0     1   1   1
 *
 * The reference's scripts differ from its native part in three points: something at the very time of the flip belongs
 * to the new batch, the id that the flip names does not, and no ids are moved back when the stream was destroyed. */
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

/* Items. */
struct items {
    void *at;
    size_t stride;
    bool native; /* the rules of the reference's native part */
};

static struct stamped *item(const struct items *items, struct sort_key at)
{
    return (struct stamped *)((char *)items->at + items->stride * at.index);
}

/* Is that time still of the batch that the flip ends? */
static bool before(const struct flip *f, uint64_t time, bool native)
{
    return native ? time <= f->time : time < f->time;
}

/* The first id that was not given out when the flip was reported: those below are moved back. */
static uint32_t first_not_given(const struct flip *f, bool native)
{
    if (native) return f->task == TASK_NONE_GIVEN || !f->task ? 0 : f->task + 1u;
    return f->number == FLIP_STREAM_GONE ? 0 : f->task;
}

/* What a flip does to the items of its stream: those before `end` began in the batch that it ends, but the last of
 * them, from `moved` on, belong to the new one. */
struct reach {
    size_t moved, end;
};

/* Items behind which no item has a greater or equal id, their ids falling: where a search backwards for a greater id
 * can stop. */
typedef ARRAY(uint32_t) id_stack;

static void stack_item(id_stack *stack, const struct items *items, const struct sort_key *in, size_t i)
{
    uint32_t task = item(items, in[i])->task;
    while (stack->n && item(items, in[stack->at[stack->n - 1]])->task <= task) stack->n--;
    array_push(stack, (uint32_t)i);
}

/* Behind the last item so far whose id is `id` or greater. */
static size_t behind_last(const id_stack *stack, const struct items *items, const struct sort_key *in, uint32_t id)
{
    size_t low = 0, high = stack->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (item(items, in[stack->at[mid]])->task >= id) low = mid + 1;
        else high = mid;
    }
    return low ? stack->at[low - 1] + 1u : 0;
}

/* Number the items of one stream, in[n], with its flips[n_flips]: by time first, then what was moved back. A later flip
 * may move items that an earlier one has moved, and has the last word: what it moved is one piece before its end. */
static void number_stream(const struct flip *flips, size_t n_flips, const struct sort_key *in, size_t n,
                          const struct items *items)
{
    struct reach *reaches = mem_alloc(n_flips * sizeof *reaches);
    id_stack stack = {0};
    size_t at = 0, done = n;
    for (size_t b = 0; b < n_flips; b++) {
        for (; at < n && before(&flips[b], item(items, in[at])->time, items->native); at++) {
            item(items, in[at])->batch = (uint16_t)b;
            stack_item(&stack, items, in, at);
        }
        reaches[b] = (struct reach){behind_last(&stack, items, in, first_not_given(&flips[b], items->native)), at};
    }
    for (; at < n; at++) item(items, in[at])->batch = (uint16_t)n_flips;
    for (size_t b = n_flips; b--;) {
        const struct reach *r = &reaches[b];
        for (size_t k = r->moved; k < r->end && k < done; k++) item(items, in[k])->batch = (uint16_t)(b + 1);
        if (r->moved < done) done = r->moved;
    }
    array_free(&stack);
    free(reaches);
}

void batch_number(const flip_array *flips, struct sort_key *by_stream, size_t n, void *at, size_t stride, bool native)
{
    struct items items = {at, stride, native};
    for (size_t i = 0; i < n; i++) by_stream[i].key = item(&items, by_stream[i])->stream;
    sort_keys(by_stream, n);
    for (size_t f = 0, i = 0; f < flips->n && i < n;) {
        uint16_t stream = flips->at[f].stream;
        size_t f_end = f, i_end;
        while (f_end < flips->n && flips->at[f_end].stream == stream) f_end++;
        while (i < n && by_stream[i].key < stream) i++;
        for (i_end = i; i_end < n && by_stream[i_end].key == stream;) i_end++;
        number_stream(&flips->at[f], f_end - f, &by_stream[i], i_end - i, &items);
        f = f_end;
        i = i_end;
    }
}
