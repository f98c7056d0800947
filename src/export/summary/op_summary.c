/* op_summary: every operator that ran, one row each, in order of (device, start): kernels with their description and
 * their AI core counters, and whole communication operators.
 *
 * Tasks and communication operators of a device are both ascending by start, so the rows are a merge of the two. A
 * million launches share few descriptions: what an operator says of itself is formatted once and copied from then on.
 */
#include "export/summary/summary.h"

#include <math.h>
#include <stdlib.h>

static const char *const columns[] = {
    "Device_id",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Op Name",
    "OP Type",
    "OP State",
    "Task Type",
    "Task Start Time(us)",
    "Task Duration(us)",
    "Task Wait Time(us)",
    "Block Num",
    "Mix Block Num",
    "HF32 Eligible",
    "Input Shapes",
    "Input Data Types",
    "Input Formats",
    "Output Shapes",
    "Output Data Types",
    "Output Formats",
    "Context ID",
};

#define N_COLUMNS (sizeof columns / sizeof *columns)

enum { DEVICE_COLUMN = 0, STREAM_COLUMN = 3 }; /* reports of iterations of a graph have one more behind these */

/* When nothing is known of kernels, there is nothing to say of blocks and tensors. */
static const char *const columns_without_ops[] = {
    "Device_id",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Op Name",
    "OP Type",
    "OP State",
    "Task Type",
    "Task Start Time(us)",
    "Task Duration(us)",
    "Task Wait Time(us)",
    "Context ID",
};

/* What is remembered of the operator formatted last in this slot. */
#define CACHE_SLOTS 4096
struct described {
    uint32_t op; /* NONE = empty */
    struct table_piece names, details;
};

/* The counters' columns: those of the first device that has counters. */
struct counters {
    const struct pmu *pmu; /* NULL = no such columns */
    bool has_bound, has_cube;
    ARRAY(uint32_t) shown; /* indices in pmu->columns */
    ARRAY(char *) names;   /* as shown; owned */
};

struct writer {
    struct table t;
    const struct model *m;
    struct counters counters;
    struct described *cache;
    bool has_ops;   /* full header */
    bool has_parts; /* tasks of the chip have parts: sub-tasks, blocks on cores of another kind */
    bool of_graph;  /* of iterations of a graph: with Model Name and Infer ID */
    bool first;     /* no row yet */
    int64_t previous_start_ns, previous_end_ns;
};

static bool is_row(const struct model *m, const struct task *t)
{
    return t->op != NONE && !(m->host.ops.at[t->op].flags & OP_NOT_COMPUTE_TYPE);
}

static uint64_t count_rows(const struct model *m)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        rows += d->comm_ops.n - d->n_fused_ops;
        for (size_t k = 0; k < d->tasks.n; k++) rows += is_row(m, &d->tasks.at[k]);
    }
    return rows;
}

/* Was any operator launched, and did any task run? */
static bool knows_ops(const struct model *m)
{
    bool launched = false, ran = false;
    for (size_t i = 0; i < m->host.tasks.n && !launched; i++) launched = m->host.tasks.at[i].op != NONE;
    for (size_t i = 0; i < m->n_devices && !ran; i++) ran = m->devices[i].tasks.n > 0;
    return launched && ran;
}

/* "aic_mac_ratio_extra" -> "aic_mac_ratio", "aiv_mac_time" -> "aiv_mac_time(us)" … */
static char *shown_name(const struct pmu_column *c)
{
    static const struct {
        const char *part, *unit;
    } units[] = {{"time", "(us)"}, {"bw", "(GB/s)"}, {"datas", "(KB)"}};
    static const char extra[] = "_extra";

    if (c->kind == PMU_TOTAL_TIME) return mem_printf("%s", c->aiv ? "aiv_time(us)" : "aicore_time(us)");
    size_t len = strlen(c->name), cut = sizeof extra - 1;
    if (len > cut && !strcmp(c->name + len - cut, extra)) len -= cut;
    const char *unit = "";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strstr(c->name, units[i].part) && !strchr(c->name, '(')) unit = units[i].unit;
    return mem_printf("%.*s%s", (int)len, c->name, unit);
}

/* Of marked steps the reference reads no counters where HWTS logs the tasks. */
static bool has_counters(const struct device_model *d)
{
    return d->data.pmu.rows.n && !(d->window.marked && d->dir->chip->task_log == TASK_LOG_HWTS);
}

/* Columns of the counters, if all devices that have any agree on them. */
static void find_counters(struct counters *c, const struct model *m)
{
    const struct pmu *found = NULL;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct pmu *p = &m->devices[i].data.pmu;
        if (!has_counters(&m->devices[i])) continue;
        if (found && !pmu_same_columns(found, p)) return;
        if (!found) found = p;
    }
    if (!found || !found->columns.n) return;
    c->pmu = found;
    c->has_bound = pmu_has_memory_bound(found);
    c->has_cube = pmu_has_cube(found);
    for (size_t i = 0; i < found->columns.n; i++) {
        if (!found->columns.at[i].in_summary) continue;
        array_push(&c->shown, (uint32_t)i);
        array_push(&c->names, shown_name(&found->columns.at[i]));
    }
    if (c->has_bound) array_push(&c->names, mem_printf("memory_bound"));
    if (c->has_cube) array_push(&c->names, mem_printf("cube_utilization(%%)"));
}

static void free_counters(struct counters *c)
{
    for (size_t i = 0; i < c->names.n; i++) free(c->names.at[i]);
    array_free(&c->names);
    array_free(&c->shown);
}

/* Epoch µs as a double holds them: in steps of 0.25. */
static double coarse_us(int64_t ns)
{
    return (double)((long double)ns / 1000);
}

/* How long the device had nothing to do before a row, ns. The reference's native part computes it from the µs that the
 * rows show; tools compare the two, so it is done in the same way. Its scripts are exact. */
static int64_t wait_ns(const struct writer *w, int64_t start_ns)
{
    const struct session *s = w->t.target->model->session;
    if (s->script_summary) return span_ns(w->previous_end_ns, start_ns);
    double dur_us = (double)span_ns(w->previous_start_ns, w->previous_end_ns) / 1000;
    double us = coarse_us(start_ns) - coarse_us(w->previous_start_ns) - dur_us;
    return us > 0 && us < 1e12 ? (int64_t)rint(us * 1000) : us > 0 ? span_ns(w->previous_end_ns, start_ns) : 0;
}

/* Start, duration, and how long the device had nothing to do before (0.000000 when it still was busy). */
static void when(struct writer *w, int64_t start_ns, int64_t end_ns)
{
    table_time(&w->t, start_ns);
    table_us(&w->t, span_ns(start_ns, end_ns));
    if (w->first) table_u64(&w->t, 0);
    else table_us_long(&w->t, wait_ns(w, start_ns));
    w->first = false;
    w->previous_start_ns = start_ns;
    w->previous_end_ns = end_ns;
}

static struct described *describe(struct writer *w, uint32_t op)
{
    struct described *c = &w->cache[op % CACHE_SLOTS];
    if (c->op == op) return c;
    free(c->names.bytes);
    free(c->details.bytes);
    *c = (struct described){.op = op};
    return c;
}

static void names(struct writer *w, struct described *c, const struct op *op)
{
    if (table_replay(&w->t, &c->names)) return;
    table_record(&w->t);
    table_string(&w->t, op->name);
    table_string(&w->t, op->type);
    table_string(&w->t, op->state);
    table_string(&w->t, op->task_type);
    table_recorded(&w->t, &c->names);
}

static void tensors(struct table *t, bool real, str_id shapes, str_id types, str_id formats)
{
    if (real) table_shapes(t, shapes);
    else table_string(t, shapes);
    table_string(t, types);
    table_string(t, formats);
}

static void details(struct writer *w, struct described *c, const struct op *op)
{
    if (table_replay(&w->t, &c->details)) return;
    table_record(&w->t);
    table_u64(&w->t, op->block_num);
    if (w->has_parts) table_u64(&w->t, op->mix_block_num);
    table_string(&w->t, op->hf32);
    tensors(&w->t, op->flags & OP_HAS_INPUTS, op->input_shapes, op->input_types, op->input_formats);
    tensors(&w->t, op->flags & OP_HAS_OUTPUTS, op->output_shapes, op->output_types, op->output_formats);
    table_recorded(&w->t, &c->details);
}

/* Nothing where nothing can be said. */
static void number(struct writer *w, double value)
{
    if (isnan(value)) table_none(&w->t);
    else table_round(&w->t, value);
}

static void counter(struct writer *w, const struct pmu *p, uint32_t row, uint32_t column)
{
    const struct pmu_column *c = &p->columns.at[column];
    if (c->not_there) {
        table_na(&w->t, 1);
        return;
    }
    double value = pmu_value(p, row, column);
    if (c->kind == PMU_CYCLES) table_u64(&w->t, value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
    else number(w, value);
}

static void counters(struct writer *w, const struct pmu *p, const struct task *task)
{
    const struct counters *c = &w->counters;
    if (!c->pmu) return;
    if (task->pmu >= p->rows.n) {
        table_na(&w->t, c->names.n);
        return;
    }
    for (size_t i = 0; i < c->shown.n; i++) counter(w, p, task->pmu, c->shown.at[i]);
    if (c->has_bound) number(w, pmu_memory_bound(p, task->pmu));
    if (!c->has_cube) return;
    int64_t ns = span_ns(task->start_ns, task->end_ns);
    double rest =
        w->m->session->script_summary ? task->rest_ps / 1e6 : 0; /* the native part divides by what it shows */
    double cube = pmu_cube_utilization(p, task->pmu, (double)ns / 1e3 + rest);
    if (isnan(cube)) table_na(&w->t, 1);
    else if (!ns) table_u64(&w->t, 0);
    else table_fixed(&w->t, cube);
}

static int write_task(struct writer *w, const struct device_model *d, const struct task *task)
{
    const struct op *op = &w->m->host.ops.at[task->op];
    struct described *c = describe(w, task->op);
    table_u64(&w->t, d->device_id);
    if (w->of_graph) table_string(&w->t, report_model_name(w->m, op->model_id));
    table_u64(&w->t, op->model_id);
    table_u64(&w->t, task->task_id);
    table_u64(&w->t, task->stream_id);
    if (w->of_graph) table_u64(&w->t, window_iteration_at(&d->window, task->end_ns));
    names(w, c, op);
    when(w, task->start_ns, task->end_ns);
    details(w, c, op);
    if (w->has_parts && task->context_id == CONTEXT_NONE) table_na(&w->t, 1);
    else if (w->has_parts) table_u64(&w->t, task->context_id);
    counters(w, &d->data.pmu, task);
    return table_end_row(&w->t);
}

static int write_comm_op(struct writer *w, const struct device_model *d, const struct comm_op *op)
{
    static const char type[] = "COMMUNICATION";
    table_u64(&w->t, d->device_id);
    if (w->of_graph) table_string(&w->t, report_model_name(w->m, op->model_id));
    table_u64(&w->t, op->model_id);
    table_na(&w->t, 2);
    if (w->of_graph) table_u64(&w->t, 0); /* of a graph, communication is reported once for all iterations */
    table_string(&w->t, op->name);
    table_string(&w->t, op->op_type);
    table_na(&w->t, 1);
    table_text(&w->t, type, sizeof type - 1);
    when(w, op->start_ns, op->end_ns);
    if (w->t.column < w->t.n_columns) table_u64(&w->t, 0);
    table_na(&w->t, w->t.n_columns - w->t.column);
    return table_end_row(&w->t);
}

/* The rows of a device; of two that start together the communication operator comes first. Fused operators have the
 * rows of their kernels. */
static int write_device(struct writer *w, const struct device_model *d)
{
    size_t task = 0, comm = 0, n_comm = d->comm_ops.n - d->n_fused_ops;
    for (;;) {
        while (task < d->tasks.n && !is_row(w->m, &d->tasks.at[task])) task++;
        const struct task *a = task < d->tasks.n ? &d->tasks.at[task] : NULL;
        const struct comm_op *b = comm < n_comm ? &d->comm_ops.at[comm] : NULL;
        if (!a && !b) return 0;
        int status;
        if (b && (!a || b->start_ns <= a->start_ns)) {
            status = write_comm_op(w, d, b);
            comm++;
        } else {
            status = write_task(w, d, a);
            task++;
        }
        if (status) return -1;
    }
}

/* Columns that are about parts of tasks. */
static bool is_shown(const struct writer *w, const char *column)
{
    return w->has_parts || (strcmp(column, "Mix Block Num") && strcmp(column, "Context ID"));
}

static int write_rows(struct writer *w, struct export_target *target, uint64_t rows, struct error *err)
{
    const char *const *base = w->has_ops ? columns : columns_without_ops;
    size_t n_base = w->has_ops ? N_COLUMNS : sizeof columns_without_ops / sizeof *columns_without_ops;
    ARRAY(const char *) header = {0};
    for (size_t i = 0; i < n_base; i++) {
        if (is_shown(w, base[i])) array_push(&header, base[i]);
        if (w->of_graph && i == DEVICE_COLUMN) array_push(&header, "Model Name");
        if (w->of_graph && i == STREAM_COLUMN) array_push(&header, "Infer ID");
    }
    for (size_t i = 0; i < w->counters.names.n; i++) array_push(&header, w->counters.names.at[i]);
    int status = table_open(&w->t, target, report_op_summary.stem, header.at, header.n, rows, err);
    if (!status) {
        for (size_t i = 0; i < w->m->n_devices; i++)
            if (write_device(w, &w->m->devices[i])) break;
        status = table_close(&w->t);
    }
    array_free(&header);
    return status;
}

static int write(struct export_target *target, struct error *err)
{
    uint64_t rows = count_rows(target->model);
    if (!rows) return 0;
    struct writer w = {.m = target->model, .first = true, .has_ops = knows_ops(target->model)};
    w.has_parts = w.m->session->chip->stars;
    w.of_graph = selection_of_graph(w.m);
    if (w.has_ops) find_counters(&w.counters, w.m);
    w.cache = mem_zalloc(CACHE_SLOTS, sizeof *w.cache);
    for (size_t i = 0; i < CACHE_SLOTS; i++) w.cache[i].op = NONE;
    int status = write_rows(&w, target, rows, err);
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        free(w.cache[i].names.bytes);
        free(w.cache[i].details.bytes);
    }
    free(w.cache);
    free_counters(&w.counters);
    return status;
}

const struct report report_op_summary = {
    .stem = "op_summary",
    .about = "Every operator that ran on a device: name, type, task, start, duration, wait, block numbers, tensors,\n"
             "and the AI core counters of its task. Communication operators are rows as well.",
    .write = write,
};
