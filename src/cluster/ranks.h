/* The communication of all ranks in an iteration, each rank by itself, from its raw data. */
#ifndef CLUSTER_RANKS_H
#define CLUSTER_RANKS_H

#include "analyze/facts.h"
#include "cluster/parts.h"

/* When an iteration ran on a rank, from first_ns to last_ns; all there is when the rank saw no iterations. */
struct rank_window {
    bool on;
    int64_t model_id;          /* the one with most iterations */
    int64_t first_ns, last_ns; /* CLOCK_MONOTONIC_RAW of the host */
};

/* Find it for a device of the cluster, after answer_read_steps. Returns false, with *status set and the reason in the
 * answer, when the question cannot be answered. */
bool rank_window(struct asking *q, const struct cluster_device *d, struct rank_window *w, int *status);

/* The same window in times of the model. */
struct analysis_scope rank_scope(const struct rank_window *w, const struct prof_dir *dir);

struct rank {
    int64_t id;
    struct rank_window window;
    struct analysis *facts;  /* NULL when its raw data cannot be read: */
    char *error;             /* why */
    const struct chip *chip; /* NULL = not known */
};

struct ranks {
    struct rank *at; /* [n], by id */
    size_t n;
    int64_t model_id;        /* that of the last rank with iterations; 4294967295 = no rank has any */
    const struct chip *chip; /* of the first rank whose chip is known, never NULL */
};

/* Analyze the communication of all ranks in the iteration that is asked for, after answer_read_steps: rules are enum
 * npuprof_rule, or-ed; names[n_names] are those of operators, NULL = all. As many ranks at once as there are threads
 * and memory for. Returns false, with *status set and the reason in the answer, when there is nothing to tell.
 * ranks_free(r) in both cases. */
bool ranks_read(struct ranks *r, struct asking *q, unsigned rules, char *const *names, size_t n_names, int *status);
void ranks_free(struct ranks *r);

/* Operators by name, each with the ranks that have it. */
struct rank_operator {
    const char *name; /* of the facts of a rank */
    size_t first, n;  /* in entries */
};

struct rank_entry {
    uint32_t rank, op; /* indexes in ranks and in its operators */
};

struct rank_operators {
    ARRAY(struct rank_operator) list; /* in order of appearance, rank by rank */
    ARRAY(struct rank_entry) entries; /* by operator, then by rank */
};

/* measured: only where its times could be measured. */
void rank_operators_find(struct rank_operators *o, const struct ranks *r, bool measured);
void rank_operators_free(struct rank_operators *o);

#define CRITICAL_OPERATORS 5

/* The operators of communication with the longest serial time on the critical path of the rank that is asked for (of
 * the first one, for -1); those that send or receive left out: longest first, up to CRITICAL_OPERATORS texts, free()
 * each. After answer_read_steps. Returns their number; 0, with *status set and the reason in the answer, when there is
 * none. */
size_t critical_operators(struct asking *q, char *names[CRITICAL_OPERATORS], int *status);

#endif
