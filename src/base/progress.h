/* How far a run is, for a display to poll: one object per run, written by workers, read by whoever draws it. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
    _Atomic(const char *) phase; /* a static string: "reading", "joining", "writing" */
    atomic_uint_fast64_t done;   /* units of work of the phase that are done: bytes read, or rows written */
    atomic_uint_fast64_t total;  /* units of the phase, 0 = not known */
    atomic_bool bytes;           /* units are bytes */
};

/* Begin a phase. p may be NULL everywhere (nobody looks). */
static inline void progress_phase(struct progress *p, const char *phase, uint64_t total, int bytes)
{
    if (!p) return;
    p->done = 0;
    p->total = total;
    p->bytes = bytes;
    p->phase = phase;
}

static inline void progress_add(struct progress *p, uint64_t units)
{
    if (p) atomic_fetch_add_explicit(&p->done, units, memory_order_relaxed);
}

#endif
