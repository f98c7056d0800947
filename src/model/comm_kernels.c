/* Kernels of the AI CPU: which of them unfold communication, and the operator that each stands for. */
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "model/comm_aicpu.h"

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

void aicpu_collect_kernels(struct aicpu_work *w)
{
    const struct host_data *h = &w->m->host;
    struct strpool *strings = w->m->strings;
    str_id notify_wait = strpool_add_z(strings, "NOTIFY_WAIT"), memcpy_async = strpool_add_z(strings, "MEMCPY_ASYNC"),
           init = strpool_add_z(strings, "hcomAicpuInit");
    for (size_t i = 0; i < w->d->data.tasks.n; i++) {
        const struct device_task *run = aicpu_task(w, (uint32_t)i);
        if (w->host_of[i] >= h->tasks.n || h->tasks.at[w->host_of[i]].op == NONE) continue;
        const struct host_task *launch = &h->tasks.at[w->host_of[i]];
        const struct op *op = &h->ops.at[launch->op];
        if (!(op->flags & OP_AICPU_KERNEL) && !model_is_kfc_stream(w->m, run->stream_id)) continue;
        if (launch->type == notify_wait || launch->type == memcpy_async || op->name == init) continue;
        array_push(&w->kernels, ((struct aicpu_kernel){.start = run->start,
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
            const struct aicpu_kernel *k = &w->kernels.at[order[i].index];
            order[i].key = pass ? aicpu_task(w, k->task)->stream_id : k->start;
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

static void op_reports(const struct aicpu_work *w, struct reports *r)
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

static void main_task_reports(const struct aicpu_work *w, struct reports *r)
{
    const struct aicpu_comm *c = &w->d->data.aicpu;
    struct map stream_of = {0}; /* of kernels, where a record has the task id alone */
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct device_task *run = aicpu_task(w, w->kernels.at[i].task);
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
static void describe(struct aicpu_work *w, struct aicpu_kernel *k, uint32_t op_report)
{
    if (op_report == NONE) return;
    const struct aicpu_op *op = &w->d->data.aicpu.ops.at[op_report];
    k->relay = op->relay;
    k->retry = op->retry;
    k->group = host_text(&w->m->host, w->m->strings, op->group);
    k->group_key = op->group;
}

static void narrow(struct aicpu_work *w, struct aicpu_kernel *k, struct reports *main_tasks)
{
    uint32_t stream = aicpu_task(w, k->task)->stream_id, report;
    uint64_t start = k->start, end = k->end;
    while ((report = next_report(main_tasks, stream, start, end)) != NONE) {
        const struct aicpu_main_task *t = &w->d->data.aicpu.main_tasks.at[report];
        if (t->first) k->start = aicpu_task(w, t->task)->start;
        k->end = aicpu_task(w, t->task)->end;
    }
}

/* The launch tells the name, unless it is one inside of a communication call. */
static void name_by_launch(const struct aicpu_work *w, struct aicpu_kernel *k)
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
static void map_operators(const struct aicpu_work *w, struct map *op_of)
{
    const struct host_data *h = &w->m->host;
    for (size_t i = 0; i < h->comm_ops.n; i++)
        if (h->comm_ops.at[i].device_id == w->d->device_id && h->comm_ops.at[i].kfc_connection != NONE)
            *map_put(op_of, h->comm_ops.at[i].kfc_connection, 0, NULL) = (uint32_t)i;
}

static void find_operators(struct aicpu_work *w)
{
    struct reports ops, main_tasks;
    op_reports(w, &ops);
    main_task_reports(w, &main_tasks);
    struct map op_of = {0}, runs_of = {0}, reported = {0};
    map_operators(w, &op_of);
    for (size_t i = 0; i < ops.n; i++) map_put(&reported, ops.streams[i], 1, NULL);
    for (size_t i = 0; i < w->kernels.n; i++) {
        struct aicpu_kernel *k = &w->kernels.at[i];
        uint32_t stream = aicpu_task(w, k->task)->stream_id, mc2 = map_get(&w->kfc_group, stream, NONE);
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

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* How many operators of a group a stream has run, and which launch the last of them is of. */
struct counter {
    uint64_t launched;
    int64_t index;
};

/* An operator that was launched has its name already. The others are numbered per stream like launched ones. */
static void name_kernels(struct aicpu_work *w)
{
    ARRAY(struct counter) counters = {0};
    struct map counter_of = {0};
    for (size_t i = 0; i < w->kernels.n; i++) {
        struct aicpu_kernel *k = &w->kernels.at[i];
        struct comm_group_text group = comm_group_text(k->group, k->group_key);
        uint64_t which =
            hash_u64(comm_counter(w->m, k->name, k->group, k->group_key)) + aicpu_task(w, k->task)->stream_id;
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

void aicpu_find_operators(struct aicpu_work *w)
{
    find_operators(w);
    name_kernels(w);
}
