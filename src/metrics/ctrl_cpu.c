/* Counters of the AI CPU and of the control CPU of a device, from the text of `perf script`:
 *
 *     python3    701/801    [005] 6352.513319:     153956 r11:      name pid/tid [core] time: count event:
 *         ffff000000687f3e do_syscall_64+0x8a8 (/usr/lib64/libc-2.17.so)   address function+offset (module), innermost
 * first … an empty line ends the sample
 *
 * One file has the samples of both; info.json says which cores are whose. */
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/cpu_events.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

#define MAX_FIELDS 64

enum state { BETWEEN, WANTS_FUNCTION, IN_STACK };

struct reader {
    struct cpu_counts *counts;
    const struct metric_source *from;
    const char *cores; /* key of DeviceInfo */
    enum state state;
    uint64_t cycles; /* of the sample being read */
};

/* "r11:" or "0x11:" -> 0x11. */
static bool event_of(struct text_field f, uint32_t *event)
{
    char text[16], *end;
    if (f.len < 2 || f.len > sizeof text || f.at[f.len - 1] != ':') return false;
    size_t skip = f.at[0] == 'r' ? 1 : 0;
    memcpy(text, f.at + skip, f.len - 1 - skip);
    text[f.len - 1 - skip] = '\0';
    *event = (uint32_t)strtoul(text, &end, 16);
    return end != text && !*end;
}

static bool is_core(struct text_field f, uint64_t *core)
{
    return f.len > 2 && f.at[0] == '[' && f.at[f.len - 1] == ']' &&
           text_u64((struct text_field){f.at + 1, f.len - 2}, core);
}

/* The head of a sample: names of processes may hold blanks, so the core tells where the fields are. */
static bool head(const struct text_field *f, size_t n, uint64_t *core, uint64_t *count, uint32_t *event)
{
    for (size_t i = 1; i + 3 < n; i++) {
        if (!is_core(f[i], core) || !memchr(f[i - 1].at, '/', f[i - 1].len)) continue;
        size_t at = i + 3 + (text_is(f[i + 3], "raw") && i + 4 < n);
        return text_u64(f[i + 2], count) && event_of(f[at], event);
    }
    return false;
}

/* "address function+offset (module)"; the function may hold blanks. */
static void add_function(struct reader *r, const struct text_field *f, size_t n)
{
    struct text_field module = f[n - 1];
    const char *from = f[1].at, *end = f[n - 2].at + f[n - 2].len;
    if (module.len > 2 && module.at[0] == '(') module = (struct text_field){module.at + 1, module.len - 2};
    const char *plus = memrchr(from, '+', (size_t)(end - from));
    bool unknown = memmem(from, (size_t)(end - from), "unknown", 7);
    str_id name = unknown ? strpool_add_z(r->from->strings, "unknown")
                          : strpool_add(r->from->strings, from, (size_t)((plus ? plus : end) - from));
    cpu_counts_add_cycles(r->counts, name, strpool_add(r->from->strings, module.at, module.len), r->cycles);
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* perf writes headings and notes, too */
    struct reader *r = context;
    struct text_field f[MAX_FIELDS];
    uint64_t core, count;
    uint32_t event;
    size_t n = text_split(line, len, f, MAX_FIELDS);
    if (!n) {
        r->state = BETWEEN;
    } else if (r->state == WANTS_FUNCTION) {
        r->state = IN_STACK;
        if (n >= 3 && n <= MAX_FIELDS && r->cycles) add_function(r, f, n);
    } else if (r->state == BETWEEN && n <= MAX_FIELDS && head(f, n, &core, &count, &event)) {
        if (!device_core_listed(r->from->dir, r->cores, core)) return;
        cpu_counts_add(r->counts, event, count);
        r->cycles = event == CPU_CYCLES ? count : 0;
        r->state = WANTS_FUNCTION;
    }
}

static void *load(const struct metric_source *from, const char *cores)
{
    struct reader r = {.counts = mem_zalloc(1, sizeof *r.counts), .from = from, .cores = cores};
    r.counts->with_modules = true;
    lines_each(prof_dir_files(from->dir, INPUT_AI_CTRL_CPU), from->diag, from->progress, visit, &r);
    lines_each(prof_dir_files(from->dir, INPUT_CTRL_CPU), from->diag, from->progress, visit, &r);
    cpu_counts_sort(r.counts);
    return r.counts;
}

static void *load_ai(const struct metric_source *from)
{
    return load(from, "ai_cpu");
}

static void *load_control(const struct metric_source *from)
{
    return load(from, "ctrl_cpu");
}

static const char *const event_columns[] = {"Event", "Name", "Count", NULL};
static const char *const function_columns[] = {"Function", "Module", "Cycles", "Cycles(%)", NULL};

#define REPORTS(prefix, cpu)                                                                                           \
    (const struct report[])                                                                                            \
    {                                                                                                                  \
        {.stem = prefix "_pmu_events",                                                                                 \
         .about = "Events that the " cpu " counted.",                                                                  \
         .columns = event_columns,                                                                                     \
         .rows = cpu_events_rows,                                                                                      \
         .fill = cpu_events_fill},                                                                                     \
            {.stem = prefix "_top_function",                                                                           \
             .about = "Functions that took the cycles of the " cpu ".",                                                \
             .columns = function_columns,                                                                              \
             .rows = cpu_functions_rows,                                                                               \
             .fill = cpu_functions_fill},                                                                              \
        {                                                                                                              \
            .stem = NULL                                                                                               \
        }                                                                                                              \
    }

const struct metric metric_ai_cpu = {
    .name = "AI CPU counters",
    .chips = SAMPLE_CTRL_CPU,
    METRIC_INPUTS(INPUT_AI_CTRL_CPU),
    .load = load_ai,
    .free = cpu_counts_free,
    .reports = REPORTS("ai_cpu", "AI CPU"),
};

const struct metric metric_ctrl_cpu = {
    .name = "control CPU counters",
    .chips = SAMPLE_CTRL_CPU,
    METRIC_INPUTS(INPUT_AI_CTRL_CPU, INPUT_CTRL_CPU),
    .load = load_control,
    .free = cpu_counts_free,
    .reports = REPORTS("ctrl_cpu", "control CPU"),
};
