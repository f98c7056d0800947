#include "base/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

struct run {
    atomic_size_t next;
    size_t n;
    void (*work)(size_t, void *);
    void *context;
};

unsigned jobs_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

static void *take_items(void *arg)
{
    struct run *r = arg;
    for (size_t i; (i = atomic_fetch_add(&r->next, 1)) < r->n;) r->work(i, r->context);
    return NULL;
}

void jobs_each(unsigned threads, size_t n, void (*work)(size_t i, void *context), void *context)
{
    struct run r = {0, n, work, context};
    if (threads > n) threads = (unsigned)n;
    pthread_t *helpers = threads > 1 ? mem_alloc((threads - 1) * sizeof *helpers) : NULL;
    unsigned started = 0;
    while (helpers && started < threads - 1 && !pthread_create(&helpers[started], NULL, take_items, &r)) started++;
    take_items(&r);
    for (unsigned i = 0; i < started; i++) pthread_join(helpers[i], NULL);
    free(helpers);
}
