/* The operators that one launch (a call of level node) reported. */
#ifndef HOST_LAUNCHES_H
#define HOST_LAUNCHES_H

#include "host/records.h"
#include "host/tree.h"

/* The records of one thread that describe operators, and their links within each call. */
struct launch_records {
    const struct basic *basics;
    const struct attr *attrs;
    const struct tensors *tensors;
    const struct contexts *contexts;
    const uint32_t *context_ids; /* of all threads */
    uint32_t *next[HOLDER_LISTS];
};

/* An operator: its records, NONE = there is none of the kind. */
struct description {
    str_id name; /* of the first record */
    uint32_t basic, attr, tensors, contexts;
};

/* A sub-task and the operator that it is of (index in descriptions). */
struct launch_context {
    uint32_t context_id, description;
};

struct launch {
    uint32_t first_context, n_contexts; /* in launches.contexts: distinct ids */
    uint32_t whole;                     /* the operator without sub-tasks, NONE */
    uint32_t last;                      /* the operator that was reported last, NONE */
    bool has_contexts;                  /* some context record: there are sub-tasks, and the task as a whole */
};

struct launches {
    ARRAY(struct description) descriptions;
    ARRAY(struct launch_context) contexts;
    ARRAY(struct launch) launches;
};

/* Work out the launch of a call; returns its index in l->launches. */
uint32_t launch_build(struct launches *l, const struct launch_records *r, const struct holder *call);
void launches_free(struct launches *l);

#endif
