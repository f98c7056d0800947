/* Memory of single processes, on the host and on devices: samples of /proc/<pid>/statm, averaged. Averages are whole
 * pages, cut; the process is in the name of the file. */
#include <stdlib.h>

#include "base/map.h"
#include "metrics/all.h"
#include "metrics/proc_samples.h"
#include "metrics/sampling.h"

struct process {
    uint32_t pid;
    str_id name;
    uint64_t pages[PROCESS_PAGES]; /* enum process_pages: sums; averages once loaded */
    uint64_t samples;
};

struct process_mem {
    ARRAY(struct process) processes; /* all pages descending */
};

struct reader {
    struct process_mem *mem;
    const struct metric_source *from;
    struct map at; /* pid -> process */
};

static struct process *process_of(struct reader *r, uint32_t pid)
{
    bool fresh;
    uint32_t at = *map_put(&r->at, pid, (uint32_t)r->mem->processes.n, &fresh);
    if (fresh) array_push(&r->mem->processes, ((struct process){.pid = pid}));
    return &r->mem->processes.at[at];
}

static void visit(const struct process_mem_sample *s, void *context)
{
    struct reader *r = context;
    struct process *p = process_of(r, s->pid);
    if (s->name.len) p->name = strpool_add(r->from->strings, s->name.at, s->name.len);
    for (int i = 0; i < PROCESS_PAGES; i++) p->pages[i] += s->pages[i];
    p->samples++;
}

static int by_pages(const void *x, const void *y)
{
    const struct process *a = x, *b = y;
    uint64_t pa = a->pages[PAGES_SIZE] + a->pages[PAGES_RESIDENT] + a->pages[PAGES_SHARED];
    uint64_t pb = b->pages[PAGES_SIZE] + b->pages[PAGES_RESIDENT] + b->pages[PAGES_SHARED];
    if (pa != pb) return pa > pb ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void process_mem_free(void *data)
{
    struct process_mem *mem = data;
    array_free(&mem->processes);
    free(mem);
}

static void *load(const struct metric_source *from)
{
    struct process_mem *mem = mem_zalloc(1, sizeof *mem);
    struct reader r = {.mem = mem, .from = from};
    enum input_id input = from->dir->is_host ? INPUT_HOST_PROCESS_MEM : INPUT_PROCESS_MEM;
    process_mem_samples_each(prof_dir_files(from->dir, input), from->diag, from->progress, visit, &r);
    map_free(&r.at);
    for (size_t i = 0; i < mem->processes.n; i++)
        for (int k = 0; k < PROCESS_PAGES; k++) mem->processes.at[i].pages[k] /= mem->processes.at[i].samples;
    size_t n = mem->processes.n;
    if (n) qsort(mem->processes.at, n, sizeof *mem->processes.at, by_pages);
    return mem;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct process_mem *)data)->processes.n;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct process_mem *mem = data;
    for (size_t i = 0; i < mem->processes.n; i++) {
        const struct process *p = &mem->processes.at[i];
        report_row(t, dir);
        table_u64(t, p->pid);
        table_string(t, p->name);
        for (int k = 0; k < PROCESS_PAGES; k++) table_u64(t, p->pages[k]);
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_process_mem = {
    .name = "memory of processes",
    METRIC_INPUTS(INPUT_HOST_PROCESS_MEM, INPUT_PROCESS_MEM),
    .load = load,
    .free = process_mem_free,
    .reports = (const struct report[]){{.stem = "process_mem",
                                        .about = "Memory of every process of host and devices, on average.",
                                        .columns = (const char *const[]){"PID", "Name", "Size(pages)",
                                                                         "Resident(pages)", "Shared(pages)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
};
