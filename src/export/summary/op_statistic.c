/* op_statistic: operators by type and kind of core, how many ran and how long they took.
 *
 * One pass over the tasks of a device; a group per (operator type, core type). */
#include "base/map.h"
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id",    "OP Type",      "Core Type",    "Count",    "Total Time(us)",
    "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)",
};

/* The same of iterations of a graph. */
static const char *const graph_columns[] = {
    "Device_id",      "Model Name",   "OP Type",      "Core Type",    "Count",
    "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)",
};

struct group {
    const char *type_text, *core_text; /* for sorting */
    str_id type, core;
    uint16_t device_id;
    uint32_t model_id; /* of the iterations that are exported */
    uint64_t count;
    wide total, min, max; /* ps */
    wide device;          /* total of all groups of the device */
};

struct groups {
    const struct model *m;
    ARRAY(struct group) all; /* device by device */
};

/* A communication operator that is a kernel of its own: op_summary shows the kernel, communication_statistic counts it.
 */
static bool is_communication(const struct model *m, const struct op *op)
{
    return op->flags & OP_AIV_KERNEL && !strcmp(model_text(m, op->task_type), "COMMUNICATION");
}

/* Kernels that began within the collection and whose operator has a type. */
static bool counts(const struct model *m, const struct task *t)
{
    if (t->op == NONE || t->start_ns < m->session->start_ns) return false;
    const struct op *op = &m->host.ops.at[t->op];
    return !(op->flags & OP_NOT_COMPUTE_TYPE) && !is_communication(m, op) && op->type != STR_NA;
}

static void add(struct groups *g, struct map *by_key, const struct device_model *d, const struct task *t)
{
    const struct op *op = &g->m->host.ops.at[t->op];
    bool is_new;
    uint64_t key = (uint64_t)op->type << 32 | op->task_type;
    uint32_t index = *map_put(by_key, key, (uint32_t)g->all.n, &is_new);
    if (is_new) {
        array_push(&g->all, ((struct group){
                                .type_text = model_text(g->m, op->type),
                                .core_text = model_text(g->m, op->task_type),
                                .type = op->type,
                                .core = op->task_type,
                                .device_id = d->device_id,
                                .model_id = d->window.model_id,
                                .min = ~(wide)0,
                            }));
    }
    struct group *group = &g->all.at[index];
    wide ps = span_ps(t->start_ns, t->end_ns, t->rest_ps);
    group->count++;
    group->total += ps;
    if (ps < group->min) group->min = ps;
    if (ps > group->max) group->max = ps;
}

static void add_device(struct groups *g, const struct device_model *d)
{
    struct map by_key = {0};
    size_t from = g->all.n;
    for (size_t i = 0; i < d->tasks.n; i++)
        if (counts(g->m, &d->tasks.at[i])) add(g, &by_key, d, &d->tasks.at[i]);
    for (size_t i = 0; i < d->untyped.n; i++)
        if (counts(g->m, &d->untyped.at[i])) add(g, &by_key, d, &d->untyped.at[i]);
    map_free(&by_key);
    wide total = 0;
    for (size_t i = from; i < g->all.n; i++) total += g->all.at[i].total;
    for (size_t i = from; i < g->all.n; i++) g->all.at[i].device = total;
}

/* Longest total first; of equal ones the lower device, then the names. */
static int by_total(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    if (x->device_id != y->device_id) return x->device_id < y->device_id ? -1 : 1;
    int order = strcmp(x->type_text, y->type_text);
    return order ? order : strcmp(x->core_text, y->core_text);
}

static void sort_groups(struct groups *g, size_t from)
{
    if (g->all.n > from) qsort(g->all.at + from, g->all.n - from, sizeof *g->all.at, by_total);
}

static int write_group(struct table *t, const struct model *m, const struct group *g)
{
    bool graph = t->columns == graph_columns;
    table_u64(t, g->device_id);
    if (graph) table_string(t, report_model_name(m, g->model_id));
    table_string(t, g->type);
    table_string(t, g->core);
    table_u64(t, g->count);
    table_us_trim(t, divide_round(g->total, 1000));
    table_us_trim(t, divide_round(g->min, 1000));
    table_us_trim(t, (int64_t)(g->total / g->count / 1000));
    table_us_trim(t, divide_round(g->max, 1000));
    table_trim(t, g->device ? 100.0 * (double)g->total / (double)g->device : 0);
    return table_end_row(t);
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    struct groups g = {.m = m};
    for (size_t i = 0, from = 0; i < m->n_devices; i++, from = g.all.n) {
        add_device(&g, &m->devices[i]);
        if (m->session->script_summary) sort_groups(&g, from); /* each device by itself */
    }
    if (!g.all.n) return 0;
    if (!m->session->script_summary) sort_groups(&g, 0);
    struct table t;
    const char *stem = report_op_statistic.stem;
    int status = selection_of_graph(m) ? table_open(&t, target, stem, COLUMNS(graph_columns), g.all.n, err)
                                       : table_open(&t, target, stem, COLUMNS(columns), g.all.n, err);
    if (!status) {
        for (size_t i = 0; i < g.all.n; i++)
            if (write_group(&t, m, &g.all.at[i])) break;
        status = table_close(&t);
    }
    array_free(&g.all);
    return status;
}

const struct report report_op_statistic = {
    .stem = "op_statistic",
    .about = "Operators by type and kind of core: how many ran on a device, and how long they took.",
    .needs_ops = true,
    .write = write,
};
