/* A parallel for: as many threads as asked for take the items 0 … n - 1 in order until none is left. */
#ifndef BASE_JOBS_H
#define BASE_JOBS_H

#include <stddef.h>

/* Number of processors this process may run on, at least 1. */
unsigned jobs_cores(void);

/* Call work(i, context) once for every i < n, on up to `threads` threads (the caller's included). Returns when all are
 * done. Items must not depend on each other, and what they produce must not depend on who runs when. May be nested. */
void jobs_each(unsigned threads, size_t n, void (*work)(size_t i, void *context), void *context);

#endif
