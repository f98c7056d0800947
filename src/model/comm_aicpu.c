/* Communication that the AI CPU unfolds: collectives whose launch is one kernel, and fused operators (MC2).
 *
 *     kernel on the AI CPU stream of a group      |------------ allreduceAicpuKernel ------------|
 *     its operator, as the AI CPU reports it        o
 *     first, last sub-task on the main stream         f                             l
 *     sub-tasks on the streams of the group           [-]-[---]-[--]-[-] [-]----[-]-[--]
 *     the operator                                    |=================================|
 *
 * The kernel ran an operator; what was reported while it ran belongs to it. The operator lasts from the first to the
 * last sub-task on its main stream (as long as the kernel when that was not reported), and has the sub-tasks of its
 * group that end in between. A stream on which no operator is reported runs fused operators.
 *
 * Sub-tasks of launched operators become rows beside the launched ones; fused operators and their sub-tasks get groups
 * of their own. Rules: docs/formats/joining.md. */
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "model/comm.h"

#define SQE_C_CORE 20 /* type of the tasks that the AI CPU waits for, on the main stream of fused operators */

/* A group of mc2_comm_info with all of its streams. */
struct group {
    str_id name;
    uint64_t key;
    ARRAY(uint32_t) streams;          /* indices in work.streams */
    uint32_t first_kernel, n_kernels; /* in work.by_group */
};

/* A stream that sub-tasks run on: its part of work.smalls, ascending end. */
struct stream {
    uint32_t first, n;
};

/* A sub-task that ran. */
struct small {
    uint32_t task;   /* index in data.tasks */
    uint32_t info;   /* index in aicpu.infos, NONE = there are none at this level */
    uint32_t stream; /* index in work.streams */
    double rate;
    bool first, taken;
};

/* A kernel that ran on the AI CPU, and its operator. */
struct kernel {
    uint64_t start, end; /* of the operator, device counter */
    uint32_t task;       /* index in data.tasks */
    uint32_t launch;     /* index in host.tasks */
    uint32_t iteration;
    uint32_t run; /* index in runs, NONE = of no launched operator that ran */
    uint32_t op;  /* index in device.comm_ops, NONE */
    str_id name;  /* of the operator; later with suffix */
    str_id key;
    str_id group; /* dictionary text */
    uint64_t group_key;
    uint64_t launched; /* host counter, 0 = not known */
    uint8_t source;    /* enum comm_source */
    int8_t relay, retry;
};

struct work {
    const struct model *m;
    struct device_model *d;
    const uint32_t *host_of;
    const struct comm_runs *runs;
    ARRAY(struct group) groups;
    ARRAY(struct stream) streams;
    struct map group_of;  /* group key -> index in groups */
    struct map stream_of; /* stream id -> index in streams */
    struct map kfc_group; /* AI CPU stream -> index in host.mc2_groups */
    ARRAY(struct small) smalls;
    ARRAY(struct kernel) kernels; /* ascending (stream, start) */
    uint32_t *by_group;           /* kernels, by group and start */
    size_t budget;                /* sub-tasks that may still be looked at: a bound for absurd groups */
    size_t without_master;
};

static const struct device_task *task_at(const struct work *w, uint32_t i)
{
    return &w->d->data.tasks.at[i];
}

static bool joined(const struct work *w, uint32_t task)
{
    return w->host_of[task] != HOST_AMBIGUOUS && w->host_of[task] != HOST_LEFT_OUT;
}

/* ---- groups and streams
 * ----------------------------------------------------------------------------------------------
 */

static uint32_t add_stream(struct work *w, uint32_t id)
{
    bool fresh;
    uint32_t at = *map_put(&w->stream_of, id, (uint32_t)w->streams.n, &fresh);
    if (fresh) array_push(&w->streams, ((struct stream){0}));
    return at;
}

static void collect_groups(struct work *w)
{
    struct map seen = {0}; /* (group, stream) */
    for (size_t i = 0; i < w->m->host.mc2_groups.n; i++) {
        const struct mc2_group *from = &w->m->host.mc2_groups.at[i];
        bool fresh;
        *map_put(&w->kfc_group, from->kfc_stream, 0, NULL) = (uint32_t)i;
        uint32_t at = *map_put(&w->group_of, from->group_key, (uint32_t)w->groups.n, &fresh);
        if (fresh) array_push(&w->groups, ((struct group){.name = from->group, .key = from->group_key}));
        for (uint32_t k = 0; k < from->n_streams; k++) {
            uint32_t stream = add_stream(w, from->streams[k]);
            map_put(&seen, (uint64_t)at << 32 | stream, 1, &fresh);
            if (fresh) array_push(&w->groups.at[at].streams, stream);
        }
    }
    map_free(&seen);
}

/* ---- sub-tasks
 * -------------------------------------------------------------------------------------------------------
 */

static void add_small(struct work *w, uint32_t task, uint32_t info)
{
    uint32_t stream = map_get(&w->stream_of, task_at(w, task)->stream_id, NONE);
    if (stream != NONE && joined(w, task))
        array_push(&w->smalls, ((struct small){task, info, stream, 0, false, false}));
}

/* Sub-tasks that nothing is reported of are not shown, unless nothing is reported at all (level 0). */
static void collect_smalls(struct work *w)
{
    const struct aicpu_comm *c = &w->d->data.aicpu;
    for (size_t i = 0; i < c->infos.n; i++)
        if (c->infos.at[i].task != NONE) add_small(w, c->infos.at[i].task, (uint32_t)i);
    if (!c->infos.n)
        for (size_t i = 0; i < w->d->data.tasks.n; i++) add_small(w, (uint32_t)i, NONE);

    struct map first = {0};
    for (size_t i = 0; i < c->main_tasks.n; i++)
        if (c->main_tasks.at[i].first && c->main_tasks.at[i].task != NONE)
            map_put(&first, c->main_tasks.at[i].task, 1, NULL);
    for (size_t i = 0; i < w->smalls.n; i++) w->smalls.at[i].first = map_get(&first, w->smalls.at[i].task, 0);
    map_free(&first);
}

/* Transfers are put together by what the sub-tasks are called, on each plane. */
static void find_rates(struct work *w)
{
    size_t n = w->d->data.aicpu.infos.n ? w->smalls.n : 0;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    struct transfer *t = mem_alloc(n * sizeof *t);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){task_at(w, w->smalls.at[i].task)->start, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        const struct small *s = &w->smalls.at[order[i].index];
        const struct device_task *run = task_at(w, s->task);
        const struct aicpu_info *info = &w->d->data.aicpu.infos.at[s->info];
        str_id name = host_text(&w->m->host, w->m->strings, info->name);
        t[i] = (struct transfer){
            .start = clock_task_raw(&w->d->dir->clock, run->start),
            .end = clock_task_raw(&w->d->dir->clock, run->end),
            .bytes = (double)info->size,
            .lane = (uint64_t)name << 32 | info->plane_id,
            .name = name,
            .is_payload = info->rdma_type == RDMA_SEND_PAYLOAD,
        };
    }
    transfer_rates(w->m, t, n, true);
    for (size_t i = 0; i < n; i++) w->smalls.at[order[i].index].rate = t[i].rate;
    free(t);
    free(order);
}

/* By stream, in the order in which they end. */
static void sort_smalls(struct work *w)
{
    size_t n = w->smalls.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){task_at(w, w->smalls.at[i].task)->end, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = w->smalls.at[order[i].index].stream;
    sort_keys(order, n);
    sort_permute(w->smalls.at, sizeof *w->smalls.at, order, n);
    free(order);
    for (size_t i = 0; i < n; i++) {
        struct stream *s = &w->streams.at[w->smalls.at[i].stream];
        if (!s->n++) s->first = (uint32_t)i;
    }
}

/* ---- kernels
 * ---------------------------------------------------------------------------------------------------------
 */

static void collect_kernels(struct work *w)
{
    const struct host_data *h = &w->m->host;
    struct strpool *strings = w->m->strings;
    str_id notify_wait = strpool_add_z(strings, "NOTIFY_WAIT"), memcpy_async = strpool_add_z(strings, "MEMCPY_ASYNC"),
           init = strpool_add_z(strings, "hcomAicpuInit");
    for (size_t i = 0; i < w->d->data.tasks.n; i++) {
        const struct device_task *run = task_at(w, (uint32_t)i);
        if (w->host_of[i] >= h->tasks.n || h->tasks.at[w->host_of[i]].op == NONE) continue;
        const struct host_task *launch = &h->tasks.at[w->host_of[i]];
        const struct op *op = &h->ops.at[launch->op];
        if (!(op->flags & OP_AICPU_KERNEL) && !model_is_kfc_stream(w->m, run->stream_id)) continue;
        if (launch->type == notify_wait || launch->type == memcpy_async || op->name == init) continue;
        array_push(&w->kernels, ((struct kernel){.start = run->start,
                                                 .end = run->end,
                                                 .task = (uint32_t)i,
                                                 .launch = w->host_of[i],
                                                 .run = NONE,
                                                 .op = NONE,
                                                 .group = STR_NA,
                                                 .relay = -1,
                                                 .retry = -1}));
    }
    struct sort_key *order = mem_alloc(w->kernels.n * sizeof *order);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < w->kernels.n; i++) {
            if (!pass) order[i].index = (uint32_t)i;
            const struct kernel *k = &w->kernels.at[order[i].index];
            order[i].key = pass ? task_at(w, k->task)->stream_id : k->start;
        }
        sort_keys(order, w->kernels.n);
    }
    sort_permute(w->kernels.at, sizeof *w->kernels.at, order, w->kernels.n);
    free(order);
}

/* Records of the AI CPU, ascending (stream, time): what belongs to a kernel is a run of them. */
struct reports {
    struct sort_key *order; /* key: time */
    uint32_t *streams;      /* by place in order */
    size_t n, at;
};

static void sort_reports(struct reports *r, uint32_t *stream_of)
{
    sort_keys_then(r->order, r->n, stream_of);
    r->streams = mem_alloc(r->n * sizeof *r->streams);
    for (size_t i = 0; i < r->n; i++) r->streams[i] = stream_of[r->order[i].index];
}

/* The next report that was made while the kernel ran, NONE = no more. Kernels are asked for in their order. */
static uint32_t next_report(struct reports *r, uint32_t stream, uint64_t start, uint64_t end)
{
    while (r->at < r->n && (r->streams[r->at] < stream || (r->streams[r->at] == stream && r->order[r->at].key < start)))
        r->at++;
    if (r->at == r->n || r->streams[r->at] != stream || r->order[r->at].key > end) return NONE;
    return r->order[r->at++].index;
}

static void reports_free(struct reports *r)
{
    free(r->order);
    free(r->streams);
}

static void op_reports(const struct work *w, struct reports *r)
{
    const struct aicpu_comm *c = &w->d->data.aicpu;
    uint32_t *streams = mem_alloc(c->ops.n * sizeof *streams);
    *r = (struct reports){.order = mem_alloc(c->ops.n * sizeof *r->order), .n = c->ops.n};
    for (size_t i = 0; i < c->ops.n; i++) {
        streams[i] = c->ops.at[i].stream_id;
        r->order[i] = (struct sort_key){c->ops.at[i].time, (uint32_t)i};
    }
    sort_reports(r, streams);
    free(streams);
}

static void main_task_reports(const struct work *w, struct reports *r)
{
    const struct aicpu_comm *c = &w->d->data.aicpu;
    struct map stream_of = {0}; /* of kernels, where a record has the task id alone */
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct device_task *run = task_at(w, w->kernels.at[i].task);
        map_put(&stream_of, run->task_id, run->stream_id, NULL);
    }
    uint32_t *streams = mem_alloc(c->main_tasks.n * sizeof *streams);
    *r = (struct reports){.order = mem_alloc(c->main_tasks.n * sizeof *r->order)};
    for (size_t i = 0; i < c->main_tasks.n; i++) {
        const struct aicpu_main_task *t = &c->main_tasks.at[i];
        streams[i] = t->kernel_stream_id == AICPU_STREAM_OPEN ? map_get(&stream_of, t->kernel_task_id, NONE)
                                                              : t->kernel_stream_id;
        if (t->task != NONE) r->order[r->n++] = (struct sort_key){t->time, (uint32_t)i};
    }
    sort_reports(r, streams);
    free(streams);
    map_free(&stream_of);
}

/* What was reported of the operator while its kernel ran. */
static void describe(struct work *w, struct kernel *k, uint32_t op_report)
{
    if (op_report == NONE) return;
    const struct aicpu_op *op = &w->d->data.aicpu.ops.at[op_report];
    k->relay = op->relay;
    k->retry = op->retry;
    k->group = host_text(&w->m->host, w->m->strings, op->group);
    k->group_key = op->group;
}

static void narrow(struct work *w, struct kernel *k, struct reports *main_tasks)
{
    uint32_t stream = task_at(w, k->task)->stream_id, report;
    uint64_t start = k->start, end = k->end;
    while ((report = next_report(main_tasks, stream, start, end)) != NONE) {
        const struct aicpu_main_task *t = &w->d->data.aicpu.main_tasks.at[report];
        if (t->first) k->start = task_at(w, t->task)->start;
        k->end = task_at(w, t->task)->end;
    }
}

/* The launch tells the name, unless it is one inside of a communication call. */
static void name_by_launch(const struct work *w, struct kernel *k)
{
    const struct host_task *launch = &w->m->host.tasks.at[k->launch];
    const struct op *op = &w->m->host.ops.at[launch->op];
    const char *type = model_text(w->m, op->task_type);
    k->name = STR_NA;
    if (!strcmp(type, "COMMUNICATION") || !strcmp(type, "HCCL_AI_CPU")) return;
    k->name = op->name;
    k->launched = launch->time;
}

/* The launched operator that a kernel belongs to, by the call that launched it. */
static void map_operators(const struct work *w, struct map *op_of)
{
    const struct host_data *h = &w->m->host;
    for (size_t i = 0; i < h->comm_ops.n; i++)
        if (h->comm_ops.at[i].device_id == w->d->device_id && h->comm_ops.at[i].kfc_connection != NONE)
            *map_put(op_of, h->comm_ops.at[i].kfc_connection, 0, NULL) = (uint32_t)i;
}

static void find_operators(struct work *w)
{
    struct reports ops, main_tasks;
    op_reports(w, &ops);
    main_task_reports(w, &main_tasks);
    struct map op_of = {0}, runs_of = {0}, reported = {0};
    map_operators(w, &op_of);
    for (size_t i = 0; i < ops.n; i++) map_put(&reported, ops.streams[i], 1, NULL);
    for (size_t i = 0; i < w->kernels.n; i++) {
        struct kernel *k = &w->kernels.at[i];
        uint32_t stream = task_at(w, k->task)->stream_id, mc2 = map_get(&w->kfc_group, stream, NONE);
        if (mc2 != NONE) {
            k->group = w->m->host.mc2_groups.at[mc2].group;
            k->group_key = w->m->host.mc2_groups.at[mc2].group_key;
        }
        k->iteration = ++*map_put(&runs_of, k->launch, 0, NULL);
        k->source = map_get(&reported, stream, 0) ? COMM_AICPU : COMM_FUSED;
        describe(w, k, next_report(&ops, stream, k->start, k->end));
        narrow(w, k, &main_tasks);
        name_by_launch(w, k);
        if (k->source == COMM_FUSED) continue;
        uint32_t op = map_get(&op_of, w->m->host.tasks.at[k->launch].connection, NONE);
        if (op == NONE) continue;
        k->name = w->m->host.comm_ops.at[op].name;
        k->run = map_get(&w->runs->index, comm_run_key(op, k->iteration), NONE);
    }
    map_free(&op_of);
    map_free(&runs_of);
    map_free(&reported);
    reports_free(&ops);
    reports_free(&main_tasks);
}

/* ---- names
 * -----------------------------------------------------------------------------------------------------------
 */

/* How many operators of a group a stream has run, and which launch the last of them is of. */
struct counter {
    uint64_t launched;
    int64_t index;
};

/* An operator that was launched has its name already. The others are numbered per stream like launched ones. */
static void name_kernels(struct work *w)
{
    ARRAY(struct counter) counters = {0};
    struct map counter_of = {0};
    for (size_t i = 0; i < w->kernels.n; i++) {
        struct kernel *k = &w->kernels.at[i];
        struct comm_group_text group = comm_group_text(k->group, k->group_key);
        uint64_t which = hash_u64(comm_counter(w->m, k->name, k->group, k->group_key)) + task_at(w, k->task)->stream_id;
        bool fresh;
        uint32_t at = *map_put(&counter_of, which, (uint32_t)counters.n, &fresh);
        if (fresh) array_push(&counters, ((struct counter){0, -1}));
        struct counter *c = &counters.at[at];
        if (clock_task_ns(&w->d->dir->clock, k->start) > w->m->session->start_ns && k->launched > c->launched) {
            c->launched = k->launched;
            c->index++;
        }
        if (k->run != NONE) {
            const struct comm_run *run = &w->runs->runs.at[k->run];
            k->name = run->name;
            k->key = run->key;
            k->op = run->op;
        } else {
            k->name = comm_name(w->m, k->name, &group, c->index, k->iteration);
            k->key = comm_key(w->m, k->name, &group, w->d->device_id);
        }
    }
    map_free(&counter_of);
    array_free(&counters);
}

/* ---- rows
 * ------------------------------------------------------------------------------------------------------------
 */

/* What is remembered from operator to operator of a group. */
struct planes {
    uint32_t main_stream; /* index in work.streams, NONE = not known yet */
    struct map ordinals;  /* of the other streams, by first use: 1, 2 … */
};

static struct comm_task task_row(const struct work *w, const struct kernel *k, const struct small *s, str_id group)
{
    const struct device_task *run = task_at(w, s->task);
    struct comm_info none = w->m->host.comm_infos.at[0];
    if (s->info != NONE) {
        const struct aicpu_info *i = &w->d->data.aicpu.infos.at[s->info];
        none = (struct comm_info){
            .name = host_text(&w->m->host, w->m->strings, i->name),
            .plane_id = 0,
            .local_rank = i->local_rank,
            .remote_rank = i->remote_rank,
            .notify_id = i->notify_id,
            .estimated_us = i->estimated_us,
            .size = (int64_t)i->size,
            .data_type = i->data_type,
            .link_type = i->link_type,
            .transport_type = i->transport_type,
            .rdma_type = i->rdma_type,
        };
    }
    return (struct comm_task){
        .start_ns = clock_task_ns(&w->d->dir->clock, run->start),
        .end_ns = clock_task_ns(&w->d->dir->clock, run->end),
        .stream_id = run->stream_id,
        .task_id = run->task_id,
        .context_id = run->context_id,
        .batch_id = run->batch_id,
        .model_id = w->m->host.tasks.at[k->launch].model_id,
        .op = k->op,
        .op_name = k->name,
        .op_key = k->key,
        .name = none.name,
        .group = group,
        .plane_id = none.plane_id,
        .notify_id = none.notify_id,
        .estimated_us = none.estimated_us,
        .bandwidth_gbs = s->rate,
        .size = none.size,
        .src_rank = none.local_rank,
        .dst_rank = none.remote_rank,
        .data_type = none.data_type,
        .link_type = none.link_type,
        .transport_type = none.transport_type,
        .rdma_type = none.rdma_type,
        .source = k->source,
    };
}

/* The main stream is plane 1 of a launched operator, whose own sub-tasks are plane 0, and plane 0 of a fused one. */
static void place(struct planes *p, const struct work *w, const struct small *s, struct comm_task *row)
{
    bool fused = row->source == COMM_FUSED;
    if (s->first || task_at(w, s->task)->type_number == SQE_C_CORE) {
        p->main_stream = s->stream;
        row->is_master = fused;
    } else {
        row->is_master = s->stream == p->main_stream;
    }
    if (row->plane_id < 0) return;
    if (s->stream == p->main_stream) row->plane_id = fused ? 0 : 1;
    else row->plane_id = (int32_t)*map_put(&p->ordinals, s->stream, (uint32_t)p->ordinals.n + 1, NULL) + !fused;
}

/* A fused operator is there when a task of its main stream is. */
static void store_fused(struct work *w, struct kernel *k, int64_t start_ns, int64_t end_ns, str_id group)
{
    const struct host_task *launch = &w->m->host.tasks.at[k->launch];
    if (start_ns < w->m->session->start_ns) return;
    k->op = (uint32_t)w->d->comm_ops.n;
    array_push(&w->d->comm_ops, ((struct comm_op){
                                    .start_ns = start_ns,
                                    .end_ns = end_ns,
                                    .name = k->name,
                                    .key = k->key,
                                    .op_type = w->m->host.ops.at[launch->op].type,
                                    .alg_type = STR_NA,
                                    .group = group,
                                    .connection = launch->connection,
                                    .model_id = launch->model_id,
                                    .rank_size = UINT32_MAX,
                                    .relay = k->relay,
                                    .retry = k->retry,
                                    .source = COMM_FUSED,
                                    .data_type = w->m->host.comm_infos.at[0].data_type,
                                    .count = -1,
                                }));
}

/* The rows of the sub-tasks small[*at …] that end while the operator lasts. */
static void store_kernel(struct work *w, struct kernel *k, struct planes *p, const struct sort_key *list, size_t n,
                         size_t *at, str_id group)
{
    size_t first_row = w->d->comm_tasks.n;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    bool any = false;
    while (*at < n && list[*at].key < k->start) ++*at;
    for (; *at < n && list[*at].key <= k->end; ++*at) {
        struct small *s = &w->smalls.at[list[*at].index];
        struct comm_task row = task_row(w, k, s, group);
        place(p, w, s, &row);
        s->taken = any = true;
        if (row.is_master && row.start_ns < start_ns) start_ns = row.start_ns;
        if (row.is_master && row.end_ns > end_ns) end_ns = row.end_ns;
        if (row.start_ns >= w->m->session->start_ns) array_push(&w->d->comm_tasks, row);
    }
    if (k->source != COMM_FUSED) return;
    if (end_ns == INT64_MIN) w->without_master += any;
    else store_fused(w, k, start_ns, end_ns, group);
    for (size_t i = first_row; i < w->d->comm_tasks.n; i++) w->d->comm_tasks.at[i].op = k->op;
}

/* The sub-tasks of a group in the order in which they end. Returns how many; *out is to be freed. */
static size_t smalls_of(struct work *w, const struct group *g, struct sort_key **out)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < g->streams.n; i++) n += w->streams.at[g->streams.at[i]].n;
    if (n > w->budget) n = 0;
    w->budget -= n;
    *out = mem_alloc(n * sizeof **out);
    for (size_t i = 0; i < g->streams.n && n; i++) {
        const struct stream *s = &w->streams.at[g->streams.at[i]];
        for (uint32_t k = 0; k < s->n; k++)
            (*out)[kept++] = (struct sort_key){task_at(w, w->smalls.at[s->first + k].task)->end, s->first + k};
    }
    sort_keys(*out, kept);
    return kept;
}

static str_id fused_group(const struct work *w, str_id name)
{
    char *text = mem_printf("%s Aicpu", model_text(w->m, name));
    str_id id = strpool_add_z(w->m->strings, text);
    free(text);
    return id;
}

static void store_group(struct work *w, const struct group *g)
{
    struct sort_key *list;
    struct planes planes = {.main_stream = NONE};
    size_t n = smalls_of(w, g, &list), at = 0;
    str_id aicpu = fused_group(w, g->name);
    for (uint32_t i = 0; i < g->n_kernels; i++) {
        struct kernel *k = &w->kernels.at[w->by_group[g->first_kernel + i]];
        store_kernel(w, k, &planes, list, n, &at, k->source == COMM_FUSED ? aicpu : g->name);
    }
    map_free(&planes.ordinals);
    free(list);
}

/* Kernels by group, in the order in which their operators start. */
static void group_kernels(struct work *w)
{
    struct sort_key *order = mem_alloc(w->kernels.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct kernel *k = &w->kernels.at[i];
        if (k->group != STR_NA && map_get(&w->group_of, k->group_key, NONE) != NONE)
            order[n++] = (struct sort_key){k->start, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = map_get(&w->group_of, w->kernels.at[order[i].index].group_key, 0);
    sort_keys(order, n);
    w->by_group = mem_alloc(n * sizeof *w->by_group);
    for (size_t i = 0; i < n; i++) {
        struct group *g = &w->groups.at[order[i].key];
        if (!g->n_kernels++) g->first_kernel = (uint32_t)i;
        w->by_group[i] = order[i].index;
    }
    free(order);
}

/* What the device reports of relay and retry counts, also that it reported nothing. */
static void correct_operators(struct work *w)
{
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct kernel *k = &w->kernels.at[i];
        if (k->source != COMM_AICPU || k->op == NONE) continue;
        w->d->comm_ops.at[k->op].relay = k->relay;
        w->d->comm_ops.at[k->op].retry = k->retry;
    }
}

/* ---- everything
 * ------------------------------------------------------------------------------------------------------
 */

static void report(const struct work *w, struct diag *diag)
{
    size_t lost = 0;
    for (size_t i = 0; i < w->smalls.n; i++) lost += !w->smalls.at[i].taken && w->smalls.at[i].info != NONE;
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, lost,
               "communication tasks of the AI CPU left out of Communication: they ended outside of any operator");
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, w->without_master,
               "communication operators left out: none of their tasks ran on the main stream");
}

void comm_aicpu_build(const struct model *m, struct device_model *d, const uint32_t *host_of,
                      const struct comm_runs *runs, struct diag *diag)
{
    struct work w = {.m = m, .d = d, .host_of = host_of, .runs = runs};
    collect_kernels(&w);
    if (w.kernels.n) {
        collect_groups(&w);
        collect_smalls(&w);
        find_rates(&w);
        sort_smalls(&w);
        find_operators(&w);
        name_kernels(&w);
        group_kernels(&w);
        w.budget = 65536 + 64 * w.smalls.n;
        for (size_t i = 0; i < w.groups.n; i++)
            if (w.groups.at[i].n_kernels) store_group(&w, &w.groups.at[i]);
        correct_operators(&w);
        report(&w, diag);
    }
    for (size_t i = 0; i < w.groups.n; i++) array_free(&w.groups.at[i].streams);
    array_free(&w.groups);
    array_free(&w.streams);
    array_free(&w.smalls);
    array_free(&w.kernels);
    map_free(&w.group_of);
    map_free(&w.stream_of);
    map_free(&w.kfc_group);
    free(w.by_group);
}
