/* CPU usage of single processes, on the host and on devices.
 *
 *     <pid> (name) S … <utime> <stime> <cutime> <cstime> …   /proc/<pid>/stat
 *     ProcessName:<name>
 *     cpu <ticks> …                                          the sum of /proc/stat: all that went by
 *
 * The usage of a sample is the time of the process and its children against all; that of a process is the mean of its
 * samples. */
#include <stdlib.h>

#include "base/map.h"
#include "metrics/all.h"
#include "metrics/proc_samples.h"
#include "metrics/sampling.h"

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
};

static void visit(const struct process_cpu_sample *s, void *context)
{
    struct reader *r = context;
    bool fresh;
    uint32_t at = *map_put(&r->at, s->pid, (uint32_t)r->cpu->processes.n, &fresh);
    if (fresh) {
        str_id name = s->name.len ? strpool_add(r->from->strings, s->name.at, s->name.len) : STR_EMPTY;
        array_push(&r->cpu->processes, ((struct process){.pid = s->pid, .name = name}));
    }
    double busy = (double)s->user + (double)s->sys + (double)s->children_user + (double)s->children_sys;
    if (s->all > 0) r->cpu->processes.at[at].sum += busy / s->all;
    r->cpu->processes.at[at].n++;
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
    process_cpu_samples_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, &r);
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
