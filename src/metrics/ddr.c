/* DDR: what was read from and written to the memory of chips that have no high bandwidth memory.
 *
 * A record counts the transfers in one direction since the sample before; those that name a master are of that master
 * alone and no part of the whole. Records with one time are one sample. The rate of a sample is its count over the time
 * since the one before, of the first one since the profiler of the device started. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

enum { TIME_US = 0, COUNT = 4, EVENT = 8, MASTER = 16 };

#define EVENT_READ  0u
#define ALL_MASTERS UINT32_MAX

enum { READ, WRITE };

struct sample {
    uint64_t us;    /* since the profiler started */
    double rate[2]; /* MB/s; while loading counts */
};

struct ddr {
    ARRAY(struct sample) samples; /* ascending time */
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct ddr *d = context;
    struct sample s = {.us = get_u32(p + TIME_US)};
    if (get_u32(p + MASTER) == ALL_MASTERS)
        s.rate[get_u32(p + EVENT) == EVENT_READ ? READ : WRITE] = get_u32(p + COUNT);
    array_push(&d->samples, s);
}

static uint64_t time_key(const void *sample)
{
    return ((const struct sample *)sample)->us;
}

/* Records of one time are one sample. */
static void gather(struct ddr *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->samples.n; i++) {
        struct sample *s = &d->samples.at[i], *last = kept ? &d->samples.at[kept - 1] : NULL;
        if (last && last->us == s->us) {
            last->rate[READ] += s->rate[READ];
            last->rate[WRITE] += s->rate[WRITE];
        } else {
            d->samples.at[kept++] = *s;
        }
    }
    d->samples.n = kept;
}

static void compute_rates(struct ddr *d, unsigned transfer_bytes)
{
    uint64_t last = 0;
    for (size_t i = 0; i < d->samples.n; i++) {
        struct sample *s = &d->samples.at[i];
        double ns = (double)(s->us - last) * 1000;
        for (int k = READ; k <= WRITE; k++)
            s->rate[k] = ns > 0 ? s->rate[k] * transfer_bytes / (ns * BYTES_PER_MB) * 1e9 : 0;
        last = s->us;
    }
}

static void ddr_free(void *data)
{
    struct ddr *d = data;
    array_free(&d->samples);
    free(d);
}

static void *load(const struct metric_source *from)
{
    struct ddr *d = mem_zalloc(1, sizeof *d);
    records_each(prof_dir_files(from->dir, INPUT_DDR), input_kind(INPUT_DDR)->record_size, NULL, from->diag,
                 from->progress, visit, d);
    if (!d->samples.n) {
        ddr_free(d);
        return NULL;
    }
    sample_sort(d->samples.at, d->samples.n, sizeof *d->samples.at, time_key);
    gather(d);
    compute_rates(d, from->dir->chip->ddr_bytes);
    return d;
}

static int64_t time_of(const struct prof_dir *dir, const struct sample *s)
{
    return sample_time(dir, sample_device_ns(dir, s->us));
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct ddr *d = data;
    for (size_t i = 0; i < d->samples.n; i++) {
        const struct sample *s = &d->samples.at[i];
        int64_t time_ns = time_of(dir, s);
        if (sample_too_early(dir, time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "DDR/Read");
        trace_counter(t, pid, 0, time_ns);
        trace_arg_double(t, "Read(MB/s)", s->rate[READ]);
        trace_end(t);
        trace_begin(t);
        out_literal(&t->out, "DDR/Write");
        trace_counter(t, pid, 0, time_ns);
        trace_arg_double(t, "Write(MB/s)", s->rate[WRITE]);
        trace_end(t);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    (void)data;
    return 1;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct ddr *d = data;
    double sum[2] = {0};
    for (size_t i = 0; i < d->samples.n; i++)
        for (int k = READ; k <= WRITE; k++) sum[k] += d->samples.at[i].rate[k];
    report_row(t, dir);
    table_text(t, "Average", 7);
    for (int k = READ; k <= WRITE; k++) table_round(t, sum[k] / (double)d->samples.n);
    report_row_end(t);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct ddr *d = data;
    for (size_t i = 0; i < d->samples.n; i++) {
        const struct sample *s = &d->samples.at[i];
        int64_t time_ns = time_of(dir, s);
        if (sample_too_early(dir, time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, time_ns);
        for (int k = READ; k <= WRITE; k++) db_int(t, sample_bytes_per_s(s->rate[k]));
        db_row(t);
    }
}

const struct metric metric_ddr = {
    .name = "DDR",
    .chips = SAMPLE_DDR,
    METRIC_INPUTS(INPUT_DDR),
    .load = load,
    .free = ddr_free,
    .layers = (const struct layer[]){{.key = "ddr",
                                      .name = "DDR",
                                      .sort_index = 18,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "ddr",
                                        .about = "Memory: average rates of reading and writing.",
                                        .columns = (const char *const[]){"Metric", "Read(MB/s)", "Write(MB/s)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"DDR",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"read", DB_NUMERIC},
                                                              {"write", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
