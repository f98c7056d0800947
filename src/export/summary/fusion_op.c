/* fusion_op: the fused operators of the models that were loaded, and what they were before fusion. */
#include "base/map.h"
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id",         "Model Name",        "Model ID",
    "Fusion Op",         "Original Ops",      "Memory Input(KB)",
    "Memory Output(KB)", "Memory Weight(KB)", "Memory Workspace(KB)",
    "Memory Total(KB)",
};

static void kilobytes(struct table *t, uint64_t bytes)
{
    table_shortest(t, (double)bytes / 1024);
}

/* The scripts join the names with commas first, and then take every comma for a joint. */
static void original_ops(struct table *t, str_id ops)
{
    const char *text = model_text(t->target->model, ops);
    if (!t->target->model->session->script_summary || !strchr(text, ',')) {
        table_string(t, ops);
        return;
    }
    char *joined = mem_strndup(text, strlen(text));
    for (char *c = joined; (c = strchr(c, ','));) *c = ';';
    table_text(t, joined, strlen(joined));
    free(joined);
}

static int write_op(struct table *t, const struct prof_dir *dir, const struct map *names, const struct fusion_op *op)
{
    report_row(t, dir);
    table_string(t, map_get(names, op->model_id, STR_EMPTY));
    table_u64(t, op->model_id);
    table_string(t, op->name);
    original_ops(t, op->ops);
    kilobytes(t, op->input);
    kilobytes(t, op->output);
    kilobytes(t, op->weight);
    kilobytes(t, op->workspace);
    kilobytes(t, op->total);
    return table_end_row(t);
}

static int write(struct export_target *target, struct error *err)
{
    const struct host_data *h = &target->model->host;
    const struct prof_dir *dir;
    struct table t;
    uint64_t rows = 0;
    for (size_t d = 0; host_listed_under(target->model, d); d++) rows += h->fusion_ops.n;
    if (!rows) return 0;
    if (table_open(&t, target, report_fusion_op.stem, COLUMNS(columns), rows, err)) return -1;
    struct map names = {0};
    for (size_t i = 0; i < h->model_names.n; i++)
        map_put(&names, h->model_names.at[i].model_id, h->model_names.at[i].name, NULL);
    for (size_t d = 0; (dir = host_listed_under(target->model, d)) && !t.failed; d++)
        for (size_t i = 0; i < h->fusion_ops.n; i++)
            if (write_op(&t, dir, &names, &h->fusion_ops.at[i])) break;
    map_free(&names);
    return table_close(&t);
}

const struct report report_fusion_op = {
    .stem = "fusion_op",
    .about = "The fused operators of every loaded model: the operators they were made of, and their memory.",
    .write = write,
};
