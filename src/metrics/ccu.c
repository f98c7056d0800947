/* CCU: loops that the communication unit ran and signals it waited for, and how long its channels took (Ascend 950).
 *
 * A mission record is about one instruction of a task: a loop (start, end), or a wait with one end for each of sixteen
 * links. What an instruction was for is in records of the host, found by stream, task and instruction; how slow the
 * channels were that a wait depended on, in samples of the channels.
 *
 *     missions  ──▶ loops: of an instruction the last record    ┐
 *                   waits: of an instruction the latest end     ├─▶ timeline, database
 *     host      ──▶ data size, reduction, mask, channels ───────┤
 *     channels  ──▶ greatest delay before the end of a wait ────┘
 *
 * The reports have every record of missions and channels. */
#include "metrics/ccu.h"
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/args.h"
#include "metrics/sampling.h"

#define MISSION_RECORD 64u
#define LINKS          16u

enum {
    AT_ENDS = 0, /* of link 15 first; after the start of the wait, in units of four ticks */
    AT_WAIT_START = 32,
    AT_WAIT_INSTRUCTION = 40,
    AT_LOOP_END = 42,
    AT_LOOP_START = 50,
    AT_LOOP_INSTRUCTION = 58,
    AT_TASK = 60,
};

#define TICKS_PER_END 4u
#define CHANNEL_BYTES 4096.0 /* what a channel moved during a delay */

struct mission {
    uint64_t loop_start, loop_end, wait_start; /* device counter; 0 = no loop, no wait */
    uint32_t stream_id, task_id;
    uint16_t loop_instruction, wait_instruction;
    uint16_t ends[LINKS];
};

struct ccu {
    ARRAY(struct mission) missions; /* as read, die after die */
    ARRAY(uint32_t) loops, waits;   /* shown ones: indices in missions, ascending (task, instruction) */
    ccu_instructions groups, signals;
    struct ccu_channels channels;
};

/* --- loading ------------------------------------------------------------------------------------------------------ */

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct ccu *c = context;
    struct mission m = {
        .loop_start = get_u64(p + AT_LOOP_START),
        .loop_end = get_u64(p + AT_LOOP_END),
        .wait_start = get_u64(p + AT_WAIT_START),
        .task_id = get_u32(p + AT_TASK),
        .loop_instruction = get_u16(p + AT_LOOP_INSTRUCTION),
        .wait_instruction = get_u16(p + AT_WAIT_INSTRUCTION),
    };
    for (unsigned i = 0; i < LINKS; i++) m.ends[i] = get_u16(p + AT_ENDS + 2 * i);
    array_push(&c->missions, m);
}

static void name_streams(struct ccu *c, const struct metric_source *from)
{
    struct map stream_of = {0};
    model_streams(from->model, &from->model->devices[from->dir->position], &stream_of);
    for (size_t i = 0; i < c->missions.n; i++)
        c->missions.at[i].stream_id = map_get(&stream_of, c->missions.at[i].task_id, STREAM_UNKNOWN);
    map_free(&stream_of);
}

/* The link that ended last, the first such in the record. */
static unsigned latest_link(const struct mission *m)
{
    unsigned latest = 0;
    for (unsigned i = 1; i < LINKS; i++)
        if (m->ends[i] > m->ends[latest]) latest = i;
    return latest;
}

static uint64_t wait_end(const struct mission *m)
{
    uint64_t end, ticks = (uint64_t)m->ends[latest_link(m)] * TICKS_PER_END;
    return __builtin_add_overflow(m->wait_start, ticks, &end) ? UINT64_MAX : end;
}

static uint64_t instruction_key(const struct mission *m)
{
    return (uint64_t)m->task_id << 16 | (m->wait_start ? m->wait_instruction : m->loop_instruction);
}

/* Does the record take the place of the one that is shown so far? */
static bool replaces(const struct mission *shown, const struct mission *m)
{
    return !m->wait_start || wait_end(m) > wait_end(shown);
}

/* Of the loops, or waits, of each instruction the one to show. */
static void choose(struct ccu *c, bool waits)
{
    struct sort_key *order = mem_alloc(c->missions.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < c->missions.n; i++) {
        const struct mission *m = &c->missions.at[i];
        if (waits ? m->wait_start : !m->wait_start && m->loop_start)
            order[n++] = (struct sort_key){instruction_key(m), (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0, end; i < n; i = end) {
        uint32_t shown = order[i].index;
        for (end = i + 1; end < n && order[end].key == order[i].key; end++)
            if (replaces(&c->missions.at[shown], &c->missions.at[order[end].index])) shown = order[end].index;
        if (waits) array_push(&c->waits, shown);
        else array_push(&c->loops, shown);
    }
    free(order);
}

static void ccu_free(void *data)
{
    struct ccu *c = data;
    array_free(&c->missions);
    array_free(&c->loops);
    array_free(&c->waits);
    array_free(&c->groups);
    array_free(&c->signals);
    ccu_free_channels(&c->channels);
    free(c);
}

static void *load(const struct metric_source *from)
{
    struct ccu *c = mem_zalloc(1, sizeof *c);
    records_each(prof_dir_files(from->dir, INPUT_CCU_INSTR), MISSION_RECORD, NULL, from->diag, from->progress, visit,
                 c);
    name_streams(c, from);
    choose(c, false);
    choose(c, true);
    ccu_load_instructions(&c->groups, INPUT_CCU_GROUP_INFO, from);
    ccu_load_instructions(&c->signals, INPUT_CCU_WAIT_SIGNAL_INFO, from);
    ccu_load_channels(&c->channels, from);
    return c;
}

/* --- timeline and database ---------------------------------------------------------------------------------------- */

/* A loop or a wait as it is shown. */
struct event {
    const char *name;
    const struct mission *mission;
    int64_t start_ns, end_ns;
    struct args args;
    char texts[3][4]; /* numbers without a name */
};

static void set_times(struct event *e, const struct clock *clock, uint64_t start, uint64_t end)
{
    e->start_ns = clock_device_ns(clock, start);
    int64_t ns = end > start ? clock_device_duration_ns(clock, end - start) : 0;
    if (__builtin_add_overflow(e->start_ns, ns, &e->end_ns)) e->end_ns = INT64_MAX;
}

/* What the host says of a loop; the rate in bytes, or MB, per second. */
static void add_group(struct event *e, const struct ccu *c, bool bytes)
{
    const struct mission *m = e->mission;
    size_t first, end;
    ccu_find(&c->groups, m->stream_id, m->task_id, m->loop_instruction, &first, &end);
    if (first == end) return;
    const struct ccu_instruction *g = &c->groups.at[first];
    int64_t ns = e->end_ns - e->start_ns;
    args_count(&e->args, "Die Id", g->die);
    args_count(&e->args, "Data Size", g->size);
    if (ns) {
        double rate = (double)g->size / ((double)ns / 1e3) * 1e6;
        args_double(&e->args, bytes ? "Bandwidth (B/s)" : "Bandwidth (MB/s)", bytes ? rate : rate / BYTES_PER_MB);
    }
    if (g->reduce_op == CCU_RESERVED) return;
    args_text(&e->args, "Reduce Op Type", ccu_reduce_op_name(g->reduce_op, e->texts[0]));
    args_text(&e->args, "Input Data Type", ccu_data_type_name(g->input_type, e->texts[1]));
    args_text(&e->args, "Output Data Type", ccu_data_type_name(g->output_type, e->texts[2]));
}

/* The slowest of the channels that the records name. */
static void add_delay(struct event *e, const struct ccu *c, size_t first, size_t end)
{
    uint64_t until = wait_end(e->mission);
    uint32_t greatest = 0;
    uint16_t channel = 0;
    for (size_t i = first; i < end; i++) {
        const struct ccu_instruction *s = &c->signals.at[i];
        for (unsigned k = 0; k < s->n_channels; k++) {
            uint32_t delay = ccu_delay_before(&c->channels, s->channels[k], until);
            if (delay <= greatest) continue;
            greatest = delay;
            channel = s->channels[k];
        }
    }
    if (!greatest) return;
    args_count(&e->args, "Maximum Delay Channel", channel);
    args_count(&e->args, "Maximum Channel Delay", greatest);
}

static void add_signal(struct event *e, const struct ccu *c)
{
    const struct mission *m = e->mission;
    size_t first, end;
    ccu_find(&c->signals, m->stream_id, m->task_id, m->wait_instruction, &first, &end);
    if (first == end) return;
    args_count(&e->args, "Die Id", c->signals.at[first].die);
    args_count(&e->args, "Mask", c->signals.at[first].mask);
    add_delay(e, c, first, end);
}

static struct event make_event(const struct ccu *c, const struct clock *clock, uint32_t index, bool wait)
{
    const struct mission *m = &c->missions.at[index];
    struct event e = {.name = wait ? "Wait" : "LoopGroup", .mission = m};
    if (wait) set_times(&e, clock, m->wait_start, wait_end(m));
    else set_times(&e, clock, m->loop_start, m->loop_end);
    args_count(&e.args, "Physic Stream Id", m->stream_id);
    args_count(&e.args, "Task Id", m->task_id);
    args_count(&e.args, wait ? "Notify Instruction ID" : "Instruction ID",
               wait ? m->wait_instruction : m->loop_instruction);
    if (wait) args_count(&e.args, "Notify Rank ID", LINKS - 1 - latest_link(m));
    return e;
}

/* Call `put` with every loop and wait that is shown. */
static void each_event(const struct ccu *c, const struct prof_dir *dir, bool bytes,
                       void (*put)(const struct event *e, void *context), void *context)
{
    for (size_t i = 0; i < c->loops.n + c->waits.n; i++) {
        bool wait = i >= c->loops.n;
        uint32_t index = wait ? c->waits.at[i - c->loops.n] : c->loops.at[i];
        struct event e = make_event(c, &dir->clock, index, wait);
        if (sample_too_early(dir, e.start_ns)) continue;
        if (wait) add_signal(&e, c);
        else add_group(&e, c, bytes);
        put(&e, context);
    }
}

struct shower {
    struct trace *trace;
    uint32_t pid;
};

static void show_event(const struct event *e, void *context)
{
    struct shower *s = context;
    trace_begin(s->trace);
    out_text(&s->trace->out, e->name);
    trace_slice(s->trace, s->pid, 0, e->start_ns, e->end_ns, NULL);
    args_trace(s->trace, &e->args);
    trace_end(s->trace);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    struct shower s = {t, pid};
    uint64_t before = t->events;
    each_event(data, dir, false, show_event, &s);
    if (t->events > before) trace_thread(t, pid, 0, "Communication", 0);
}

struct filler {
    struct db_run *run;
    struct db_table *table;
    uint16_t device_id;
};

/* As in the reference the ids are not those of TASK: missions say no batch. */
static void fill_event(const struct event *e, void *context)
{
    struct filler *f = context;
    struct db_task_key key = {f->device_id, e->mission->stream_id, e->mission->task_id, CONTEXT_NONE, UINT32_MAX};
    db_int(f->table, f->device_id);
    db_int(f->table, ids_task(&f->run->ids, key));
    db_string_z(f->run, f->table, e->name);
    db_int(f->table, e->start_ns);
    db_int(f->table, e->end_ns);
    args_db(f->run, f->table, &e->args);
    db_row(f->table);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    struct filler f = {run, t, dir->device_id};
    each_event(data, dir, true, fill_event, &f);
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

/* µs between two counts, and a TAB. */
static void put_ticks(struct table *t, const struct clock *clock, uint64_t start, uint64_t end)
{
    char text[FORMAT_DOUBLE + 1];
    bool back = end < start;
    double us = clock_device_duration_us(clock, back ? start - end : end - start);
    char *p = format_double(text, back ? -us : us);
    *p++ = '\t';
    table_text(t, text, (size_t)(p - text));
}

static uint64_t mission_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    const struct ccu *c = data;
    uint64_t rows = 0;
    for (size_t i = 0; i < c->missions.n; i++) rows += c->missions.at[i].wait_start ? LINKS : 1;
    return rows;
}

/* Link of a mission, LINKS = its only row, which has no wait. */
static void mission_row(struct table *t, const struct prof_dir *dir, const struct mission *m, unsigned link)
{
    report_row(t, dir);
    table_u64(t, m->stream_id);
    table_u64(t, m->task_id);
    table_u64(t, m->loop_instruction);
    table_time(t, clock_device_ns(&dir->clock, m->loop_start));
    put_ticks(t, &dir->clock, m->loop_start, m->loop_end);
    table_u64(t, m->wait_instruction);
    table_u64(t, link < LINKS ? LINKS - 1 - link : 0);
    put_ticks(t, &dir->clock, 0, link < LINKS ? (uint64_t)m->ends[link] * TICKS_PER_END : 0);
}

static void mission_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct ccu *c = data;
    for (size_t i = 0; i < c->missions.n; i++) {
        const struct mission *m = &c->missions.at[i];
        unsigned link = m->wait_start ? 0 : LINKS;
        do {
            mission_row(t, dir, m, link);
            if (!report_row_end(t)) return;
        } while (++link < LINKS);
    }
}

static uint64_t channel_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct ccu *)data)->channels.samples.n;
}

static void put_bandwidth(struct table *t, const struct clock *clock, uint32_t delay)
{
    double us = clock_device_duration_us(clock, delay);
    if (delay) table_round(t, sample_round(CHANNEL_BYTES / us * 1e6 / BYTES_PER_MB));
    else table_u64(t, 0);
}

static void channel_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct ccu *c = data;
    for (size_t i = 0; i < c->channels.samples.n; i++) {
        const struct ccu_sample *s = &c->channels.samples.at[i];
        report_row(t, dir);
        table_u64(t, s->channel);
        table_time(t, clock_device_ns(&dir->clock, s->time));
        put_bandwidth(t, &dir->clock, s->min); /* the least delay is the greatest bandwidth */
        put_bandwidth(t, &dir->clock, s->max);
        put_bandwidth(t, &dir->clock, s->average);
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_ccu = {
    .name = "CCU",
    .chips = SAMPLE_CCU,
    METRIC_INPUTS(INPUT_CCU_INSTR, INPUT_CCU_STAT),
    .load = load,
    .free = ccu_free,
    .layers = (const struct layer[]){{.key = "ccu", .name = "CCU", .sort_index = 30, .files = IN_MSPROF, .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "ccu_mission",
             .about = "Instructions of the communication units: loops, and waits with one row per link.",
             .columns = (const char *const[]){"Stream ID", "Task Id", "Instruction ID", "Instruction Start Time(us)",
                                              "Instruction Duration(us)", "Notify Instruction ID", "Notify Rank ID",
                                              "Notify Duration(us)", NULL},
             .rows = mission_rows,
             .fill = mission_fill},
            {.stem = "ccu_channel",
             .about = "Channels of the communication units: bandwidths, from the delays of 4 KB.",
             .columns = (const char *const[]){"Channel Id", "Timestamp(us)", "Max Bandwidth(MB/s)",
                                              "Min Bandwidth(MB/s)", "Avg Bandwidth(MB/s)", NULL},
             .rows = channel_rows,
             .fill = channel_fill},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"CCU",
                                                             {{"deviceId", DB_NUMERIC},
                                                              {"globalTaskId", DB_NUMERIC},
                                                              {"name", DB_NUMERIC},
                                                              {"startNs", DB_NUMERIC},
                                                              {"endNs", DB_NUMERIC},
                                                              {"args", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
