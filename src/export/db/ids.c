/* String ids are an array over the string pool, operator ids a map, and task ids an open hash table of id + 1 into the
 * array of keys: a task costs 20 bytes for its key and 6 to 12 for its slots. */
#include "export/db/ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

void ids_start(struct db_ids *ids, struct strpool *strings)
{
    *ids = (struct db_ids){.strings = strings};
    /* These two come first in every database; and a reader takes 0 for "none" when it looks for the string `launch`. */
    ids_string(ids, strpool_add_z(strings, "release"));
    ids_string(ids, strpool_add_z(strings, "allocate"));
}

void ids_free(struct db_ids *ids)
{
    free(ids->string.of);
    array_free(&ids->string.used);
    free(ids->task.slots);
    array_free(&ids->task.keys);
    map_free(&ids->comm_ops);
}

uint32_t ids_string(struct db_ids *ids, str_id text)
{
    if (text >= ids->string.room) {
        size_t room = array_room(strpool_count(ids->strings), (size_t)text + 1);
        ids->string.of = mem_resize(ids->string.of, room, sizeof *ids->string.of);
        memset(ids->string.of + ids->string.room, 0, (room - ids->string.room) * sizeof *ids->string.of);
        ids->string.room = room;
    }
    uint32_t *id = &ids->string.of[text];
    if (!*id) {
        array_push(&ids->string.used, text);
        *id = (uint32_t)ids->string.used.n;
    }
    return *id - 1;
}

/* Eight tasks in a row share a run of slots: tables speak of tasks in much the same order, so the next slot is mostly
 * in the cache already. */
#define RUN_BITS 3
#define RUN_MASK ((1u << RUN_BITS) - 1)

static size_t key_slot(const struct db_ids *ids, const struct db_task_key *k)
{
    uint64_t h = hash_u64((uint64_t)k->stream_id << 32 | k->task_id >> RUN_BITS);
    h = hash_u64(h ^ ((uint64_t)k->context_id << 32 | k->batch_id));
    return (hash_u64(h ^ k->device_id) << RUN_BITS | (k->task_id & RUN_MASK)) & ids->task.mask;
}

/* The slot of a key: its id + 1, or 0 where it would go. */
static uint32_t *find_task(const struct db_ids *ids, const struct db_task_key *key)
{
    size_t at = key_slot(ids, key);
    while (ids->task.slots[at] && memcmp(&ids->task.keys.at[ids->task.slots[at] - 1], key, sizeof *key))
        at = (at + 1) & ids->task.mask;
    return &ids->task.slots[at];
}

static void grow_tasks(struct db_ids *ids)
{
    size_t size = ids->task.slots ? (ids->task.mask + 1) * 2 : 1024;
    free(ids->task.slots);
    ids->task.slots = mem_zalloc(size, sizeof *ids->task.slots);
    ids->task.mask = size - 1;
    for (size_t i = 0; i < ids->task.keys.n; i++) *find_task(ids, &ids->task.keys.at[i]) = (uint32_t)i + 1;
}

uint32_t ids_task(struct db_ids *ids, struct db_task_key key)
{
    if (!ids->task.slots || ids->task.keys.n * 3 / 2 >= ids->task.mask) grow_tasks(ids);
    uint32_t *id = find_task(ids, &key);
    if (!*id) {
        array_push(&ids->task.keys, key);
        *id = (uint32_t)ids->task.keys.n;
    }
    return *id - 1;
}

uint32_t ids_comm_op(struct db_ids *ids, str_id key)
{
    return *map_put(&ids->comm_ops, key, (uint32_t)ids->comm_ops.n, NULL);
}
