/* Sorting large arrays by integer keys: stable radix sort of (key, index) pairs, then one permutation of the payload.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
    uint64_t key;
    uint32_t index;
};

/* Sort keys[n] by key, ascending, stable. Costs nothing when they already are in order. */
void sort_keys(struct sort_key *keys, size_t n);

/* Sort keys[n] by (high, key): a second, more significant key per *index* (high[keys[i].index]). Stable. */
void sort_keys_then(struct sort_key *keys, size_t n, const uint32_t *high);

/* Reorder elements[n] of `size` bytes so that element i becomes what was at keys[i].index. */
void sort_permute(void *elements, size_t size, const struct sort_key *keys, size_t n);

#endif
