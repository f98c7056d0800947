/* Lines of /proc files to samples: each kind of file has a reader, which a line may fill or complete. */
#include "metrics/proc_samples.h"

#include <string.h>

#include "base/array.h"
#include "decode/records.h"

#define TIME_LABEL "TimeStamp:"
#define NAME_LABEL "ProcessName:"

/* What stands behind a label at the begin of a line; false when it has another begin. */
static bool labelled(const char *line, size_t len, const char *label, struct text_field *rest)
{
    size_t n = strlen(label);
    if (len < n || memcmp(line, label, n)) return false;
    *rest = (struct text_field){line + n, len - n};
    return true;
}

/* The line that begins a sample. */
static bool read_time(const char *line, size_t len, uint64_t *time_ns)
{
    struct text_field rest, f;
    return labelled(line, len, TIME_LABEL, &rest) && text_split(rest.at, rest.len, &f, 1) == 1 && text_u64(f, time_ns);
}

/* The name of a process, which outlives its line. */
typedef ARRAY(char) kept_name;

static bool read_name(const char *line, size_t len, kept_name *name)
{
    struct text_field rest;
    if (!labelled(line, len, NAME_LABEL, &rest)) return false;
    array_reserve(name, rest.len);
    if (rest.len) memcpy(name->at, rest.at, rest.len);
    name->n = rest.len;
    return true;
}

static struct text_field field_of(const kept_name *name)
{
    return (struct text_field){name->at, name->n};
}

/* ---- /proc/stat ---- */

struct cpu_reader {
    void (*visit)(const struct cpu_sample *s, void *context);
    void *context;
    uint64_t time_ns;
};

static void read_cpu(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place;
    struct cpu_reader *r = context;
    struct text_field f[1 + CPU_TICKS];
    if (read_time(line, len, &r->time_ns)) return;
    if (len < 3 || memcmp(line, "cpu", 3) || text_split(line, len, f, 1 + CPU_TICKS) < 1 + CPU_TICKS) return;
    struct cpu_sample s = {.time_ns = r->time_ns, .name = f[0]};
    for (int i = 0; i < CPU_TICKS; i++)
        if (!text_f64(f[1 + i], &s.ticks[i])) return;
    r->visit(&s, r->context);
}

void cpu_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct cpu_sample *s, void *context), void *context)
{
    struct cpu_reader r = {visit, context, 0};
    lines_each(files, diag, progress, read_cpu, &r);
}

/* ---- /proc/meminfo ---- */

static const char *const mem_labels[MEM_VALUES] = {
    [MEM_TOTAL] = "MemTotal:",
    [MEM_FREE] = "MemFree:",
    [MEM_BUFFERS] = "Buffers:",
    [MEM_CACHED] = "Cached:",
    [MEM_SHARED] = "Shmem:",
    [MEM_COMMIT_LIMIT] = "CommitLimit:",
    [MEM_COMMITTED] = "Committed_AS:",
    [MEM_HUGE_PAGES] = "HugePages_Total:",
    [MEM_HUGE_PAGES_FREE] = "HugePages_Free:",
};

struct mem_reader {
    void (*visit)(const struct mem_sample *s, void *context);
    void *context;
    struct mem_sample open;
    bool is_open;
};

static void read_mem(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* /proc/meminfo has more lines */
    struct mem_reader *r = context;
    struct text_field f[2];
    uint64_t value;
    size_t n = text_split(line, len, f, 2);
    if (!n && r->is_open) {
        r->visit(&r->open, r->context);
        r->open = (struct mem_sample){0};
        r->is_open = false;
    }
    if (read_time(line, len, &r->open.time_ns) || n < 2 || !text_u64(f[1], &value)) return;
    for (int i = 0; i < MEM_VALUES; i++)
        if (text_is(f[0], mem_labels[i])) {
            r->open.values[i] = value;
            r->is_open = true;
        }
}

void mem_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct mem_sample *s, void *context), void *context)
{
    struct mem_reader r = {.visit = visit, .context = context};
    lines_each(files, diag, progress, read_mem, &r);
}

/* ---- /proc/<pid>/stat ---- */

/* Fields of a line. */
enum { F_PID, F_UTIME = 13, F_STIME, F_CUTIME, F_CSTIME, F_ALL };

#define MAX_TICK_FIELDS 32

struct process_cpu_reader {
    void (*visit)(const struct process_cpu_sample *s, void *context);
    void *context;
    struct process_cpu_sample open;
    kept_name name;
    bool is_open;
};

/* The line with all that went by completes a sample. */
static void end_process_cpu(struct process_cpu_reader *r, const struct text_field *f, size_t n)
{
    if (!r->is_open) return;
    r->open.all = 0;
    r->open.name = field_of(&r->name);
    for (size_t i = 1; i < n && i < MAX_TICK_FIELDS; i++) {
        double value;
        r->open.all += text_f64(f[i], &value) ? value : 0;
    }
    r->visit(&r->open, r->context);
    r->is_open = false;
}

static void read_process_cpu(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* Index, DataLen and empty lines are of no use here */
    struct process_cpu_reader *r = context;
    struct process_cpu_sample *s = &r->open;
    struct text_field f[MAX_TICK_FIELDS];
    if (read_time(line, len, &s->time_ns) || read_name(line, len, &r->name)) return;
    size_t n = text_split(line, len, f, MAX_TICK_FIELDS);
    if (n && text_is(f[0], "cpu")) end_process_cpu(r, f, n);
    else if (n >= F_ALL && text_u64(f[F_PID], &s->pid) && text_u64(f[F_UTIME], &s->user) &&
             text_u64(f[F_STIME], &s->sys) && text_u64(f[F_CUTIME], &s->children_user) &&
             text_u64(f[F_CSTIME], &s->children_sys))
        r->is_open = true;
}

void process_cpu_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                              void (*visit)(const struct process_cpu_sample *s, void *context), void *context)
{
    struct process_cpu_reader r = {.visit = visit, .context = context};
    lines_each(files, diag, progress, read_process_cpu, &r);
    array_free(&r.name);
}

/* ---- /proc/<pid>/statm ---- */

#define STATM_FIELDS 7

struct process_mem_reader {
    void (*visit)(const struct process_mem_sample *s, void *context);
    void *context;
    struct process_mem_sample open;
    kept_name name;
    bool is_open;
};

/* The name may follow the numbers, so a sample is complete when the next thing begins. */
static void end_process_mem(struct process_mem_reader *r)
{
    if (!r->is_open) return;
    r->open.name = field_of(&r->name);
    r->visit(&r->open, r->context);
    r->is_open = false;
}

static void read_process_mem(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct process_mem_reader *r = context;
    struct process_mem_sample *s = &r->open;
    struct text_field f[STATM_FIELDS];
    uint64_t time_ns, pages[PROCESS_PAGES];
    if (place->file->number != s->pid) {
        end_process_mem(r);
        *s = (struct process_mem_sample){.pid = place->file->number};
        r->name.n = 0;
    }
    if (read_name(line, len, &r->name)) return;
    size_t n = text_split(line, len, f, STATM_FIELDS);
    if (!n) end_process_mem(r);
    if (read_time(line, len, &time_ns)) {
        end_process_mem(r);
        s->time_ns = time_ns;
    } else if (n == STATM_FIELDS && text_u64(f[0], &pages[0]) && text_u64(f[1], &pages[1]) &&
               text_u64(f[2], &pages[2])) {
        end_process_mem(r);
        memcpy(s->pages, pages, sizeof s->pages);
        r->is_open = true;
    }
}

void process_mem_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                              void (*visit)(const struct process_mem_sample *s, void *context), void *context)
{
    struct process_mem_reader r = {.visit = visit, .context = context};
    lines_each(files, diag, progress, read_process_mem, &r);
    end_process_mem(&r);
    array_free(&r.name);
}
