/* The call tree of one thread: which API call lies inside which, and which of them a task or a record belongs to. */
#ifndef HOST_TREE_H
#define HOST_TREE_H

#include "host/records.h"

/* A call in the tree, in order of begin (parents before children). Node 0 is the thread itself. */
struct node {
    uint32_t api;    /* index in host.apis, NONE for the thread */
    uint32_t parent; /* node */
    uint32_t after;  /* first node that is not in its subtree */
    uint32_t rank;   /* children before parents */
    /* The nearest call of each level at or around this one: index in the tree's list, NONE = none */
    uint32_t model, launch, comm;
};

/* Records that belong to a call, as circular lists through next arrays: `last` is the last record, next[last] the
 * first.
 */
#define HOLDER_LISTS 5

enum launch_list {
    LAUNCH_BASIC,
    LAUNCH_ATTR,
    LAUNCH_TENSORS,
    LAUNCH_CONTEXTS,
    LAUNCH_COMM_OP
};                                           /* calls of level node */
enum comm_list { COMM_CONTEXTS, COMM_INFO }; /* … communication */
enum model_list { MODEL_FUSION };            /* … model */

struct holder {
    uint32_t node;
    uint32_t last[HOLDER_LISTS]; /* index in the thread's records of the kind, NONE = no record */
    uint32_t last_launch;        /* API of the last call of level node directly inside, NONE */
    uint32_t cache;              /* for the walk: what was worked out for this call, NONE = not yet */
    bool has_comm_op;            /* for the walk */
};

struct tree {
    const struct api *apis; /* of the host */
    ARRAY(struct node) nodes;
    ARRAY(struct holder) launches, comms, models;
};

/* Build the tree of one thread from its calls (indices in apis, ascending). */
void tree_build(struct tree *t, const struct api *apis, const uint32_t *calls, size_t n);
void tree_free(struct tree *t);

/* Does the tree use calls of that level? */
bool tree_uses_level(uint16_t level);

/* owner[i] := the node that tracks[i] (ascending time) was launched in: the innermost call with begin < time <= end. */
void tree_place(const struct tree *t, const struct track *tracks, size_t n, uint32_t *owner);

/* Attach records[n] (each of `size` bytes, beginning with RECORD_STAMP, ascending time) to the calls of `holders`, as
 * list number `list` with next[n] for the links. A record belongs to the first call with begin <= time <= end, or, with
 * `inner`, to the next call inside that one which also encloses it. Returns how many found no call. */
size_t tree_attach(const struct tree *t, struct holder *holders, size_t n_holders, const void *records, size_t size,
                   size_t n, int list, bool inner, uint32_t *next);

#endif
