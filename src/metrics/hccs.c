/* HCCS: what went through the links between the devices of a board.
 *
 * A line is a time and two counters that only grow: bytes sent and received. The rates are those between a line and the
 * one before it in time; where a counter fell, it was reset, and there is none. The last rate is left out, as the
 * reference does, which takes it for the one from the last sample back to the first; a single sample shows zeros. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

struct count {
    uint64_t ns, tx, rx;
};

struct sample {
    int64_t time_ns;
    double tx, rx; /* MB/s */
};

struct hccs {
    ARRAY(struct sample) samples; /* ascending time */
};

struct reader {
    ARRAY(struct count) counts;
    struct diag *diag;
};

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[3];
    struct count c;
    size_t n = text_split(line, len, f, 3);
    if (n == 3 && text_time(f[0], &c.ns) && text_u64(f[1], &c.tx) && text_u64(f[2], &c.rx)) array_push(&r->counts, c);
    else sample_skip_line(r->diag, place, n);
}

static uint64_t time_key(const void *count)
{
    return ((const struct count *)count)->ns;
}

static double rate(uint64_t bytes, uint64_t ns)
{
    return sample_round((double)bytes / ((double)ns / (1e9 / BYTES_PER_MB)));
}

static void compute(struct hccs *h, const struct reader *r, const struct prof_dir *dir)
{
    size_t n = r->counts.n;
    for (size_t i = 1; i < n; i++) {
        const struct count *c = &r->counts.at[i], *before = c - 1;
        if (c->tx < before->tx || c->rx < before->rx || c->ns == before->ns) continue;
        array_push(&h->samples, ((struct sample){sample_time(dir, c->ns), rate(c->tx - before->tx, c->ns - before->ns),
                                                 rate(c->rx - before->rx, c->ns - before->ns)}));
    }
    if (n == 1) array_push(&h->samples, ((struct sample){.time_ns = sample_time(dir, r->counts.at[0].ns)}));
    if (h->samples.n < 2) return;
    const struct count *first = &r->counts.at[0], *last = &r->counts.at[n - 1];
    bool fell = first->tx >= last->tx && first->rx >= last->rx; /* from the last back to the first is a rate to it */
    if (!fell) h->samples.n--;
}

static void hccs_free(void *data)
{
    struct hccs *h = data;
    array_free(&h->samples);
    free(h);
}

static void *load(const struct metric_source *from)
{
    struct hccs *h = mem_zalloc(1, sizeof *h);
    struct reader r = {.diag = from->diag};
    lines_each(prof_dir_files(from->dir, INPUT_HCCS), from->diag, from->progress, visit, &r);
    sample_sort(r.counts.at, r.counts.n, sizeof *r.counts.at, time_key);
    compute(h, &r, from->dir);
    array_free(&r.counts);
    return h;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct hccs *h = data;
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "Rx");
        trace_counter(t, pid, 0, s->time_ns);
        trace_arg_double(t, "Rx(MB/s)", s->rx);
        trace_end(t);
        trace_begin(t);
        out_literal(&t->out, "Tx");
        trace_counter(t, pid, 0, s->time_ns);
        trace_arg_double(t, "Tx(MB/s)", s->tx);
        trace_end(t);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct hccs *)data)->samples.n ? 2 : 0;
}

/* Maximum, minimum and average of one direction. */
static bool put_direction(struct table *t, const struct prof_dir *dir, const struct hccs *h, bool rx)
{
    const struct sample *all = h->samples.at;
    double max = rx ? all->rx : all->tx, min = max, sum = 0;
    for (size_t i = 0; i < h->samples.n; i++) {
        double value = rx ? all[i].rx : all[i].tx;
        if (value > max) max = value;
        if (value < min) min = value;
        sum += value;
    }
    report_row(t, dir);
    table_text(t, rx ? "Rx (MB/s)" : "Tx (MB/s)", 9);
    table_round(t, max);
    table_round(t, min);
    table_round(t, sum / (double)h->samples.n);
    return report_row_end(t);
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct hccs *h = data;
    if (h->samples.n && put_direction(t, dir, h, false)) put_direction(t, dir, h, true);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct hccs *h = data;
    for (size_t i = 0; i < h->samples.n; i++) {
        const struct sample *s = &h->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, s->time_ns);
        db_int(t, sample_bytes_per_s(s->tx));
        db_int(t, sample_bytes_per_s(s->rx));
        db_row(t);
    }
}

const struct metric metric_hccs = {
    .name = "HCCS",
    .chips = SAMPLE_HCCS,
    METRIC_INPUTS(INPUT_HCCS),
    .load = load,
    .free = hccs_free,
    .layers = (const struct layer[]){{.key = "hccs",
                                      .name = "HCCS",
                                      .sort_index = 20,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "hccs",
                                        .about = "Links between devices: highest, lowest and average rates of sending "
                                                 "and receiving.",
                                        .columns = (const char *const[]){"Mode", "Max", "Min", "Average", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"HCCS",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"txThroughput", DB_NUMERIC},
                                                              {"rxThroughput", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
