/* Chips without STARS: their schedulers say of whole tasks when they ran, and cores count for whole tasks. Internal to
 * the room.
 *
 *     hwts, hwts.aiv_data, ts_track tag 12 ─┐
 *     ts_track of the Ascend 310 ───────────┴▶ runs ─▶ tasks ◀─ counter records, in the order of the runs */
#ifndef DEVICE_TASK_RUNS_H
#define DEVICE_TASK_RUNS_H

#include "device/parts.h"

/* A task that ran. */
struct run {
    struct stamped at; /* its start */
    uint64_t end;      /* device counter */
    uint8_t type;      /* task type number */
    bool in_ms;        /* as in struct device_task */
};

typedef ARRAY(struct run) run_array;

/* A record of ts_track about the state of a task. */
struct ts_state {
    uint64_t time; /* device counter */
    uint16_t stream, task;
    uint8_t type, state;
};

typedef ARRAY(struct ts_state) ts_state_array;

/* Block number of a task, as the scheduler has it. */
struct ts_block {
    struct stamped at;
    uint32_t value; /* low half: blocks; high half: times as many on the other kind of cores */
};

/* What ts_track says of tasks, beside iterations and flips. */
struct ts_states {
    ts_state_array copies, types;
    ARRAY(struct ts_block) blocks;
    bool unique; /* chip.unique_task_ids */
};

/* --- ts_states.c ------------------------------------------------------------------------------------------------- */

/* Decode the tags of ts_track that say something of a task; in file order. */
void ts_states_load(struct ts_states *s, const struct device_source *from);
void ts_states_free(struct ts_states *s);

/* Runs of AI CPU tasks, of a chip whose task log lacks them: appended in the order of their ends. */
void ts_aicpu_runs(run_array *runs, const struct ts_states *s, const struct device_source *from);

/* Fill d->schedules with the tasks that the scheduler itself ran. */
void ts_schedules(struct device_data *d, const struct ts_states *s, const flip_array *flips,
                  const struct device_source *from);

/* Fill d->copies. Sorts s->copies. */
void ts_copies(struct device_data *d, struct ts_states *s, const struct device_source *from);

/* Fill d->blocks_logged. */
void ts_blocks(struct device_data *d, struct ts_states *s, const flip_array *flips, const struct device_source *from);

/* --- hwts.c ------------------------------------------------------------------------------------------------------ */

/* Decode hwts and hwts.aiv_data; in the order of the ends in the files. */
void hwts_load(run_array *runs, const struct device_source *from);

/* --- ts_timeline.c: the Ascend 310 ------------------------------------------------------------------------------- */

/* Decode ts_track: runs, d->phases, step and copy records, and counters, which stay pending. */
void ts_timeline_load(struct device_data *d, run_array *runs, step_records *steps, struct ts_states *states,
                      const struct device_source *from);

/* --- task_runs.c ------------------------------------------------------------------------------------------------- */

/* Append the runs to d->tasks in their final order. Sorts and frees the runs. */
void run_tasks(struct device_data *d, run_array *runs, const flip_array *flips, const struct type_names *names,
               const struct device_source *from);

/* --- pmu_whole.c: counters of whole tasks ------------------------------------------------------------------------ */

/* A counter record; d->pmu.sides.at[side] has what it counted. */
struct whole_record {
    uint32_t side;
    uint16_t stream, task;
    bool timed; /* the total time of the side is known */
};

struct whole_pending {
    ARRAY(struct whole_record) records; /* file order */
    uint32_t cores;
};

/* What is to be attached to d->tasks: set up for the metric groups of the collection, or NULL when they are not usable
 * (said in the diagnostics). vector: of vector cores. */
struct whole_pending *whole_pending_new(struct device_data *d, bool vector, const struct input_files *files,
                                        const struct device_source *from);

/* Decode aicore, or aiVectorCore where that is all there is. */
void pmu_whole_load(struct device_data *d, const struct device_source *from);

/* Give each task that has counters the next record of its stream and task id. */
void pmu_whole_attach(struct device_data *d, const struct device_blocks *blocks, struct diag *diag, const char *name);

void pmu_whole_free_pending(struct device_data *d);

#endif
