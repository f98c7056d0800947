/* The tasks that ran on devices, and the copies among them. */
#include "export/db/tables.h"
#include "metrics/msproftx.h"

/* Marks of the user as devices met them. */
static void write_marks(struct db_run *run, struct db_table *t, const struct device_model *device, uint32_t pid)
{
    for (size_t i = 0; i < device->data.marks.n; i++) {
        const struct device_mark *m = &device->data.marks.at[i];
        uint64_t connection = mark_connection(m->index);
        struct db_task_key key = {device->device_id, m->stream_id, m->task_id, CONTEXT_NONE, (uint32_t)connection};
        if (m->start_ns < run->model->session->start_ns) continue;
        db_int(t, m->start_ns);
        db_int(t, m->end_ns);
        db_int(t, device->device_id);
        db_u64(t, connection);
        db_int(t, ids_task(&run->ids, key));
        db_int(t, pid);
        db_string_z(run, t, "MsTx");
        db_int(t, CONTEXT_NONE);
        db_int(t, m->stream_id);
        db_int(t, m->task_id);
        db_int(t, m->model_id);
        db_row(t);
    }
}

static void write_task(struct db_run *run, struct db_table *t)
{
    uint32_t pid = run->model->session->meta->pid;
    for (size_t d = 0; d < run->model->n_devices; d++) {
        const struct device_model *device = run->model->by_number[d];
        for (size_t i = 0; i < device->tasks.n; i++) {
            const struct task *k = &device->tasks.at[i];
            struct db_task_key key = {device->device_id, k->stream_id, k->task_id, k->context_id, k->batch_id};
            db_int(t, k->start_ns);
            db_int(t, k->end_ns);
            db_int(t, device->device_id);
            db_connection(t, k->connection);
            db_int(t, ids_task(&run->ids, key));
            db_int(t, pid);
            db_string(run, t, k->type);
            db_int(t, k->context_id);
            db_int(t, k->stream_id);
            db_int(t, k->task_id);
            db_int(t, k->model_id);
            db_row(t);
        }
    }
    for (size_t d = 0; d < run->model->n_devices; d++) write_marks(run, t, run->model->by_number[d], pid);
}

const struct db_table_kind table_task = {
    .definition = {"TASK",
                   {{"startNs", DB_INTEGER},
                    {"endNs", DB_INTEGER},
                    {"deviceId", DB_INTEGER},
                    {"connectionId", DB_INTEGER},
                    {"globalTaskId", DB_INTEGER},
                    {"globalPid", DB_INTEGER},
                    {"taskType", DB_INTEGER},
                    {"contextId", DB_INTEGER},
                    {"streamId", DB_INTEGER},
                    {"taskId", DB_INTEGER},
                    {"modelId", DB_INTEGER}},
                   .index = "TaskIndex",
                   .indexed = {"startNs", "globalTaskId"}},
    .write = write_task,
};

/* Copies that were reported although no task launched one have no task to refer to: no row. As in the reference the
 * task of a copy is known by the lower half of its id, so where ids do not wrap (Ascend 950) later copies refer to
 * tasks that are not there. */
static void write_memcpy_info(struct db_run *run, struct db_table *t)
{
    const struct host_data *host = &run->model->host;
    for (size_t i = 0; i < host->memcpys.n; i++) {
        const struct memcpy_info *m = &host->memcpys.at[i];
        if (m->host_task == NONE) continue;
        struct db_task_key key = db_host_task_key(&host->tasks.at[m->host_task]);
        key.task_id &= 0xFFFF;
        db_int(t, ids_task(&run->ids, key));
        db_u64(t, m->size);
        db_int(t, m->direction);
        db_row(t);
    }
}

const struct db_table_kind table_memcpy_info = {
    .definition = {"MEMCPY_INFO",
                   {{"globalTaskId", DB_NUMERIC}, {"size", DB_NUMERIC}, {"memcpyOperation", DB_NUMERIC}}},
    .write = write_memcpy_info,
};
