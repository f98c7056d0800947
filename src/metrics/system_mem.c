/* Memory of a machine: samples of /proc/meminfo, on the host and on devices, averaged. Averages are whole numbers, cut.
 */
#include <stdlib.h>

#include "metrics/all.h"
#include "metrics/proc_samples.h"
#include "metrics/sampling.h"

struct system_mem {
    uint64_t sum[MEM_VALUES];
    uint64_t samples;
};

static void visit(const struct mem_sample *s, void *context)
{
    struct system_mem *mem = context;
    for (int i = 0; i < MEM_VALUES; i++) mem->sum[i] += s->values[i];
    mem->samples++;
}

static void *load(const struct metric_source *from)
{
    struct system_mem *mem = mem_zalloc(1, sizeof *mem);
    enum input_id input = from->dir->is_host ? INPUT_HOST_SYS_MEM : INPUT_SYSTEM_MEM;
    mem_samples_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, mem);
    return mem;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct system_mem *)data)->samples ? 1 : 0;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct system_mem *mem = data;
    if (!mem->samples) return;
    report_row(t, dir);
    for (int i = 0; i < MEM_VALUES; i++) table_u64(t, mem->sum[i] / mem->samples);
    report_row_end(t);
}

const struct metric metric_system_mem = {
    .name = "memory of the system",
    METRIC_INPUTS(INPUT_HOST_SYS_MEM, INPUT_SYSTEM_MEM),
    .load = load,
    .free = free,
    .reports =
        (const struct report[]){
            {.stem = "sys_mem",
             .about = "Memory of host and devices, on average.",
             .columns = (const char *const[]){"Memory Total(kB)", "Memory Free(kB)", "Buffers(kB)", "Cached(kB)",
                                              "Share Memory(kB)", "Commit Limit(kB)", "Committed AS(kB)",
                                              "Huge Pages Total(pages)", "Huge Pages Free(pages)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
};
