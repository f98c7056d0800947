/* A hash map from 64-bit keys to 32-bit values; any key is allowed. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
};

struct map {
    struct map_slot *slots; /* a power of two, NULL = empty map */
    size_t mask;
    size_t n; /* keys */
};

/* `expected` keys without growing. */
void map_reserve(struct map *m, size_t expected);
void map_free(struct map *m);

/* The value slot of `key`, created with `fresh` if the key is new (*is_new, may be NULL, says which).
 * Good until the next map_put. */
uint32_t *map_put(struct map *m, uint64_t key, uint32_t fresh, bool *is_new);

/* The value of `key`, or `missing`. Safe from several threads while nobody writes. */
uint32_t map_get(const struct map *m, uint64_t key, uint32_t missing);

#endif
