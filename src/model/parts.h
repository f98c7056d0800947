/* The steps of model_build, in the order in which they run for a device. Internal to the room. */
#ifndef MODEL_PARTS_H
#define MODEL_PARTS_H

#include "model/model.h"

/* Ids of the texts that rules compare with. */
struct well_known {
    str_id unknown, ffts_plus, memcpy_async, simt;
    str_id profiler_trace, model_execute, model_maintenance;
    str_id uncounted[6];    /* task types of operators that the counters of cores say nothing of */
    str_id kernel_types[7]; /* host types that do not stretch the interval of the overlap analysis */
};

/* Device task i was launched by host task host_of[i]; or: */
#define HOST_UNKNOWN   NONE       /* no launch of that key is known */
#define HOST_AMBIGUOUS (NONE - 1) /* several launches share the key: which one ran cannot be told */
#define HOST_LEFT_OUT  (NONE - 2) /* not in the iterations; dynamic profiling: the first of several runs is warm-up */

/* Name the streams of device tasks where only the launches know them (chip.unique_task_ids). */
void join_streams(const struct model *m, struct device_model *d);

/* Give launches the block numbers that schedulers logged. */
void blocks_change(struct model *m);

/* Match device tasks with host tasks of the same (stream, batch, task, context). host_of has device tasks.n entries. */
void join_host(const struct model *m, const struct device_model *d, uint32_t *host_of, struct diag *diag);

/* The same where batches are not told: of the same (stream, task, context), in order of time. */
void join_host_in_order(const struct model *m, const struct device_model *d, uint32_t *host_of,
                        const struct well_known *known);

/* Add the tasks that the scheduler itself ran to d->data.tasks, where the host launched one and no log has it. */
void join_schedules(const struct model *m, struct device_model *d, const struct well_known *known);

/* Leave out the tasks outside the device's window. */
void selection_limit_tasks(const struct model *m, const struct device_model *d, uint32_t *host_of);

/* The launches of counter records that belong to no run: op_of[n] gets an index in host.ops, or NONE. */
void join_orphans(const struct model *m, const struct device_model *d, const struct device_orphan *orphans, size_t n,
                  uint32_t *op_of);

/* Make d->tasks, without any filter, in order of their start. */
void join_tasks(const struct model *m, struct device_model *d, const uint32_t *host_of, const struct well_known *known);

/* Drop the tasks that ended before the collection began, and set the flags that depend on what stays. */
void join_finish(const struct model *m, struct device_model *d, const struct well_known *known);

/* Make comm_tasks, comm_ops, comm_groups and comm_statistics. */
void communication_build(const struct model *m, struct device_model *d, const uint32_t *host_of, struct diag *diag);

/* Make overlap[], from the finished tasks and comm_ops. */
void overlap_build(const struct model *m, struct device_model *d, const struct well_known *known);

/* Order of a task key; the same for host and device records. */
struct task_key {
    uint64_t task_stream;   /* task << 16 | stream */
    uint64_t context_batch; /* context << 16 | batch */
};

static inline struct task_key task_key(uint32_t stream, uint32_t task, uint32_t context, uint32_t batch)
{
    return (struct task_key){(uint64_t)task << 16 | (stream & 0xFFFF), (uint64_t)context << 16 | (batch & 0xFFFF)};
}

static inline int task_key_compare(struct task_key a, struct task_key b)
{
    if (a.task_stream != b.task_stream) return a.task_stream < b.task_stream ? -1 : 1;
    return a.context_batch < b.context_batch ? -1 : a.context_batch > b.context_batch;
}

#endif
