/* The device side of a collection: when each task ran, its counters, steps and the AI core frequency.
 *
 * Two phases, because block counters are limited by what the host says of a kernel: device_load decodes and pairs (no
 * host data needed but the expansion flag), device_attach_pmu finishes the counters once the tasks are joined with the
 * host. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/strpool.h"
#include "device/aicpu_comm.h"
#include "device/pmu.h"
#include "session/session.h"

/* An interval during which the device ran a task. */
struct device_task {
    uint64_t start, end; /* device counter */
    uint32_t stream_id, task_id, context_id,
        batch_id;        /* context_id CONTEXT_NONE for whole tasks, else the FFTS+ sub-task id */
    str_id type;         /* "AI_CORE", "NOTIFY_WAIT_SQE", sub-task "MIX_AIC" …, "UNKNOWN" for unnamed numbers */
    uint32_t pmu;        /* index in pmu.rows, NONE = no counters. Set by device_attach_pmu */
    int16_t type_number; /* SQE number, -1 for sub-tasks */
    bool in_ms;          /* the reference counts it in ms: its duration is that of clock_ms_duration_ns */
};

/* A training iteration (row of training_trace), or an explicit step (fp = bp = 0). Epoch ns for points, 0 = not seen;
 * ns for durations. */
struct step {
    uint32_t model_id;
    uint32_t iteration_id;
    int64_t fp_start_ns, bp_end_ns, iteration_end_ns;
    int64_t iteration_time_ns, fp_bp_ns, refresh_ns, data_aug_ns;
    uint64_t start, end; /* device counter */
    bool marked;         /* an explicit step */
};

struct step_reduce {
    uint32_t model_id, iteration_id;
    int64_t iteration_end_ns, start_ns, end_ns;
    int64_t duration_ns;  /* of the counts, 0 when there is no end */
    uint32_t end_task_id; /* of the task that marks the end: on the stream it follows the operator. 0 = no end */
    uint16_t stream_id;
};

struct step_get_next {
    uint32_t model_id, iteration_id;
    int64_t start_ns, end_ns; /* 0 = not seen */
};

/* A copy that the scheduler made. Epoch ns. */
struct device_copy {
    uint32_t stream_id, task_id;
    int64_t receive_ns, start_ns, end_ns;
};

/* When a run of a task came into each of its states (Ascend 310). Device counter, 0 = not seen. */
struct task_phases {
    uint64_t waiting, pending, running, complete;
    uint32_t stream_id, task_id;
    uint8_t type_number;
};

/* Block numbers of a task that the scheduler knows better than the host. */
struct logged_blocks {
    uint32_t stream_id, task_id, batch_id;
    uint32_t block_num, mix_block_num;
};

/* A mark of the user, or a range of the program, as the device met it. */
struct device_mark {
    int64_t start_ns, end_ns; /* epoch */
    uint64_t index;           /* mark id of the host */
    uint32_t stream_id, task_id, model_id;
};

struct freq_point {
    int64_t time_ns; /* epoch */
    uint32_t mhz;
    bool twice;     /* the reference's database has it in two rows: all points of lpmFreqConv */
    uint8_t of_die; /* 1 + number of the die; 0 = of the chip */
};

/* A block of a kernel on one core (Ascend 950). */
struct device_block {
    uint64_t start, end; /* device counter */
    uint32_t task_id;
    uint16_t stream_id;
    uint8_t core;
    bool vector;
};

/* What a part of a fused task ran on. */
enum fusion_unit {
    FUSION_CPU,
    FUSION_AICPU,
    FUSION_AICORE,
    FUSION_CCU_DIE0,
    FUSION_CCU_DIE1,
    FUSION_UNKNOWN,
};

/* A part of a fused task (Ascend 950). */
struct fusion_part {
    uint64_t start, end; /* device counter */
    str_id type;         /* of the task, as logged */
    uint32_t task_id;
    uint16_t acc_id;
    uint8_t unit; /* enum fusion_unit */
    uint8_t mission_id;
};

struct device_data {
    ARRAY(struct device_task) tasks; /* ascending (task, stream, context, batch), then in pairing order */
    ARRAY(struct step) steps;        /* ascending end */
    ARRAY(struct step_reduce) reduces;
    ARRAY(struct step_get_next) get_nexts;
    ARRAY(struct device_mark) marks; /* points in record order, then ranges by (index, time) */
    ARRAY(struct freq_point)
    freqs; /* as exported: first point at the start of the device's collection, one at its end when that is known;
              ascending */
    ARRAY(struct freq_point)
    recorded_freqs; /* as recorded, first the clock at the reference count; empty where no timeline shows it */
    struct pmu pmu;
    ARRAY(struct device_block) blocks;         /* file order */
    ARRAY(struct fusion_part) fusions;         /* ascending start */
    struct aicpu_comm aicpu;                   /* communication that the AI CPU unfolds */
    bool has_tasks;                            /* any task log record */
    ARRAY(struct device_copy) copies;          /* by first appearance of (stream, task), then in order of time */
    ARRAY(struct task_phases) phases;          /* in order of (task, stream), then of time */
    ARRAY(struct device_task) schedules;       /* tasks that the scheduler itself ran, in the order of tasks; no type */
    ARRAY(struct logged_blocks) blocks_logged; /* in order of time */
    void *pending;                             /* between the phases */
    struct whole_pending *whole_pending;       /* the same of chips without STARS */
};

/* Decode everything of one device. `expanded`: host_streams_expanded. */
void device_load(struct device_data *d, const struct session *s, const struct prof_dir *dir, bool expanded,
                 struct strpool *strings, unsigned threads, struct diag *diag, struct progress *progress);

/* Where task ids are unique (chip.unique_task_ids) device records do not name the stream: stream_of says it by task id,
 * STREAM_UNKNOWN stands for the tasks that it lacks. */
#define STREAM_UNKNOWN 0xFFFFu
void device_name_streams(struct device_data *d, const struct map *stream_of);

/* Only the steps of a device; free it with device_free. */
void device_load_steps(struct device_data *d, const struct session *s, const struct prof_dir *dir, bool expanded,
                       struct diag *diag);

/* Block numbers of the kernel that a device task ran. */
struct device_blocks {
    uint16_t block_num, mix_block_num;
    bool counts; /* it ran on the cores that count */
};

/* A counter record that is to be a row although it belongs to no run. */
struct device_orphan {
    uint32_t stream_id, task_id, context_id;
    uint32_t
        nth; /* of the records of these ids: the nth launch of them, or the last, says how many blocks it counted */
};

/* The orphans among what is pending: an array of *n, free() it; NULL when there are none. */
struct device_orphan *device_orphans(const struct device_data *d, size_t *n);

/* Finish the counters: blocks[tasks.n] says what the host knows of each task (zeros: nothing known), orphans[] what it
 * knows of the orphans. Fills tasks[].pmu and pmu.rows, frees what was pending. */
void device_attach_pmu(struct device_data *d, const struct prof_dir *dir, const struct device_blocks *blocks,
                       const struct device_blocks *orphans, struct diag *diag);

void device_free(struct device_data *d);

#endif
