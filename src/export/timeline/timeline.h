/* The layers of the timeline: a layer is a process of the trace, or a part of one, that shows one kind of data.
 *
 * Adding a layer: write its function in a file of its own, declare it below and give it a line in the table of
 * timeline.c. A layer that has no data writes nothing at all, not even the name of its process. The tracks of sampled
 * metrics are layers too: they stand in metrics/. */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include "export/timeline/trace.h"
#include "model/model.h"

/* The files that a timeline export can leave. */
enum timeline_file { FILE_MSPROF, FILE_STEP_TRACE, FILE_MSPROF_TX, FILE_COUNT };

#define IN_MSPROF     (1u << FILE_MSPROF)
#define IN_STEP_TRACE (1u << FILE_STEP_TRACE)
#define IN_MSPROF_TX  (1u << FILE_MSPROF_TX)

/* script_index of a layer that has no fixed position in the reference's script timelines: it gets the next free one. */
#define NEXT_INDEX 0

/* When the process of a metric's layer is named. */
enum process_naming {
    PROCESS_SHOWN,       /* for the devices that show something */
    PROCESS_ALL_DEVICES, /* for all devices as soon as one shows something */
};

/* Position of the CANN process in every timeline. */
#define CANN_INDEX 7u

struct metric;
struct layer {
    const char *key;     /* what a selection of layers calls it */
    const char *name;    /* of its process */
    unsigned sort_index; /* position of the process; part of the process id */
    unsigned files;      /* files it is in: IN_MSPROF, …, or-ed */

    /* Write the layer. NULL for the track of a metric, which has `show`. */
    void (*write)(struct trace *t, const struct layer *layer);

    /* Position in a timeline of the reference's scripts (session.script_timeline); or NEXT_INDEX, and who has one. */
    unsigned script_index;
    bool (*has)(const struct model *m, const struct prof_dir *dir);

    bool any_time; /* chooses itself what to show of single iterations; others show what lies in their time */

    /* For the track of a metric: write what was loaded from a directory. The process is named by the timeline. In
     * script timelines it is wherever something was loaded and `shows` (NULL = always) says so. */
    void (*show)(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data);
    bool (*shows)(const void *data);
    enum process_naming process;

    /* For a layer of a metric with `write` that shows a directory in several processes: how many. In script timelines
     * they have as many positions in a row, whatever is left to show of them. NULL = one process at most. */
    unsigned (*processes)(const void *data);

    /* Set by the timeline. */
    const struct metric *metric;
    const unsigned *numbers; /* by position of the directory; NULL = everywhere sort_index */
};

/* Position of a layer's process in a directory. */
static inline unsigned layer_sort_index(const struct layer *layer, const struct prof_dir *dir)
{
    return layer->numbers ? layer->numbers[dir->position] : layer->sort_index;
}

/* Process id of a layer in a directory. */
static inline uint32_t layer_pid(const struct layer *layer, const struct prof_dir *dir)
{
    return trace_pid(dir, layer_sort_index(layer, dir));
}

/* Name, label and position of a layer's process in a directory. */
static inline void layer_process(struct trace *t, const struct layer *layer, const struct prof_dir *dir)
{
    trace_process(t, layer_pid(layer, dir), layer->name, layer_sort_index(layer, dir));
}

/* Is there a layer with that key? */
bool timeline_has_layer(const char *key);

/* The layers that are of no metric, in the order of the files: *n entries. A key may be there more than once. */
const struct layer *timeline_own_layers(size_t *n);

void ascend_hardware_write(struct trace *t, const struct layer *layer);
void copies_write(struct trace *t, const struct layer *layer);
void cann_write(struct trace *t, const struct layer *layer);
void communication_write(struct trace *t, const struct layer *layer);
void overlap_write(struct trace *t, const struct layer *layer);
bool overlap_has(const struct model *m, const struct prof_dir *dir);
void step_trace_plain_write(struct trace *t, const struct layer *layer);
void step_trace_write(struct trace *t, const struct layer *layer);
void device_tx_write(struct trace *t, const struct layer *layer);
void aicore_freq_write(struct trace *t, const struct layer *layer);
void block_detail_write(struct trace *t, const struct layer *layer);
void fusion_task_write(struct trace *t, const struct layer *layer);

#endif
