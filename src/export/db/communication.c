/* Communication operators and their sub-tasks. */
#include "export/db/tables.h"

static void write_communication_op(struct db_run *run, struct db_table *t)
{
    uint32_t next = 0;
    uint64_t repeated = 0;
    for (size_t d = 0; d < run->model->n_devices; d++) {
        const struct device_model *device = run->model->by_number[d];
        for (size_t i = 0; i < device->comm_ops.n; i++) {
            const struct comm_op *o = &device->comm_ops.at[i];
            uint32_t id = ids_comm_op(&run->ids, o->key);
            if (id < next) {
                repeated++;
                continue;
            }
            next = id + 1;
            db_string(run, t, o->name);
            db_int(t, o->start_ns);
            db_int(t, o->end_ns);
            db_connection(t, o->connection);
            db_string(run, t, o->group);
            db_int(t, id);
            db_int(t, o->relay);
            db_int(t, o->retry);
            db_int(t, o->data_type);
            db_string(run, t, o->alg_type);
            db_int(t, o->count);
            db_string(run, t, o->op_type);
            db_int(t, device->device_id);
            db_int(t, o->rank_size);
            db_row(t);
        }
    }
    diag_count(run->diag, DIAG_WARNING, "", DIAG_NO_OFFSET, repeated,
               "communication operators with the identity of an earlier one left out of COMMUNICATION_OP");
}

const struct db_table_kind table_communication_op = {
    .definition = {"COMMUNICATION_OP",
                   {{"opName", DB_INTEGER},
                    {"startNs", DB_INTEGER},
                    {"endNs", DB_INTEGER},
                    {"connectionId", DB_INTEGER},
                    {"groupName", DB_INTEGER},
                    {"opId", DB_KEY},
                    {"relay", DB_INTEGER},
                    {"retry", DB_INTEGER},
                    {"dataType", DB_INTEGER},
                    {"algType", DB_INTEGER},
                    {"count", DB_NUMERIC},
                    {"opType", DB_INTEGER},
                    {"deviceId", DB_INTEGER},
                    {"rankSize", DB_INTEGER}}},
    .write = write_communication_op,
};

static void write_communication_task_info(struct db_run *run, struct db_table *t)
{
    for (size_t d = 0; d < run->model->n_devices; d++) {
        const struct device_model *device = run->model->by_number[d];
        for (size_t i = 0; i < device->comm_tasks.n; i++) {
            const struct comm_task *k = &device->comm_tasks.at[i];
            struct db_task_key key = {device->device_id, k->stream_id, k->task_id, k->context_id, k->batch_id};
            db_string(run, t, k->op_name);
            db_int(t, ids_task(&run->ids, key));
            db_string(run, t, k->name);
            db_int(t, (uint32_t)k->plane_id); /* "no information" is 4294967295 */
            db_string(run, t, k->group);
            db_u64(t, k->notify_id);
            db_int(t, k->rdma_type);
            db_int(t, k->src_rank);
            db_int(t, k->dst_rank);
            db_int(t, k->transport_type);
            db_int(t, k->size);
            db_int(t, k->data_type);
            db_int(t, k->link_type);
            db_int(t, ids_comm_op(&run->ids, k->op_key));
            db_int(t, k->is_master);
            db_real(t, k->bandwidth_gbs * 1000 * 1000 * 1000); /* rounded thrice: the reference's last digits */
            db_row(t);
        }
    }
}

const struct db_table_kind table_communication_task_info = {
    .definition = {"COMMUNICATION_TASK_INFO",
                   {{"name", DB_INTEGER},
                    {"globalTaskId", DB_INTEGER},
                    {"taskType", DB_INTEGER},
                    {"planeId", DB_INTEGER},
                    {"groupName", DB_INTEGER},
                    {"notifyId", DB_INTEGER},
                    {"rdmaType", DB_INTEGER},
                    {"srcRank", DB_INTEGER},
                    {"dstRank", DB_INTEGER},
                    {"transportType", DB_INTEGER},
                    {"size", DB_INTEGER},
                    {"dataType", DB_INTEGER},
                    {"linkType", DB_INTEGER},
                    {"opId", DB_INTEGER},
                    {"isMaster", DB_INTEGER},
                    {"bandwidth", DB_NUMERIC}},
                   .index = "CommunicationTaskIndex",
                   .indexed = {"globalTaskId"}},
    .write = write_communication_task_info,
};
