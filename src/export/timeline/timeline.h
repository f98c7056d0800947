/* The layers of the timeline: a layer is a process of the trace, or a part of one, that shows one kind of data.
 *
 * Adding a layer: write its function in a file of its own, declare it below and give it a line in the table of
 * timeline.c. A layer that has no data writes nothing at all, not even the name of its process. */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include "export/timeline/trace.h"
#include "model/model.h"

/* The files that a timeline export can leave. */
enum timeline_file { FILE_MSPROF, FILE_STEP_TRACE, FILE_COUNT };

struct layer {
    const char *key;     /* what a selection of layers calls it */
    const char *name;    /* of its process */
    unsigned sort_index; /* position of the process; part of the process id */
    unsigned files;      /* files it is in: 1 << enum timeline_file, or-ed */
    void (*write)(struct trace *t, const struct layer *layer);
};

/* Process id of a layer in a directory. */
static inline uint32_t layer_pid(const struct layer *layer, const struct prof_dir *dir)
{
    return trace_pid(dir, layer->sort_index);
}

/* Name, label and position of a layer's process in a directory. */
static inline void layer_process(struct trace *t, const struct layer *layer, const struct prof_dir *dir)
{
    trace_process(t, layer_pid(layer, dir), layer->name, layer->sort_index);
}

void ascend_hardware_write(struct trace *t, const struct layer *layer);
void cann_write(struct trace *t, const struct layer *layer);
void communication_write(struct trace *t, const struct layer *layer);
void overlap_write(struct trace *t, const struct layer *layer);
void step_trace_write(struct trace *t, const struct layer *layer);
void aicore_freq_write(struct trace *t, const struct layer *layer);

#endif
