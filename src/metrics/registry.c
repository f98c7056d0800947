/* The list of all metrics, and loading them.
 *
 * What is loaded stands in one row of pointers per directory, devices ascending and then the host, one column per
 * metric. */
#include "metrics/metric.h"

#include <stdlib.h>

#include "base/jobs.h"
#include "metrics/all.h"

/* In the order of the outputs. It is also that in which script timelines number processes, which is known: HBM, DDR,
 * PCIe, HCCS, NIC, RoCE, LLC, NPU memory, utilisation of cores, what STARS samples. */
const struct metric *const metrics[] = {
    &metric_hbm,           &metric_ddr,         &metric_pcie,        &metric_hccs,         &metric_nic,
    &metric_roce,          &metric_llc,         &metric_llc_text,    &metric_npu_mem,      &metric_npu_module_mem,
    &metric_core_usage,    &metric_aicpu,       &metric_netdev,      &metric_dvpp,         &metric_soc_info,
    &metric_chip_trans,    &metric_biu_perf,    &metric_biu_monitor, &metric_acc_pmu,      &metric_sio,
    &metric_qos,           &metric_l2_cache,    &metric_soc_pmu,     &metric_voltage,      &metric_ub,
    &metric_ccu,           &metric_dpu,         &metric_ai_cpu,      &metric_ctrl_cpu,     &metric_ts_cpu,
    &metric_host_cpu,      &metric_host_mem,    &metric_host_disk,   &metric_host_network, &metric_host_calls,
    &metric_system_cpu,    &metric_process_cpu, &metric_system_mem,  &metric_process_mem,  &metric_op_memory,
    &metric_static_op_mem, &metric_msproftx,
};
const size_t n_metrics = sizeof metrics / sizeof *metrics;

const struct prof_dir *metric_dir(const struct model *m, size_t i)
{
    const struct session *s = m->session;
    return i < s->n_devices ? &s->devices[i] : i == s->n_devices ? s->host : NULL;
}

static void **slot(const struct model *m, const struct prof_dir *dir, size_t metric)
{
    return &m->metric_data[dir->position * n_metrics + metric];
}

const void *metric_data(const struct model *m, const struct prof_dir *dir, const struct metric *metric)
{
    if (!m->metric_data || !dir) return NULL;
    for (size_t i = 0; i < n_metrics; i++)
        if (metrics[i] == metric) return *slot(m, dir, i);
    return NULL;
}

struct item {
    const struct prof_dir *dir;
    size_t metric;
};

struct loading {
    struct model *m;
    ARRAY(struct item) items;
    unsigned threads;
    struct diag *diag;
    struct progress *progress;
};

static bool has_input(const struct prof_dir *dir, const struct metric *metric)
{
    for (size_t i = 0; i < metric->n_inputs; i++)
        if (prof_dir_files(dir, metric->inputs[i])->n) return true;
    return false;
}

static bool is_there(const struct prof_dir *dir, const struct metric *metric)
{
    return has_input(dir, metric) && (!metric->chips || dir->chip->samples & metric->chips) &&
           (!metric->on || metric->on(dir));
}

static void load_item(size_t i, void *context)
{
    struct loading *l = context;
    const struct item *item = &l->items.at[i];
    struct metric_source from = {
        .model = l->m,
        .dir = item->dir,
        .strings = l->m->strings,
        .diag = l->diag,
        .progress = l->progress,
        .threads = l->threads,
    };
    *slot(l->m, item->dir, item->metric) = metrics[item->metric]->load(&from);
}

void metrics_load(struct model *m, unsigned threads, struct diag *diag, struct progress *progress)
{
    struct loading l = {.m = m, .threads = threads, .diag = diag, .progress = progress};
    const struct prof_dir *dir;
    for (size_t d = 0; (dir = metric_dir(m, d)); d++)
        for (size_t i = 0; i < n_metrics; i++)
            if (is_there(dir, metrics[i])) array_push(&l.items, ((struct item){dir, i}));
    if (l.items.n) {
        m->metric_data = mem_zalloc((m->session->n_devices + 1) * n_metrics, sizeof *m->metric_data);
        jobs_each(threads, l.items.n, load_item, &l);
    }
    array_free(&l.items);
}

void metrics_free(struct model *m)
{
    const struct prof_dir *dir;
    for (size_t d = 0; m->metric_data && (dir = metric_dir(m, d)); d++)
        for (size_t i = 0; i < n_metrics; i++)
            if (*slot(m, dir, i)) metrics[i]->free(*slot(m, dir, i));
    free(m->metric_data);
    m->metric_data = NULL;
}
