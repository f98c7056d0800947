/* The registry of reports, and the walk over it. A new report is a file of its own and a line here; those of sampled
 * metrics stand in metrics/. */
#include "export/summary/summary.h"

#include "metrics/metric.h"

static const struct report *const own_reports[] = {
    &report_op_summary, &report_op_statistic, &report_communication_statistic, &report_api_statistic, &report_task_time,
    &report_step_trace, &report_fusion_op,
};

#define N_OWN_REPORTS (sizeof own_reports / sizeof *own_reports)

const struct report *const *reports_own(size_t *n)
{
    *n = N_OWN_REPORTS;
    return own_reports;
}

static bool is_called(const struct report *r, const char *stem, size_t len)
{
    return strlen(r->stem) == len && !memcmp(r->stem, stem, len);
}

const struct report *report_find(const char *stem, size_t len)
{
    for (size_t i = 0; i < N_OWN_REPORTS; i++)
        if (is_called(own_reports[i], stem, len)) return own_reports[i];
    for (size_t i = 0; i < n_metrics; i++)
        for (const struct report *r = metrics[i]->reports; r && r->stem; r++)
            if (is_called(r, stem, len)) return r;
    return NULL;
}

str_id report_model_name(const struct model *m, uint32_t model_id)
{
    for (size_t i = m->host.model_names.n; i--;)
        if (m->host.model_names.at[i].model_id == model_id) return m->host.model_names.at[i].name;
    return STR_NA;
}

void report_row(struct table *t, const struct prof_dir *dir)
{
    if (dir->is_host) table_text(t, "host", 4);
    else table_u64(t, dir->device_id);
}

const struct prof_dir *host_listed_under(const struct model *m, size_t i)
{
    if (m->session->script_summary && m->n_devices) return i < m->n_devices ? m->devices[i].dir : NULL;
    return i ? NULL : m->session->host;
}

/* The report of a metric: the rows of every directory. */
static int write_metric(struct export_target *target, const struct metric *metric, const struct report *r,
                        struct error *err)
{
    const struct model *m = target->model;
    const struct prof_dir *dir;
    ARRAY(const char *) columns = {0};
    struct table t;
    uint64_t rows = 0;
    unsigned dirs = 0; /* that have rows */
    for (size_t i = 0; (dir = metric_dir(m, i)); i++) {
        uint64_t n = metric_data(m, dir, metric) ? r->rows(dir, metric_data(m, dir, metric)) : 0;
        rows += n;
        dirs += n > 0;
    }
    if (!rows) return 0;
    array_push(&columns, "Device_id");
    for (const char *const *c = r->columns; *c; c++) array_push(&columns, *c);
    int status = table_open(&t, target, r->stem, columns.at, columns.n, rows, err);
    if (!status) {
        if (dirs == 1) table_of_one_directory(&t);
        for (size_t i = 0; (dir = metric_dir(m, i)) && !t.failed; i++)
            if (metric_data(m, dir, metric)) r->fill(&t, dir, metric_data(m, dir, metric));
        status = table_close(&t);
    }
    array_free(&columns);
    return status;
}

/* One more report is done: the first failure is the caller's, the others are said. */
static int gather(struct export_target *t, int status, int one, const struct error *what, struct error *err)
{
    if (!one) return status;
    if (!status) {
        *err = *what;
        return -1;
    }
    char text[ERROR_DEPTH * ERROR_TEXT];
    diag_note(t->diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "%s", error_text(what, text, sizeof text));
    return -1;
}

int summary_export(struct export_target *t, struct error *err)
{
    bool level0 = t->model->session->meta->level0;
    int status = 0;
    for (size_t i = 0; i < N_OWN_REPORTS; i++) {
        struct error one = {0};
        if (level0 && own_reports[i]->needs_ops) continue;
        status = gather(t, status, own_reports[i]->write(t, &one), &one, err);
    }
    for (size_t i = 0; i < n_metrics; i++)
        for (const struct report *r = metrics[i]->reports; r && r->stem; r++) {
            struct error one = {0};
            int failed = r->write ? r->write(t, &one) : write_metric(t, metrics[i], r, &one);
            status = gather(t, status, failed, &one, err);
        }
    return status;
}
