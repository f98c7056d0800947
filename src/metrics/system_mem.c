/* Memory of a machine: samples of /proc/meminfo, on the host and on devices, averaged. Averages are whole numbers, cut.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

/* The lines that are shown; sizes are in kB, huge pages are counted. */
static const char *const labels[] = {
    "MemTotal:",    "MemFree:",      "Buffers:",         "Cached:",         "Shmem:",
    "CommitLimit:", "Committed_AS:", "HugePages_Total:", "HugePages_Free:",
};
enum { LABELS = sizeof labels / sizeof *labels };

struct system_mem {
    uint64_t sum[LABELS];
    uint64_t samples;
    uint64_t open[LABELS]; /* the sample being read */
    bool is_open;
};

static void end_sample(struct system_mem *mem)
{
    if (!mem->is_open) return;
    for (int i = 0; i < LABELS; i++) mem->sum[i] += mem->open[i];
    mem->samples++;
    mem->is_open = false;
    memset(mem->open, 0, sizeof mem->open);
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* /proc/meminfo has more lines */
    struct system_mem *mem = context;
    struct text_field f[2];
    uint64_t value;
    size_t n = text_split(line, len, f, 2);
    if (!n) end_sample(mem);
    if (n < 2 || !text_u64(f[1], &value)) return;
    for (int i = 0; i < LABELS; i++)
        if (text_is(f[0], labels[i])) {
            mem->open[i] = value;
            mem->is_open = true;
        }
}

static void *load(const struct metric_source *from)
{
    struct system_mem *mem = mem_zalloc(1, sizeof *mem);
    enum input_id input = from->dir->is_host ? INPUT_HOST_SYS_MEM : INPUT_SYSTEM_MEM;
    lines_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, mem);
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
    for (int i = 0; i < LABELS; i++) table_u64(t, mem->sum[i] / mem->samples);
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
