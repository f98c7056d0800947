/* Communication operators and their sub-tasks on one device.
 *
 *   host sub-task ──(stream, batch, task, context)──▶ device intervals         = executed sub-tasks ("pieces")
 *   pieces of a thread, by launch time ──▶ the operator whose call encloses the launch
 *   operators of a group, by begin ──▶ index;  runs of one launch ──▶ iteration  = names like hcom_allReduce__538_0_1
 *   pieces with the same name, group and device ──▶ an operator that ran, from its first to its last master piece
 *
 * What the AI CPU unfolds is put beside it (comm_aicpu.c). Everything is a sort and a merge over arrays of pieces.
 * Rules: docs/formats/joining.md. */
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "model/comm.h"

#define MOST_PIECES 65536u /* that are made in any case */

/* A host sub-task that ran once. */
struct piece {
    uint64_t launch;      /* host counter */
    uint64_t start;       /* device counter: order of execution */
    uint32_t host;        /* index in host.comm_tasks */
    uint32_t device_task; /* index in data.tasks */
    uint32_t op;          /* index in host.comm_ops, NONE = launched outside any operator */
    uint32_t iteration;   /* 1, 2 … of its launch */
    int64_t start_ns, end_ns;
    str_id name; /* of the operator, with suffix */
    str_id key;
    str_id group;       /* dictionary text */
    uint64_t group_key; /* 0 with group "N/A" */
    double bandwidth;
};

typedef ARRAY(struct piece) pieces;

struct work {
    const struct model *m;
    struct device_model *d;
    const uint32_t *host_of;
    pieces p;
    uint32_t *rank_size; /* of each host operator: what its last sub-task says */
    bool by_scripts;     /* rates have the last digits of the reference's scripts */
};

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static struct task_key launch_key(const struct host_comm_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, t->batch_id);
}

/* Sub-tasks of this device on the host, by key. */
static size_t sorted_launches(const struct work *w, struct sort_key **out)
{
    const struct host_data *h = &w->m->host;
    struct sort_key *order = mem_alloc(h->comm_tasks.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < h->comm_tasks.n; i++)
        if (h->comm_tasks.at[i].device_id == w->d->device_id)
            order[n++] = (struct sort_key){launch_key(&h->comm_tasks.at[i]).context_batch, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = launch_key(&h->comm_tasks.at[order[i].index]).task_stream;
    sort_keys(order, n);
    *out = order;
    return n;
}

static struct task_key run_key_of(const struct device_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, t->batch_id);
}

static void add_piece(struct work *w, uint32_t host, uint32_t device_task)
{
    const struct device_task *run = &w->d->data.tasks.at[device_task];
    array_push(&w->p, ((struct piece){
                          .launch = w->m->host.comm_tasks.at[host].time,
                          .start = run->start,
                          .host = host,
                          .device_task = device_task,
                          .op = NONE,
                          .start_ns = clock_task_ns(&w->d->dir->clock, run->start),
                          .end_ns = clock_task_ns(&w->d->dir->clock, run->end),
                      }));
}

/* Every sub-task with every run of its key: both sides are sorted by key. Several sub-tasks of one key (a call that
 * reported several of one task) share its runs; data that claims absurdly many of both is cut. */
static void collect_pieces(struct work *w, struct diag *diag)
{
    struct sort_key *order;
    const struct device_task *tasks = w->d->data.tasks.at;
    size_t n = sorted_launches(w, &order), n_tasks = w->d->data.tasks.n, t = 0, cut = 0;
    size_t most = MOST_PIECES + 8 * (n + n_tasks);
    for (size_t i = 0; i < n; i++) {
        struct task_key key = launch_key(&w->m->host.comm_tasks.at[order[i].index]);
        while (t < n_tasks && task_key_compare(run_key_of(&tasks[t]), key) < 0) t++;
        if (t < n_tasks && w->host_of[t] == HOST_AMBIGUOUS) continue; /* all of a key are */
        for (size_t k = t; k < n_tasks && !task_key_compare(run_key_of(&tasks[k]), key); k++) {
            if (w->host_of[k] == HOST_LEFT_OUT) continue;
            if (w->p.n == most) {
                cut++;
                break;
            }
            add_piece(w, order[i].index, (uint32_t)k);
        }
    }
    free(order);
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, cut,
               "communication tasks left out of Communication: too many runs of too many sub-tasks");
}

static const struct host_comm_task *host_of_piece(const struct work *w, const struct piece *p)
{
    return &w->m->host.comm_tasks.at[p->host];
}

static const struct comm_info *info_of(const struct work *w, const struct piece *p)
{
    return &w->m->host.comm_infos.at[host_of_piece(w, p)->info];
}

/* (thread, launch, start): the order in which operators take their pieces. */
static void sort_by_launch(struct work *w)
{
    struct sort_key *order = mem_alloc(w->p.n * sizeof *order);
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < w->p.n; i++) {
            if (!pass) order[i].index = (uint32_t)i;
            const struct piece *p = &w->p.at[order[i].index];
            order[i].key = pass == 0 ? p->start : pass == 1 ? p->launch : host_of_piece(w, p)->thread_id;
        }
        sort_keys(order, w->p.n);
    }
    sort_permute(w->p.at, sizeof *w->p.at, order, w->p.n);
    free(order);
}

/* ---- operators take pieces --------------------------------------------------------------------------------------- */

/* Operators of this device, by (thread, begin). */
static size_t sorted_operators(const struct work *w, struct sort_key **out)
{
    const struct host_data *h = &w->m->host;
    struct sort_key *order = mem_alloc(h->comm_ops.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < h->comm_ops.n; i++)
        if (h->comm_ops.at[i].device_id == w->d->device_id)
            order[n++] = (struct sort_key){h->comm_ops.at[i].begin, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = h->comm_ops.at[order[i].index].thread_id;
    sort_keys(order, n);
    *out = order;
    return n;
}

static uint64_t run_key(const struct host_comm_task *t)
{
    return (uint64_t)t->task_id << 32 | (uint64_t)(t->stream_id & 0xFFFF) << 16 | (t->batch_id & 0xFFFF);
}

/* Number the runs of each launch among the pieces of one operator. */
static void count_iterations(struct work *w, size_t from, size_t to)
{
    struct map counts = {0};
    for (size_t i = from; i < to; i++) {
        const struct host_comm_task *t = host_of_piece(w, &w->p.at[i]);
        uint64_t key = hash_u64(run_key(t)) + (uint64_t)t->context_id * 0x9E3779B97F4A7C15u;
        w->p.at[i].iteration = ++*map_put(&counts, key, 0, NULL);
    }
    map_free(&counts);
}

/* Both sides are sorted by (thread, time): one merge. A piece launched in no operator's call stays without. */
static void assign_operators(struct work *w, struct diag *diag)
{
    const struct host_data *h = &w->m->host;
    struct sort_key *order;
    size_t n = sorted_operators(w, &order), at = 0;
    for (size_t i = 0; i < n; i++) {
        const struct host_comm_op *op = &h->comm_ops.at[order[i].index];
        while (at < w->p.n) {
            uint32_t thread = host_of_piece(w, &w->p.at[at])->thread_id;
            if (thread > op->thread_id || (thread == op->thread_id && w->p.at[at].launch >= op->begin)) break;
            at++;
        }
        size_t first = at;
        while (at < w->p.n && host_of_piece(w, &w->p.at[at])->thread_id == op->thread_id &&
               w->p.at[at].launch <= op->end)
            w->p.at[at++].op = order[i].index;
        count_iterations(w, first, at);
        if (at > first) w->rank_size[order[i].index] = info_of(w, &w->p.at[at - 1])->rank_size;
    }
    free(order);

    size_t kept = 0, lost = 0;
    for (size_t i = 0; i < w->p.n; i++) {
        if (w->p.at[i].op == NONE) lost++;
        else w->p.at[kept++] = w->p.at[i];
    }
    w->p.n = kept;
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, lost,
               "communication tasks left out of Communication: launched in no operator's call");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void find_group(const struct work *w, struct piece *p)
{
    const struct comm_info *info = info_of(w, p);
    const struct host_comm_op *op = &w->m->host.comm_ops.at[p->op];
    bool own = info->group != STR_NA;
    p->group = own ? info->group : op->group;
    p->group_key = own ? info->group_key : op->group != STR_NA ? op->group_key : 0;
}

/* Operators are numbered per group (AI CPU unfolded ones apart), in the order in which their calls began, from the
 * first that ran after the collection start; what ran before belongs to index -1. */
static void name_pieces(struct work *w)
{
    const struct model *m = w->m;
    struct sort_key *order = mem_alloc(w->p.n * sizeof *order);
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < w->p.n; i++) {
            if (!pass) order[i].index = (uint32_t)i;
            const struct piece *p = &w->p.at[order[i].index];
            order[i].key = pass == 0 ? p->start : pass == 1 ? p->launch : m->host.comm_ops.at[p->op].begin;
        }
        sort_keys(order, w->p.n);
    }

    struct map next = {0}, index_of = {0}; /* group -> operators numbered; operator -> its index */
    for (size_t i = 0; i < w->p.n; i++) {
        struct piece *p = &w->p.at[order[i].index];
        str_id op_name = m->host.comm_ops.at[p->op].name;
        find_group(w, p);
        struct comm_group_text group = comm_group_text(p->group, p->group_key);
        uint32_t *numbered = map_put(&next, comm_counter(m, op_name, p->group, p->group_key), 0, NULL);
        uint32_t index = map_get(&index_of, p->op, NONE);
        if (index == NONE && p->start_ns > m->session->start_ns) {
            index = (*numbered)++;
            map_put(&index_of, p->op, index, NULL);
        }
        p->name = comm_name(m, op_name, &group, index != NONE ? (int64_t)index : (int64_t)*numbered - 1, p->iteration);
        p->key = comm_key(m, p->name, &group, w->d->device_id);
    }
    map_free(&next);
    map_free(&index_of);
    free(order);
}

/* Pieces are in order of execution; a lane is (operator name, plane). */
static void find_bandwidth(struct work *w)
{
    struct transfer *t = mem_alloc(w->p.n * sizeof *t);
    for (size_t i = 0; i < w->p.n; i++) {
        const struct piece *p = &w->p.at[i];
        const struct comm_info *info = info_of(w, p);
        t[i] = (struct transfer){
            .start = clock_task_raw(&w->d->dir->clock, p->start),
            .end = clock_task_raw(&w->d->dir->clock, w->d->data.tasks.at[p->device_task].end),
            .bytes = (double)info->size,
            .lane = (uint64_t)p->name << 32 | (uint32_t)info->plane_id,
            .name = p->name,
            .is_payload = info->rdma_type == RDMA_SEND_PAYLOAD,
        };
    }
    transfer_rates(w->m, t, w->p.n, w->by_scripts);
    for (size_t i = 0; i < w->p.n; i++) w->p.at[i].bandwidth = t[i].rate;
    free(t);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void sort_by_start(struct work *w)
{
    struct sort_key *order = mem_alloc(w->p.n * sizeof *order);
    for (int pass = 0; pass < 2; pass++) { /* equal starts: in order of launch */
        for (size_t i = 0; i < w->p.n; i++) {
            if (!pass) order[i].index = (uint32_t)i;
            const struct piece *p = &w->p.at[order[i].index];
            order[i].key = pass ? p->start : p->launch;
        }
        sort_keys(order, w->p.n);
    }
    sort_permute(w->p.at, sizeof *w->p.at, order, w->p.n);
    free(order);
}

struct span {
    int64_t start_ns, end_ns; /* over the master pieces */
    uint32_t first;           /* the piece met first */
    uint32_t op;              /* index in device.comm_ops once stored */
    bool has_master;
};

typedef ARRAY(struct span) spans;

/* Operators that ran, in order of their first piece; span_of maps a piece's key to its span. */
static void collect_spans(const struct work *w, struct map *span_of, spans *out)
{
    for (size_t i = 0; i < w->p.n; i++) {
        const struct piece *p = &w->p.at[i];
        bool fresh;
        uint32_t at = *map_put(span_of, p->key, (uint32_t)out->n, &fresh);
        if (fresh) array_push(out, ((struct span){INT64_MAX, INT64_MIN, (uint32_t)i, NONE, false}));
        struct span *s = &out->at[at];
        if (!host_of_piece(w, p)->is_master) continue;
        s->has_master = true;
        if (p->start_ns < s->start_ns) s->start_ns = p->start_ns;
        if (p->end_ns > s->end_ns) s->end_ns = p->end_ns;
    }
}

/* The last operator of this device that was launched by each API call: it describes all operators of that call. */
static void map_connections(const struct work *w, struct map *op_of)
{
    const struct host_data *h = &w->m->host;
    for (size_t i = 0; i < h->comm_ops.n; i++)
        if (h->comm_ops.at[i].device_id == w->d->device_id)
            *map_put(op_of, h->comm_ops.at[i].connection, 0, NULL) = (uint32_t)i;
}

static void store_operators(struct work *w, spans *s, struct diag *diag)
{
    struct map op_of = {0};
    map_connections(w, &op_of);
    struct sort_key *order = mem_alloc(s->n * sizeof *order);
    size_t n = 0, without_master = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!s->at[i].has_master) without_master++;
        else if (s->at[i].start_ns >= w->m->session->start_ns)
            order[n++] = (struct sort_key){(uint64_t)s->at[i].start_ns, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        struct span *span = &s->at[order[i].index];
        const struct piece *p = &w->p.at[span->first];
        const struct host_comm_op *launched = &w->m->host.comm_ops.at[p->op];
        uint32_t described_by = map_get(&op_of, launched->connection, p->op);
        const struct host_comm_op *op = &w->m->host.comm_ops.at[described_by];
        span->op = (uint32_t)w->d->comm_ops.n;
        array_push(&w->d->comm_ops, ((struct comm_op){
                                        .start_ns = span->start_ns,
                                        .end_ns = span->end_ns,
                                        .name = p->name,
                                        .key = p->key,
                                        .op_type = op->op_type,
                                        .alg_type = op->alg_type,
                                        .group = op->group,
                                        .connection = launched->connection,
                                        .model_id = op->model_id,
                                        .rank_size = w->rank_size[described_by],
                                        .relay = op->relay,
                                        .retry = op->retry,
                                        .data_type = op->data_type,
                                        .count = op->count,
                                    }));
    }
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, without_master,
               "communication operators left out: none of their tasks ran on the main stream");
    free(order);
    map_free(&op_of);
}

static void store_tasks(struct work *w, const struct map *span_of, const spans *s)
{
    for (size_t i = 0; i < w->p.n; i++) {
        const struct piece *p = &w->p.at[i];
        if (p->start_ns < w->m->session->start_ns) {
            w->d->comm_tasks_before++;
            continue;
        }
        const struct device_task *run = &w->d->data.tasks.at[p->device_task];
        const struct comm_info *info = info_of(w, p);
        array_push(&w->d->comm_tasks, ((struct comm_task){
                                          .start_ns = p->start_ns,
                                          .end_ns = p->end_ns,
                                          .stream_id = run->stream_id,
                                          .task_id = run->task_id,
                                          .context_id = run->context_id,
                                          .batch_id = run->batch_id,
                                          .model_id = w->m->host.comm_ops.at[p->op].model_id,
                                          .op = s->at[map_get(span_of, p->key, 0)].op,
                                          .op_name = p->name,
                                          .op_key = p->key,
                                          .name = info->name,
                                          .group = p->group,
                                          .plane_id = info->plane_id,
                                          .notify_id = info->notify_id,
                                          .estimated_us = info->estimated_us,
                                          .bandwidth_gbs = p->bandwidth,
                                          .size = info->size,
                                          .src_rank = info->local_rank,
                                          .dst_rank = info->remote_rank,
                                          .data_type = info->data_type,
                                          .link_type = info->link_type,
                                          .transport_type = info->transport_type,
                                          .rdma_type = info->rdma_type,
                                          .is_master = host_of_piece(w, p)->is_master,
                                      }));
    }
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

struct execution {
    int64_t start_ns, end_ns;
    str_id op_type;
};

typedef ARRAY(struct execution) executions;

/* Executions of operators since the collection start, by their master pieces, in order of start. */
static void collect_executions(const struct work *w, executions *out)
{
    struct map at = {0};
    for (size_t i = 0; i < w->p.n; i++) {
        const struct piece *p = &w->p.at[i];
        if (!host_of_piece(w, p)->is_master || p->start_ns < w->m->session->start_ns) continue;
        bool fresh;
        uint32_t e = *map_put(&at, (uint64_t)p->name << 32 | p->op, (uint32_t)out->n, &fresh);
        if (fresh) array_push(out, ((struct execution){p->start_ns, p->end_ns, w->m->host.comm_ops.at[p->op].op_type}));
        if (p->end_ns > out->at[e].end_ns) out->at[e].end_ns = p->end_ns;
    }
    map_free(&at);
}

/* Longest total first. */
static void sort_statistics(struct comm_statistic *s, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){~((uint64_t)s[i].total_ns ^ 1ull << 63), (uint32_t)i};
    sort_keys(order, n);
    sort_permute(s, sizeof *s, order, n);
    free(order);
}

/* Damaged times may lie further apart than an int64_t can say. */
static int64_t span_ns(const struct execution *e)
{
    int64_t ns;
    return __builtin_sub_overflow(e->end_ns, e->start_ns, &ns) ? INT64_MAX : ns;
}

static int64_t sum_ns(int64_t a, int64_t b)
{
    int64_t ns;
    return __builtin_add_overflow(a, b, &ns) ? INT64_MAX : ns;
}

static void make_statistics(struct work *w)
{
    executions list = {0};
    collect_executions(w, &list);
    struct map at = {0};
    int64_t grand_total = 0;
    bool any_type = false;
    for (size_t i = 0; i < list.n; i++) {
        const struct execution *e = &list.at[i];
        int64_t ns = span_ns(e);
        bool fresh;
        uint32_t row = *map_put(&at, e->op_type, (uint32_t)w->d->comm_statistics.n, &fresh);
        if (fresh) array_push(&w->d->comm_statistics, ((struct comm_statistic){e->op_type, 0, 0, ns, ns, 0}));
        struct comm_statistic *s = &w->d->comm_statistics.at[row];
        s->count++;
        s->total_ns = sum_ns(s->total_ns, ns);
        if (ns < s->min_ns) s->min_ns = ns;
        if (ns > s->max_ns) s->max_ns = ns;
        grand_total = sum_ns(grand_total, ns);
        any_type |= e->op_type != STR_NA;
    }
    if (!any_type || grand_total <= 0) w->d->comm_statistics.n = 0;
    for (size_t i = 0; i < w->d->comm_statistics.n; i++)
        w->d->comm_statistics.at[i].ratio = (double)w->d->comm_statistics.at[i].total_ns / (double)grand_total * 100;
    sort_statistics(w->d->comm_statistics.at, w->d->comm_statistics.n);
    map_free(&at);
    array_free(&list);
}

/* The runs of launched operators, for what the AI CPU did of them. */
static void list_runs(const struct work *w, const struct map *span_of, const spans *s, struct comm_runs *out)
{
    for (size_t i = 0; i < w->p.n; i++) {
        const struct piece *p = &w->p.at[i];
        bool fresh;
        uint32_t at = *map_put(&out->index, comm_run_key(p->op, p->iteration), (uint32_t)out->runs.n, &fresh);
        struct comm_run run = {p->op, p->iteration, p->name, p->key, p->group, s->at[map_get(span_of, p->key, 0)].op};
        if (fresh) array_push(&out->runs, run);
        else out->runs.at[at] = run; /* of an operator that ran across the collection start, what comes behind it */
    }
}

static void launched(struct work *w, struct comm_runs *runs, struct diag *diag)
{
    collect_pieces(w, diag);
    sort_by_launch(w);
    assign_operators(w, diag);
    name_pieces(w);
    sort_by_start(w);
    find_bandwidth(w);

    struct map span_of = {0};
    spans s = {0};
    collect_spans(w, &span_of, &s);
    store_operators(w, &s, diag);
    store_tasks(w, &span_of, &s);
    make_statistics(w);
    if (w->m->host.mc2_groups.n) list_runs(w, &span_of, &s, runs);
    array_free(&s);
    map_free(&span_of);
}

void communication_build(const struct model *m, struct device_model *d, const uint32_t *host_of, struct diag *diag)
{
    struct comm_runs runs = {0};
    if (m->host.comm_tasks.n) {
        bool by_scripts = !d->dir->chip->native_tasks || !m->session->all_export || m->scope == MODEL_ITERATIONS;
        struct work w = {m, d, host_of, {0}, mem_zalloc(m->host.comm_ops.n, sizeof *w.rank_size), by_scripts};
        launched(&w, &runs, diag);
        array_free(&w.p);
        free(w.rank_size);
    }
    if (m->host.mc2_groups.n) comm_aicpu_build(m, d, host_of, &runs, diag);
    comm_turns_build(m, d);
    comm_finish(d);
    array_free(&runs.runs);
    map_free(&runs.index);
}
