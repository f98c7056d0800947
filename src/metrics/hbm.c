/* HBM: what was read from and written to the high bandwidth memory, per memory.
 *
 * A record counts the 256-bit transfers of one memory in one direction since the record before it of the same memory
 * and direction. Its rate is that count over the time between the two; the first one has none and shows 0.
 * docs/formats/sampled-metrics.md has the layouts. */
#include "base/map.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* info.json version 1.0, and 2.0 */
enum { V1_SIZE = 24, V1_TIME_US = 0, V1_COUNT = 8, V1_EVENT = 16, V1_ID = 20 };
enum { V2_SIZE = 32, V2_EVENT = 8, V2_ID = 12, V2_COUNT = 16, V2_TIME_NS = 24 };

#define EVENT_READ      0u
#define BYTES_PER_COUNT 32.0

struct sample {
    int64_t time_ns;
    double rate; /* MB/s; while loading the count */
    uint32_t id;
    bool write;
};

struct hbm {
    ARRAY(struct sample) samples; /* ascending time, then reads before writes, then id */
};

struct reader {
    struct hbm *hbm;
    const struct prof_dir *dir;
};

static void visit_v1(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint64_t us = get_u64(p + V1_TIME_US);
    array_push(&r->hbm->samples, ((struct sample){.time_ns = sample_stored_time(r->dir, us),
                                                  .rate = (double)get_u64(p + V1_COUNT),
                                                  .id = get_u32(p + V1_ID),
                                                  .write = get_u32(p + V1_EVENT) != EVENT_READ}));
}

static void visit_v2(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    array_push(&r->hbm->samples, ((struct sample){.time_ns = sample_stored_epoch(get_u64(p + V2_TIME_NS)),
                                                  .rate = (double)get_u64(p + V2_COUNT),
                                                  .id = get_u32(p + V2_ID),
                                                  .write = get_u32(p + V2_EVENT) != EVENT_READ}));
}

static uint64_t series_of(const struct sample *s)
{
    return (uint64_t)s->write << 32 | s->id;
}

static uint64_t series_key(const void *sample)
{
    return series_of(sample);
}

static uint64_t time_key(const void *sample)
{
    return sample_time_key(((const struct sample *)sample)->time_ns);
}

static void sort_samples(struct hbm *h)
{
    sample_sort(h->samples.at, h->samples.n, sizeof *h->samples.at, series_key);
    sample_sort(h->samples.at, h->samples.n, sizeof *h->samples.at, time_key);
}

/* Of records with one time, memory and direction the last counts. */
static void drop_doubles(struct hbm *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i], *last = kept ? &h->samples.at[kept - 1] : NULL;
        if (last && last->time_ns == s->time_ns && series_of(last) == series_of(s)) kept--;
        h->samples.at[kept++] = *s;
    }
    h->samples.n = kept;
}

/* Counts to rates; false when no memory has two samples. */
static bool compute_rates(struct hbm *h)
{
    struct map previous = {0}; /* series -> sample */
    bool any = false;
    for (size_t i = 0; i < h->samples.n; i++) {
        struct sample *s = &h->samples.at[i];
        bool first;
        uint32_t *last = map_put(&previous, series_of(s), (uint32_t)i, &first);
        double ns = (double)s->time_ns - (double)h->samples.at[*last].time_ns;
        s->rate = ns > 0 ? s->rate * (BYTES_PER_COUNT / BYTES_PER_MB) / ns * 1e9 : 0;
        *last = (uint32_t)i;
        any |= !first;
    }
    map_free(&previous);
    return any;
}

static void hbm_free(void *data)
{
    struct hbm *h = data;
    array_free(&h->samples);
    free(h);
}

static void *load(const struct metric_source *from)
{
    struct hbm *h = mem_zalloc(1, sizeof *h);
    struct reader r = {h, from->dir};
    bool v2 = sample_layout_2(from->dir);
    records_each(prof_dir_files(from->dir, INPUT_HBM), v2 ? V2_SIZE : V1_SIZE, NULL, from->diag, from->progress,
                 v2 ? visit_v2 : visit_v1, &r);
    sort_samples(h);
    drop_doubles(h);
    if (!compute_rates(h)) h->samples.n = 0;
    return h;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct hbm *h = data;
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "HBM ");
        out_u64(&t->out, s->id);
        out_text(&t->out, s->write ? "/Write" : "/Read");
        trace_counter(t, pid, 0, s->time_ns);
        if (s->write) trace_arg_double(t, "Write(MB/s)", s->rate);
        else trace_arg_double(t, "Read(MB/s)", s->rate);
        trace_end(t);
    }
}

/* The averages of one memory. */
struct average {
    uint32_t id;
    double sum[2]; /* read, write */
    uint64_t n[2];
};

typedef ARRAY(struct average) average_array;

static int by_id(const void *x, const void *y)
{
    const struct average *a = x, *b = y;
    return a->id < b->id ? -1 : a->id > b->id;
}

static average_array averages_of(const struct hbm *h)
{
    average_array all = {0};
    struct map of = {0};
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i];
        bool first;
        uint32_t at = *map_put(&of, s->id, (uint32_t)all.n, &first);
        if (first) array_push(&all, ((struct average){.id = s->id}));
        all.at[at].sum[s->write] += s->rate;
        all.at[at].n[s->write]++;
    }
    map_free(&of);
    if (all.n) qsort(all.at, all.n, sizeof *all.at, by_id);
    return all;
}

/* Over all memories; 0 when one of them was not sampled in that direction. */
static double overall(const average_array *all, int direction)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!all->at[i].n[direction]) return 0;
        sum += all->at[i].sum[direction] / (double)all->at[i].n[direction];
    }
    return sum / (double)all->n;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    average_array all = averages_of(data);
    uint64_t rows = all.n ? all.n + 1 : 0;
    array_free(&all);
    return rows;
}

static void put_average(struct table *t, const struct average *a, int direction)
{
    if (a->n[direction]) table_round(t, a->sum[direction] / (double)a->n[direction]);
    else table_none(t);
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    average_array all = averages_of(data);
    if (all.n) {
        report_row(t, dir);
        table_text(t, "Average", 7);
        table_round(t, overall(&all, 0));
        table_round(t, overall(&all, 1));
        for (size_t i = 0; report_row_end(t) && i < all.n; i++) {
            report_row(t, dir);
            table_u64(t, all.at[i].id);
            put_average(t, &all.at[i], 0);
            put_average(t, &all.at[i], 1);
        }
    }
    array_free(&all);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct hbm *h = data;
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, s->time_ns);
        db_int(t, sample_bytes_per_s(s->rate));
        db_int(t, s->id);
        db_string_z(run, t, s->write ? "write" : "read");
        db_row(t);
    }
}

const struct metric metric_hbm = {
    .name = "HBM",
    .chips = SAMPLE_HBM,
    METRIC_INPUTS(INPUT_HBM),
    .load = load,
    .free = hbm_free,
    .layers = (const struct layer[]){{.key = "hbm",
                                      .name = "HBM",
                                      .sort_index = 24,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "hbm",
                                        .about = "High bandwidth memory: average rates of reading and writing, per "
                                                 "memory and over all.",
                                        .columns = (const char *const[]){"Metric", "Read(MB/s)", "Write(MB/s)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"HBM",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"bandwidth", DB_NUMERIC},
                                                              {"hbmId", DB_INTEGER},
                                                              {"type", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
