/* What an export of a whole cluster notices beside: nodes that prepare their data slowly, links that are slow.
 *
 *     model of each PROF ──▶ hints_gather ──▶ hints_append, in order ──▶ hints_tell: lines of text
 *
 * Nodes are compared with each other, links with those of their kind on the same device. */
#ifndef CLUSTER_HINTS_H
#define CLUSTER_HINTS_H

#include <stdbool.h>

#include "base/array.h"
#include "model/model.h"

/* A device of a cluster. */
struct hint_node {
    char *name; /* "PROF_…/device_0" */
    bool has_iterations;
    double data_ns; /* time to get at the data of an iteration, on average */
};

/* A link that is slower than others of its kind. */
struct hint_link {
    const char *transport; /* static */
    uint32_t src_rank, dst_rank;
    double gbs, below; /* below: % that it is below the average of its kind */
    size_t node;       /* where it was seen */
};

struct hints {
    ARRAY(struct hint_node) nodes;
    ARRAY(struct hint_link) links;
};

/* Add the devices of a PROF directory. */
void hints_gather(struct hints *h, const struct model *m);

/* Move what `from` has behind what h has. */
void hints_append(struct hints *h, struct hints *from);
void hints_free(struct hints *h);

typedef ARRAY(char *) hint_lines;

/* The report, line by line; nothing when there is no device. The lines are the caller's, free() each. */
void hints_tell(const struct hints *h, hint_lines *lines);

#endif
