/* A timeline in several files, each about a stretch of time: for viewers that cannot open large ones.
 *
 * Every event is in the file of the stretch that it begins in; names of processes and threads are in all of them. The
 * stretches are chosen before anything is written, from the starts of calls and tasks, so that the files get about
 * equally large. Nothing of the timeline is kept in memory. */
#ifndef TIMELINE_SLICES_H
#define TIMELINE_SLICES_H

#include "base/out.h"
#include "export/export.h"

#define SLICES_MAX 200u

struct slices {
    size_t n;
    struct out outs[SLICES_MAX];
    uint64_t events[SLICES_MAX]; /* in each file */
    int64_t from_ns[SLICES_MAX]; /* where the stretch of each file begins; the first has all before it, too */
};

/* About how many files of `bytes` each the timeline of a model needs. */
size_t slices_needed(const struct model *m, uint64_t bytes);

/* Begin n <= SLICES_MAX files. Returns 0, or -1 with *err set and nothing left. */
int slices_open(struct slices *s, const struct export_target *t, size_t n, struct error *err);

/* Add an event, without a comma, to the file of its time, and to all files. */
void slices_add(struct slices *s, int64_t time_ns, const char *event, size_t len);
void slices_add_to_all(struct slices *s, const char *event, size_t len);

/* Finish the files and list them in t->written. Returns 0, or -1 with *err set: those that failed are not there. */
int slices_close(struct slices *s, struct export_target *t, struct error *err);

#endif
