/* CPU usage of the profiled process on the host, from samples of /proc.
 *
 *     time <ns>                                   a sample begins
 *     <uptime> <idle time>                        /proc/uptime
 *     <thread> (name) S … <utime> <stime> … <cpu> /proc/<pid>/task/<tid>/stat, a line per thread
 *
 * Between two samples a thread worked for as many clock ticks as its times grew, at most all that went by. That is
 * counted for the processor the thread was on at the end; a processor that comes out above 100 % (threads moved there)
 * is left out. All together, over the processors of the machine, is the average. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"
#include "metrics/usage.h"

/* Fields of a stat line. */
enum { F_THREAD, F_UTIME = 13, F_STIME = 14, F_CPU = 38, F_ALL = 39 };

#define CPU_AVERAGE UINT32_MAX

struct sample {
    int64_t start_ns;
    uint32_t cpu; /* CPU_AVERAGE: all of the machine */
    double percent;
};

struct host_cpu {
    uint64_t cpus;                /* of the machine */
    ARRAY(struct sample) samples; /* the average first, then by cpu; ascending time within */
};

struct thread {
    uint64_t id, ticks;
    uint32_t cpu;
};

/* What was running at one time. */
struct moment {
    uint64_t time_ns, uptime_ns;
    bool has_uptime;
    ARRAY(struct thread) threads;
};

struct reader {
    struct host_cpu *cpu;
    const struct prof_dir *dir;
    struct diag *diag;
    double ticks_per_s;
    const struct input_file *file;
    struct moment now, before;
    bool in_moment, has_before;
};

static double worked(const struct thread *t, const struct thread *before, double passed)
{
    double ticks = t->ticks > before->ticks ? (double)(t->ticks - before->ticks) : 0;
    return ticks < passed ? ticks : passed;
}

/* Usage between the two moments. */
static void compare(struct reader *r)
{
    const struct moment *now = &r->now, *before = &r->before;
    double passed = now->uptime_ns > before->uptime_ns ? (double)(now->uptime_ns - before->uptime_ns) : 0;
    passed *= r->ticks_per_s / 1e9;
    if (!(passed > 0)) return;
    int64_t start_ns = usage_time(r->dir, before->time_ns);
    struct map threads = {0}, cpus = {0};
    ARRAY(struct sample) by_cpu = {0};
    double all = 0;
    for (size_t i = 0; i < before->threads.n; i++) map_put(&threads, before->threads.at[i].id, (uint32_t)i, NULL);
    for (size_t i = 0; i < now->threads.n; i++) {
        const struct thread *t = &now->threads.at[i];
        uint32_t was = map_get(&threads, t->id, UINT32_MAX);
        if (was == UINT32_MAX) continue;
        bool fresh;
        uint32_t at = *map_put(&cpus, t->cpu, (uint32_t)by_cpu.n, &fresh);
        if (fresh) array_push(&by_cpu, ((struct sample){start_ns, t->cpu, 0}));
        double ticks = worked(t, &before->threads.at[was], passed);
        by_cpu.at[at].percent += ticks;
        all += ticks;
    }
    for (size_t i = 0; i < by_cpu.n; i++) {
        struct sample s = by_cpu.at[i];
        s.percent = usage_round(s.percent * 100 / passed);
        if (s.percent <= 100) array_push(&r->cpu->samples, s);
    }
    double machine = passed * (double)r->cpu->cpus;
    array_push(&r->cpu->samples, ((struct sample){start_ns, CPU_AVERAGE, machine > 0 ? all * 100 / machine : 0}));
    map_free(&threads);
    map_free(&cpus);
    array_free(&by_cpu);
}

static void end_moment(struct reader *r, bool last)
{
    if (!r->in_moment) return;
    bool usable = r->has_before && r->now.has_uptime && r->before.has_uptime;
    if (usable && (!last || (r->now.threads.n && r->before.threads.n))) compare(r);
    struct moment spare = r->before;
    r->before = r->now;
    r->now = spare;
    r->now.threads.n = 0;
    r->has_before = true;
    r->in_moment = false;
}

static void begin_moment(struct reader *r, uint64_t ns)
{
    end_moment(r, false);
    r->now.time_ns = ns;
    r->now.has_uptime = false;
    r->in_moment = true;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[F_ALL];
    if (r->file != place->file) { /* each file is sampled on its own */
        end_moment(r, true);
        r->has_before = false;
        r->file = place->file;
    }
    uint64_t ns, utime, stime, cpu;
    struct thread t;
    size_t n = text_split(line, len, f, F_ALL);
    if (n == 2 && text_is(f[0], "time") && text_u64(f[1], &ns)) {
        begin_moment(r, ns);
    } else if (r->in_moment && !r->now.has_uptime) {
        r->now.has_uptime = n && text_seconds(f[0], &r->now.uptime_ns);
    } else if (r->in_moment && n >= F_ALL && text_u64(f[F_THREAD], &t.id) && text_u64(f[F_UTIME], &utime) &&
               text_u64(f[F_STIME], &stime) && text_u64(f[F_CPU], &cpu) && cpu < CPU_AVERAGE) {
        t.ticks = utime + stime;
        t.cpu = (uint32_t)cpu;
        array_push(&r->now.threads, t);
    } else {
        sample_skip_line(r->diag, place, n);
    }
}

/* (cpu, time), the average first. */
static void sort_samples(struct host_cpu *c)
{
    size_t n = c->samples.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){(uint32_t)(c->samples.at[i].cpu + 1), (uint32_t)i};
    sort_keys(order, n);
    sort_permute(c->samples.at, sizeof *c->samples.at, order, n);
    free(order);
}

static void host_cpu_free(void *data)
{
    struct host_cpu *c = data;
    array_free(&c->samples);
    free(c);
}

static bool knows_clock(const struct prof_dir *dir)
{
    return usage_info_number(dir, "sysClockFreq") > 0;
}

static void *load(const struct metric_source *from)
{
    struct host_cpu *c = mem_zalloc(1, sizeof *c);
    double cpus = usage_info_number(from->dir, "cpuNums");
    c->cpus = cpus < 0x1p63 ? (uint64_t)cpus : 0;
    struct reader r = {.cpu = c, .dir = from->dir, .diag = from->diag};
    r.ticks_per_s = usage_info_number(from->dir, "sysClockFreq");
    lines_each(prof_dir_files(from->dir, INPUT_HOST_CPU), from->diag, from->progress, visit, &r);
    end_moment(&r, true);
    array_free(&r.now.threads);
    array_free(&r.before.threads);
    sort_samples(c);
    return c;
}

static void put_name(char name[4 + FORMAT_U64 + 1], uint32_t cpu)
{
    memcpy(name, "CPU Avg", sizeof "CPU Avg");
    if (cpu != CPU_AVERAGE) *format_u64(name + 4, cpu) = '\0';
}

/* The reference's scripts give every processor a thread, although all counters stay on thread 0; the average stands
 * where its first sample does among those of processor 0. */
static void name_threads(struct trace *t, uint32_t pid, const struct host_cpu *c)
{
    size_t n = c->samples.n, after_average = 0;
    char name[4 + FORMAT_U64 + 1];
    int32_t tid = 0;
    while (after_average < n && c->samples.at[after_average].cpu == CPU_AVERAGE) after_average++;
    bool zero_first = after_average < n && !c->samples.at[after_average].cpu &&
                      c->samples.at[after_average].start_ns <= c->samples.at[0].start_ns;
    if (zero_first) {
        trace_thread(t, pid, tid, "CPU 0", tid);
        tid++;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t cpu = c->samples.at[i].cpu;
        if ((i && c->samples.at[i - 1].cpu == cpu) || (!cpu && zero_first)) continue;
        put_name(name, cpu);
        trace_thread(t, pid, tid, name, tid);
        tid++;
    }
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct host_cpu *c = data;
    if (t->model->session->script_timeline) name_threads(t, pid, c);
    for (size_t i = 0; i < c->samples.n; i++) {
        const struct sample *s = &c->samples.at[i];
        char name[4 + FORMAT_U64 + 1];
        if (sample_too_early(dir, s->start_ns)) continue;
        put_name(name, s->cpu);
        usage_counter(t, pid, name, s->start_ns, s->percent);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct host_cpu *)data)->samples.n ? 1 : 0;
}

/* Processors that were used at all, and those with any load; samples of one processor stand together. */
static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct host_cpu *c = data;
    uint64_t used = 0, loaded = 0;
    for (size_t i = 0; i < c->samples.n;) {
        uint32_t cpu = c->samples.at[i].cpu;
        bool load_seen = false;
        for (; i < c->samples.n && c->samples.at[i].cpu == cpu; i++) load_seen |= c->samples.at[i].percent > 0;
        if (cpu == CPU_AVERAGE) continue;
        used++;
        loaded += load_seen;
    }
    report_row(t, dir);
    table_u64(t, c->cpus);
    table_u64(t, used);
    table_u64(t, loaded);
    report_row_end(t);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct host_cpu *c = data;
    for (size_t i = 0; i < c->samples.n; i++) {
        const struct sample *s = &c->samples.at[i];
        if (s->cpu == CPU_AVERAGE || sample_too_early(dir, s->start_ns)) continue;
        db_int(t, s->start_ns);
        db_int(t, s->cpu);
        db_real(t, s->percent);
        db_row(t);
    }
}

const struct metric metric_host_cpu = {
    .name = "host CPU usage",
    METRIC_INPUTS(INPUT_HOST_CPU),
    .on = knows_clock,
    .load = load,
    .free = host_cpu_free,
    .layers = (const struct layer[]){{.key = "cpu_usage",
                                      .name = "CPU Usage",
                                      .sort_index = 9,
                                      .script_index = 9,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "host_cpu_usage",
             .about = "Processors of the host: how many there are, how many the job ran on, and how\n"
                      "many had any load.",
             .columns =
                 (const char *const[]){"Total Cpu Numbers", "Occupied Cpu Numbers", "Recommend Cpu Numbers", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
    .tables =
        (const struct db_table_kind[]){
            {.definition = {"CPU_USAGE", {{"timestampNs", DB_NUMERIC}, {"cpuId", DB_NUMERIC}, {"usage", DB_NUMERIC}}},
             .fill = table_fill},
            {.fill = NULL}},
};
