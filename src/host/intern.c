/* All contents one behind the other in one buffer, found by open addressing. */
#include "host/intern.h"

#include <string.h>

#include "base/hash.h"

static void grow(struct intern *t)
{
    size_t size = t->table ? (t->mask + 1) * 2 : 64;
    free(t->table);
    t->table = mem_zalloc(size, sizeof *t->table);
    t->mask = size - 1;
    for (size_t i = 0; i < t->items.n; i++) {
        size_t at = t->items.at[i].hash & t->mask;
        while (t->table[at]) at = (at + 1) & t->mask;
        t->table[at] = (uint32_t)i + 1;
    }
}

uint32_t intern_put(struct intern *t, const void *data, size_t length, bool *is_new)
{
    if (!t->table || t->items.n > t->mask / 2) grow(t);
    uint32_t hash = (uint32_t)hash_bytes(data, length);
    size_t at = hash & t->mask;
    for (; t->table[at]; at = (at + 1) & t->mask) {
        const struct intern_item *i = &t->items.at[t->table[at] - 1];
        if (i->hash == hash && i->length == length && (!length || !memcmp(t->bytes.at + i->offset, data, length))) {
            if (is_new) *is_new = false;
            return t->table[at] - 1;
        }
    }
    if (is_new) *is_new = true;
    size_t offset = t->bytes.n;
    if (t->bytes.room < offset + length) array_reserve(&t->bytes, array_room(t->bytes.room, offset + length));
    if (length) memcpy(t->bytes.at + offset, data, length);
    t->bytes.n += length;
    array_push(&t->items, ((struct intern_item){offset, (uint32_t)length, hash}));
    t->table[at] = (uint32_t)t->items.n;
    return (uint32_t)t->items.n - 1;
}

void intern_free(struct intern *t)
{
    array_free(&t->bytes);
    array_free(&t->items);
    free(t->table);
    *t = (struct intern){0};
}
