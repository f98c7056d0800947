/* LLC of the Ascend 310: what perf printed of the last level cache.
 *
 *     0.020042546       75784 hisi_l3c0_0/read_allocate/ (100.00%)
 *
 * seconds since the profiler started, a count ("<not counted>" is 0), and an event of a unit. The lines of one time are
 * a sample. Depending on what was asked for (sample.json llc_profiling) the events tell bandwidth and hits of reading
 * and writing, or how much of the cache each CPU core fills: event dsid<n> is core n. */
#include <math.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

#define LINE_BYTES 64.0
#define CORES      8
#define MAX_FIELDS 8

/* Events of a sample: six of the cache, or one per core. */
enum { ALLOCATE, NOALLOCATE, HIT, DIRECTION_EVENTS };
enum { READ, WRITE, DIRECTIONS };

static const char *const cache_events[DIRECTIONS * DIRECTION_EVENTS] = {
    "read_allocate", "read_noallocate", "read_hit", "write_allocate", "write_noallocate", "write_hit",
};

struct sample {
    uint64_t ns; /* since the profiler started */
    double count[CORES];
};

/* Cores of a CPU. */
struct cpu {
    uint8_t cores[CORES];
    size_t n;
};

struct llc_text {
    bool capacity; /* of cores; else bandwidth */
    struct cpu ai, ctrl;
    ARRAY(struct sample) samples; /* ascending time */
};

struct reader {
    struct llc_text *llc;
    struct diag *diag;
};

static bool is_on(const struct prof_dir *dir)
{
    const char *mode = sample_setting(dir, "llc_profiling");
    return !strcmp(mode, "capacity") || !strcmp(mode, "bandwidth");
}

/* Number of the event "unit/event/", -1 when it is none of those wanted. */
static int event_of(struct text_field f, bool capacity)
{
    const char *slash = memchr(f.at, '/', f.len);
    if (!slash) return -1;
    struct text_field event = {slash + 1, f.len - (size_t)(slash + 1 - f.at)};
    if (event.len && event.at[event.len - 1] == '/') event.len--;
    if (capacity) {
        uint64_t core;
        bool is_core = event.len > 4 && !memcmp(event.at, "dsid", 4) &&
                       text_u64((struct text_field){event.at + 4, event.len - 4}, &core) && core < CORES;
        return is_core ? (int)core : -1;
    }
    for (int i = 0; i < DIRECTIONS * DIRECTION_EVENTS; i++)
        if (text_is(event, cache_events[i])) return i;
    return -1;
}

static bool parse(const struct text_field *f, size_t n, uint64_t *ns, double *count, struct text_field *event)
{
    size_t at = 1;
    if (n < 3 || n > MAX_FIELDS || !text_seconds(f[0], ns)) return false;
    if (n > 3 && text_is(f[1], "<not") && text_is(f[2], "counted>")) {
        *count = 0;
        at = 3;
    } else if (text_f64(f[1], count)) {
        at = 2;
    } else {
        return false;
    }
    *event = f[at];
    for (size_t i = at + 1; i < n; i++)
        if (f[i].at[0] != '(') return false;
    return true;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[MAX_FIELDS], event;
    struct sample s = {0};
    double count;
    if (len && line[0] == '#') return;
    size_t n = text_split(line, len, f, MAX_FIELDS);
    if (!parse(f, n, &s.ns, &count, &event)) {
        sample_skip_line(r->diag, place, n);
        return;
    }
    int which = event_of(event, r->llc->capacity);
    if (which < 0) return;
    s.count[which] = count;
    array_push(&r->llc->samples, s);
}

static uint64_t time_key(const void *sample)
{
    return ((const struct sample *)sample)->ns;
}

/* Lines of one time are one sample. */
static void gather(struct llc_text *l)
{
    size_t n = l->samples.n, kept = 0;
    sample_sort(l->samples.at, n, sizeof *l->samples.at, time_key);
    for (size_t i = 0; i < n; i++) {
        struct sample *s = &l->samples.at[i], *last = kept ? &l->samples.at[kept - 1] : NULL;
        if (!last || last->ns != s->ns) l->samples.at[kept++] = *s;
        else
            for (int k = 0; k < CORES; k++) last->count[k] += s->count[k];
    }
    l->samples.n = kept;
}

/* The cores that info.json lists for a CPU ("4,5,6,7"), else those from `from` on that are usual. */
static struct cpu cpu_of(const struct prof_dir *dir, const char *key, uint8_t from)
{
    struct cpu cpu = {{from, (uint8_t)(from + 1), (uint8_t)(from + 2), (uint8_t)(from + 3)}, 4};
    const json_t *info = json_array_get(json_object_get(dir->meta.info, "DeviceInfo"), 0);
    const char *list = json_string_value(json_object_get(info, key));
    if (!list || !*list) return cpu;
    cpu.n = 0;
    while (cpu.n < CORES) {
        char *end;
        unsigned long core = strtoul(list, &end, 10);
        if (end == list) break;
        if (core < CORES) cpu.cores[cpu.n++] = (uint8_t)core;
        if (*end != ',') break;
        list = end + 1;
    }
    return cpu;
}

static void llc_free(void *data)
{
    struct llc_text *l = data;
    array_free(&l->samples);
    free(l);
}

static void *load(const struct metric_source *from)
{
    struct llc_text *l = mem_zalloc(1, sizeof *l);
    struct reader r = {l, from->diag};
    l->capacity = !strcmp(sample_setting(from->dir, "llc_profiling"), "capacity");
    l->ctrl = cpu_of(from->dir, "ctrl_cpu", 0);
    l->ai = cpu_of(from->dir, "ai_cpu", 4);
    lines_each(prof_dir_files(from->dir, INPUT_LLC), from->diag, from->progress, visit, &r);
    gather(l);
    if (l->samples.n) return l;
    llc_free(l);
    return NULL;
}

/* --- bandwidth -------------------------------------------------------------------------------------------------- */

static double over(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static double round6(double value)
{
    return value < 1e9 ? rint(value * 1e6) / 1e6 : value;
}

struct rates {
    double bandwidth, hit_rate, hit_bandwidth; /* MB/s, 0 … 1, MB/s */
};

static struct rates rates_of(const double *count, int direction, double seconds)
{
    const double *n = count + direction * DIRECTION_EVENTS;
    double all = n[ALLOCATE] + n[NOALLOCATE];
    return (struct rates){over(all * LINE_BYTES / BYTES_PER_MB, seconds), over(n[HIT], all),
                          over(n[HIT] * LINE_BYTES / BYTES_PER_MB, seconds)};
}

/* Until the next sample, in whole µs; the last one takes the interval of the first. */
static double seconds_of(const struct llc_text *l, size_t i)
{
    if (l->samples.n < 2) return 0;
    const struct sample *s = &l->samples.at[i + 1 < l->samples.n ? i : 0];
    return round6((double)(s[1].ns - s[0].ns) / 1e9);
}

static int64_t time_of(const struct prof_dir *dir, const struct sample *s)
{
    uint64_t start = (uint64_t)dir->clock.device_mono_ns, ns;
    return sample_time(dir, __builtin_add_overflow(start, s->ns, &ns) ? INT64_MAX : ns);
}

static void show_bandwidth(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct llc_text *l = data;
    for (size_t i = 0; !l->capacity && i < l->samples.n; i++) {
        int64_t time_ns = time_of(dir, &l->samples.at[i]);
        if (sample_too_early(dir, time_ns)) continue;
        for (int d = 0; d < DIRECTIONS; d++) {
            struct rates r = rates_of(l->samples.at[i].count, d, seconds_of(l, i));
            trace_begin(t);
            out_text(&t->out, d == READ ? "LLC/Read" : "LLC/Write");
            trace_counter(t, pid, 0, time_ns);
            trace_arg_double(t, "BandWidth(MB/s)", round6(r.bandwidth));
            trace_arg_double(t, "Hit Rate(%)", round6(r.hit_rate * 100));
            trace_arg_double(t, "Hit BandWidth(MB/s)", round6(r.hit_bandwidth));
            trace_end(t);
        }
    }
}

static bool shows_bandwidth(const void *data)
{
    return !((const struct llc_text *)data)->capacity;
}

static uint64_t bandwidth_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return shows_bandwidth(data) ? 3 : 0;
}

static bool put_rates(struct table *t, const struct prof_dir *dir, const char *what, double read, double write)
{
    report_row(t, dir);
    table_text(t, what, strlen(what));
    table_round(t, read);
    table_round(t, write);
    return report_row_end(t);
}

static void bandwidth_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct llc_text *l = data;
    double sum[CORES] = {0};
    if (l->capacity) return;
    for (size_t i = 0; i < l->samples.n; i++)
        for (int k = 0; k < CORES; k++) sum[k] += l->samples.at[i].count[k];
    double seconds = (double)(l->samples.at[l->samples.n - 1].ns - l->samples.at[0].ns) / 1e9;
    struct rates r = rates_of(sum, READ, seconds), w = rates_of(sum, WRITE, seconds);
    if (put_rates(t, dir, "BandWidth(MB/s)", r.bandwidth, w.bandwidth) &&
        put_rates(t, dir, "Hit_Rate(%)", round6(r.hit_rate) * 100, round6(w.hit_rate) * 100))
        put_rates(t, dir, "Hit_BandWidth(MB/s)", r.hit_bandwidth, w.hit_bandwidth);
}

/* --- capacity --------------------------------------------------------------------------------------------------- */

static void show_capacity(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct llc_text *l,
                          const struct cpu *cpu)
{
    for (size_t i = 0; l->capacity && i < l->samples.n; i++) {
        int64_t time_ns = time_of(dir, &l->samples.at[i]);
        if (sample_too_early(dir, time_ns)) continue;
        for (size_t k = 0; k < cpu->n; k++) {
            trace_begin(t);
            out_literal(&t->out, "Core ");
            out_u64(&t->out, k);
            trace_counter(t, pid, 0, time_ns);
            trace_arg_double(t, "Capacity(MB)",
                             round6(l->samples.at[i].count[cpu->cores[k]] * LINE_BYTES / BYTES_PER_MB));
            trace_end(t);
        }
    }
}

static void show_ai(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    show_capacity(t, pid, dir, data, &((const struct llc_text *)data)->ai);
}

static void show_ctrl(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    show_capacity(t, pid, dir, data, &((const struct llc_text *)data)->ctrl);
}

static bool shows_capacity(const void *data)
{
    return ((const struct llc_text *)data)->capacity;
}

static const struct cpu *cpu_in(const struct llc_text *l, bool ai)
{
    return ai ? &l->ai : &l->ctrl;
}

static const struct llc_text *data_of(const struct model *m, const struct prof_dir *dir)
{
    const struct llc_text *l = metric_data(m, dir, &metric_llc_text);
    return l && l->capacity ? l : NULL;
}

static void put_capacity(struct table *t, const struct llc_text *l, const struct cpu *cpu)
{
    double total = 0;
    for (size_t k = 0; k < cpu->n; k++) {
        double sum = 0;
        for (size_t i = 0; i < l->samples.n; i++) sum += l->samples.at[i].count[cpu->cores[k]];
        sum = sample_round(sum * LINE_BYTES / BYTES_PER_KB);
        table_round(t, sum);
        total += sum;
    }
    table_na(t, t->n_columns - 1 - t->column);
    table_round(t, total);
}

/* A row per device, with as many columns as the largest has cores. */
static int write_capacity(struct export_target *target, const char *stem, bool ai, struct error *err)
{
    static const char *const cores[CORES] = {"CPU0(KB)", "CPU1(KB)", "CPU2(KB)", "CPU3(KB)",
                                             "CPU4(KB)", "CPU5(KB)", "CPU6(KB)", "CPU7(KB)"};
    const struct model *m = target->model;
    const struct prof_dir *dir;
    const char *columns[CORES + 3] = {"Device_id", "Metric"};
    uint64_t rows = 0;
    size_t most = 0;
    for (size_t i = 0; (dir = metric_dir(m, i)); i++) {
        if (!data_of(m, dir)) continue;
        rows++;
        if (cpu_in(data_of(m, dir), ai)->n > most) most = cpu_in(data_of(m, dir), ai)->n;
    }
    if (!rows) return 0;
    memcpy(columns + 2, cores, most * sizeof *cores);
    columns[2 + most] = "Total(KB)";
    struct table t;
    if (table_open(&t, target, stem, columns, most + 3, rows, err)) return -1;
    for (size_t i = 0; (dir = metric_dir(m, i)) && !t.failed; i++) {
        const struct llc_text *l = data_of(m, dir);
        if (!l) continue;
        report_row(&t, dir);
        table_text(&t, "Used Capacity of LLC", 20);
        put_capacity(&t, l, cpu_in(l, ai));
        report_row_end(&t);
    }
    return table_close(&t);
}

static int write_ai(struct export_target *target, struct error *err)
{
    return write_capacity(target, "llc_aicpu", true, err);
}

static int write_ctrl(struct export_target *target, struct error *err)
{
    return write_capacity(target, "llc_ctrlcpu", false, err);
}

const struct metric metric_llc_text = {
    .name = "LLC as text",
    .chips = SAMPLE_LLC_TEXT,
    METRIC_INPUTS(INPUT_LLC),
    .on = is_on,
    .load = load,
    .free = llc_free,
    .layers = (const struct layer[]){{.key = "llc_aicpu",
                                      .name = "LLC of AI CPU",
                                      .sort_index = 27,
                                      .files = IN_MSPROF,
                                      .show = show_ai,
                                      .shows = shows_capacity},
                                     {.key = "llc_ctrlcpu",
                                      .name = "LLC of Ctrl CPU",
                                      .sort_index = 27,
                                      .files = IN_MSPROF,
                                      .show = show_ctrl,
                                      .shows = shows_capacity},
                                     {.key = "llc_bandwidth",
                                      .name = "LLC Bandwidth",
                                      .sort_index = 27,
                                      .files = IN_MSPROF,
                                      .show = show_bandwidth,
                                      .shows = shows_bandwidth},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "llc_aicpu",
                                        .about = "Last level cache: how much of it the AI CPU fills, per core.",
                                        .write = write_ai},
                                       {.stem = "llc_ctrlcpu",
                                        .about = "Last level cache: how much of it the control CPU fills, per core.",
                                        .write = write_ctrl},
                                       {.stem = "llc_bandwidth",
                                        .about = "Last level cache: bandwidth and hits of reading and writing.",
                                        .columns = (const char *const[]){"Metric", "l3c_rd", "l3c_wr", NULL},
                                        .rows = bandwidth_rows,
                                        .fill = bandwidth_fill},
                                       {.stem = NULL}},
};
