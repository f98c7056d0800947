#include "base/map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

static struct map_slot *find(const struct map *m, uint64_t key)
{
    size_t at = hash_u64(key) & m->mask;
    while (m->slots[at].used && m->slots[at].key != key) at = (at + 1) & m->mask;
    return &m->slots[at];
}

static void rehash(struct map *m, size_t size)
{
    struct map old = *m;
    m->slots = mem_zalloc(size, sizeof *m->slots);
    m->mask = size - 1;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].used) *find(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

void map_reserve(struct map *m, size_t expected)
{
    size_t size = 16;
    while (size < expected + expected / 2 + 1) size *= 2;
    if (!m->slots || size > m->mask + 1) rehash(m, size);
}

void map_free(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}

uint32_t *map_put(struct map *m, uint64_t key, uint32_t fresh, bool *is_new)
{
    if (!m->slots) rehash(m, 16);
    struct map_slot *s = find(m, key);
    if (is_new) *is_new = !s->used;
    if (!s->used) {
        if (m->n + m->n / 2 >= m->mask) {
            rehash(m, (m->mask + 1) * 2);
            s = find(m, key);
        }
        *s = (struct map_slot){key, fresh, 1};
        m->n++;
    }
    return &s->value;
}

uint32_t map_get(const struct map *m, uint64_t key, uint32_t missing)
{
    if (!m->slots) return missing;
    const struct map_slot *s = find(m, key);
    return s->used ? s->value : missing;
}
