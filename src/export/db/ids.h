/* The numbers by which rows of the database refer to each other: dense from 0, given at first use. Tables and their
 * rows are written in a fixed order, so the same model gives the same numbers. */
#ifndef EXPORT_DB_IDS_H
#define EXPORT_DB_IDS_H

#include <stdint.h>

#include "base/array.h"
#include "base/map.h"
#include "base/strpool.h"

/* Identity of a task, wherever it is spoken of. */
struct db_task_key {
    uint32_t device_id, stream_id, task_id, context_id, batch_id;
};

struct db_ids {
    struct strpool *strings; /* of the model; texts that only the database has are added to it */
    struct {
        uint32_t *of; /* by str_id: id + 1, 0 = none yet */
        size_t room;
        ARRAY(str_id) used; /* by id */
    } string;
    struct {
        uint32_t *slots; /* hash table of id + 1, 0 = free */
        size_t mask;
        ARRAY(struct db_task_key) keys; /* by id */
    } task;
    struct map comm_ops; /* str_id of the key -> opId */
};

void ids_start(struct db_ids *ids, struct strpool *strings);
void ids_free(struct db_ids *ids);

/* Id in STRING_IDS. */
uint32_t ids_string(struct db_ids *ids, str_id text);

/* globalTaskId. */
uint32_t ids_task(struct db_ids *ids, struct db_task_key key);

/* opId of a communication operator by its key (comm_op.key). */
uint32_t ids_comm_op(struct db_ids *ids, str_id key);

#endif
