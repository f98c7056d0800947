/* What the files of the room share. */
#ifndef CLUSTER_PARTS_H
#define CLUSTER_PARTS_H

#include <sqlite3.h>

#include "base/json.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "npuprof.h"

/* ---- parallel.c -----------------------------------------------------------------------------------------------------
 */

/* Does the framework say how this device works with others? */
bool parallel_is_told(const struct prof_dir *dir);

/* What it says, and how communication and computation of the iterations lie in d->strategy and d->parallel. */
void parallel_gather(struct cluster_device *d, const struct model *m, const struct device_model *device,
                     struct diag *diag);

/* ---- store.c --------------------------------------------------------------------------------------------------------
 */

/* Open <dir>/sqlite/<name> to be read, with nothing in it trusted. NULL when there is none (*err untouched), or with
 * *err set when it is not usable. */
sqlite3 *store_open(const char *dir, const char *name, struct error *err);

/* Is there a real table of that name? */
bool store_has_table(sqlite3 *db, const char *name);

/* ---- answer.c -------------------------------------------------------------------------------------------------------
 */

/* A question that is being answered. */
struct asking {
    const struct npuprof_question *question;
    struct npuprof_answer *answer;
    struct cluster cluster;
    unsigned threads;
    struct diag *diag;
};

/* What went wrong, for the one who asked: a line of the answer. `status` is that of the library, NPUPROF_OK for a
 * question that was fine but has no answer. Returns it. */
int answer_fail(struct asking *q, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Something worth knowing about what is answered: a line of the answer that is neither a file nor a failure. */
void answer_note(struct asking *q, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begin the file <dir>/query/<name>. Returns the status: NPUPROF_FAILED, with a line of the answer, when it cannot be
 * written. */
int answer_begin(struct asking *q, struct out *o, const char *name);

/* Complete it; it is a line of the answer. Returns the status. */
int answer_end(struct asking *q, struct out *o, const char *name);

/* "<stem>_<id>_<model>_<iteration>.json", free() it; a number that was not given is -1. */
char *answer_name(const struct asking *q, const char *stem);

/* The usual ranges: id -1 or above, model 0 or above, iteration 1 or above where it is given. Returns NPUPROF_OK, or
 * what answer_fail returned. */
int answer_check_ids(struct asking *q);

/* Read the iterations of all devices. Returns the status: NPUPROF_NO_CLUSTER_DB, with a line of the answer, when the
 * database cannot be used. */
int answer_read_steps(struct asking *q);

/* The PROF directory of a device, opened; NULL when that cannot be done, which is in the answer then. *dir is the
 * device in it. */
struct session *answer_session(struct asking *q, const struct cluster_device *d, const struct prof_dir **dir);

/* The kinds of answers, by their number. Each returns an enum npuprof_status. */
int answer_steps(struct asking *q);           /* 1: iterations */
int answer_operations(struct asking *q);      /* 2: operations of operators */
int answer_queues(struct asking *q);          /* 3: queues of training data */
int answer_parallel_advice(struct asking *q); /* 4 */
int answer_parallel(struct asking *q);        /* 5: communication beside computation */
int answer_communication(struct asking *q);   /* 6; 9: of the operators on the critical path */
int answer_matrix(struct asking *q);          /* 7, 10: links, likewise */
int answer_host_usage(struct asking *q);      /* 8 */
int answer_tuning(struct asking *q);          /* 6 and 7 at once, with what to make of them in the answer */

#endif
