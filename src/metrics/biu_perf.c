/* Biu Perf: which pipes of a core were busy, instruction by instruction (Ascend 950).
 *
 * A file is about one core of a group, a stream of 4-byte words: 16 bits of time, 12 of events, 4 of control.
 *
 *     14 14 14 14      a start stamp: four times 16 bits of the device counter, and the block that begins
 *     15               the states of the pipes, a bit each, so many AI core ticks after the word before
 *     0 … 6            a checkpoint of a pipe
 *     EFFFFFFF         the block has ended; DDDDDDDD fills up
 *
 * A pipe was busy from the word that sets its bit to the one that clears it. */
#include <stdio.h>

#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"

#define WORD      4u
#define END_WORD  0xEFFFFFFFu
#define FILL_WORD 0xDDDDDDDDu
#define PIPES     7u
#define STAMP     4u /* words of a start stamp */

enum { CONTROL_STAMP = 14, CONTROL_STATE = 15 };

static const char *const pipe_names[PIPES] = {"SU", "VEC", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP"};

static const char *const core_names[] = {[CORE_AIC] = "aic", [CORE_AIV0] = "aiv0", [CORE_AIV1] = "aiv1"};

struct busy {
    int64_t start_ns, end_ns;
    uint16_t block;
    uint8_t pipe;
};

struct core {
    uint32_t group;
    enum input_core core;
    ARRAY(struct busy) list; /* in the order of their ends */
};

struct biu {
    ARRAY(struct core) cores; /* ascending (group, core) */
};

struct reader {
    struct biu *biu;
    const struct clock *clock;
    double ticks_per_tick; /* device counter per AI core clock */
    const struct input_file *file;
    struct core *core;
    uint64_t stamp; /* being read */
    unsigned stamp_words;
    double time; /* device counter; < 0 = no stamp yet */
    uint16_t block, stamp_block;
    uint16_t states;
    double since[PIPES];
    uint64_t lost; /* words that no stamp says the time of */
};

static int64_t time_of(const struct reader *r, double ticks)
{
    return clock_task_ns(r->clock, ticks < 0x1p63 ? (uint64_t)ticks : INT64_MAX);
}

static void add(struct reader *r, unsigned pipe, double start, double end)
{
    int64_t start_ns = time_of(r, start);
    double ticks = end > start ? end - start : 0; /* a later stamp may lie before an earlier one */
    double us = clock_device_duration_us(r->clock, ticks < 0x1p63 ? (uint64_t)ticks : INT64_MAX);
    int64_t ns = us < 0x1p43 ? (int64_t)us * 1000 : 0, end_ns; /* whole µs are shown */
    if (__builtin_add_overflow(start_ns, ns, &end_ns)) end_ns = start_ns;
    array_push(&r->core->list, ((struct busy){start_ns, end_ns, r->block, (uint8_t)pipe}));
}

static void set_states(struct reader *r, uint16_t states)
{
    for (unsigned pipe = 0; pipe < PIPES; pipe++) {
        unsigned bit = 1u << pipe;
        if (states & ~r->states & bit) r->since[pipe] = r->time;
        if (r->states & ~states & bit) add(r, pipe, r->since[pipe], r->time);
    }
    r->states = states;
}

/* The words of a stamp follow each other directly, the lowest 16 bits first. */
static void read_stamp(struct reader *r, uint16_t time, uint16_t events)
{
    if (!r->stamp_words) r->stamp = r->stamp_block = 0;
    r->stamp |= (uint64_t)time << (16 * r->stamp_words);
    if (r->stamp_words < 2) r->stamp_block |= (uint16_t)((events & 0xFF) << (8 * r->stamp_words));
    if (++r->stamp_words < STAMP) return;
    r->stamp_words = 0;
    r->time = (double)r->stamp;
    r->block = r->stamp_block;
}

/* Another file: another core, or more of the same. After a missing slice nobody knows the time until the next stamp. */
static void begin_file(struct reader *r, const struct input_file *file)
{
    bool other = !r->file || input_streams_differ(r->file, file);
    if (other) {
        r->core = array_add(&r->biu->cores);
        *r->core = (struct core){.group = file->number, .core = file->core};
    }
    if (other || file->gap) {
        r->lost += r->stamp_words;
        r->states = 0;
        r->stamp_words = 0;
        r->time = -1;
    }
    r->file = file;
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    uint32_t word = get_u32(p);
    uint16_t time = (uint16_t)word, events = word >> 16 & 0xFFF;
    unsigned control = word >> 28;
    if (place->file != r->file) begin_file(r, place->file);
    if (word == END_WORD || word == FILL_WORD) {
        r->lost += r->stamp_words;
        r->stamp_words = 0;
        return;
    }
    if (control == CONTROL_STAMP) {
        read_stamp(r, time, events);
        return;
    }
    r->lost += r->stamp_words;
    r->stamp_words = 0;
    if (r->time < 0) {
        r->lost++;
        return;
    }
    r->time += time * r->ticks_per_tick;
    if (control == CONTROL_STATE) set_states(r, events);
    else if (control < PIPES) add(r, control, r->time, r->time);
}

static void biu_free(void *data)
{
    struct biu *b = data;
    for (size_t i = 0; i < b->cores.n; i++) array_free(&b->cores.at[i].list);
    array_free(&b->cores);
    free(b);
}

static void *load(const struct metric_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_BIU_PERF);
    struct biu *b = mem_zalloc(1, sizeof *b);
    double aic_hz = from->dir->meta.aic_mhz * 1e6;
    struct reader r = {
        .biu = b,
        .clock = &from->dir->clock,
        .ticks_per_tick = aic_hz > 0 ? (double)from->dir->clock.device_hz / aic_hz : 1,
    };
    records_each(files, WORD, NULL, from->diag, from->progress, visit, &r);
    diag_count(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, r.lost,
               "words of the instruction monitor skipped: no whole start stamp before them");
    return b;
}

static void show_core(struct trace *t, uint32_t pid, int32_t tid, const struct core *core)
{
    for (size_t i = 0; i < core->list.n; i++) {
        const struct busy *busy = &core->list.at[i];
        trace_begin(t);
        out_text(&t->out, pipe_names[busy->pipe]);
        trace_slice(t, pid, tid, busy->start_ns, busy->end_ns, NULL);
        trace_arg_text(t, "Core Type", core_names[core->core]);
        trace_arg_u64(t, "Block Id", busy->block);
        trace_end(t);
    }
}

static uint64_t thread_key(const struct core *core)
{
    return (uint64_t)core->group << 8 | core->core;
}

/* The (group, core)s of all devices, ascending, each once. */
static size_t collect_threads(const struct trace *t, const struct layer *layer, struct sort_key **out)
{
    const struct prof_dir *dir;
    ARRAY(struct sort_key) all = {0};
    for (size_t i = 0; (dir = metric_dir(t->model, i)); i++) {
        const struct biu *b = metric_data(t->model, dir, layer->metric);
        for (size_t k = 0; b && k < b->cores.n; k++)
            array_push(&all, ((struct sort_key){thread_key(&b->cores.at[k]), 0}));
    }
    sort_keys(all.at, all.n);
    size_t kept = 0;
    for (size_t i = 0; i < all.n; i++)
        if (!kept || all.at[kept - 1].key != all.at[i].key) all.at[kept++] = all.at[i];
    *out = all.at;
    return kept;
}

/* As in the reference a thread shows the cores of that name of all devices, in the process of the last device. */
static void write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    const struct prof_dir *dir;
    struct sort_key *threads;
    size_t n = collect_threads(t, layer, &threads);
    uint32_t pid = 0;
    for (size_t i = 0; (dir = metric_dir(m, i)); i++) {
        if (!metric_data(m, dir, layer->metric)) continue;
        pid = layer_pid(layer, dir);
        layer_process(t, layer, dir);
    }
    for (size_t tid = 0; tid < n; tid++) {
        char name[32];
        snprintf(name, sizeof name, "Group%u-%s", (unsigned)(threads[tid].key >> 8),
                 core_names[threads[tid].key & 0xFF]);
        trace_thread_name(t, pid, (int32_t)tid, name);
        for (size_t i = 0; (dir = metric_dir(m, i)); i++) {
            const struct biu *b = metric_data(m, dir, layer->metric);
            for (size_t k = 0; b && k < b->cores.n; k++)
                if (thread_key(&b->cores.at[k]) == threads[tid].key) show_core(t, pid, (int32_t)tid, &b->cores.at[k]);
        }
    }
    free(threads);
}

const struct metric metric_biu_perf = {
    .name = "instruction monitor",
    .chips = SAMPLE_BIU,
    METRIC_INPUTS(INPUT_BIU_PERF),
    .load = load,
    .free = biu_free,
    .layers =
        (const struct layer[]){
            {.key = "biu_perf", .name = "Biu Perf", .sort_index = 32, .files = IN_MSPROF, .write = write},
            {.key = NULL}},
};
