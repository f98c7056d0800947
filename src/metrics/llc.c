/* LLC: hits and throughput of the last level cache, by part of it.
 *
 * A record counts one event of one part. The records of a part with one time are a sample, of which eight events
 * matter; which eight they are depends on whether reading or writing was sampled (sample.json llc_profiling).
 *
 *     hit rate   = (events 2 + 3 + 5 + 7) / (events 4 + 6)
 *     throughput = 64 bytes * (events 0 + 1) / time since the sample before of the part
 *
 * The throughput that is shown is 64 times that: the reference divides the time by 64 once more, and its readers have
 * seen such numbers ever since. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* info.json version 1.0, and 2.0 */
enum { RECORD_SIZE = 24 };
enum { V1_TIME_US = 0, V1_COUNT = 8, V1_EVENT = 16, V1_PART = 20 };
enum { V2_COUNT = 4, V2_EVENT = 8, V2_PART = 12, V2_TIME_NS = 16 };

#define EVENTS     8
#define LINE_BYTES 64.0
#define TIME_PARTS 64.0

static const struct mode {
    const char *setting, *name;
    uint8_t events[EVENTS];
} modes[] = {
    {"read", "Read", {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36}},
    {"write", "Write", {0x00, 0x01, 0x03, 0x14, 0x21, 0x23, 0x35, 0x37}},
};

struct sample {
    int64_t time_ns;
    double hit_rate;   /* 0 … 1, but for odd counts */
    double throughput; /* MB/s, see above */
    uint32_t part;
};

struct llc {
    const struct mode *mode;
    ARRAY(struct sample) samples; /* by part, ascending time */
};

/* A sample while its records are read. */
struct counts {
    int64_t time_ns;
    double count[EVENTS];
    uint32_t part;
    uint8_t seen; /* bit per event */
};

struct reader {
    const struct prof_dir *dir;
    const struct mode *mode;
    ARRAY(struct counts) counts; /* one per record until they are gathered */
    bool v2;
};

static const struct mode *mode_of(const struct prof_dir *dir)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(sample_setting(dir, "llc_profiling"), modes[i].setting)) return &modes[i];
    return NULL;
}

static bool is_on(const struct prof_dir *dir)
{
    return mode_of(dir);
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint32_t code = get_u32(p + (r->v2 ? V2_EVENT : V1_EVENT));
    struct counts c = {.part = get_u32(p + (r->v2 ? V2_PART : V1_PART))};
    if (c.part >= r->dir->chip->llc_parts) return;
    c.time_ns =
        r->v2 ? sample_stored_epoch(get_u64(p + V2_TIME_NS)) : sample_stored_time(r->dir, get_u64(p + V1_TIME_US));
    for (int i = 0; i < EVENTS; i++) {
        if (code != r->mode->events[i]) continue;
        c.count[i] = r->v2 ? (double)get_u32(p + V2_COUNT) : (double)get_u64(p + V1_COUNT);
        c.seen = (uint8_t)(1u << i);
    }
    if (c.seen) array_push(&r->counts, c);
}

static uint64_t time_key(const void *counts)
{
    return sample_time_key(((const struct counts *)counts)->time_ns);
}

static uint64_t part_key(const void *counts)
{
    return ((const struct counts *)counts)->part;
}

static void sort_counts(struct reader *r)
{
    sample_sort(r->counts.at, r->counts.n, sizeof *r->counts.at, time_key);
    sample_sort(r->counts.at, r->counts.n, sizeof *r->counts.at, part_key);
}

static bool same_sample(const struct counts *a, const struct counts *b)
{
    return a->part == b->part && a->time_ns == b->time_ns;
}

/* Records to samples: of several counts of one event the last one holds. */
static void gather(struct reader *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->counts.n; i++) {
        struct counts *c = &r->counts.at[i], *into = kept ? &r->counts.at[kept - 1] : NULL;
        if (!into || !same_sample(into, c)) {
            r->counts.at[kept++] = *c;
            continue;
        }
        for (int k = 0; k < EVENTS; k++)
            if (c->seen >> k & 1) into->count[k] = c->count[k];
        into->seen |= c->seen;
    }
    r->counts.n = kept;
}

static double hit_rate(const struct counts *c)
{
    const double *n = c->count;
    if (c->seen >> 2 != 0xFF >> 2 || n[4] + n[6] == 0) return 0;
    return sample_round((n[2] + n[3] + n[5] + n[7]) / (n[4] + n[6]));
}

static double throughput(const struct counts *c, const struct counts *before)
{
    double s = before ? ((double)c->time_ns - (double)before->time_ns) / TIME_PARTS / 1e9 : 0;
    if ((c->seen & 3) != 3 || !(s > 0)) return 0;
    return sample_round((c->count[0] + c->count[1]) * LINE_BYTES / BYTES_PER_MB / s);
}

static void llc_free(void *data)
{
    struct llc *l = data;
    array_free(&l->samples);
    free(l);
}

static void *load(const struct metric_source *from)
{
    struct llc *l = mem_zalloc(1, sizeof *l);
    struct reader r = {.dir = from->dir, .mode = mode_of(from->dir), .v2 = sample_layout_2(from->dir)};
    l->mode = r.mode;
    records_each(prof_dir_files(from->dir, INPUT_LLC), RECORD_SIZE, NULL, from->diag, from->progress, visit, &r);
    sort_counts(&r);
    gather(&r);
    array_reserve(&l->samples, r.counts.n);
    for (size_t i = 0; i < r.counts.n; i++) {
        const struct counts *c = &r.counts.at[i], *before = i && c[-1].part == c->part ? &c[-1] : NULL;
        array_push(&l->samples, ((struct sample){c->time_ns, hit_rate(c), throughput(c, before), c->part}));
    }
    array_free(&r.counts);
    return l;
}

static void counter(struct trace *t, uint32_t pid, const struct llc *l, const struct sample *s, const char *what)
{
    trace_begin(t);
    out_literal(&t->out, "LLC ");
    out_u64(&t->out, s->part);
    out_char(&t->out, ' ');
    out_text(&t->out, l->mode->name);
    out_text(&t->out, what);
    trace_counter(t, pid, 0, s->time_ns);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct llc *l = data;
    for (size_t i = 0; i < l->samples.n; i++) {
        const struct sample *s = &l->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        counter(t, pid, l, s, "/Hit Rate");
        trace_arg_double(t, "Hit Rate(%)", s->hit_rate);
        trace_end(t);
        counter(t, pid, l, s, "/Throughput");
        trace_arg_double(t, "Throughput(MB/s)", s->throughput);
        trace_end(t);
    }
}

struct average {
    uint32_t part;
    uint64_t n;
    double hit_rate, throughput; /* sums */
};

typedef ARRAY(struct average) average_array;

static average_array averages_of(const struct llc *l)
{
    average_array all = {0};
    for (size_t i = 0; i < l->samples.n; i++) {
        const struct sample *s = &l->samples.at[i];
        if (!all.n || all.at[all.n - 1].part != s->part) array_push(&all, ((struct average){.part = s->part}));
        struct average *a = &all.at[all.n - 1];
        a->hit_rate += s->hit_rate;
        a->throughput += s->throughput;
        a->n++;
    }
    return all;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    average_array all = averages_of(data);
    uint64_t rows = all.n ? all.n + 1 : 0;
    array_free(&all);
    return rows;
}

static void begin_row(struct table *t, const struct prof_dir *dir, const struct llc *l)
{
    report_row(t, dir);
    table_text(t, l->mode->setting, strlen(l->mode->setting));
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct llc *l = data;
    average_array all = averages_of(l);
    struct average mean = {0};
    for (size_t i = 0; i < all.n; i++) {
        struct average *a = &all.at[i];
        a->hit_rate = a->hit_rate / (double)a->n * 100;
        a->throughput /= (double)a->n;
        mean.hit_rate += a->hit_rate / (double)all.n;
        mean.throughput += a->throughput / (double)all.n;
    }
    if (all.n) {
        begin_row(t, dir, l);
        table_text(t, "Average", 7);
        table_round(t, mean.hit_rate);
        table_round(t, mean.throughput);
        for (size_t i = 0; report_row_end(t) && i < all.n; i++) {
            begin_row(t, dir, l);
            table_u64(t, all.at[i].part);
            table_round(t, all.at[i].hit_rate);
            table_round(t, all.at[i].throughput);
        }
    }
    array_free(&all);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct llc *l = data;
    for (size_t i = 0; i < l->samples.n; i++) {
        const struct sample *s = &l->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, s->part);
        db_int(t, s->time_ns);
        db_real(t, s->hit_rate * 100);
        db_int(t, sample_bytes_per_s(s->throughput));
        db_string_z(run, t, l->mode->setting);
        db_row(t);
    }
}

const struct metric metric_llc = {
    .name = "LLC",
    .chips = SAMPLE_LLC,
    METRIC_INPUTS(INPUT_LLC),
    .on = is_on,
    .load = load,
    .free = llc_free,
    .layers = (const struct layer[]){{.key = "llc",
                                      .name = "LLC",
                                      .sort_index = 27,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "llc_read_write",
                                        .about = "Last level cache: average hit rate and throughput of reading or "
                                                 "writing, per part\nand over all.",
                                        .columns = (const char *const[]){"Mode", "Task", "Hit Rate(%)",
                                                                         "Throughput(MB/s)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"LLC",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"llcId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"hitRate", DB_REAL},
                                                              {"throughput", DB_INTEGER},
                                                              {"mode", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
