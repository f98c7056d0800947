/* Events of the task scheduler of the Ascend 310: ts_track, packets with a tag.
 *
 *     tag 3    a task is in another state: waiting, pending, running, complete
 *     tag 4    what an AI core counted for a task, and how many blocks the task had
 *     tag 10   iterations, as in the records of other chips
 *     tag 11   copies, as there
 *
 * States of a task come in any order between waiting and complete; complete ends a run. The states of a run, its
 * phases, are kept: this chip's task_time is about them. */
#include <math.h>

#include "decode/packets.h"
#include "device/ts_records.h"

#define RECORD_EVENTS 8u

/* Beside those of ts_records.h. */
enum { TAG_STATE = 3, TAG_COUNTERS = 4, TAG_FIRST_IGNORED = 6, TAG_LAST_IGNORED = 9 };

enum { STATE_SIZE = 32, AT_STATE_TYPE = 8, AT_STATE = 10, AT_STATE_SID = 12, AT_STATE_TASK = 14, AT_STATE_TIME = 16 };

enum {
    COUNTERS_SIZE = 112,
    AT_PMU_SID = 10,
    AT_PMU_TASK = 12,
    AT_PMU_COUNTERS = 24,
    AT_PMU_CYCLES = 88,
    AT_PMU_BLOCKS = 104,
};

enum task_state { STATE_WAITING = 1, STATE_RUNNING = 2, STATE_COMPLETE = 3, STATE_PENDING = 4 };

/* States that a run goes through beside these: cores begin and end, AI CPU phases. */
enum { STATE_FIRST_IGNORED = 7, STATE_LAST_IGNORED = 9 };

struct state_record {
    uint64_t time;
    uint16_t stream, task;
    uint8_t type, state;
};

struct reader {
    struct device_data *d;
    const struct device_source *from;
    step_records *steps;
    struct ts_states *states;
    ARRAY(struct state_record) log;
    struct whole_pending *pmu;
    bool pmu_tried;
    struct record_place unknown; /* the first packet that says nothing to us */
    uint64_t n_unknown;
};

static void add_state(struct reader *r, const uint8_t *p)
{
    array_push(&r->log, ((struct state_record){
                            .time = get_u64(p + AT_STATE_TIME),
                            .stream = plain_stream(get_u16(p + AT_STATE_SID), false),
                            .task = get_u16(p + AT_STATE_TASK),
                            .type = p[AT_STATE_TYPE],
                            .state = p[AT_STATE],
                        }));
}

/* NaN: cannot be said. */
static double total_us(const struct pmu *p, uint64_t cycles, uint32_t blocks)
{
    return p->aic_mhz > 0 ? pmu_total_us(p, (double)cycles / p->aic_mhz, blocks, p->ai_core_num, NAN) : NAN;
}

static void add_counters(struct reader *r, const uint8_t *p)
{
    struct pmu *pmu = &r->d->pmu;
    if (!r->pmu_tried) r->pmu = whole_pending_new(r->d, false, prof_dir_files(r->from->dir, INPUT_TS_TRACK), r->from);
    r->pmu_tried = true;
    if (!r->pmu) return;
    array_push(&r->pmu->records, ((struct whole_record){
                                     .side = (uint32_t)pmu->sides.n,
                                     .stream = plain_stream(get_u16(p + AT_PMU_SID), false),
                                     .task = get_u16(p + AT_PMU_TASK),
                                     .timed = true,
                                 }));
    struct pmu_side *side = array_add(&pmu->sides);
    *side = (struct pmu_side){.cycles = get_u64(p + AT_PMU_CYCLES)};
    for (unsigned i = 0; i < RECORD_EVENTS; i++) side->counter[i] = get_u64(p + AT_PMU_COUNTERS + 8 * i);
    side->total_us = total_us(pmu, side->cycles, get_u16(p + AT_PMU_BLOCKS));
}

static void add_step(struct reader *r, const uint8_t *p)
{
    array_push(r->steps, ts_step(p, false, false));
}

static void add_copy(struct reader *r, const uint8_t *p)
{
    ts_states_add_copy(r->states, p);
}

static void visit(const uint8_t *packet, size_t size, const struct record_place *place, void *context)
{
    static const struct {
        uint8_t tag;
        uint8_t size;
        void (*add)(struct reader *r, const uint8_t *packet);
    } kinds[] = {
        {TAG_STATE, STATE_SIZE, add_state},
        {TAG_COUNTERS, COUNTERS_SIZE, add_counters},
        {TS_STEP, TS_RECORD, add_step},
        {TS_COPY, TS_RECORD, add_copy},
    };
    struct reader *r = context;
    uint8_t tag = packet[TS_AT_TAG];
    if (tag >= TAG_FIRST_IGNORED && tag <= TAG_LAST_IGNORED) return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].tag != tag || size < kinds[i].size) continue;
        kinds[i].add(r, packet);
        return;
    }
    if (!r->n_unknown++) r->unknown = *place;
}

/* --- states to runs ------------------------------------------------------------------------------------------------
 */

/* By (task, stream, time, state): of two states at one time a task ran before it was complete. */
static struct sort_key *sort_log(const struct reader *r)
{
    size_t n = r->log.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){r->log.at[i].state, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = r->log.at[order[i].index].time;
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) {
        const struct state_record *s = &r->log.at[order[i].index];
        order[i].key = (uint64_t)s->task << 16 | s->stream;
    }
    sort_keys(order, n);
    return order;
}

/* A run is complete: since[state] is when it last came into each state, 0 = not seen. */
static void end_run(struct reader *r, run_array *runs, const struct state_record *s, const uint64_t *since)
{
    uint64_t start = since[STATE_RUNNING] ? since[STATE_RUNNING] : since[STATE_PENDING];
    if (!start) return;
    array_push(runs, ((struct run){{start, s->task, s->stream, 0}, s->time, s->type, false}));
    array_push(&r->d->phases, ((struct task_phases){
                                  .waiting = since[STATE_WAITING],
                                  .pending = since[STATE_PENDING],
                                  .running = since[STATE_RUNNING],
                                  .complete = s->time,
                                  .stream_id = s->stream,
                                  .task_id = s->task,
                                  .type_number = s->type,
                              }));
}

static void play(struct reader *r, run_array *runs)
{
    struct sort_key *order = sort_log(r);
    uint64_t since[STATE_PENDING + 1] = {0}, lost = 0, unknown = 0;
    for (size_t i = 0; i < r->log.n; i++) {
        const struct state_record *s = &r->log.at[order[i].index];
        if (i && order[i].key != order[i - 1].key) memset(since, 0, sizeof since);
        if (s->state == STATE_COMPLETE) {
            lost += !since[STATE_RUNNING] && !since[STATE_PENDING];
            end_run(r, runs, s, since);
            memset(since, 0, sizeof since);
        } else if (s->state >= STATE_WAITING && s->state <= STATE_PENDING) {
            since[s->state] = s->time;
        } else {
            unknown += s->state < STATE_FIRST_IGNORED || s->state > STATE_LAST_IGNORED;
        }
    }
    const char *name = r->from->dir->name;
    diag_count(r->from->diag, DIAG_WARNING, name, DIAG_NO_OFFSET, lost, "task ends without a start");
    diag_count(r->from->diag, DIAG_WARNING, name, DIAG_NO_OFFSET, unknown, "tasks in a state that is not known");
    free(order);
}

void ts_timeline_load(struct device_data *d, run_array *runs, step_records *steps, struct ts_states *states,
                      const struct device_source *from)
{
    struct reader r = {.d = d, .from = from, .steps = steps, .states = states};
    packets_each(prof_dir_files(from->dir, INPUT_TS_TRACK), TS_AT_SIZE, from->diag, from->progress, visit, &r);
    if (r.n_unknown)
        diag_count(from->diag, DIAG_WARNING, r.unknown.file->shown, r.unknown.offset, r.n_unknown,
                   "record of an unknown kind skipped");
    play(&r, runs);
    array_free(&r.log);
    if (r.pmu) array_trim(&d->pmu.sides);
}
