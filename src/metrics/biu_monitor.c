/* Instruction monitor of the Atlas A2, A3 and 200I/500 A2: how busy the pipes of a core were, and what went through its
 * bus interface, sampled every so many clocks of the core (sample.json instr_profiling_freq).
 *
 * A file is about one core of a group. Cube cores have chunks of two records of 32 bytes each, mixed in pieces of 8:
 *
 *     0         32    40      48    56      64    72      80    88      96
 *     | unused  | flow | pipes | flow | pipes | flow | pipes | flow | pipes |
 *
 * Vector cores have chunks of 64 bytes that end in the record of their pipes. What pipes count never stops, in 12 bits:
 * they were busy by the difference to the record before. docs/formats/sampled-metrics.md, "Instruction monitor". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "session/metadata.h"

enum { RECORD = 32, MIXED = 32, PIECE = 8, CUBE_CHUNK = 96, VECTOR_CHUNK = 64 };

enum { PIPES = 6, PIPE_VECTOR = 0, PIPE_CUBE = 2, PIPE_WRAP = 4096 };
static const char *const pipe_names[PIPES] = {"Vector", "Scalar", "Cube", "Mte1", "Mte2", "Mte3"};

enum { FLOWS = 4 };
static const char *const flow_names[FLOWS] = {"Latency Read", "Latency Write", "Bandwidth Read", "Bandwidth Write"};

/* Offsets in a flow record, and the 12-bit numbers of a pipe record that are its time. */
enum { F_VALUES = 4, F_VALUE_BYTES = 3, F_TIME = 22, P_TIME_HIGH = 30 };
static const unsigned time_numbers[] = {7, 8, 14, 15};

static const char *const core_names[] = {[CORE_AIC] = "aic", [CORE_AIV0] = "aiv0", [CORE_AIV1] = "aiv1"};

struct busy {
    int64_t time_ns;
    uint16_t clocks[PIPES]; /* 0 … 4095 */
};

struct flow {
    int64_t time_ns;
    uint32_t values[FLOWS]; /* as the device counts them */
};

struct core {
    uint32_t group;
    enum input_core core;
    ARRAY(struct busy) busy; /* both in the order of the file */
    ARRAY(struct flow) flows;
};

/* A process of the timeline: the bus interface of a group, or the pipes of a core. */
struct unit {
    const struct core *core;
    bool is_flow;
    char name[48];
};

struct monitor {
    ARRAY(struct core) cores;
    ARRAY(struct unit) units; /* those of bus interfaces first, by name as text */
    int64_t interval;         /* clocks of a core, 0 = not known */
    double aic_mhz, aiv_mhz;
};

struct reader {
    struct core *core;
    const struct clock *clock;
    const struct input_file *file; /* of the record before */
    bool known;                    /* where the counters of the pipes stood */
    uint16_t counters[PIPES];
};

/* --- from bytes ------------------------------------------------------------------------------------------------ */

/* Number i of a row of 12-bit numbers, two of which are three bytes. */
static uint16_t number_12(const uint8_t *p, unsigned i)
{
    p += i / 2 * 3;
    return i % 2 ? (uint16_t)(p[1] >> 4 | p[2] << 4) : (uint16_t)(p[0] | (p[1] & 0xF) << 8);
}

static uint64_t pipes_time(const uint8_t *record)
{
    uint64_t time = (uint64_t)get_u16(record + P_TIME_HIGH) << 48;
    for (unsigned i = 0; i < sizeof time_numbers / sizeof *time_numbers; i++)
        time |= (uint64_t)number_12(record, time_numbers[i]) << (12 * i);
    return time;
}

/* Take the counters of a record. A core has either a cube or a vector unit: what its record has for the other one is
 * not counted. */
static void add_busy(struct reader *r, const uint8_t *record, uint64_t time)
{
    struct busy b = {.time_ns = clock_device_ns(r->clock, time)};
    unsigned not_there = r->core->core == CORE_AIC ? PIPE_VECTOR : PIPE_CUBE;
    for (unsigned i = 0; i < PIPES; i++) {
        uint16_t counter = number_12(record, i);
        if (i != not_there) b.clocks[i] = (uint16_t)((counter + PIPE_WRAP - r->counters[i]) % PIPE_WRAP);
        r->counters[i] = counter;
    }
    if (r->known) array_push(&r->core->busy, b);
    r->known = true;
}

static void add_flow(struct reader *r, const uint8_t *record, uint64_t time)
{
    struct flow f = {.time_ns = clock_device_ns(r->clock, time)};
    for (unsigned i = 0; i < FLOWS; i++) {
        const uint8_t *p = record + F_VALUES + i * F_VALUE_BYTES;
        f.values[i] = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
    }
    array_push(&r->core->flows, f);
}

/* Counters begin at 0 with the collection; where the records before are gone, nobody knows. */
static void enter_file(struct reader *r, const struct input_file *file)
{
    if (file->gap || (!r->file && file->slice)) r->known = false;
    r->file = file;
}

static void visit_cube(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    uint8_t flow[RECORD], pipes[RECORD];
    if (place->file != r->file) enter_file(r, place->file);
    for (unsigned at = 0; at < RECORD; at += PIECE) {
        memcpy(flow + at, p + MIXED + 2 * at, PIECE);
        memcpy(pipes + at, p + MIXED + 2 * at + PIECE, PIECE);
    }
    uint64_t time = get_u64(flow + F_TIME); /* the record of the pipes has none of its own here */
    add_busy(r, pipes, time);
    add_flow(r, flow, time);
}

static void visit_vector(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    if (place->file != r->file) enter_file(r, place->file);
    add_busy(r, p + RECORD, pipes_time(p + RECORD));
}

/* --- what there is --------------------------------------------------------------------------------------------- */

static void read_core(struct monitor *m, const struct input_files *files, const struct metric_source *from)
{
    struct core core = {.group = files->at[0].number, .core = files->at[0].core};
    struct reader r = {.core = &core, .clock = &from->dir->clock, .known = true};
    bool cube = core.core == CORE_AIC;
    records_each(files, cube ? CUBE_CHUNK : VECTOR_CHUNK, NULL, from->diag, from->progress,
                 cube ? visit_cube : visit_vector, &r);
    if (r.file) array_push(&m->cores, core);
}

/* Cores have chunks of their own size: each is read by itself. Its files are next to each other. */
static void read_cores(struct monitor *m, const struct metric_source *from)
{
    const struct input_files *all = prof_dir_files(from->dir, INPUT_BIU_PERF);
    for (size_t i = 0, end; i < all->n; i = end) {
        struct input_files files = {.at = all->at + i};
        for (end = i; end < all->n && !input_streams_differ(&all->at[i], &all->at[end]); end++)
            files.bytes += all->at[end].size;
        files.n = end - i;
        read_core(m, &files, from);
    }
}

/* The number that the reference's scripts give a core: one row of numbers for all. */
static uint64_t core_id(const struct core *core)
{
    static const unsigned first_vector = 25;
    if (core->core == CORE_AIC) return core->group;
    return 2 * (uint64_t)core->group + first_vector + (core->core == CORE_AIV1);
}

static int by_name(const void *x, const void *y)
{
    const struct unit *a = x, *b = y;
    if (a->is_flow != b->is_flow) return a->is_flow ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void name_units(struct monitor *m)
{
    for (size_t i = 0; i < m->cores.n; i++) {
        const struct core *core = &m->cores.at[i];
        struct unit pipes = {.core = core}, flow = {.core = core, .is_flow = true};
        snprintf(pipes.name, sizeof pipes.name, "%s_core%llu_group%u", core_names[core->core],
                 (unsigned long long)core_id(core), (unsigned)core->group);
        snprintf(flow.name, sizeof flow.name, "biu_group%u", (unsigned)core->group);
        array_push(&m->units, pipes);
        if (core->core == CORE_AIC) array_push(&m->units, flow);
    }
    qsort(m->units.at, m->units.n, sizeof *m->units.at, by_name);
}

static void read_settings(struct monitor *m, const struct metric_source *from)
{
    const struct metadata *meta = &from->dir->meta;
    double usual = from->dir->chip->aic_mhz;
    m->aic_mhz = meta->aic_mhz > 0 ? meta->aic_mhz : usual;
    m->aiv_mhz = meta->aiv_mhz > 0 ? meta->aiv_mhz : m->aic_mhz;
    m->interval = meta_i64(meta->sample, "instrProfilingFreq", meta_i64(meta->sample, "instr_profiling_freq", 0));
    if (m->interval > 0) return;
    m->interval = 0;
    diag_note(from->diag, DIAG_WARNING, prof_dir_files(from->dir, INPUT_BIU_PERF)->at[0].shown, DIAG_NO_OFFSET,
              "no ratios: sample.json has no instr_profiling_freq, the length of an interval");
}

static void monitor_free(void *data)
{
    struct monitor *m = data;
    for (size_t i = 0; i < m->cores.n; i++) {
        array_free(&m->cores.at[i].busy);
        array_free(&m->cores.at[i].flows);
    }
    array_free(&m->cores);
    array_free(&m->units);
    free(m);
}

static void *load(const struct metric_source *from)
{
    struct monitor *m = mem_zalloc(1, sizeof *m);
    read_cores(m, from);
    if (!m->cores.n) {
        monitor_free(m);
        return NULL;
    }
    read_settings(m, from);
    name_units(m);
    return m;
}

/* --- the timeline ---------------------------------------------------------------------------------------------- */

static void show_flows(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct core *core)
{
    for (size_t i = 0; i < core->flows.n; i++) {
        const struct flow *f = &core->flows.at[i];
        if (sample_too_early(dir, f->time_ns)) continue;
        for (int32_t tid = 0; tid < FLOWS; tid++) {
            trace_begin(t);
            out_text(&t->out, flow_names[tid]);
            trace_counter(t, pid, tid, f->time_ns);
            trace_arg_u64(t, "flow", f->values[tid]);
            trace_end(t);
        }
    }
}

/* From a time on as long as so many clocks take. */
static int64_t end_of(int64_t time_ns, unsigned clocks, double mhz)
{
    double ns = mhz > 0 ? clocks * 1e3 / mhz : 0;
    int64_t end_ns;
    if (ns >= 0x1p62 || __builtin_add_overflow(time_ns, (int64_t)(ns + 0.5), &end_ns)) return time_ns;
    return end_ns;
}

static void show_busy(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct monitor *m,
                      const struct core *core)
{
    double mhz = core->core == CORE_AIC ? m->aic_mhz : m->aiv_mhz;
    for (size_t i = 0; i < core->busy.n; i++) {
        const struct busy *b = &core->busy.at[i];
        if (sample_too_early(dir, b->time_ns)) continue;
        for (int32_t tid = 0; tid < PIPES; tid++) {
            trace_begin(t);
            out_text(&t->out, pipe_names[tid]);
            trace_slice(t, pid, tid, b->time_ns, end_of(b->time_ns, b->clocks[tid], mhz), NULL);
            trace_arg_u64(t, "cycle_num", b->clocks[tid]);
            if (m->interval) trace_arg_double(t, "ratio", b->clocks[tid] / (double)m->interval);
            trace_end(t);
        }
    }
}

/* The reference has a number made of group and kind where other processes have that of the program: four per group.
 * The position has five bits of the id; where there are more processes than that, their lowest ones, which still makes
 * every id another one. */
static uint32_t unit_pid(const struct prof_dir *dir, const struct unit *unit, unsigned sort_index)
{
    enum { PER_GROUP = 4, PROGRAM_SHIFT = 10, POSITIONS = 32 };
    uint32_t kind = unit->is_flow ? PER_GROUP : 1 + (uint32_t)unit->core->core;
    uint32_t place = trace_pid(dir, sort_index % POSITIONS) & ((1u << PROGRAM_SHIFT) - 1);
    return (PER_GROUP * unit->core->group + kind) << PROGRAM_SHIFT | place;
}

static void show_unit(struct trace *t, const struct prof_dir *dir, const struct monitor *m, const struct unit *unit,
                      unsigned sort_index)
{
    uint32_t pid = unit_pid(dir, unit, sort_index);
    const char *const *threads = unit->is_flow ? flow_names : pipe_names;
    int32_t n = unit->is_flow ? FLOWS : PIPES;
    trace_process(t, pid, unit->name, sort_index);
    for (int32_t tid = 0; tid < n; tid++) trace_thread_name(t, pid, tid, threads[tid]);
    if (unit->is_flow) show_flows(t, pid, dir, unit->core);
    else show_busy(t, pid, dir, m, unit->core);
}

static void write(struct trace *t, const struct layer *layer)
{
    const struct prof_dir *dir;
    for (size_t d = 0; (dir = metric_dir(t->model, d)); d++) {
        const struct monitor *m = metric_data(t->model, dir, layer->metric);
        unsigned first = layer_sort_index(layer, dir);
        for (size_t i = 0; m && i < m->units.n; i++)
            show_unit(t, dir, m, &m->units.at[i], layer->numbers ? first + (unsigned)i : first);
    }
}

static unsigned processes(const void *data)
{
    const struct monitor *m = data;
    return (unsigned)m->units.n;
}

const struct metric metric_biu_monitor = {
    .name = "instruction monitor, sampled",
    .chips = SAMPLE_BIU_RECORDS,
    METRIC_INPUTS(INPUT_BIU_PERF),
    .load = load,
    .free = monitor_free,
    .layers = (const struct layer[]){{.key = "biu_perf",
                                      .name = "biu_group, aic_core, aiv_core",
                                      .sort_index = 32,
                                      .files = IN_MSPROF,
                                      .write = write,
                                      .processes = processes},
                                     {.key = NULL}},
};
