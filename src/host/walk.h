/* From the call tree of a thread to the tasks it launched. */
#ifndef HOST_WALK_H
#define HOST_WALK_H

#include "host/apis.h"
#include "host/capture.h"
#include "host/operators.h"
#include "host/records.h"
#include "host/tree.h"

/* What all threads share, read-only. */
struct walk_context {
    const struct records *records;
    const struct host_data *host; /* apis */
    const struct capture *capture;
    struct strpool *strings;
    struct api_names names;
    struct op_words words;
    bool level0;   /* collected without operator records */
    bool contexts; /* the chip has sub-tasks with context ids */
};

/* What a thread launched; ops are numbered within the thread. */
struct thread_tasks {
    struct intern ops;
    ARRAY(struct host_task) tasks;
    ARRAY(struct host_comm_task) comm_tasks;
    ARRAY(struct host_comm_op) comm_ops;
    ARRAY(struct fusion_op) fusion_ops;
    size_t stray_records; /* operator and communication records outside any call */
    size_t stray_tasks;   /* communication tasks outside any call of level node */
    size_t bad_ranges;    /* context ranges that are none, or too long */
};

/* calls[n]: the thread's calls for the tree (indices in host.apis, ascending); root: connection id of the thread. */
void walk_thread(struct thread_tasks *out, const struct walk_context *c, uint32_t thread_id, uint32_t root,
                 const uint32_t *calls, size_t n);

#endif
