/* Building the model: the host and every device are read side by side, then each device is joined with the host. */
#include "model/model.h"

#include <stdlib.h>

#include "base/jobs.h"
#include "metrics/metric.h"
#include "model/parts.h"

struct build {
    struct model *m;
    const struct model_options *options;
    struct diag *diag;
    struct well_known known;
    bool expanded;
};

/* Item 0 is the host, item i device i - 1. */
static void load_side(size_t item, void *context)
{
    struct build *b = context;
    struct model *m = b->m;
    if (!item) {
        host_load(&m->host, m->session, m->strings, b->options->threads, b->diag, b->options->progress);
        return;
    }
    struct device_model *d = &m->devices[item - 1];
    device_load(&d->data, m->session, d->dir, b->expanded, m->strings, b->options->threads, b->diag,
                b->options->progress);
}

/* AI CPU, DSA and DVPP operators do not run on cores that count. */
static bool op_counts(const struct op *op, const struct well_known *known)
{
    for (size_t i = 0; i < sizeof known->uncounted / sizeof *known->uncounted; i++)
        if (op->task_type == known->uncounted[i]) return false;
    return true;
}

static struct device_blocks blocks_of(const struct model *m, uint32_t op_index, const struct well_known *known)
{
    if (op_index == NONE) return (struct device_blocks){0};
    const struct op *op = &m->host.ops.at[op_index];
    return (struct device_blocks){(uint16_t)op->block_num, (uint16_t)op->mix_block_num, op_counts(op, known)};
}

/* Of the counter records that belong to no run. */
static struct device_blocks *orphan_blocks(const struct model *m, const struct device_model *d,
                                           const struct well_known *known)
{
    size_t n;
    struct device_orphan *orphans = device_orphans(&d->data, &n);
    uint32_t *op_of = mem_alloc(n * sizeof *op_of);
    struct device_blocks *blocks = mem_alloc(n * sizeof *blocks);
    join_orphans(m, d, orphans, n, op_of);
    for (size_t i = 0; i < n; i++) blocks[i] = blocks_of(m, op_of[i], known);
    free(op_of);
    free(orphans);
    return blocks;
}

static void attach_counters(const struct model *m, struct device_model *d, const uint32_t *host_of,
                            const struct well_known *known, struct diag *diag)
{
    struct device_blocks *blocks = mem_zalloc(d->data.tasks.n, sizeof *blocks);
    struct device_blocks *orphans = orphan_blocks(m, d, known);
    for (size_t i = 0; i < d->data.tasks.n; i++)
        if (host_of[i] < m->host.tasks.n) blocks[i] = blocks_of(m, m->host.tasks.at[host_of[i]].op, known);
    device_attach_pmu(&d->data, d->dir, blocks, orphans, diag);
    free(orphans);
    free(blocks);
}

static void join_device(size_t item, void *context)
{
    struct build *b = context;
    struct model *m = b->m;
    struct device_model *d = &m->devices[item];
    join_streams(m, d);
    join_schedules(m, d, &b->known);
    uint32_t *host_of = mem_alloc(d->data.tasks.n * sizeof *host_of);
    if (m->session->all_export || d->dir->chip->unique_task_ids) join_host(m, d, host_of, b->diag);
    else join_host_in_order(m, d, host_of, &b->known);
    if (!b->options->only_communication) {
        attach_counters(m, d, host_of, &b->known, b->diag);
        selection_limit_tasks(m, d, host_of);
        join_tasks(m, d, host_of, &b->known);
    }
    communication_build(m, d, host_of, b->diag);
    array_free(&d->data.tasks);
    free(host_of);
    if (b->options->only_communication) return;
    join_finish(m, d, &b->known);
    overlap_build(m, d, &b->known);
}

static int by_number(const void *x, const void *y)
{
    const struct device_model *const *a = x, *const *b = y;
    return (*a)->device_id - (*b)->device_id;
}

/* Timeline thread ids of communication lanes run on from device to device, in the order of their numbers. */
static void number_lanes(struct model *m)
{
    uint32_t next = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        for (size_t g = 0; g < m->by_number[i]->comm_groups.n; g++) {
            struct comm_group *group = &m->by_number[i]->comm_groups.at[g];
            group->first_tid = next++;
            if (group->planes.n) next += group->planes.at[group->planes.n - 1] + 1;
        }
    }
}

static struct well_known known_texts(struct strpool *strings)
{
    return (struct well_known){
        .unknown = strpool_add_z(strings, "UNKNOWN"),
        .ffts_plus = strpool_add_z(strings, "FFTS_PLUS"),
        .memcpy_async = strpool_add_z(strings, "MEMCPY_ASYNC"),
        .simt = strpool_add_z(strings, "KERNEL_SIMT"),
        .profiler_trace = strpool_add_z(strings, "PROFILER_TRACE_EX"),
        .model_execute = strpool_add_z(strings, "MODEL_EXECUTE"),
        .model_maintenance = strpool_add_z(strings, "MODEL_MAINTAINCE"),
        .uncounted =
            {
                strpool_add_z(strings, "AI_CPU"),
                strpool_add_z(strings, "DSA"),
                strpool_add_z(strings, "DSA_SQE"),
                strpool_add_z(strings, "DVPP"),
                strpool_add_z(strings, "WRITE_BACK"),
                strpool_add_z(strings, "INVALID"),
            },
        .kernel_types =
            {
                strpool_add_z(strings, "KERNEL_AICORE"),
                strpool_add_z(strings, "KERNEL_AIVEC"),
                strpool_add_z(strings, "FFTS_PLUS"),
                strpool_add_z(strings, "KERNEL_MIX_AIC"),
                strpool_add_z(strings, "KERNEL_MIX_AIV"),
                strpool_add_z(strings, "PROFILING_ENABLE"),
                strpool_add_z(strings, "PROFILING_DISABLE"),
            },
    };
}

void model_build(struct model *m, const struct session *s, const struct model_options *options, struct diag *diag)
{
    *m = (struct model){.session = s, .strings = strpool_new(), .n_devices = s->n_devices};
    m->devices = mem_zalloc(s->n_devices, sizeof *m->devices);
    m->by_number = mem_alloc(s->n_devices * sizeof *m->by_number);
    for (size_t i = 0; i < s->n_devices; i++) {
        m->devices[i].dir = &s->devices[i];
        m->devices[i].device_id = s->devices[i].device_id;
        m->by_number[i] = &m->devices[i];
    }
    if (s->n_devices) qsort(m->by_number, s->n_devices, sizeof *m->by_number, by_number);
    struct build b = {m, options, diag, known_texts(m->strings), host_streams_expanded(s, diag)};
    progress_phase(options->progress, "reading", s->input_bytes, 1);
    jobs_each(options->threads, m->n_devices + 1, load_side, &b);
    progress_phase(options->progress, "joining", 0, 0);
    blocks_change(m);
    if (!options->only_communication && !options->all_iterations) selection_find(m, options->selection, diag);
    jobs_each(options->threads, m->n_devices, join_device, &b);
    number_lanes(m);
    selection_limit_host(m);
    if (!options->only_communication) metrics_load(m, options->threads, diag, options->progress);
}

void model_free(struct model *m)
{
    metrics_free(m);
    for (size_t i = 0; i < m->n_devices; i++) {
        struct device_model *d = &m->devices[i];
        device_free(&d->data);
        array_free(&d->tasks);
        array_free(&d->untyped);
        array_free(&d->comm_ops);
        array_free(&d->comm_tasks);
        array_free(&d->comm_turns);
        for (size_t g = 0; g < d->comm_groups.n; g++) array_free(&d->comm_groups.at[g].planes);
        array_free(&d->comm_groups);
        array_free(&d->comm_statistics);
        for (int k = 0; k < OVERLAP_KINDS; k++) array_free(&d->overlap[k]);
    }
    free(m->devices);
    free(m->by_number);
    host_free(&m->host);
    strpool_free(m->strings);
    *m = (struct model){0};
}

bool model_is_kfc_stream(const struct model *m, uint32_t stream_id)
{
    size_t low = 0, high = m->host.kfc_streams.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (m->host.kfc_streams.at[mid] < stream_id) low = mid + 1;
        else high = mid;
    }
    return low < m->host.kfc_streams.n && m->host.kfc_streams.at[low] == stream_id;
}
