/* Counters of the CPU that schedules tasks on a device.
 *
 * A record is a sample: where the program was, and pairs of event and count. There are two layouts; a file where
 * a record begins every 184 bytes has the small one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/cpu_events.h"
#include "metrics/sampling.h"
#include "metrics/task_ops.h"

/* docs/formats/sampled-metrics.md, "Task scheduler CPU" */
#define MAGIC      0xABABABABu
#define MAGIC_SIZE 4
#define MAX_EVENT  0xECu
#define MAX_EVENTS 32

static const struct layout {
    unsigned size, pc, pc_size, pairs, n_pairs;
} large = {304, 176, 8, 192, 7}, small = {184, 92, 4, 104, 5};

struct reader {
    struct cpu_counts *counts;
    const struct metric_source *from;
    const struct layout *layout;
    uint32_t events[MAX_EVENTS]; /* that were asked for */
    unsigned n_events;
};

static bool valid(const uint8_t *record)
{
    return get_u32(record) == MAGIC;
}

static bool is_small(const struct input_file *file)
{
    struct filemap m;
    bool every = file->size >= small.size && !filemap_open(&m, file->path, NULL);
    if (!every) return false;
    for (size_t at = 0; every && at + MAGIC_SIZE <= m.size; at += small.size) every = valid(m.data + at);
    filemap_close(&m);
    return every;
}

static bool was_asked_for(const struct reader *r, uint64_t event)
{
    for (unsigned i = 0; i < r->n_events && i < MAX_EVENTS; i++)
        if (r->events[i] == event) return true;
    return false;
}

static void add_cycles(struct reader *r, uint64_t pc, uint64_t cycles)
{
    char text[20];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)pc);
    cpu_counts_add_cycles(r->counts, strpool_add(r->from->strings, text, (size_t)n), STR_EMPTY, cycles);
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    const uint8_t *pairs = p + r->layout->pairs;
    uint64_t pc = r->layout->pc_size == 8 ? get_u64(p + r->layout->pc) : get_u32(p + r->layout->pc);
    for (unsigned i = 0; i < r->layout->n_pairs; i++)
        if (get_u64(pairs + 16 * i) > MAX_EVENT) return;
    for (unsigned i = 0; i < r->layout->n_pairs; i++) {
        uint64_t event = get_u64(pairs + 16 * i), count = get_u64(pairs + 16 * i + 8);
        if (was_asked_for(r, event)) cpu_counts_add(r->counts, (uint32_t)event, count);
        if (event == CPU_CYCLES) add_cycles(r, pc, count);
    }
}

/* Files of one layout that follow each other are one stream. */
static void read_files(struct reader *r)
{
    const struct input_files *files = prof_dir_files(r->from->dir, INPUT_TS_CPU);
    for (size_t i = 0; i < files->n;) {
        bool is = is_small(&files->at[i]);
        struct input_files run = {&files->at[i], 0, 0};
        for (; i < files->n && (!run.n || is_small(&files->at[i]) == is); i++, run.n++) run.bytes += files->at[i].size;
        r->layout = is ? &small : &large;
        records_each(&run, r->layout->size, valid, r->from->diag, r->from->progress, visit, r);
    }
}

static void *load(const struct metric_source *from)
{
    struct reader r = {.counts = mem_zalloc(1, sizeof *r.counts), .from = from};
    r.n_events = event_list(sample_setting(from->dir, "ts_cpu_profiling_events"), r.events, MAX_EVENTS);
    r.counts->top = 5;
    r.counts->counts_are_text = true;
    read_files(&r);
    cpu_counts_sort(r.counts);
    return r.counts;
}

const struct metric metric_ts_cpu = {
    .name = "task scheduler CPU counters",
    .chips = SAMPLE_TS_CPU,
    METRIC_INPUTS(INPUT_TS_CPU),
    .load = load,
    .free = cpu_counts_free,
    .reports =
        (const struct report[]){{.stem = "ts_cpu_pmu_events",
                                 .about = "Events that the CPU of the task scheduler counted.",
                                 .columns = (const char *const[]){"Event", "Name", "Count", NULL},
                                 .rows = cpu_events_rows,
                                 .fill = cpu_events_fill},
                                {.stem = "ts_cpu_top_function",
                                 .about = "The five places of the task scheduler's program that took most cycles.",
                                 .columns = (const char *const[]){"Function", "Cycles", "Cycles(%)", NULL},
                                 .rows = cpu_functions_rows,
                                 .fill = cpu_functions_fill},
                                {.stem = NULL}},
};
