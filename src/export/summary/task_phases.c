/* task_time of the Ascend 310: all runs of a task are one row, the tasks that ran longest come first; behind them the
 * copies that the scheduler made, by task as well.
 *
 * Sums are of the device's counts, so that two tasks that took equally long are equal. */
#include "export/summary/task_phases.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "export/summary/summary.h"

static const char *const columns[] = {
    "Device_id",   "Time(%)",     "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",   "Waiting(us)",
    "Running(us)", "Pending(us)", "Type",     "API",   "Task ID", "Op Name", "Stream ID",
};

/* Types of tasks by their number in the records. */
static const char *const types[] = {
    [0] = "kernel AI core task",
    [1] = "kernel AI cpu task",
    [2] = "event record task",
    [3] = "stream wait event task",
    [4] = "fusion issue task",
    [5] = "memory copy task",
    [6] = "maintenance task",
    [7] = "create stream task",
    [8] = "data dump task",
    [9] = "remote event wait task",
    [10] = "pc trace enable task",
    [11] = "create L2 address task",
    [12] = "model maintenance task",
    [13] = "model execute task",
    [14] = "notify wait task",
    [15] = "notify record task",
    [16] = "rdma send task",
    [18] = "stream switch task",
    [19] = "stream active task",
    [20] = "label set task",
    [21] = "label switch task",
    [22] = "label goto task",
    [23] = "profiler trace task",
    [24] = "event reset task",
    [25] = "rdma db send task",
    [26] = "profiler trace task",
    [64] = "profiling enable task",
    [65] = "profiling disable task",
    [66] = "kernel AI vector task",
    [67] = "model end graph task",
    [68] = "model to AI cpu task",
    [69] = "active AI cpu stream task",
    [70] = "data dump info task",
    [71] = "stream switch N task",
    [72] = "host function callback task",
    [73] = "online profiling start task",
    [74] = "online profiling stop task",
};

/* All runs of a task; device counts. */
struct row {
    uint64_t count, running, pending, waiting, total, min, max;
    uint32_t stream_id, task_id;
    uint8_t type_number;
    double share; /* %, of the running time of all rows */
};

/* All copies of a task; ns. */
struct copy_row {
    uint64_t count;
    int64_t running, waiting, min, max;
    uint32_t stream_id, task_id;
    double share;
};

struct report_of_device {
    const struct device_model *d;
    ARRAY(struct row) rows;
    ARRAY(struct copy_row) copies;
};

static uint64_t between(uint64_t from, uint64_t to)
{
    return from && to > from ? to - from : 0;
}

static void add_run(struct row *r, const struct task_phases *p)
{
    uint64_t ran = between(p->running ? p->running : p->pending, p->complete);
    if (!r->count++ || ran < r->min) r->min = ran;
    if (ran > r->max) r->max = ran;
    r->total += ran;
    r->running += ran;
    r->pending += between(p->pending, p->complete);
    r->waiting += between(p->waiting, p->running < p->waiting ? p->complete : p->running);
}

static bool is_exported(const struct device_model *d, const struct task_phases *p)
{
    struct device_task run = {.start = p->running ? p->running : p->pending, .end = p->complete};
    return window_has_task(&d->window, &run);
}

/* Rows in order of (type, task, stream). */
static void gather_rows(struct report_of_device *r)
{
    const struct device_data *data = &r->d->data;
    struct sort_key *order = mem_alloc(data->phases.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < data->phases.n; i++) {
        const struct task_phases *p = &data->phases.at[i];
        uint64_t key = (uint64_t)p->type_number << 32 | (uint64_t)(p->task_id & 0xFFFF) << 16 | (p->stream_id & 0xFFFF);
        if (is_exported(r->d, p)) order[n++] = (struct sort_key){key, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        const struct task_phases *p = &data->phases.at[order[i].index];
        if (!i || order[i].key != order[i - 1].key)
            array_push(&r->rows,
                       ((struct row){.stream_id = p->stream_id, .task_id = p->task_id, .type_number = p->type_number}));
        add_run(&r->rows.at[r->rows.n - 1], p);
    }
    free(order);
}

static void add_copy(struct copy_row *r, const struct device_copy *c)
{
    int64_t ran = span_ns(c->start_ns, c->end_ns);
    if (!r->count++ || ran < r->min) r->min = ran;
    if (ran > r->max) r->max = ran;
    r->running += ran;
    r->waiting += span_ns(c->receive_ns, c->start_ns);
}

/* Copies of a task follow each other. */
static void gather_copies(struct report_of_device *r)
{
    const struct device_copy *last = NULL;
    for (size_t i = 0; i < r->d->data.copies.n; i++) {
        const struct device_copy *c = &r->d->data.copies.at[i];
        if (!window_shows(&r->d->window, c->start_ns, c->end_ns)) continue;
        if (!last || last->stream_id != c->stream_id || last->task_id != c->task_id)
            array_push(&r->copies, ((struct copy_row){.stream_id = c->stream_id, .task_id = c->task_id}));
        add_copy(&r->copies.at[r->copies.n - 1], c);
        last = c;
    }
}

static double us(const struct report_of_device *r, uint64_t ticks)
{
    return (double)ticks / (double)r->d->dir->clock.device_hz * 1e6;
}

static void share(struct report_of_device *r)
{
    double total = 0;
    for (size_t i = 0; i < r->rows.n; i++) total += us(r, r->rows.at[i].running);
    for (size_t i = 0; i < r->copies.n; i++) total += (double)r->copies.at[i].running / 1e3;
    if (!(total > 0)) return;
    for (size_t i = 0; i < r->rows.n; i++) r->rows.at[i].share = us(r, r->rows.at[i].running) / total * 100;
    for (size_t i = 0; i < r->copies.n; i++)
        r->copies.at[i].share = (double)r->copies.at[i].running / 1e3 / total * 100;
}

/* Longest first. */
static void sort_rows(struct report_of_device *r)
{
    struct sort_key *order = mem_alloc(r->rows.n * sizeof *order);
    for (size_t i = 0; i < r->rows.n; i++) order[i] = (struct sort_key){~r->rows.at[i].running, (uint32_t)i};
    sort_keys(order, r->rows.n);
    sort_permute(r->rows.at, sizeof *r->rows.at, order, r->rows.n);
    free(order);
}

static uint64_t op_key(uint32_t stream_id, uint32_t task_id)
{
    return (uint64_t)stream_id << 32 | task_id;
}

/* Operators by task. */
static void find_ops(struct map *ops, const struct device_model *d)
{
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *t = &d->tasks.at[i];
        if (t->op != NONE) map_put(ops, op_key(t->stream_id, t->task_id), t->op, NULL);
    }
}

static void type_cell(struct table *t, uint8_t number)
{
    const char *name = number < sizeof types / sizeof *types ? types[number] : NULL;
    if (name) table_text(t, name, strlen(name));
    else table_u64(t, number);
}

static int write_row(struct table *t, const struct report_of_device *r, const struct row *row, uint32_t op)
{
    table_u64(t, r->d->device_id);
    table_round(t, row->share);
    table_round(t, us(r, row->running));
    table_u64(t, row->count);
    table_round(t, us(r, row->total) / (double)row->count);
    table_round(t, us(r, row->min));
    table_round(t, us(r, row->max));
    table_round(t, us(r, row->waiting));
    table_round(t, us(r, row->running));
    table_round(t, us(r, row->pending));
    type_cell(t, row->type_number);
    table_text(t, "", 0);
    table_u64(t, row->task_id);
    if (op == NONE) table_na(t, 1);
    else table_string(t, t->target->model->host.ops.at[op].name);
    table_u64(t, row->stream_id);
    return table_end_row(t);
}

static int write_copy(struct table *t, const struct report_of_device *r, const struct copy_row *row)
{
    static const char type[] = "other", api[] = "MemcpyAsync";
    table_u64(t, r->d->device_id);
    table_round(t, row->share);
    table_us(t, row->running);
    table_u64(t, row->count);
    table_us(t, row->running / (int64_t)row->count);
    table_us(t, row->min);
    table_us(t, row->max);
    table_us(t, row->waiting);
    table_us(t, row->running);
    table_na(t, 1);
    table_text(t, type, sizeof type - 1);
    table_text(t, api, sizeof api - 1);
    table_u64(t, row->task_id);
    table_na(t, 1);
    table_u64(t, row->stream_id);
    return table_end_row(t);
}

static void write_device(struct table *t, const struct report_of_device *r)
{
    struct map ops = {0};
    find_ops(&ops, r->d);
    for (size_t i = 0; i < r->rows.n && !t->failed; i++) {
        const struct row *row = &r->rows.at[i];
        write_row(t, r, row, map_get(&ops, op_key(row->stream_id, row->task_id), NONE));
    }
    for (size_t i = 0; i < r->copies.n && !t->failed; i++) write_copy(t, r, &r->copies.at[i]);
    map_free(&ops);
}

int task_phases_write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    struct report_of_device *devices = mem_zalloc(m->n_devices, sizeof *devices);
    uint64_t rows = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        devices[i].d = &m->devices[i];
        gather_rows(&devices[i]);
        gather_copies(&devices[i]);
        share(&devices[i]);
        sort_rows(&devices[i]);
        rows += devices[i].rows.n + devices[i].copies.n;
    }
    struct table t;
    int status = 0;
    if (rows) status = table_open(&t, target, report_task_time.stem, COLUMNS(columns), rows, err);
    if (rows && !status) {
        for (size_t i = 0; i < m->n_devices && !t.failed; i++) write_device(&t, &devices[i]);
        status = table_close(&t);
    }
    for (size_t i = 0; i < m->n_devices; i++) {
        array_free(&devices[i].rows);
        array_free(&devices[i].copies);
    }
    free(devices);
    return status;
}
