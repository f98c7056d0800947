/* Which iterations an export is about, and what of a device belongs to them.
 *
 * Iterations are those of a graph (one model, counted from 1), or the steps that a program marked itself: those have no
 * model. A device's window is found once, from its steps; everything else asks the window. */
#ifndef MODEL_SELECTION_H
#define MODEL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define SELECTION_MAX 5u         /* iterations of one export */
#define MODEL_MARKED  UINT32_MAX /* the "model" of marked steps */

struct model;
struct device_model;
struct device_task;
struct device_data;
struct host_data;
struct map;

/* What was asked for. */
struct selection {
    int64_t model_id; /* MODEL_MARKED: marked steps */
    int64_t first;    /* iteration */
    int64_t count;
};

/* Iterations of one model that a device saw. */
struct seen_model {
    uint32_t model_id;
    bool marked;
    uint32_t first, last; /* ids */
    uint64_t n;
};

/* What of a device is exported. Times are epoch ns. */
struct window {
    bool on;                        /* false: everything */
    bool none;                      /* nothing: the device did not see these iterations */
    bool marked;                    /* marked steps, else iterations of a graph */
    uint32_t model_id;              /* of the iterations */
    uint32_t first, last;           /* their ids */
    uint64_t start, end;            /* device counter: from the begin of the first to the end of the last */
    int64_t from_ns, to_ns;         /* the timeline: as start … end, but from the very beginning with iteration 1 */
    int64_t ends_ns[SELECTION_MAX]; /* of iteration first + i, 0 = not seen */
    int64_t calls_from_ns;          /* host calls: from the end of the step before */
    bool all_calls;                 /* of the host are shown: no graph ran, only operators one by one */
};

/* Find the windows of all devices, once host and devices are read. NULL selects nothing in particular; but a
 * collection whose tasks cannot be told apart (session.all_export) and that ran graphs can only be exported by
 * iterations: that is the first one of its main model then. What was asked for and does not exist is said, with what
 * does. */
void selection_find(struct model *m, const struct selection *wanted, struct diag *diag);

/* Hide the calls of the host that belong to no window, once the devices are joined. */
void selection_limit_host(struct model *m);

/* Is a task of the device in its window? */
bool window_has_task(const struct window *w, const struct device_task *t);

/* May something from start to end be shown in the timeline of the device? */
static inline bool window_shows(const struct window *w, int64_t start_ns, int64_t end_ns)
{
    if (!w->on) return true;
    return !w->none && start_ns < w->to_ns && (start_ns >= w->from_ns || end_ns > w->from_ns);
}

/* Is this one of the iterations? */
bool window_has_iteration(const struct window *w, uint32_t model_id, bool marked, uint32_t iteration_id);

/* Is an operator of that model, launched for that request (0: once for all iterations), one of these iterations? Marked
 * steps are made of anything. */
bool window_has_op(const struct window *w, uint32_t model_id, int32_t request_id);

/* Which of the iterations of an open window something belongs to that ran at that time. */
uint32_t window_iteration_at(const struct window *w, int64_t ns);

/* Is an export about iterations of a graph? */
bool selection_of_graph(const struct model *m);

/* The models whose iterations a device saw, marked steps last; ascending, free() them. Only those that the host knows
 * operators of, where it knows any. */
struct seen_model *seen_models(const struct host_data *h, const struct device_data *d, size_t *n);

/* Put the models of which the host launched operators into *models. */
void host_models(struct map *models, const struct host_data *h);

#endif
