/* Memory usage of the profiled process on the host.
 *
 * A line is a time and the sizes of /proc/<pid>/statm in pages; the second is what is resident. A sample covers the
 * time since the line before it: the first line of a file only says when it begins. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"
#include "metrics/usage.h"

#define KB_PER_PAGE 4.0

struct sample {
    int64_t start_ns;
    double percent;
};

struct host_mem {
    double total_kb;
    ARRAY(struct sample) samples; /* in the order of the lines */
};

struct reader {
    struct host_mem *mem;
    const struct prof_dir *dir;
    struct diag *diag;
    const struct input_file *file; /* of the line before */
    uint64_t previous_ns;
};

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[3];
    uint64_t ns, resident;
    size_t n = text_split(line, len, f, 3);
    if (n < 3 || !text_u64(f[0], &ns) || !text_u64(f[2], &resident)) {
        sample_skip_line(r->diag, place, n);
        return;
    }
    if (r->file == place->file)
        array_push(&r->mem->samples,
                   ((struct sample){usage_time(r->dir, r->previous_ns),
                                    usage_round((double)resident * KB_PER_PAGE / r->mem->total_kb * 100)}));
    r->file = place->file;
    r->previous_ns = ns;
}

static void host_mem_free(void *data)
{
    struct host_mem *mem = data;
    array_free(&mem->samples);
    free(mem);
}

static bool knows_total(const struct prof_dir *dir)
{
    return usage_info_number(dir, "memoryTotal") > 0;
}

static void *load(const struct metric_source *from)
{
    struct host_mem *mem = mem_zalloc(1, sizeof *mem);
    mem->total_kb = usage_info_number(from->dir, "memoryTotal");
    struct reader r = {.mem = mem, .dir = from->dir, .diag = from->diag};
    lines_each(prof_dir_files(from->dir, INPUT_HOST_MEM), from->diag, from->progress, visit, &r);
    return mem;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct host_mem *mem = data;
    for (size_t i = 0; i < mem->samples.n; i++) {
        const struct sample *s = &mem->samples.at[i];
        if (!sample_too_early(dir, s->start_ns)) usage_counter(t, pid, "Memory Usage", s->start_ns, s->percent);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct host_mem *)data)->samples.n ? 1 : 0;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct host_mem *mem = data;
    if (!mem->samples.n) return;
    double *values = mem_alloc(mem->samples.n * sizeof *values);
    for (size_t i = 0; i < mem->samples.n; i++) values[i] = mem->samples.at[i].percent;
    struct usage_peak p = usage_peak(values, mem->samples.n);
    free(values);
    p.peak = p.peak * mem->total_kb / 100;
    p.recommend = p.recommend * mem->total_kb / 100;
    report_row(t, dir);
    table_u64(t, (uint64_t)mem->total_kb);
    usage_cells(t, p, true);
    report_row_end(t);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct host_mem *mem = data;
    for (size_t i = 0; i < mem->samples.n; i++) {
        const struct sample *s = &mem->samples.at[i];
        if (sample_too_early(dir, s->start_ns)) continue;
        db_int(t, s->start_ns);
        db_real(t, s->percent);
        db_row(t);
    }
}

const struct metric metric_host_mem = {
    .name = "host memory usage",
    METRIC_INPUTS(INPUT_HOST_MEM),
    .on = knows_total,
    .load = load,
    .free = host_mem_free,
    .layers = (const struct layer[]){{.key = "memory_usage",
                                      .name = "Memory Usage",
                                      .sort_index = 10,
                                      .script_index = 10,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "host_mem_usage",
             .about = "Memory of the host: all of it, the most that was used, and what a machine\n"
                      "for this job should have.",
             .columns = (const char *const[]){"Total Memory(KB)", "Peak Used Memory(KB)", "Recommend Memory(KB)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"HOST_MEM_USAGE",
                                                             {{"timestampNs", DB_NUMERIC}, {"usage", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
