/* Tells how far a run is: a thread beside the work looks at the progress objects a few times per second and calls
 * npuprof_options.on_progress; nothing that works waits for it. */
#ifndef WATCH_H
#define WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/progress.h"
#include "npuprof.h"

/* A PROF directory at work. */
struct watched {
    struct progress progress;
    const char *name;
    const char *phase; /* of the watcher: what it saw last, and since when */
    double phase_start;
    bool running;
};

struct watch {
    const struct npuprof_options *options;
    struct watched *profs; /* owned */
    size_t n, done;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool started, stop;
};

/* Watch n PROF directories, until watch_stop. Does nothing when options->on_progress is NULL. */
void watch_start(struct watch *w, const struct npuprof_options *options, size_t n);
void watch_stop(struct watch *w);

/* PROF directory i begins; `name` must live until watch_stop. Returns where its progress belongs, NULL = nobody looks.
 */
struct progress *watch_begin(struct watch *w, size_t i, const char *name);
void watch_end(struct watch *w, size_t i);

#endif
