/* What the files of the room share beside the facts. */
#ifndef ANALYZE_PARTS_H
#define ANALYZE_PARTS_H

#include "analyze/facts.h"

/* ---- walk.c: what the tasks of a plane do ---------------------------------------------------------------------------
 */

enum comm_step_kind {
    STEP_COPY,  /* an SDMA engine copies */
    STEP_LOCAL, /* the same within the memory of the NPU */
    STEP_RDMA,  /* a whole RDMA transfer: payloads, and the tasks that close it */
    STEP_WAIT,  /* the operator waits for another rank */
};

struct comm_step {
    enum comm_step_kind kind;
    const struct comm_task *first;
    int64_t bytes, ns;
    enum traffic traffic;  /* of a transfer */
    const char *transport; /* of a transfer, as in struct link */
};

/* Tasks of one operator in one plane, in order of their start. */
struct plane {
    const struct comm_task *tasks;
    const struct sort_key *order; /* n indexes in tasks */
    size_t n;
    unsigned closing;                 /* tasks of an RDMA transfer behind its last payload, that payload counted */
    size_t at;                        /* the next task */
    str_id copy, reduce, notify_wait; /* names of tasks that mean something here */
};

/* Tasks that close an RDMA transfer of an operator of that name. */
unsigned plane_closing(const char *op_name);

/* The next step; false at the end. Tasks that are nothing of the kind are passed over. */
bool plane_next(struct plane *p, struct comm_step *s);

/* ---- json.c, tables.c -----------------------------------------------------------------------------------------------
 */

/* Write one file; *rows counts operators, or rows. The database gets the tables of `rules`, the others are taken over.
 * Return 0, or -1 with *err set. */
int json_write_communication(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows,
                             struct error *err);
int json_write_matrix(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows, struct error *err);
int tables_write(const struct analysis *a, unsigned rules, const char *path, struct diag *diag, uint64_t *bytes,
                 uint64_t *rows, struct error *err);

#endif
