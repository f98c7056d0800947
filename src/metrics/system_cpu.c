/* What the processors of a machine were doing: the counters of /proc/stat, sampled on the host and on devices.
 *
 * A line is a processor and its clock ticks since boot per kind of work. The share of a kind is its part of all ticks,
 * summed over the samples and over the processors of one type: on a device those of the control CPU and of the AI CPU,
 * as info.json lists them; a host has one type. */
#include <stdlib.h>
#include <string.h>

#include "metrics/all.h"
#include "metrics/proc_samples.h"
#include "metrics/sampling.h"

enum cpu_type { AI_CPU, CONTROL_CPU, HOST_CPU, CPU_TYPES };

static const char *const type_names[CPU_TYPES] = {"aicpu", "ctrlcpu", "host"};

struct system_cpu {
    double ticks[CPU_TYPES][CPU_TICKS];
    bool seen[CPU_TYPES];
};

struct reader {
    struct system_cpu *cpu;
    const struct prof_dir *dir;
};

/* False for a processor of no type: the sum of all, or one that info.json does not list. */
static bool type_of(const struct prof_dir *dir, struct text_field name, enum cpu_type *type)
{
    uint64_t number;
    *type = HOST_CPU;
    if (dir->is_host) return true;
    if (!text_u64((struct text_field){name.at + 3, name.len - 3}, &number)) return false;
    *type = device_core_listed(dir, "ctrl_cpu", number) ? CONTROL_CPU : AI_CPU;
    return *type == CONTROL_CPU || device_core_listed(dir, "ai_cpu", number);
}

static void visit(const struct cpu_sample *s, void *context)
{
    struct reader *r = context;
    enum cpu_type type;
    if (!type_of(r->dir, s->name, &type)) return;
    for (int i = 0; i < CPU_TICKS; i++) r->cpu->ticks[type][i] += s->ticks[i];
    r->cpu->seen[type] = true;
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.cpu), from->dir};
    enum input_id input = from->dir->is_host ? INPUT_HOST_SYS_CPU : INPUT_SYSTEM_CPU;
    cpu_samples_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, &r);
    return r.cpu;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    const struct system_cpu *c = data;
    uint64_t rows = 0;
    for (int type = 0; type < CPU_TYPES; type++) rows += c->seen[type];
    return rows;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    static const enum cpu_tick shown[] = {CPU_USER, CPU_SYS, CPU_IOWAIT, CPU_IRQ, CPU_SOFT, CPU_IDLE};
    const struct system_cpu *c = data;
    for (int type = 0; type < CPU_TYPES; type++) {
        if (!c->seen[type]) continue;
        double all = 0;
        for (int i = 0; i < CPU_TICKS; i++) all += c->ticks[type][i];
        report_row(t, dir);
        table_text(t, type_names[type], strlen(type_names[type]));
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            table_round(t, all > 0 ? c->ticks[type][shown[i]] / all * 100 : 0);
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_system_cpu = {
    .name = "CPU usage of the system",
    METRIC_INPUTS(INPUT_HOST_SYS_CPU, INPUT_SYSTEM_CPU),
    .load = load,
    .free = free,
    .reports =
        (const struct report[]){
            {.stem = "cpu_usage",
             .about = "What the processors of host and devices did, in percent of their time since boot.",
             .columns = (const char *const[]){"Cpu Type", "User(%)", "Sys(%)", "IoWait(%)", "Irq(%)", "Soft(%)",
                                              "Idle(%)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
};
