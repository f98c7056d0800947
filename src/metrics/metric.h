/* A sampled metric: something that a collector looked at now and then, from its bytes to its track, report and table.
 *
 * Each is one `struct metric` in a file of its own and one line in the list of registry.c; docs/adding-a-metric.md goes
 * through an example. The model loads the metric for every directory that has files of its inputs, side by side, after
 * everything else (host, devices, the join) is there; the exporters show what was loaded. */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include "export/db/tables.h"
#include "export/summary/summary.h"
#include "export/timeline/timeline.h"
#include "model/model.h"

/* What a metric is loaded from. */
struct metric_source {
    const struct model *model; /* complete but for the metrics */
    const struct prof_dir *dir;
    struct strpool *strings; /* of the model, to add to */
    struct diag *diag;
    struct progress *progress; /* may be NULL */
    unsigned threads;
};

struct metric {
    const char *name;            /* for people: "HBM" */
    uint32_t chips;              /* enum chip_sample, or-ed: the chips that have it. 0 = all, as on hosts */
    const enum input_id *inputs; /* METRIC_INPUTS(…): loaded where there are files of one of these kinds */
    size_t n_inputs;
    bool (*on)(const struct prof_dir *dir); /* is it what was asked for? NULL = yes */

    /* The samples of a directory, in the metric's own form; NULL when there is nothing to show. */
    void *(*load)(const struct metric_source *from);
    void (*free)(void *data);

    /* What shows it, each list ended by an entry without key, stem or fill; NULL = none. */
    const struct layer *layers;         /* timeline: with show, or write for what is no matter of one directory */
    const struct report *reports;       /* summary: with columns, rows and fill, or write */
    const struct db_table_kind *tables; /* database: with fill */
};

#define METRIC_INPUTS(...)                                                                                             \
    .inputs = (const enum input_id[]){__VA_ARGS__},                                                                    \
    .n_inputs = sizeof((const enum input_id[]){__VA_ARGS__}) / sizeof(enum input_id)

/* All metrics. Their order is that of the tracks, reports and tables. */
extern const struct metric *const metrics[];
extern const size_t n_metrics;

/* What a metric loaded from a directory (NULL = no such directory); NULL when there is nothing. */
const void *metric_data(const struct model *m, const struct prof_dir *dir, const struct metric *metric);

/* The directories of a model, devices ascending and then the host: directory i, NULL behind the last. */
const struct prof_dir *metric_dir(const struct model *m, size_t i);

/* Load all metrics of a model that is complete otherwise, and free them again. */
void metrics_load(struct model *m, unsigned threads, struct diag *diag, struct progress *progress);
void metrics_free(struct model *m);

#endif
