/* Byte strings numbered by content: equal bytes get equal numbers, in order of first appearance. */
#ifndef HOST_INTERN_H
#define HOST_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

struct intern_item {
    size_t offset; /* in bytes */
    uint32_t length;
    uint32_t hash;
};

struct intern {
    ARRAY(uint8_t) bytes;
    ARRAY(struct intern_item) items; /* by number */
    uint32_t *table;                 /* number + 1, 0 = free */
    size_t mask;
};

/* The number of data[length]; *is_new (may be NULL) says whether it was given just now. */
uint32_t intern_put(struct intern *t, const void *data, size_t length, bool *is_new);
void intern_free(struct intern *t);

/* Content of a number, good until the next intern_put; not aligned. */
static inline const void *intern_at(const struct intern *t, uint32_t number)
{
    return t->bytes.at + t->items.at[number].offset;
}

static inline size_t intern_length(const struct intern *t, uint32_t number)
{
    return t->items.at[number].length;
}

#endif
