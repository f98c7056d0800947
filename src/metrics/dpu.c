/* DPU: what ran on the data processing units beside the NPUs, as the host reports it.
 *
 * Two kinds of records: tasks (dpu_track), named by the task_track record of the same DPU and task, and communication
 * sub-tasks (dpu_hccl_info). Each DPU is a process of its own in the timeline. */
#include <stdio.h>

#include "base/map.h"
#include "decode/host_records.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/args.h"
#include "metrics/sampling.h"

#define TRACK_RECORD 64u
#define COMM_RECORD  256u
#define KIND_DPU     1u /* bits 12–15 of a device */
#define DEVICE_BITS  0xFFFu

enum { AT_THREAD = 8, AT_END = 16 };

enum { AT_TRACK_DEVICE = 24, AT_TRACK_STREAM = 26, AT_TRACK_TASK = 28, AT_TRACK_START = 40 };

enum {
    AT_NAME = 24,
    AT_GROUP = 40,
    AT_LOCAL_RANK = 48,
    AT_REMOTE_RANK = 52,
    AT_RANK_SIZE = 56,
    AT_NOTIFY = 64,
    AT_START = 72,
    AT_ESTIMATED = 80,
    AT_SIZE = 104,
    AT_TASK = 112,
    AT_AICPU_TASK = 116,
    AT_STREAM = 120,
    AT_PLANE = 122,
    AT_NPU = 124,
    AT_DPU = 126,
    AT_REDUCE_OP = 128,
    AT_DATA_TYPE = 129,
    AT_LINK_TYPE = 130,
    AT_TRANSPORT = 131,
    AT_RDMA_TYPE = 132,
};

struct dpu_task {
    int64_t start_ns, end_ns;
    uint32_t thread_id, stream_id, task_id;
    uint16_t dpu;
    str_id name;
    uint32_t comm; /* index in comms, NONE = a task */
};

/* What a communication sub-task does. */
struct dpu_comm {
    str_id group;
    uint64_t group_hash, notify_id, size;
    double estimated_us;
    uint32_t local_rank, remote_rank, rank_size, aicpu_task_id;
    uint16_t npu, plane;
    uint8_t reduce_op, data_type, link_type, transport, rdma_type;
};

struct dpu {
    ARRAY(struct dpu_task) tasks; /* communication first, each as read */
    ARRAY(struct dpu_comm) comms;
};

struct reader {
    struct dpu *dpu;
    const struct metric_source *from;
    struct map kernel_of; /* device << 32 | task -> text of the kernel's name */
    str_id not_known;
};

/* --- loading ------------------------------------------------------------------------------------------------------ */

static void visit_kernel(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    struct task_track_record k;
    memcpy(&k, p, sizeof k);
    if (k.device >> 12 != KIND_DPU || !k.kernel_name) return;
    str_id name = host_text(&r->from->model->host, r->from->strings, k.kernel_name);
    *map_put(&r->kernel_of, (uint64_t)k.device << 32 | k.task, name, NULL) = name;
}

static void visit_track(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    const struct clock *clock = &r->from->dir->clock;
    uint16_t device = get_u16(p + AT_TRACK_DEVICE);
    uint32_t task = get_u32(p + AT_TRACK_TASK);
    array_push(&r->dpu->tasks, ((struct dpu_task){
                                   .start_ns = clock_host_ns(clock, get_u64(p + AT_TRACK_START)),
                                   .end_ns = clock_host_ns(clock, get_u64(p + AT_END)),
                                   .thread_id = get_u32(p + AT_THREAD),
                                   .stream_id = get_u16(p + AT_TRACK_STREAM),
                                   .task_id = task,
                                   .dpu = device & DEVICE_BITS,
                                   .name = map_get(&r->kernel_of, (uint64_t)device << 32 | task, r->not_known),
                                   .comm = NONE,
                               }));
}

static void visit_comm(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    const struct host_data *host = &r->from->model->host;
    const struct clock *clock = &r->from->dir->clock;
    uint64_t group = get_u64(p + AT_GROUP);
    array_push(&r->dpu->tasks, ((struct dpu_task){
                                   .start_ns = clock_host_ns(clock, get_u64(p + AT_START)),
                                   .end_ns = clock_host_ns(clock, get_u64(p + AT_END)),
                                   .thread_id = get_u32(p + AT_THREAD),
                                   .stream_id = get_u16(p + AT_STREAM),
                                   .task_id = get_u32(p + AT_TASK),
                                   .dpu = get_u16(p + AT_DPU) & DEVICE_BITS,
                                   .name = host_text(host, r->from->strings, get_u64(p + AT_NAME)),
                                   .comm = (uint32_t)r->dpu->comms.n,
                               }));
    array_push(&r->dpu->comms, ((struct dpu_comm){
                                   .group = map_get(&host->hash_texts, group, r->not_known),
                                   .group_hash = group,
                                   .notify_id = get_u64(p + AT_NOTIFY),
                                   .size = get_u64(p + AT_SIZE),
                                   .estimated_us = get_f64(p + AT_ESTIMATED),
                                   .local_rank = get_u32(p + AT_LOCAL_RANK),
                                   .remote_rank = get_u32(p + AT_REMOTE_RANK),
                                   .rank_size = get_u32(p + AT_RANK_SIZE),
                                   .aicpu_task_id = get_u32(p + AT_AICPU_TASK),
                                   .npu = get_u16(p + AT_NPU),
                                   .plane = get_u16(p + AT_PLANE),
                                   .reduce_op = p[AT_REDUCE_OP],
                                   .data_type = p[AT_DATA_TYPE],
                                   .link_type = p[AT_LINK_TYPE],
                                   .transport = p[AT_TRANSPORT],
                                   .rdma_type = p[AT_RDMA_TYPE],
                               }));
}

static void dpu_free(void *data)
{
    struct dpu *d = data;
    array_free(&d->tasks);
    array_free(&d->comms);
    free(d);
}

static void *load(const struct metric_source *from)
{
    const struct prof_dir *dir = from->dir;
    struct dpu *d = mem_zalloc(1, sizeof *d);
    struct reader r = {.dpu = d, .from = from, .not_known = strpool_add_z(from->strings, "N/A")};
    if (dir->chip->samples & SAMPLE_DPU_COMM)
        records_each(prof_dir_files(dir, INPUT_DPU_HCCL_INFO), COMM_RECORD, record_valid_host, from->diag,
                     from->progress, visit_comm, &r);
    if (prof_dir_files(dir, INPUT_DPU_TRACK)->n) {
        struct diag *known = diag_new(); /* what is wrong with task_track has been said by the host room */
        records_each(prof_dir_files(dir, INPUT_TASK_TRACK), sizeof(struct task_track_record), record_valid_host, known,
                     NULL, visit_kernel, &r);
        diag_free(known);
    }
    records_each(prof_dir_files(dir, INPUT_DPU_TRACK), TRACK_RECORD, record_valid_host, from->diag, from->progress,
                 visit_track, &r);
    map_free(&r.kernel_of);
    return d;
}

/* --- showing ------------------------------------------------------------------------------------------------------ */

/* Texts that args point to. */
struct texts {
    char group[256], notify[FORMAT_U64 + 1], numbers[5][4];
};

static const char *reduce_op_name(uint8_t op)
{
    static const char *const names[] = {"SUM", "MUL", "MAX", "MIN"};
    return op == UINT8_MAX ? "RESERVED" : op < 4 ? names[op] : NULL;
}

static void add_enum(struct args *a, const char *key, const char *name, uint8_t number, char buf[4])
{
    snprintf(buf, 4, "%u", number);
    args_text(a, key, name ? name : buf);
}

static void add_comm(struct args *a, const struct model *m, const struct dpu_task *task, const struct dpu_comm *c,
                     bool bytes, struct texts *texts)
{
    int64_t ns = trace_duration(task->start_ns, task->end_ns);
    double rate = ns ? (double)c->size / ((double)ns / 1e3 / 1e6) : 0;
    snprintf(texts->group, sizeof texts->group, "%.220s(%llu)", model_text(m, c->group),
             (unsigned long long)c->group_hash);
    snprintf(texts->notify, sizeof texts->notify, "%llu", (unsigned long long)c->notify_id);
    add_enum(a, "OP Type", reduce_op_name(c->reduce_op), c->reduce_op, texts->numbers[0]);
    args_count(a, "AI CPU Device Id", c->npu);
    args_count(a, "AI CPU Task Id", c->aicpu_task_id);
    args_text(a, "Group Name", texts->group);
    args_count(a, "Plane Id", c->plane);
    args_text(a, "Notify Id", texts->notify);
    args_double(a, "Duration Estimated(us)", c->estimated_us);
    args_count(a, "Rank Size", c->rank_size);
    args_count(a, "Src Rank", c->local_rank);
    args_count(a, "Dst Rank", c->remote_rank);
    add_enum(a, "Transport Type", comm_transport_type_name(c->transport), c->transport, texts->numbers[1]);
    args_count(a, "Size(Byte)", c->size);
    args_double(a, bytes ? "Bandwidth(B/s)" : "Bandwidth(GB/s)", bytes ? rate : rate / 1e9);
    add_enum(a, "Data Type", comm_data_type_name(c->data_type), c->data_type, texts->numbers[2]);
    add_enum(a, "Link Type", comm_link_type_name(c->link_type), c->link_type, texts->numbers[3]);
    add_enum(a, "Rdma Type", comm_rdma_type_name(c->rdma_type), c->rdma_type, texts->numbers[4]);
}

static struct args make_args(const struct model *m, const struct dpu *d, const struct dpu_task *task, bool bytes,
                             struct texts *texts)
{
    struct args a = {0};
    args_count(&a, "Thread Id", task->thread_id);
    args_count(&a, "Physic Stream Id", task->stream_id);
    args_count(&a, "Task Id", task->task_id);
    if (task->comm == NONE) args_text(&a, "Task Type", "AI_CPU");
    else add_comm(&a, m, task, &d->comms.at[task->comm], bytes, texts);
    return a;
}

/* A DPU has the process id that an NPU of its number would have. */
static uint32_t dpu_pid(const struct layer *layer, const struct prof_dir *dir, uint16_t dpu)
{
    struct prof_dir other = *dir;
    other.is_host = false;
    other.device_id = dpu;
    return trace_pid(&other, layer_sort_index(layer, dir));
}

/* The first time that a DPU, or one of its streams, is met: name it. */
static void name_places(struct trace *t, const struct layer *layer, uint32_t pid, const struct dpu_task *task,
                        struct map *named)
{
    char text[32];
    bool fresh;
    map_put(named, (uint64_t)task->dpu << 33 | 1ull << 32, 0, &fresh);
    if (fresh) {
        snprintf(text, sizeof text, "DPU %u", task->dpu);
        trace_labelled_process(t, pid, layer->name, text, layer->sort_index);
    }
    map_put(named, (uint64_t)task->dpu << 33 | task->stream_id, 0, &fresh);
    if (!fresh) return;
    snprintf(text, sizeof text, "Stream %u", task->stream_id);
    trace_thread(t, pid, (int32_t)task->stream_id, text, task->stream_id);
}

static void write(struct trace *t, const struct layer *layer)
{
    const struct prof_dir *host = t->model->session->host;
    const struct dpu *d = metric_data(t->model, host, layer->metric);
    struct map named = {0};
    for (size_t i = 0; d && i < d->tasks.n; i++) {
        const struct dpu_task *task = &d->tasks.at[i];
        if (sample_too_early(host, task->start_ns)) continue;
        struct texts texts;
        struct args args = make_args(t->model, d, task, false, &texts);
        uint32_t pid = dpu_pid(layer, host, task->dpu);
        name_places(t, layer, pid, task, &named);
        trace_begin(t);
        trace_text(t, task->name);
        trace_slice(t, pid, (int32_t)task->stream_id, task->start_ns, task->end_ns, NULL);
        args_trace(t, &args);
        trace_end(t);
    }
    map_free(&named);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct dpu *d = data;
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct dpu_task *task = &d->tasks.at[i];
        if (sample_too_early(dir, task->start_ns)) continue;
        struct texts texts;
        struct args args = make_args(run->model, d, task, true, &texts);
        struct db_task_key key = {task->dpu, task->stream_id, task->task_id, CONTEXT_NONE, UINT32_MAX}; /* no NPU's */
        db_int(t, task->dpu);
        db_int(t, task->thread_id);
        db_int(t, task->start_ns);
        db_int(t, task->end_ns);
        db_int(t, ids_task(&run->ids, key));
        db_int(t, task->stream_id);
        db_int(t, task->task_id);
        db_string(run, t, task->name);
        args_db(run, t, &args);
        db_row(t);
    }
}

const struct metric metric_dpu = {
    .name = "DPU",
    METRIC_INPUTS(INPUT_DPU_TRACK, INPUT_DPU_HCCL_INFO),
    .load = load,
    .free = dpu_free,
    .layers =
        (const struct layer[]){{.key = "dpu", .name = "CANN", .sort_index = 8, .files = IN_MSPROF, .write = write},
                               {.key = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"DPU_TASK",
                                                             {{"dpuDeviceId", DB_INTEGER},
                                                              {"globalTid", DB_NUMERIC},
                                                              {"startNs", DB_NUMERIC},
                                                              {"endNs", DB_NUMERIC},
                                                              {"globalTaskId", DB_NUMERIC},
                                                              {"streamId", DB_NUMERIC},
                                                              {"taskId", DB_NUMERIC},
                                                              {"opName", DB_NUMERIC},
                                                              {"args", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
