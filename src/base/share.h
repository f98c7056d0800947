/* Threads and memory shared by jobs that run side by side: as many at once as there are threads, each with its part of
 * the threads, and no more of them at the stage that needs memory than fit into it. */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct share {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    unsigned threads;    /* that no job has */
    unsigned slots;      /* jobs that may begin beside those that run */
    size_t left;         /* jobs that have not begun */
    uint64_t used, most; /* bytes of memory */
};

/* Share `threads` (at least 1) and `memory` bytes among n jobs, of which at most `at_once` (at least 1) may run at
 * once.
 */
void share_init(struct share *s, unsigned threads, size_t n, size_t at_once, uint64_t memory);
void share_free(struct share *s);

/* How many jobs may run at once, before the first begins: call share_begin from so many threads. */
unsigned share_at_once(const struct share *s);

/* A job begins. Returns its threads, at least 1; the last jobs get more. */
unsigned share_begin(struct share *s);

/* The job is going to need about so many bytes: waits until they are free. A job that alone needs more than there is
 * runs alone. */
void share_take_memory(struct share *s, uint64_t bytes);

/* The job is done: gives back what it had of either. */
void share_end(struct share *s, unsigned threads, uint64_t bytes);

/* Half of the memory of this machine, in bytes. */
uint64_t share_half_of_memory(void);

#endif
