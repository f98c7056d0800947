/* Interned strings: equal texts have equal ids, so that a string in the model is 4 bytes and comparing is comparing
 * numbers.
 *
 * Adding is safe from several threads. The *number* an id has depends on who came first: never sort by it and never
 * print it. Bytes are kept as they are (not necessarily UTF-8) and may hold anything but NUL is not treated specially.
 */
#ifndef BASE_STRPOOL_H
#define BASE_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t str_id;

#define STR_EMPTY 0u /* the empty string */
#define STR_NA    1u /* "N/A" */

struct strpool;

struct strpool *strpool_new(void);
void strpool_free(struct strpool *p);

str_id strpool_add(struct strpool *p, const char *text, size_t len);
str_id strpool_add_z(struct strpool *p, const char *text); /* NUL terminated */
str_id strpool_add_u64(struct strpool *p, uint64_t value); /* as decimal text */

/* The text, NUL terminated, good as long as the pool. Safe while others add. */
const char *strpool_text(const struct strpool *p, str_id id);

/* Its length in bytes. */
size_t strpool_length(const struct strpool *p, str_id id);

/* Number of strings: ids are 0 … count - 1. */
uint32_t strpool_count(const struct strpool *p);

#endif
