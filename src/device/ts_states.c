/* What ts_track says of single tasks.
 *
 *     tag 11   copies that the scheduler made: received, started, ended
 *     tag 12   states of tasks: AI CPU tasks that no log has, tasks that the scheduler itself ran
 *     tag 15   block numbers that were only known when the task was launched
 *
 * The records have the frame that ts_track.c describes. */
#include "device/ts_records.h"

enum { AT_STREAM = 16, AT_TASK = 18, AT_COPY_STATE = 20, AT_TYPE = 20, AT_TYPE_STATE = 22, AT_BLOCKS = 20 };

enum copy_state { COPY_RECEIVED = 0, COPY_STARTED = 1, COPY_ENDED = 2, COPY_STATES };

enum { AICPU_TYPE = 1, AICPU_STARTED = 1, AICPU_ENDED = 2 };

enum { SCHEDULE_STARTED = 0, SCHEDULE_ENDED = 2 };

static struct ts_state state_of(const uint8_t *record, uint16_t type, uint8_t state)
{
    return (struct ts_state){
        .time = get_u64(record + TS_AT_TIME),
        .stream = plain_stream(get_u16(record + AT_STREAM), false),
        .task = get_u16(record + AT_TASK),
        .type = type < UINT8_MAX ? (uint8_t)type : UINT8_MAX,
        .state = state,
    };
}

void ts_states_add_copy(struct ts_states *s, const uint8_t *record)
{
    array_push(&s->copies, state_of(record, 0, record[AT_COPY_STATE]));
}

/* Where task ids are unique, both words are the id. */
static void add_blocks(struct ts_states *s, const uint8_t *record)
{
    uint32_t task = s->unique ? get_u32(record + AT_STREAM) : get_u16(record + AT_TASK);
    struct stamped at = {get_u64(record + TS_AT_TIME), task, get_u16(record + AT_STREAM), 0};
    array_push(&s->blocks, ((struct ts_block){at, get_u32(record + AT_BLOCKS)}));
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct ts_states *s = context;
    uint8_t tag = record[TS_AT_TAG];
    if (tag == TS_COPY) ts_states_add_copy(s, record);
    else if (tag == TS_TASK_TYPE)
        array_push(&s->types, state_of(record, get_u16(record + AT_TYPE), record[AT_TYPE_STATE]));
    else if (tag == TS_BLOCKS) add_blocks(s, record);
}

void ts_states_load(struct ts_states *s, const struct device_source *from)
{
    struct diag *known = diag_new(); /* what is wrong with the file is said where iterations are read */
    s->unique = from->dir->chip->unique_task_ids;
    records_each(prof_dir_files(from->dir, INPUT_TS_TRACK), TS_RECORD, ts_record_valid, known, NULL, visit, s);
    diag_free(known);
}

void ts_states_free(struct ts_states *s)
{
    array_free(&s->copies);
    array_free(&s->types);
    array_free(&s->blocks);
}

/* --- states of tasks ---------------------------------------------------------------------------------------------- */

/* Runs between two states, of the tasks of one type (-1 = all; of one: in ms): an end belongs to the last start before
 * it. */
static void pair_states(run_array *runs, const ts_state_array *states, int type, uint8_t start, uint8_t end)
{
    struct map open = {0}; /* stream << 16 | task -> index of the start, NONE */
    for (size_t i = 0; i < states->n; i++) {
        const struct ts_state *s = &states->at[i];
        if (type >= 0 && s->type != type) continue;
        if (s->state != start && s->state != end) continue;
        uint32_t *at = map_put(&open, (uint64_t)s->stream << 16 | s->task, NONE, NULL);
        if (s->state == start) {
            *at = (uint32_t)i;
        } else if (*at != NONE) {
            const struct ts_state *begin = &states->at[*at];
            if (begin->time <= s->time)
                array_push(runs, ((struct run){{begin->time, s->task, s->stream, 0}, s->time, begin->type, type >= 0}));
            *at = NONE;
        }
    }
    map_free(&open);
}

void ts_aicpu_runs(run_array *runs, const struct ts_states *s, const struct device_source *from)
{
    if (from->dir->chip->aicpu_from_ts) pair_states(runs, &s->types, AICPU_TYPE, AICPU_STARTED, AICPU_ENDED);
}

void ts_schedules(struct device_data *d, const struct ts_states *s, const flip_array *flips,
                  const struct device_source *from)
{
    if (!from->dir->chip->schedules_from_ts) return;
    static const struct type_names no_names;
    struct device_data found = {0};
    run_array runs = {0};
    pair_states(&runs, &s->types, -1, SCHEDULE_STARTED, SCHEDULE_ENDED);
    run_tasks(&found, &runs, flips, &no_names, from);
    d->schedules.at = found.tasks.at;
    d->schedules.n = found.tasks.n;
    d->schedules.room = found.tasks.room;
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

/* A copy being put together: the time of each state. */
struct copy {
    uint64_t time[COPY_STATES];
    bool seen[COPY_STATES];
};

static void emit_copy(struct device_data *d, const struct ts_state *s, const struct copy *c, const struct clock *clock)
{
    for (int i = 0; i < COPY_STATES; i++)
        if (!c->seen[i]) return;
    array_push(&d->copies, ((struct device_copy){
                               .stream_id = s->stream,
                               .task_id = s->task,
                               .receive_ns = clock_task_ns(clock, c->time[COPY_RECEIVED]),
                               .start_ns = clock_task_ns(clock, c->time[COPY_STARTED]),
                               .end_ns = clock_task_ns(clock, c->time[COPY_ENDED]),
                           }));
}

/* May `next` follow `last` within one copy? A state that comes too early begins another one; one that comes again
 * says nothing. */
enum step_kind { STEP_IGNORED, STEP_SAME_COPY, STEP_NEW_COPY };

static enum step_kind step_kind(enum copy_state last, enum copy_state next)
{
    static const enum step_kind kinds[COPY_STATES][COPY_STATES] = {
        [COPY_RECEIVED] = {STEP_IGNORED, STEP_SAME_COPY, STEP_SAME_COPY},
        [COPY_STARTED] = {STEP_NEW_COPY, STEP_IGNORED, STEP_SAME_COPY},
        [COPY_ENDED] = {STEP_NEW_COPY, STEP_NEW_COPY, STEP_IGNORED},
    };
    return kinds[last][next];
}

/* The copies of one stream and task: states[order[0 … n)], by time. */
static void group_copies(struct device_data *d, const struct ts_state *states, const struct sort_key *order, size_t n,
                         const struct clock *clock)
{
    struct copy c = {0};
    enum copy_state last = COPY_ENDED;
    for (size_t i = 0; i < n; i++) {
        const struct ts_state *s = &states[order[i].index];
        if (s->state >= COPY_STATES) continue;
        enum step_kind kind = step_kind(last, s->state);
        last = s->state;
        if (kind == STEP_IGNORED) continue;
        if (kind == STEP_NEW_COPY) {
            emit_copy(d, s, &c, clock);
            c = (struct copy){0};
        }
        c.time[s->state] = s->time;
        c.seen[s->state] = true;
    }
    if (n) emit_copy(d, &states[order[0].index], &c, clock);
}

/* By (first appearance of stream and task, time). */
static void sort_copies(ts_state_array *states, struct sort_key *order)
{
    struct map groups = {0};
    for (size_t i = 0; i < states->n; i++) order[i] = (struct sort_key){states->at[i].time, (uint32_t)i};
    sort_keys(order, states->n);
    sort_permute(states->at, sizeof *states->at, order, states->n);
    for (size_t i = 0; i < states->n; i++) {
        uint64_t key = (uint64_t)states->at[i].stream << 16 | states->at[i].task;
        order[i] = (struct sort_key){*map_put(&groups, key, (uint32_t)groups.n, NULL), (uint32_t)i};
    }
    sort_keys(order, states->n);
    map_free(&groups);
}

void ts_copies(struct device_data *d, struct ts_states *s, const struct device_source *from)
{
    if (!from->dir->chip->copies_from_ts) return;
    struct sort_key *order = mem_alloc(s->copies.n * sizeof *order);
    sort_copies(&s->copies, order);
    for (size_t i = 0, end; i < s->copies.n; i = end) {
        for (end = i + 1; end < s->copies.n && order[end].key == order[i].key;) end++;
        group_copies(d, s->copies.at, &order[i], end - i, &from->dir->clock);
    }
    free(order);
}

/* --- block numbers -------------------------------------------------------------------------------------------------
 */

void ts_blocks(struct device_data *d, struct ts_states *s, const flip_array *flips, const struct device_source *from)
{
    size_t n = s->blocks.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){s->blocks.at[i].at.time, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(s->blocks.at, sizeof *s->blocks.at, order, n);
    for (size_t i = 0; i < n; i++) order[i].index = (uint32_t)i;
    if (batches_used(from) && flips->n)
        batch_number(flips, order, n, s->blocks.at, sizeof *s->blocks.at, from->dir->chip->native_tasks);
    free(order);
    for (size_t i = 0; i < n; i++) {
        const struct ts_block *b = &s->blocks.at[i];
        uint32_t blocks = b->value & 0xFFFF;
        array_push(&d->blocks_logged, ((struct logged_blocks){
                                          .stream_id = b->at.stream,
                                          .task_id = b->at.task,
                                          .batch_id = b->at.batch,
                                          .block_num = blocks,
                                          .mix_block_num = blocks * (b->value >> 16),
                                      }));
    }
}
