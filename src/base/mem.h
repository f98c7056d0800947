/* Memory that is always there: allocation either succeeds or ends the process with one line.
 *
 * A profile is decoded into a few large arrays whose sizes are bounded by the sizes of the input files; there is no
 * sensible way to go on after one of them could not be had, and outputs only get their final names when complete. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* `bytes` of uninitialised memory; free() it. Zero bytes give a valid pointer. */
void *mem_alloc(size_t bytes);

/* n * size zeroed bytes, overflow checked; free() it. */
void *mem_zalloc(size_t n, size_t size);

/* `old` (may be NULL) resized to n * size bytes, overflow checked. */
void *mem_resize(void *old, size_t n, size_t size);

/* A copy of `len` bytes of `text` with a NUL behind; free() it. */
char *mem_strndup(const char *text, size_t len);

/* printf into fresh memory; free() it. */
char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
