/* Rows of what the AI CPU unfolded: sub-tasks, and the fused operators. */
#include "base/sort.h"
#include "model/comm_aicpu.h"

#define GROUPS_PER_STREAM 16 /* on average; collections have one or two */
#define SQE_C_CORE        20 /* type of the tasks that the AI CPU waits for, on the main stream of fused operators */

/* What is remembered from operator to operator of a group. */
struct planes {
    uint32_t main_stream; /* index in work.streams, NONE = not known yet */
    struct map ordinals;  /* of the other streams, by first use: 1, 2 … */
};

static struct comm_task task_row(const struct aicpu_work *w, const struct aicpu_kernel *k, const struct aicpu_small *s,
                                 str_id group)
{
    const struct device_task *run = aicpu_task(w, s->task);
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
static void place(struct planes *p, const struct aicpu_work *w, const struct aicpu_small *s, struct comm_task *row)
{
    bool fused = row->source == COMM_FUSED;
    if (s->first || aicpu_task(w, s->task)->type_number == SQE_C_CORE) {
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
static void store_fused(struct aicpu_work *w, struct aicpu_kernel *k, int64_t start_ns, int64_t end_ns, str_id group)
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
static void store_kernel(struct aicpu_work *w, struct aicpu_kernel *k, struct planes *p, const struct sort_key *list,
                         size_t n, size_t *at, str_id group)
{
    size_t first_row = w->d->comm_tasks.n;
    int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
    bool any = false;
    while (*at < n && list[*at].key < k->start) ++*at;
    for (; *at < n && list[*at].key <= k->end; ++*at) {
        struct aicpu_small *s = &w->smalls.at[list[*at].index];
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
static size_t smalls_of(struct aicpu_work *w, const struct aicpu_group *g, struct sort_key **out)
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < g->streams.n; i++) n += w->streams.at[g->streams.at[i]].n;
    if (n > w->budget) {
        w->skipped_groups++;
        n = 0;
    }
    w->budget -= n;
    *out = mem_alloc(n * sizeof **out);
    for (size_t i = 0; i < g->streams.n && n; i++) {
        const struct aicpu_stream *s = &w->streams.at[g->streams.at[i]];
        for (uint32_t k = 0; k < s->n; k++)
            (*out)[kept++] = (struct sort_key){aicpu_task(w, w->smalls.at[s->first + k].task)->end, s->first + k};
    }
    sort_keys(*out, kept);
    return kept;
}

static str_id fused_group(const struct aicpu_work *w, str_id name)
{
    char *text = mem_printf("%s Aicpu", model_text(w->m, name));
    str_id id = strpool_add_z(w->m->strings, text);
    free(text);
    return id;
}

static void store_group(struct aicpu_work *w, const struct aicpu_group *g)
{
    struct sort_key *list;
    struct planes planes = {.main_stream = NONE};
    size_t n = smalls_of(w, g, &list), at = 0;
    str_id aicpu = fused_group(w, g->name);
    for (uint32_t i = 0; i < g->n_kernels; i++) {
        struct aicpu_kernel *k = &w->kernels.at[w->by_group[g->first_kernel + i]];
        store_kernel(w, k, &planes, list, n, &at, k->source == COMM_FUSED ? aicpu : g->name);
    }
    map_free(&planes.ordinals);
    free(list);
}

/* Kernels by group, in the order in which their operators start. */
static void group_kernels(struct aicpu_work *w)
{
    struct sort_key *order = mem_alloc(w->kernels.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct aicpu_kernel *k = &w->kernels.at[i];
        if (k->group != STR_NA && map_get(&w->group_of, k->group_key, NONE) != NONE)
            order[n++] = (struct sort_key){k->start, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = map_get(&w->group_of, w->kernels.at[order[i].index].group_key, 0);
    sort_keys(order, n);
    w->by_group = mem_alloc(n * sizeof *w->by_group);
    for (size_t i = 0; i < n; i++) {
        struct aicpu_group *g = &w->groups.at[order[i].key];
        if (!g->n_kernels++) g->first_kernel = (uint32_t)i;
        w->by_group[i] = order[i].index;
    }
    free(order);
}

/* What the device reports of relay and retry counts, also that it reported nothing. */
static void correct_operators(struct aicpu_work *w)
{
    for (size_t i = 0; i < w->kernels.n; i++) {
        const struct aicpu_kernel *k = &w->kernels.at[i];
        if (k->source != COMM_AICPU || k->op == NONE) continue;
        w->d->comm_ops.at[k->op].relay = k->relay;
        w->d->comm_ops.at[k->op].retry = k->retry;
    }
}

void aicpu_store(struct aicpu_work *w)
{
    group_kernels(w);
    w->budget = 65536 + GROUPS_PER_STREAM * w->smalls.n;
    for (size_t i = 0; i < w->groups.n; i++)
        if (w->groups.at[i].n_kernels) store_group(w, &w->groups.at[i]);
    correct_operators(w);
}
