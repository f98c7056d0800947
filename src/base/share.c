#include "base/share.h"

#include <unistd.h>

void share_init(struct share *s, unsigned threads, size_t n, size_t at_once, uint64_t memory)
{
    if (at_once > n) at_once = n;
    if (at_once > threads) at_once = threads;
    *s = (struct share){.threads = threads, .slots = (unsigned)at_once, .left = n, .most = memory};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
}

void share_free(struct share *s)
{
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->freed);
}

unsigned share_at_once(const struct share *s)
{
    return s->slots;
}

/* There are never fewer free threads than jobs that may begin: each takes its part of what is left, rounded down. */
unsigned share_begin(struct share *s)
{
    pthread_mutex_lock(&s->lock);
    size_t to_begin = s->left < s->slots ? s->left : s->slots;
    unsigned threads = s->threads / (unsigned)to_begin;
    s->threads -= threads;
    s->slots--;
    s->left--;
    pthread_mutex_unlock(&s->lock);
    return threads;
}

void share_take_memory(struct share *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    while (s->used && (s->used > s->most || bytes > s->most - s->used)) pthread_cond_wait(&s->freed, &s->lock);
    s->used += bytes;
    pthread_mutex_unlock(&s->lock);
}

void share_end(struct share *s, unsigned threads, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    s->threads += threads;
    s->slots++;
    s->used -= bytes;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

uint64_t share_half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_C(1) << 32;
}
