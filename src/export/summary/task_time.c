/* task_time: every task that ran on a device, in order of the start over all devices.
 *
 * The tasks of a device are ascending by start. Each device counts as two such streams, its kernels and its other
 * tasks, and the rows are the merge of all streams: of tasks that start together kernels come first, then the higher
 * device (the reference lists them so where it finds the device directories in ascending order). */
#include "export/summary/summary.h"

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

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    uint64_t rows = 0;
    for (size_t i = 0; i < m->n_devices; i++)
        for (size_t k = 0; k < m->devices[i].tasks.n; k++) rows += is_row(&m->devices[i].tasks.at[k]);
    struct table t;
    if (!rows) return 0;
    if (table_open(&t, target, report_task_time.stem, COLUMNS(columns), rows, err)) return -1;
    struct stream *streams = mem_zalloc(2 * m->n_devices, sizeof *streams);
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[m->n_devices - 1 - i];
        streams[i] = (struct stream){.d = d, .kernels = true};
        streams[m->n_devices + i] = (struct stream){.d = d};
    }
    write_rows(&t, streams, 2 * m->n_devices);
    free(streams);
    return table_close(&t);
}

const struct report report_task_time = {
    .stem = "task_time",
    .about = "Every task that ran on a device, operators and all others: kernel name and type, stream, task,\n"
             "start, stop and duration.",
    .write = write,
};
