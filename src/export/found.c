/* What a collection holds: a line per directory, written by `npuprof import` for people who want to know whether
 * everything arrived before they export it. What could not be read is in the messages of the run. */
#include <stdlib.h>

#include "base/out.h"
#include "export/export.h"
#include "metrics/metric.h"

#define LOG_DIR "mindstudio_profiler_log"

/* "…, 36 tasks" */
static void count(struct out *o, uint64_t n, const char *what)
{
    if (!n) return;
    out_literal(o, ", ");
    out_u64(o, n);
    out_char(o, ' ');
    out_text(o, what);
}

static void files_of(struct out *o, const struct prof_dir *dir)
{
    uint64_t n = 0, bytes = 0;
    for (unsigned i = 0; i < INPUT_COUNT; i++) {
        n += dir->inputs[i].n;
        bytes += dir->inputs[i].bytes;
    }
    out_text(o, dir->name);
    out_literal(o, ": ");
    out_text(o, dir->chip->product);
    count(o, n, "files");
    count(o, bytes, "bytes");
}

static void host_line(struct out *o, const struct model *m)
{
    const struct host_data *h = &m->host;
    files_of(o, m->session->host);
    count(o, h->apis.n, "calls");
    count(o, h->tasks.n, "launches");
    count(o, h->ops.n, "operators");
    count(o, h->comm_ops.n, "communication operators");
}

static void models_of(struct out *o, const struct model *m, const struct device_model *d)
{
    size_t n;
    struct seen_model *seen = seen_models(&m->host, &d->data, &n);
    for (size_t i = 0; i < n; i++) {
        count(o, seen[i].n, seen[i].marked ? "marked steps" : "iterations of model ");
        if (!seen[i].marked) out_u64(o, seen[i].model_id);
    }
    free(seen);
}

static void device_line(struct out *o, const struct model *m, const struct device_model *d)
{
    files_of(o, d->dir);
    count(o, d->tasks.n, "tasks");
    count(o, d->data.pmu.rows.n, "tasks with counters");
    count(o, d->comm_ops.n, "communication operators");
    models_of(o, m, d);
}

static void metrics_of(struct out *o, const struct model *m, const struct prof_dir *dir)
{
    for (size_t i = 0; i < n_metrics; i++) {
        if (!metric_data(m, dir, metrics[i])) continue;
        out_literal(o, ", ");
        out_text(o, metrics[i]->name);
    }
    out_char(o, '\n');
}

int found_export(struct export_target *t, struct error *err)
{
    const struct model *m = t->model;
    char *dir = mem_printf("%s/" LOG_DIR, m->session->path);
    char *path = mem_printf("%s/import_%s.log", dir, t->stamp);
    bool made;
    struct out o;
    int status = export_make_dir(dir, &made, err) || out_open(&o, path, err) ? -1 : 0;
    if (!status) {
        for (size_t i = 0; i < m->n_devices; i++) {
            device_line(&o, m, &m->devices[i]);
            metrics_of(&o, m, m->devices[i].dir);
        }
        if (m->session->host) {
            host_line(&o, m);
            metrics_of(&o, m, m->session->host);
        }
        uint64_t bytes = out_size(&o);
        status = out_commit(&o, err);
        if (!status) export_wrote(t, path, bytes, 0);
    }
    free(path);
    free(dir);
    return status;
}
