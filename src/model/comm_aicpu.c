/* Communication that the AI CPU unfolds: collectives whose launch is one kernel, and fused operators (MC2).
 *
 *     kernel on the AI CPU stream of a group      |------------ allreduceAicpuKernel ------------|
 *     its operator, as the AI CPU reports it        o
 *     first, last sub-task on the main stream         f                             l
 *     sub-tasks on the streams of the group           [-]-[---]-[--]-[-] [-]----[-]-[--]
 *     the operator                                    |=================================|
 *
 * The kernel ran an operator; what was reported while it ran belongs to it (comm_kernels.c). The operator lasts from
 * the first to the last sub-task on its main stream (as long as the kernel when that was not reported), and has the
 * sub-tasks of its group that end in between (comm_rows.c). A stream on which no operator is reported runs fused
 * operators.
 *
 * Sub-tasks of launched operators become rows beside the launched ones; fused operators and their sub-tasks get groups
 * of their own. Rules: docs/formats/joining.md. */
#include "model/comm_aicpu.h"

#include "base/sort.h"

static bool joined(const struct aicpu_work *w, uint32_t task)
{
    return w->host_of[task] != HOST_AMBIGUOUS && w->host_of[task] != HOST_LEFT_OUT;
}

/* ---- groups and streams ------------------------------------------------------------------------------------------ */

static uint32_t add_stream(struct aicpu_work *w, uint32_t id)
{
    bool fresh;
    uint32_t at = *map_put(&w->stream_of, id, (uint32_t)w->streams.n, &fresh);
    if (fresh) array_push(&w->streams, ((struct aicpu_stream){0}));
    return at;
}

static void collect_groups(struct aicpu_work *w)
{
    struct map seen = {0}; /* (group, stream) */
    for (size_t i = 0; i < w->m->host.mc2_groups.n; i++) {
        const struct mc2_group *from = &w->m->host.mc2_groups.at[i];
        bool fresh;
        *map_put(&w->kfc_group, from->kfc_stream, 0, NULL) = (uint32_t)i;
        uint32_t at = *map_put(&w->group_of, from->group_key, (uint32_t)w->groups.n, &fresh);
        if (fresh) array_push(&w->groups, ((struct aicpu_group){.name = from->group, .key = from->group_key}));
        for (uint32_t k = 0; k < from->n_streams; k++) {
            uint32_t stream = add_stream(w, from->streams[k]);
            map_put(&seen, (uint64_t)at << 32 | stream, 1, &fresh);
            if (fresh) array_push(&w->groups.at[at].streams, stream);
        }
    }
    map_free(&seen);
}

/* ---- sub-tasks --------------------------------------------------------------------------------------------------- */

static void add_small(struct aicpu_work *w, uint32_t task, uint32_t info)
{
    uint32_t stream = map_get(&w->stream_of, aicpu_task(w, task)->stream_id, NONE);
    if (stream != NONE && joined(w, task))
        array_push(&w->smalls, ((struct aicpu_small){task, info, stream, 0, false, false}));
}

/* Sub-tasks that nothing is reported of are not shown, unless nothing is reported at all (level 0). */
static void collect_smalls(struct aicpu_work *w)
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
static void find_rates(struct aicpu_work *w)
{
    size_t n = w->d->data.aicpu.infos.n ? w->smalls.n : 0;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    struct transfer *t = mem_alloc(n * sizeof *t);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct sort_key){aicpu_task(w, w->smalls.at[i].task)->start, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        const struct aicpu_small *s = &w->smalls.at[order[i].index];
        const struct device_task *run = aicpu_task(w, s->task);
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
static void sort_smalls(struct aicpu_work *w)
{
    size_t n = w->smalls.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){aicpu_task(w, w->smalls.at[i].task)->end, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = w->smalls.at[order[i].index].stream;
    sort_keys(order, n);
    sort_permute(w->smalls.at, sizeof *w->smalls.at, order, n);
    free(order);
    for (size_t i = 0; i < n; i++) {
        struct aicpu_stream *s = &w->streams.at[w->smalls.at[i].stream];
        if (!s->n++) s->first = (uint32_t)i;
    }
}

/* ---- everything -------------------------------------------------------------------------------------------------- */

static void report(const struct aicpu_work *w, struct diag *diag)
{
    size_t lost = 0;
    for (size_t i = 0; i < w->smalls.n; i++) lost += !w->smalls.at[i].taken && w->smalls.at[i].info != NONE;
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, lost,
               "communication tasks of the AI CPU left out of Communication: they ended outside of any operator");
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, w->skipped_groups,
               "communication groups left out: too many of them share their streams");
    diag_count(diag, DIAG_WARNING, w->d->dir->name, DIAG_NO_OFFSET, w->without_master,
               "communication operators left out: none of their tasks ran on the main stream");
}

void comm_aicpu_build(const struct model *m, struct device_model *d, const uint32_t *host_of,
                      const struct comm_runs *runs, struct diag *diag)
{
    struct aicpu_work w = {.m = m, .d = d, .host_of = host_of, .runs = runs};
    aicpu_collect_kernels(&w);
    if (w.kernels.n) {
        collect_groups(&w);
        collect_smalls(&w);
        find_rates(&w);
        sort_smalls(&w);
        aicpu_find_operators(&w);
        aicpu_store(&w);
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
