/* Clusters: many PROF directories of one job side by side, a device of each a rank.
 *
 *     cluster_gather of every PROF ──▶ cluster_check, cluster_write ──▶ <dir>/sqlite/cluster_*.db
 *                                                                        │
 *     a question (npuprof_ask) ──▶ cluster_open ◀────────────────────────┘
 *                                  answer ──▶ <dir>/query/….json, from the databases and the raw data of the ranks
 *
 * The databases are those of the reference tool, which may have written them: they are read with nothing in them
 * trusted. Formats: docs/outputs/cluster.md. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/error.h"
#include "base/progress.h"
#include "export/export.h"
#include "session/session.h"

#define CLUSTER_MAX_RANKS 4096 /* ranks of a cluster are below it */

/* An iteration of a graph. Points are µs of the CLOCK_MONOTONIC_RAW of its host, durations µs; 0 = not seen. */
struct cluster_step {
    int64_t device_id, model_id, iteration_id;
    double fp_start, bp_end, iteration_end;
    double iteration_time, fp_bp_time, refresh, data_aug;
    bool known; /* the host knows operators of the model */
};

/* A reduction of gradients in an iteration. µs as above. */
struct cluster_reduce {
    int64_t device_id, model_id, iteration_id;
    double iteration_end, start, end;
};

/* How a job is parallel. */
enum parallel_mode { PARALLEL_NONE, PARALLEL_STAND_ALONE, PARALLEL_DATA, PARALLEL_MODEL, PARALLEL_PIPELINE };

/* What the framework said of it on a device. Texts are NULL when not said. */
struct parallel_strategy {
    enum parallel_mode mode; /* PARALLEL_NONE: the framework said nothing */
    char *framework, *type, *devices;
    bool has_stages, has_rank, has_stage;
    int64_t stages, rank, stage;
};

/* Communication of an iteration beside its computation, µs. */
struct parallel_iteration {
    int64_t model_id, iteration_id;
    bool has_step;
    double step, computation;   /* valid when has_step */
    double communication, pure; /* pure: while nothing was computed */
    double interval;            /* between the operators of communication */
    double pure_receive, pure_rest;
    uint64_t operators;
};

/* A device of a cluster. Texts are owned. */
struct cluster_device {
    char *job, *time; /* as shown, "N/A" when unknown */
    char *dir;        /* "PROF_…/device_0", below the directory of the cluster */
    int64_t device_id;
    int64_t rank_id; /* -1 = none */
    ARRAY(struct cluster_step) steps;
    ARRAY(struct cluster_reduce) reduces;
    struct parallel_strategy strategy;
    ARRAY(struct parallel_iteration) parallel;
};

/* What a device is called in a cluster: its rank, its device number when there are no ranks. */
static inline int64_t cluster_id(const struct cluster_device *d)
{
    return d->rank_id >= 0 ? d->rank_id : d->device_id;
}

struct cluster {
    char *path; /* the directory that holds the PROF directories */
    ARRAY(struct cluster_device) devices;
};

void cluster_free(struct cluster *c);

/* ---- import ---------------------------------------------------------------------------------------------------------
 */

/* Add the devices of a PROF directory, from its raw data. */
void cluster_gather(struct cluster *c, const struct session *s, unsigned threads, struct diag *diag,
                    struct progress *progress);

/* Move the devices of `from` behind those of c. */
void cluster_append(struct cluster *c, struct cluster *from);

/* Can the devices be told apart, and are they all of a kind? Returns 0, or -1 with *err set. */
int cluster_check(const struct cluster *c, struct error *err);

/* Write the databases into <path>/sqlite; those of an older import go. Lists what was written; returns 0, or -1 with
 * *err set. */
int cluster_write(struct cluster *c, struct written_list *written, struct error *err);

/* ---- the databases --------------------------------------------------------------------------------------------------
 */

enum cluster_found {
    CLUSTER_THERE,
    CLUSTER_NONE,   /* there are no databases */
    CLUSTER_BROKEN, /* only one of the two, or not usable: *err says what is wrong */
};

/* Does the directory have databases of a cluster? */
enum cluster_found cluster_find(const char *path, struct error *err);

/* Read the devices (cluster_rank.db), in the order of ids, without their steps. Returns 0, or -1 with *err set. The
 * caller frees *c in both cases. */
int cluster_open(struct cluster *c, const char *path, struct error *err);

/* Read the iterations of all of them into their steps; a device without a table in the database has none. Returns 0, or
 * -1 with *err set. */
int cluster_read_steps(struct cluster *c, struct error *err);

/* The device with that id (cluster_id), NULL = there is none. */
struct cluster_device *cluster_device(struct cluster *c, int64_t id);

struct npuprof_answer;

/* What there is to say of the communication of all ranks in an iteration, as npuprof_ask answers: both files
 * (--data-type 6 and 7), and what to make of them, in lines that are only worth knowing. */
int cluster_tune(const char *dir, int64_t iteration_id, unsigned threads, struct npuprof_answer **answer);

#endif
