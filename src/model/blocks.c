/* Block numbers that are only known when a task is launched: the scheduler logs them, and they count more than what the
 * host said of the operator.
 *
 * Operators are shared by their launches, so a launch with other blocks gets an operator of its own; launches that
 * agree share that one. */
#include "base/map.h"
#include "model/parts.h"

/* What tasks of a device are told apart by. */
struct identity {
    bool by_stream, by_batch;
};

static uint64_t identify(struct identity how, uint32_t stream, uint32_t task, uint32_t batch)
{
    uint64_t key = task;
    if (how.by_stream) key |= (uint64_t)(stream & 0xFFFF) << 48;
    if (how.by_batch) key |= (uint64_t)(batch & 0xFFFF) << 32;
    return key;
}

static uint64_t blocks_key(uint32_t op, uint32_t change)
{
    return (uint64_t)op << 32 | change;
}

/* The block numbers of a device that differ: each a number of its own. */
struct changes {
    ARRAY(struct logged_blocks) distinct;
    struct map numbers; /* block_num << 32 | mix_block_num -> index in distinct */
    struct map of_task; /* task -> index in distinct; the last record counts */
};

static void gather(struct changes *c, const struct device_data *d, struct identity how)
{
    for (size_t i = 0; i < d->blocks_logged.n; i++) {
        const struct logged_blocks *b = &d->blocks_logged.at[i];
        bool fresh;
        uint64_t value = (uint64_t)b->block_num << 32 | b->mix_block_num;
        uint32_t number = *map_put(&c->numbers, value, (uint32_t)c->distinct.n, &fresh);
        if (fresh) array_push(&c->distinct, *b);
        *map_put(&c->of_task, identify(how, b->stream_id, b->task_id, b->batch_id), number, NULL) = number;
    }
}

/* The operator `op` with the blocks of a change. */
static uint32_t changed_op(struct host_data *h, struct map *changed, const struct changes *c, uint32_t op,
                           uint32_t number)
{
    const struct logged_blocks *b = &c->distinct.at[number];
    if (h->ops.at[op].block_num == b->block_num && h->ops.at[op].mix_block_num == b->mix_block_num) return op;
    bool fresh;
    uint32_t at = *map_put(changed, blocks_key(op, number), (uint32_t)h->ops.n, &fresh);
    if (!fresh) return at;
    struct op copy = h->ops.at[op];
    copy.block_num = b->block_num;
    copy.mix_block_num = b->mix_block_num;
    array_push(&h->ops, copy);
    return at;
}

static void change_device(struct model *m, const struct device_model *d)
{
    struct changes c = {0};
    struct map changed = {0};
    struct host_data *h = &m->host;
    bool unique = d->dir->chip->unique_task_ids;
    struct identity how = {.by_stream = !unique, .by_batch = !unique && m->session->all_export};
    gather(&c, &d->data, how);
    for (size_t i = 0; i < h->tasks.n; i++) {
        struct host_task *t = &h->tasks.at[i];
        if (t->op == NONE || t->device_id != d->device_id) continue;
        uint32_t number = map_get(&c.of_task, identify(how, t->stream_id, t->task_id, t->batch_id), NONE);
        if (number != NONE) t->op = changed_op(h, &changed, &c, t->op, number);
    }
    array_free(&c.distinct);
    map_free(&c.numbers);
    map_free(&c.of_task);
    map_free(&changed);
}

void blocks_change(struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.blocks_logged.n) change_device(m, &m->devices[i]);
}
