/* What the host knows of the operators it launched: one row per launched task, whether it was seen to run or not.
 *
 * Operators that only schedule communication on AI CPU have a table of their own. Both are in the order of
 * globalTaskId, their primary key; of several launches with the same identity the first is kept. */
#include <stdlib.h>

#include "base/mem.h"
#include "export/db/tables.h"

static bool is_schedule(const struct db_run *run, const struct host_task *k)
{
    return (run->model->host.ops.at[k->op].flags & OP_AICPU_KERNEL) || model_is_kfc_stream(run->model, k->stream_id);
}

/* Host task of each globalTaskId + 1, 0 = none; *n entries. */
static uint32_t *by_task_id(struct db_run *run, bool schedule, size_t *n, const char *table)
{
    const struct host_data *host = &run->model->host;
    ARRAY(uint32_t) launch = {0};
    uint64_t repeated = 0;
    for (size_t i = 0; i < host->tasks.n; i++) {
        const struct host_task *k = &host->tasks.at[i];
        if (k->op == NONE || is_schedule(run, k) != schedule) continue;
        uint32_t id = ids_task(&run->ids, db_host_task_key(k));
        while (launch.n <= id) array_push(&launch, 0);
        if (launch.at[id]) repeated++;
        else launch.at[id] = (uint32_t)i + 1;
    }
    diag_count(run->diag, DIAG_WARNING, "", DIAG_NO_OFFSET, repeated,
               "launches with the identity of an earlier one left out of %s", table);
    *n = launch.n;
    return launch.at;
}

/* Shapes are shown in quotes when there are tensors; `quoted` remembers the quoted form of each text. */
static void put_shapes(struct db_run *run, struct db_table *t, str_id shapes, bool has_tensors, struct map *quoted)
{
    bool is_new = false;
    uint32_t *shown = has_tensors ? map_put(quoted, shapes, shapes, &is_new) : &shapes;
    if (is_new) {
        char *text = mem_printf("\"%s\"", model_text(run->model, shapes));
        *shown = strpool_add_z(run->ids.strings, text);
        free(text);
    }
    db_string(run, t, *shown);
}

static void write_compute_task_info(struct db_run *run, struct db_table *t)
{
    size_t n;
    struct map quoted = {0};
    uint32_t *launch = by_task_id(run, false, &n, t->definition->name);
    for (size_t id = 0; id < n; id++) {
        if (!launch[id]) continue;
        const struct op *op = &run->model->host.ops.at[run->model->host.tasks.at[launch[id] - 1].op];
        db_string(run, t, op->name);
        db_int(t, (int64_t)id);
        db_int(t, op->block_num);
        db_int(t, op->mix_block_num);
        db_string(run, t, op->task_type);
        db_string(run, t, op->type);
        db_string(run, t, op->input_formats);
        db_string(run, t, op->input_types);
        put_shapes(run, t, op->input_shapes, op->flags & OP_HAS_INPUTS, &quoted);
        db_string(run, t, op->output_formats);
        db_string(run, t, op->output_types);
        put_shapes(run, t, op->output_shapes, op->flags & OP_HAS_OUTPUTS, &quoted);
        db_string(run, t, op->attr == NONE ? STR_EMPTY : op->attr);
        db_string(run, t, op->state);
        db_string(run, t, op->hf32);
        db_string(run, t, op->grid_dim);
        db_string(run, t, op->block_dim);
        db_row(t);
    }
    map_free(&quoted);
    free(launch);
}

const struct db_table_kind table_compute_task_info = {
    .definition = {"COMPUTE_TASK_INFO",
                   {{"name", DB_INTEGER},
                    {"globalTaskId", DB_KEY},
                    {"blockNum", DB_INTEGER},
                    {"mixBlockNum", DB_INTEGER},
                    {"taskType", DB_INTEGER},
                    {"opType", DB_INTEGER},
                    {"inputFormats", DB_INTEGER},
                    {"inputDataTypes", DB_INTEGER},
                    {"inputShapes", DB_INTEGER},
                    {"outputFormats", DB_INTEGER},
                    {"outputDataTypes", DB_INTEGER},
                    {"outputShapes", DB_INTEGER},
                    {"attrInfo", DB_INTEGER},
                    {"opState", DB_INTEGER},
                    {"hf32Eligible", DB_INTEGER},
                    {"gridDim", DB_INTEGER},
                    {"blockDim", DB_INTEGER}}},
    .write = write_compute_task_info,
};

static void write_communication_schedule_task_info(struct db_run *run, struct db_table *t)
{
    size_t n;
    uint32_t *launch = by_task_id(run, true, &n, t->definition->name);
    for (size_t id = 0; id < n; id++) {
        if (!launch[id]) continue;
        const struct op *op = &run->model->host.ops.at[run->model->host.tasks.at[launch[id] - 1].op];
        db_string(run, t, op->name);
        db_int(t, (int64_t)id);
        db_string(run, t, op->task_type);
        db_string(run, t, op->type);
        db_row(t);
    }
    free(launch);
}

const struct db_table_kind table_communication_schedule_task_info = {
    .definition = {"COMMUNICATION_SCHEDULE_TASK_INFO",
                   {{"name", DB_INTEGER}, {"globalTaskId", DB_KEY}, {"taskType", DB_INTEGER}, {"opType", DB_INTEGER}}},
    .write = write_communication_schedule_task_info,
};
