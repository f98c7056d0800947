/* task_time: every task that ran on a device, in order of the start over all devices.
 *
 * The tasks of a device are ascending by start. Each device counts as two such streams, its kernels and its other
 * tasks, and the rows are the merge of all streams: of tasks that start together kernels come first, then the higher
 * device (the reference lists them so where it finds the device directories in ascending order).
 *
 * Where the reference's scripts make the report, it is device by device, and the copies that the scheduler made are
 * behind the tasks of each. The Ascend 310 has a report of its own (task_phases.c). */
#include "export/summary/summary.h"
#include "export/summary/task_phases.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id", "kernel_name",   "kernel_type",    "stream_id",
    "task_id",   "task_time(us)", "task_start(us)", "task_stop(us)",
};

struct stream {
    const struct device_model *d;
    bool kernels; /* tasks with an operator, or those without */
    size_t next;  /* in d->tasks */
};

static bool is_row(const struct task *t)
{
    return t->flags & TASK_IN_TASK_TIME;
}

/* The next task of a stream, NULL at its end. */
static const struct task *peek(struct stream *s)
{
    for (; s->next < s->d->tasks.n; s->next++) {
        const struct task *t = &s->d->tasks.at[s->next];
        if (is_row(t) && (t->op != NONE) == s->kernels) return t;
    }
    return NULL;
}

static int write_task(struct table *t, const struct device_model *d, const struct task *task)
{
    const struct host_data *h = &t->target->model->host;
    bool typed = task->op != NONE && h->ops.at[task->op].task_type != STR_NA;
    table_u64(t, d->device_id);
    table_string(t, task->host_task == NONE ? STR_NA : h->tasks.at[task->host_task].kernel_name);
    table_string(t, typed ? h->ops.at[task->op].task_type : task->type);
    table_u64(t, task->stream_id);
    table_u64(t, task->task_id);
    table_us(t, span_ns(task->start_ns, task->end_ns));
    table_time(t, task->start_ns);
    table_time(t, task->end_ns);
    return table_end_row(t);
}

static void write_rows(struct table *t, struct stream *streams, size_t n)
{
    for (;;) {
        struct stream *first = NULL;
        const struct task *task = NULL;
        for (size_t i = 0; i < n; i++) {
            const struct task *mine = peek(&streams[i]);
            if (!mine || (task && mine->start_ns >= task->start_ns)) continue;
            task = mine;
            first = &streams[i];
        }
        if (!task) return;
        first->next++;
        if (write_task(t, first->d, task)) return;
    }
}

/* The copies that ended within the collection. */
static bool is_copy(const struct model *m, const struct device_model *d, const struct device_copy *c)
{
    return c->end_ns >= m->session->start_ns && window_shows(&d->window, c->start_ns, c->end_ns);
}

static bool write_copies(struct table *t, const struct device_model *d)
{
    static const char name[] = "MemcopyAsync", type[] = "other";
    for (size_t i = 0; i < d->data.copies.n; i++) {
        const struct device_copy *c = &d->data.copies.at[i];
        if (!is_copy(t->target->model, d, c)) continue;
        table_u64(t, d->device_id);
        table_text(t, name, sizeof name - 1);
        table_text(t, type, sizeof type - 1);
        table_u64(t, c->stream_id);
        table_u64(t, c->task_id);
        table_us(t, span_ns(c->start_ns, c->end_ns));
        table_time(t, c->start_ns);
        table_time(t, c->end_ns);
        if (table_end_row(t)) return false;
    }
    return true;
}

/* As the scripts have it. */
static void write_by_device(struct table *t, const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        struct stream streams[] = {{.d = &m->devices[i], .kernels = true}, {.d = &m->devices[i]}};
        write_rows(t, streams, 2);
        if (!write_copies(t, &m->devices[i])) return;
    }
}

static void write_merged(struct table *t, const struct model *m)
{
    struct stream *streams = mem_zalloc(2 * m->n_devices, sizeof *streams);
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[m->n_devices - 1 - i];
        streams[i] = (struct stream){.d = d, .kernels = true};
        streams[m->n_devices + i] = (struct stream){.d = d};
    }
    write_rows(t, streams, 2 * m->n_devices);
    free(streams);
}

static uint64_t count_rows(const struct model *m)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t k = 0; k < d->tasks.n; k++) rows += is_row(&d->tasks.at[k]);
        for (size_t k = 0; m->session->script_summary && k < d->data.copies.n; k++)
            rows += is_copy(m, d, &d->data.copies.at[k]);
    }
    return rows;
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    if (m->session->chip->task_log == TASK_LOG_TIMELINE) return task_phases_write(target, err);
    uint64_t rows = count_rows(m);
    struct table t;
    if (!rows) return 0;
    if (table_open(&t, target, report_task_time.stem, COLUMNS(columns), rows, err)) return -1;
    if (m->session->script_summary) write_by_device(&t, m);
    else write_merged(&t, m);
    return table_close(&t);
}

const struct report report_task_time = {
    .stem = "task_time",
    .about = "Every task that ran on a device, operators and all others: kernel name and type, stream, task,\n"
             "start, stop and duration.",
    .write = write,
};
