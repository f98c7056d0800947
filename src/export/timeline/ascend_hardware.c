/* Ascend Hardware: what each stream of a device ran. A thread of the trace is a stream, under the number that the
 * framework gave it when that is known (logical stream), else the device's. Arrows from the host end on the tasks.
 *
 * Asynchronous copies come after all other tasks, the names of the streams last: they are those that were met. */
#include "export/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

/* The streams of one device: physical -> position in `threads`. */
struct streams {
    struct map known;
    ARRAY(int32_t) threads; /* thread ids by first appearance; one id may be there for several physical streams */
};

static int32_t thread_of(struct streams *s, const struct model *m, uint32_t stream_id)
{
    static const struct map none;
    const struct map *logical = m->session->chip->physical_threads ? &none : &m->host.logical_streams;
    bool fresh;
    uint32_t *at = map_put(&s->known, stream_id, (uint32_t)s->threads.n, &fresh);
    if (fresh) array_push(&s->threads, (int32_t)map_get(logical, stream_id, stream_id));
    return s->threads.at[*at];
}

static void common_args(struct trace *t, const struct task *task, str_id type)
{
    trace_arg_u64(t, "Model Id", task->model_id);
    trace_arg_string(t, "Task Type", type);
    trace_arg_u64(t, "Physic Stream Id", task->stream_id);
    trace_arg_u64(t, "Task Id", task->task_id);
    trace_arg_u64(t, "Batch Id", task->batch_id);
    trace_arg_u64(t, "Subtask Id", task->context_id);
    trace_connection(t, task->connection);
}

static void kernel(struct trace *t, uint32_t pid, int32_t tid, const struct task *task)
{
    const struct op *op = task->op == NONE ? NULL : &t->model->host.ops.at[task->op];
    trace_begin(t);
    trace_text(t, op ? op->name : task->type);
    trace_slice(t, pid, tid, task->start_ns, task->end_ns, NULL);
    common_args(t, task, op && op->task_type != STR_NA ? op->task_type : task->type);
    if (task->flags & TASK_SIMT) {
        trace_arg_string(t, "Grid Dim", op ? op->grid_dim : STR_NA);
        trace_arg_string(t, "Block Dim", op ? op->block_dim : STR_NA);
    }
    trace_end(t);
}

/* Size, speed and direction of a copy. They are there for all copies as soon as the collection knows of any. */
static void copy_args(struct trace *t, const struct task *task)
{
    const struct memcpy_info *info = task->memcpy == NONE ? NULL : &t->model->host.memcpys.at[task->memcpy];
    uint64_t size = info ? info->size : 0;
    double duration_ns = (double)trace_duration(task->start_ns, task->end_ns) + task->rest_ps / 1e3;
    trace_arg_u64(t, "size(B)", size);
    trace_key(t, "bandwidth(GB/s)");
    out_double(&t->out, duration_ns > 0 ? (double)size / duration_ns : 0.0); /* bytes per ns */
    trace_arg_text(t, "operation", info ? memcpy_direction_name(info->direction) : "other");
}

static void copy(struct trace *t, uint32_t pid, int32_t tid, const struct task *task)
{
    trace_begin(t);
    trace_text(t, task->type);
    trace_slice(t, pid, tid, task->start_ns, task->end_ns, NULL);
    bool scripts = t->model->session->script_timeline;
    common_args(t, task, scripts ? task->type : task->device_type);
    if (t->model->host.memcpys.n && !scripts) copy_args(t, task);
    trace_end(t);
}

/* --- arrows of the reference's scripts -------------------------------------------------------------------------- */

/* The call that a task was launched by, NULL when it is not shown. */
static const struct api *launching_call(const struct model *m, const struct task *task)
{
    if (!task->connection || task->connection > m->host.apis.n) return NULL;
    const struct api *a = &m->host.apis.at[task->connection - 1];
    return api_shown(a, true) ? a : NULL;
}

static struct trace_point call_point(const struct api *a, uint32_t host_pid)
{
    return (struct trace_point){host_pid, (int32_t)a->thread_id, a->start_ns};
}

/* From the launch itself, of events from the call. */
static void kernel_arrow(struct trace *t, uint16_t device_id, const struct task *task, const struct trace_point *to)
{
    const struct model *m = t->model;
    const struct prof_dir *host = m->session->host;
    const struct api *call = launching_call(m, task);
    struct trace_point from;
    if (!host || !m->host.has_apis) return;
    uint32_t pid = trace_pid(host, CANN_INDEX);
    if (task->op != NONE && task->host_task != NONE) {
        const struct host_task *launch = &m->host.tasks.at[task->host_task];
        from = (struct trace_point){pid, (int32_t)launch->thread_id, clock_host_ns(&host->clock, launch->time)};
    } else if (call && call->flags & API_EVENT_SYNC) {
        from = call_point(call, pid);
    } else {
        return;
    }
    trace_arrow_id id = (trace_arrow_id)device_id << 80 | (trace_arrow_id)task->stream_id << 64;
    id += (trace_arrow_id)task->task_id << 48 | (trace_arrow_id)task->batch_id << 32 | task->context_id;
    trace_arrow(t, id, &from, to);
}

static void copy_arrow(struct trace *t, const struct task *task, const struct trace_point *to)
{
    const struct api *call = launching_call(t->model, task);
    struct trace_point from;
    if (call) from = call_point(call, trace_pid(t->model->session->host, CANN_INDEX));
    if (task->connection)
        trace_arrow(t, (trace_arrow_id)task->connection << 32 | task->context_id, call ? &from : NULL, to);
}

static void script_arrow(struct trace *t, const struct device_model *d, const struct task *task,
                         const struct trace_point *to)
{
    if (task->flags & TASK_MEMCPY) copy_arrow(t, task, to);
    else kernel_arrow(t, d->device_id, task, to);
}

/* Tasks of a device, either the copies or all others. */
static void tasks(struct trace *t, const struct layer *layer, const struct device_model *d, struct streams *streams,
                  bool copies)
{
    uint32_t pid = layer_pid(layer, d->dir);
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *task = &d->tasks.at[i];
        if (task->flags & TASK_HIDDEN || !!(task->flags & TASK_MEMCPY) != copies) continue;
        int32_t tid = thread_of(streams, t->model, task->stream_id);
        if (copies) copy(t, pid, tid, task);
        else kernel(t, pid, tid, task);
        if (t->model->session->script_timeline)
            script_arrow(t, d, task, &(struct trace_point){pid, tid, task->start_ns});
        else if (task->flags & TASK_FLOW_END && task->connection)
            trace_flow_end(t, pid, tid, task->connection, task->start_ns);
    }
}

/* The steps of a fused operator's turns, from point to point. A step without beginning or end is not shown. */
static void turns(struct trace *t, const struct layer *layer, const struct device_model *d, struct streams *streams)
{
    static const char *const communication[AICPU_COMM_POINTS - 1] = {
        "StartServer", "TaskWaitRequest", "TaskOrchestration", "TaskLaunch", "TaskExecute", "Finalize"};
    static const char *const computation[AICPU_COMPUTE_POINTS - 1] = {"WaitCompute", "Compute"};
    for (size_t i = 0; i < d->comm_turns.n; i++) {
        const struct comm_turn *turn = &d->comm_turns.at[i];
        const char *const *names = turn->compute ? computation : communication;
        size_t n = turn->compute ? AICPU_COMPUTE_POINTS - 1 : AICPU_COMM_POINTS - 1;
        for (size_t k = 0; k < n; k++) {
            if (turn->points[k] < t->model->session->start_ns || turn->points[k + 1] < turn->points[k]) continue;
            trace_begin(t);
            out_text(&t->out, names[k]);
            out_char(&t->out, ' ');
            out_u64(&t->out, turn->turn);
            trace_slice(t, layer_pid(layer, d->dir), thread_of(streams, t->model, turn->stream_id), turn->points[k],
                        turn->points[k + 1], NULL);
            trace_arg_u64(t, "Physic Stream Id", turn->stream_id);
            trace_arg_u64(t, "Task Id", turn->task_id);
            trace_end(t);
        }
    }
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void name_streams(struct trace *t, uint32_t pid, struct streams *s)
{
    if (s->threads.n) qsort(s->threads.at, s->threads.n, sizeof *s->threads.at, by_number);
    for (size_t i = 0; i < s->threads.n; i++) {
        int32_t tid = s->threads.at[i];
        if (i && s->threads.at[i - 1] == tid) continue;
        char name[32];
        snprintf(name, sizeof name, "Stream %d", tid);
        trace_thread(t, pid, tid, name, tid);
    }
}

void ascend_hardware_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    struct streams *streams = mem_zalloc(m->n_devices, sizeof *streams);
    for (size_t i = 0; i < m->n_devices; i++) tasks(t, layer, &m->devices[i], &streams[i], false);
    for (size_t i = 0; i < m->n_devices; i++) tasks(t, layer, &m->devices[i], &streams[i], true);
    for (size_t i = 0; i < m->n_devices; i++) turns(t, layer, &m->devices[i], &streams[i]);
    for (size_t i = 0; i < m->n_devices; i++)
        if (streams[i].threads.n) layer_process(t, layer, m->devices[i].dir);
    for (size_t i = 0; i < m->n_devices; i++) {
        name_streams(t, layer_pid(layer, m->devices[i].dir), &streams[i]);
        map_free(&streams[i].known);
        array_free(&streams[i].threads);
    }
    free(streams);
}
