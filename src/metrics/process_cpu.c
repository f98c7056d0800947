/* CPU usage of single processes, on the host and on devices.
 *
 *     <pid> (name) S … <utime> <stime> <cutime> <cstime> …   /proc/<pid>/stat
 *     ProcessName:<name>
 *     cpu <ticks> …                                          the sum of /proc/stat: all that went by
 *
 * The usage of a sample is the time of the process and its children against all; that of a process is the mean of its
 * samples. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

/* Fields of a stat line. */
enum { F_PID, F_UTIME = 13, F_STIME, F_CUTIME, F_CSTIME, F_ALL };

#define MAX_TICK_FIELDS 32
#define NAME_LABEL      "ProcessName:"

struct process {
    uint64_t pid;
    str_id name;
    double sum; /* of the usage of its samples */
    uint64_t n;
};

struct process_cpu {
    ARRAY(struct process) processes; /* usage descending */
};

struct reader {
    struct process_cpu *cpu;
    const struct metric_source *from;
    struct map at; /* pid -> process */
    uint64_t pid;
    double busy; /* ticks of the process in the sample being read */
    str_id name;
    bool has_stat;
};

static void end_sample(struct reader *r, double all)
{
    bool fresh;
    if (!r->has_stat) return;
    uint32_t at = *map_put(&r->at, r->pid, (uint32_t)r->cpu->processes.n, &fresh);
    if (fresh) array_push(&r->cpu->processes, ((struct process){.pid = r->pid, .name = r->name}));
    if (all > 0) r->cpu->processes.at[at].sum += r->busy / all;
    r->cpu->processes.at[at].n++;
    r->has_stat = false;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* TimeStamp, Index, DataLen and empty lines are of no use here */
    struct reader *r = context;
    struct text_field f[MAX_TICK_FIELDS];
    uint64_t ticks[4];
    size_t label = strlen(NAME_LABEL), n = text_split(line, len, f, MAX_TICK_FIELDS);
    if (n && text_is(f[0], "cpu")) {
        double all = 0, value;
        for (size_t i = 1; i < n && i < MAX_TICK_FIELDS; i++) all += text_f64(f[i], &value) ? value : 0;
        end_sample(r, all);
    } else if (len >= label && !memcmp(line, NAME_LABEL, label)) {
        r->name = strpool_add(r->from->strings, line + label, len - label);
    } else if (n >= F_ALL && text_u64(f[F_PID], &r->pid) && text_u64(f[F_UTIME], &ticks[0]) &&
               text_u64(f[F_STIME], &ticks[1]) && text_u64(f[F_CUTIME], &ticks[2]) &&
               text_u64(f[F_CSTIME], &ticks[3])) {
        r->busy = (double)ticks[0] + (double)ticks[1] + (double)ticks[2] + (double)ticks[3];
        r->has_stat = true;
    }
}

static double usage(const struct process *p)
{
    return p->sum / (double)p->n * 100;
}

static int by_usage(const void *x, const void *y)
{
    const struct process *a = x, *b = y;
    double ua = usage(a), ub = usage(b);
    if (ua != ub) return ua > ub ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void process_cpu_free(void *data)
{
    struct process_cpu *c = data;
    array_free(&c->processes);
    free(c);
}

static void *load(const struct metric_source *from)
{
    struct process_cpu *c = mem_zalloc(1, sizeof *c);
    struct reader r = {.cpu = c, .from = from};
    enum input_id input = from->dir->is_host ? INPUT_HOST_PROCESS_CPU : INPUT_PROCESS_CPU;
    lines_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, &r);
    map_free(&r.at);
    if (c->processes.n) qsort(c->processes.at, c->processes.n, sizeof *c->processes.at, by_usage);
    return c;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct process_cpu *)data)->processes.n;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct process_cpu *c = data;
    for (size_t i = 0; i < c->processes.n; i++) {
        const struct process *p = &c->processes.at[i];
        report_row(t, dir);
        table_u64(t, p->pid);
        table_string(t, p->name);
        table_round(t, usage(p));
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_process_cpu = {
    .name = "CPU usage of processes",
    METRIC_INPUTS(INPUT_HOST_PROCESS_CPU, INPUT_PROCESS_CPU),
    .load = load,
    .free = process_cpu_free,
    .reports = (const struct report[]){{.stem = "process_cpu_usage",
                                        .about = "CPU usage of every process of host and devices.",
                                        .columns = (const char *const[]){"PID", "Name", "CPU(%)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
};
