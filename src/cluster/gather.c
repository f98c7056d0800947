/* What a PROF directory has for the databases of a cluster. */
#include <stdlib.h>

#include "base/map.h"
#include "cluster/parts.h"
#include "session/metadata.h"

static void device_done(struct cluster_device *d)
{
    free(d->job);
    free(d->time);
    free(d->dir);
    free(d->strategy.framework);
    free(d->strategy.type);
    free(d->strategy.devices);
    array_free(&d->steps);
    array_free(&d->reduces);
    array_free(&d->parallel);
}

void cluster_free(struct cluster *c)
{
    for (size_t i = 0; i < c->devices.n; i++) device_done(&c->devices.at[i]);
    array_free(&c->devices);
    free(c->path);
    *c = (struct cluster){0};
}

void cluster_append(struct cluster *c, struct cluster *from)
{
    for (size_t i = 0; i < from->devices.n; i++) array_push(&c->devices, from->devices.at[i]);
    from->devices.n = 0;
    cluster_free(from);
}

/* The number as a whole is in info.json; the name of the directory says it, too. */
static int64_t number_of(const struct prof_dir *dir)
{
    return meta_i64(dir->meta.info, "devices", dir->device_id);
}

static struct cluster_device describe(const struct session *s, const struct prof_dir *dir)
{
    return (struct cluster_device){
        .job = meta_text(dir->meta.info, "jobInfo", "N/A"),
        .time = mem_printf("%s", *dir->meta.start_date ? dir->meta.start_date : "N/A"),
        .dir = mem_printf("%s/%s", s->name, dir->name),
        .device_id = number_of(dir),
        .rank_id = dir->meta.rank_id < 0 ? -1 : dir->meta.rank_id,
    };
}

/* Epoch ns as µs of CLOCK_MONOTONIC_RAW, which is what the reference tool keeps. */
static double raw_us(const struct clock *c, int64_t epoch_ns)
{
    return epoch_ns ? (double)(epoch_ns - c->epoch_offset_ns) / 1e3 : 0;
}

static void take_steps(struct cluster_device *d, const struct prof_dir *dir, const struct device_data *data,
                       const struct map *known)
{
    const struct clock *clock = &dir->clock;
    for (size_t i = 0; i < data->steps.n; i++) {
        const struct step *s = &data->steps.at[i];
        if (s->marked || s->model_id == MODEL_MARKED) continue;
        array_push(&d->steps, ((struct cluster_step){
                                  .device_id = d->device_id,
                                  .model_id = s->model_id,
                                  .iteration_id = s->iteration_id,
                                  .fp_start = raw_us(clock, s->fp_start_ns),
                                  .bp_end = raw_us(clock, s->bp_end_ns),
                                  .iteration_end = raw_us(clock, s->iteration_end_ns),
                                  .iteration_time = (double)s->iteration_time_ns / 1e3,
                                  .fp_bp_time = (double)s->fp_bp_ns / 1e3,
                                  .refresh = (double)s->refresh_ns / 1e3,
                                  .data_aug = (double)s->data_aug_ns / 1e3,
                                  .known = map_get(known, s->model_id, 0),
                              }));
    }
    for (size_t i = 0; i < data->reduces.n; i++) {
        const struct step_reduce *r = &data->reduces.at[i];
        array_push(&d->reduces, ((struct cluster_reduce){
                                    .device_id = d->device_id,
                                    .model_id = r->model_id,
                                    .iteration_id = r->iteration_id,
                                    .iteration_end = raw_us(clock, r->iteration_end_ns),
                                    .start = raw_us(clock, r->start_ns),
                                    .end = raw_us(clock, r->end_ns),
                                }));
    }
}

/* Iterations alone need no tasks of the devices. */
static void gather_steps(struct cluster *c, const struct session *s, unsigned threads, struct diag *diag,
                         struct progress *progress)
{
    struct strpool *strings = strpool_new();
    struct host_data host = {0};
    struct map known = {0};
    bool expanded = host_streams_expanded(s, diag);
    host_load(&host, s, strings, threads, diag, progress);
    host_models(&known, &host);
    for (size_t i = 0; i < s->n_devices; i++) {
        struct device_data data = {0};
        struct cluster_device d = describe(s, &s->devices[i]);
        device_load_steps(&data, s, &s->devices[i], expanded, diag);
        take_steps(&d, &s->devices[i], &data, &known);
        array_push(&c->devices, d);
        device_free(&data);
    }
    map_free(&known);
    host_free(&host);
    strpool_free(strings);
}

static void gather_model(struct cluster *c, const struct session *s, unsigned threads, struct diag *diag,
                         struct progress *progress)
{
    struct model m;
    struct map known = {0};
    struct model_options options = {.threads = threads, .progress = progress, .all_iterations = true};
    model_build(&m, s, &options, diag);
    host_models(&known, &m.host);
    for (size_t i = 0; i < m.n_devices; i++) {
        struct cluster_device d = describe(s, m.devices[i].dir);
        take_steps(&d, m.devices[i].dir, &m.devices[i].data, &known);
        parallel_gather(&d, &m, &m.devices[i], diag);
        array_push(&c->devices, d);
    }
    map_free(&known);
    model_free(&m);
}

void cluster_gather(struct cluster *c, const struct session *s, unsigned threads, struct diag *diag,
                    struct progress *progress)
{
    bool parallel = false;
    for (size_t i = 0; i < s->n_devices; i++) parallel |= parallel_is_told(&s->devices[i]);
    if (parallel) gather_model(c, s, threads, diag, progress);
    else gather_steps(c, s, threads, diag, progress);
}

static int by_id(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

int cluster_check(const struct cluster *c, struct error *err)
{
    size_t n = c->devices.n, ranked = 0, twice = 0;
    if (!n) return error_set(err, "no device directory in %s", c->path);
    int64_t *ids = mem_alloc(n * sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        ids[i] = cluster_id(&c->devices.at[i]);
        ranked += c->devices.at[i].rank_id >= 0;
    }
    qsort(ids, n, sizeof *ids, by_id);
    for (size_t i = 1; i < n && !twice; i++)
        if (ids[i] == ids[i - 1]) twice = i;
    int64_t id = ids[twice];
    free(ids);
    if (ranked && ranked < n)
        return error_set(err, "%zu of the %zu devices in %s have a rank, the others none: they are not of one cluster",
                         ranked, n, c->path);
    if (twice)
        return error_set(err, "several devices in %s are %s %lld: they cannot be told apart", c->path,
                         ranked ? "rank" : "device", (long long)id);
    return 0;
}
