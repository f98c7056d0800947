/* What is told is how far the first PROF directory is that is not done yet: with several at work the line would jump
 * otherwise. */
#include "watch.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

#define TICK_MS 200 /* between two calls of on_progress */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell(const struct watch *w, const struct watched *prof, double now)
{
    struct npuprof_progress told = {
        .prof = prof->name,
        .phase = prof->phase,
        .done = prof->progress.done,
        .total = prof->progress.total,
        .units_are_bytes = prof->progress.bytes,
        .elapsed_seconds = now - prof->phase_start,
        .profs_done = w->done,
        .profs = w->n,
    };
    w->options->on_progress(&told, w->options->context);
}

/* A phase began after the last look: its time is not too short. */
static void look(struct watch *w, double last, double now)
{
    const struct watched *first = NULL;
    for (size_t i = 0; i < w->n; i++) {
        struct watched *prof = &w->profs[i];
        const char *phase = prof->running ? prof->progress.phase : NULL;
        if (!phase) continue;
        if (phase != prof->phase) prof->phase_start = last;
        prof->phase = phase;
        if (!first) first = prof;
    }
    if (first) tell(w, first, now);
}

static void *watch_work(void *context)
{
    struct watch *w = context;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double last = now_seconds();
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        until.tv_nsec += TICK_MS * 1000000l;
        until.tv_sec += until.tv_nsec / 1000000000l;
        until.tv_nsec %= 1000000000l;
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
        if (w->stop) break;
        double now = now_seconds();
        look(w, last, now);
        last = now;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void watch_start(struct watch *w, const struct npuprof_options *options, size_t n)
{
    *w = (struct watch){.options = options};
    if (!options->on_progress) return;
    w->profs = mem_zalloc(n, sizeof *w->profs);
    w->n = n;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&w->lock, NULL);
    w->started = !pthread_create(&w->thread, NULL, watch_work, w);
}

void watch_stop(struct watch *w)
{
    if (!w->profs) return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->started) pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
    free(w->profs);
}

struct progress *watch_begin(struct watch *w, size_t i, const char *name)
{
    if (!w->profs) return NULL;
    pthread_mutex_lock(&w->lock);
    w->profs[i].name = name;
    w->profs[i].running = true;
    pthread_mutex_unlock(&w->lock);
    return &w->profs[i].progress;
}

void watch_end(struct watch *w, size_t i)
{
    if (!w->profs) return;
    pthread_mutex_lock(&w->lock);
    w->profs[i].running = false;
    w->done++;
    pthread_mutex_unlock(&w->lock);
}
