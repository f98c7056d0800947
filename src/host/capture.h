/* Graphs captured from streams (aclgraph): which model a task on a captured stream belongs to, and the operators of the
 * tasks that a graph replays without a launch. */
#ifndef HOST_CAPTURE_H
#define HOST_CAPTURE_H

#include "base/map.h"
#include "host/records.h"

struct capture_span {
    uint64_t start, end; /* host counts, both inclusive */
    uint32_t model_id;
};

struct capture {
    struct map streams; /* (device, stream, batch) -> index in spans */
    ARRAY(struct capture_span) spans;
    struct map ops; /* (device, stream, task) -> index in records.captured_ops */
};

/* Also adds the captured copies of kfc streams to host.kfc_streams, which is sorted and distinct afterwards. */
void capture_build(struct capture *c, const struct records *r);
void capture_free(struct capture *c);

/* The model that captured the task, or MODEL_NONE. */
uint32_t capture_model(const struct capture *c, const struct track *t);

/* The operator that the task replays, or NULL. */
const struct captured_op *capture_op(const struct capture *c, const struct records *r, const struct track *t);

#endif
