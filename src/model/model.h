/* The joined facts of a PROF directory: what every output is a projection of. Read-only once built; outputs format,
 * they never compute.
 *
 * All times are epoch nanoseconds, all texts ids in model.strings, "no index" is NONE. Order of everything is a
 * function of the input alone. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/progress.h"
#include "base/strpool.h"
#include "device/device.h"
#include "host/host.h"
#include "model/selection.h"
#include "session/session.h"

enum task_flag {
    TASK_MEMCPY = 1,       /* host type MEMCPY_ASYNC */
    TASK_HIDDEN = 2,       /* not in the timeline: a whole task whose sub-tasks are shown instead */
    TASK_FLOW_END = 4,     /* an arrow from the host ends here (only if connection != 0) */
    TASK_IN_TASK_TIME = 8, /* a row of task_time (a mix kernel is one row, not two) */
    TASK_SIMT = 16,        /* timeline args have Grid Dim and Block Dim */
};

/* A task that ran on the device (row of TASK). */
struct task {
    int64_t start_ns, end_ns;
    uint32_t stream_id, task_id, context_id, batch_id;
    uint32_t model_id;   /* MODEL_NONE */
    uint32_t connection; /* 0 = no host counterpart (shown as -1) */
    uint32_t op;         /* index in host.ops, NONE = no operator */
    uint32_t host_task;  /* index in host.tasks, NONE */
    uint32_t pmu;        /* index in device.pmu.rows, NONE */
    uint32_t memcpy;     /* index in host.memcpys, NONE */
    str_id device_type;  /* as logged: AI_CORE, PCIE_DMA_SQE, MIX_AIC */
    str_id type;         /* TASK.taskType: host type; the device type when the host says FFTS_PLUS or nothing */
    uint16_t flags;      /* enum task_flag */
    int16_t rest_ps;     /* the duration is that much longer than end_ns - start_ns */
};

/* Who unfolded communication into sub-tasks. */
enum comm_source {
    COMM_LAUNCHED, /* the host: every sub-task was launched */
    COMM_AICPU,    /* the AI CPU, for an operator that the host launched: that operator's rows are COMM_LAUNCHED */
    COMM_FUSED,    /* the AI CPU, in an operator that computes, too (MC2) */
};

/* A communication operator that ran (row of COMMUNICATION_OP). */
struct comm_op {
    int64_t start_ns, end_ns; /* over its master tasks */
    str_id name;              /* with suffix: hcom_allReduce__538_0_1 */
    str_id key;               /* "<name>_<group key>_<device>": identity of opId */
    str_id op_type, alg_type;
    str_id group;        /* as shown, fused ones with " Aicpu" behind; "N/A" when there was no hccl_op_info */
    uint32_t connection; /* 0 = none */
    uint32_t model_id;
    uint32_t rank_size;
    int8_t relay, retry; /* -1 = unknown */
    uint8_t source;      /* enum comm_source */
    uint16_t data_type;
    int64_t count; /* -1 = unknown */
    uint32_t lane; /* index in device.comm_groups: the timeline thread group; NONE = not in the timeline */
};

/* A communication sub-task that ran (row of COMMUNICATION_TASK_INFO). */
struct comm_task {
    int64_t start_ns, end_ns;
    uint32_t stream_id, task_id, context_id, batch_id;
    uint32_t model_id;
    uint32_t
        op; /* index in device.comm_ops, NONE when the operator has no master task or began before the collection */
    str_id op_name;     /* with suffix */
    str_id op_key;      /* as comm_op.key */
    str_id name;        /* Notify_Wait, Memcpy …; "N/A" without info */
    str_id group;       /* as shown */
    uint32_t lane;      /* index in device.comm_groups */
    int32_t plane_id;   /* -1 = no info */
    uint64_t notify_id; /* UINT64_MAX = none */
    double estimated_us, bandwidth_gbs;
    int64_t size; /* bytes, -1 = no info */
    uint32_t src_rank, dst_rank;
    uint16_t data_type, link_type, transport_type, rdma_type; /* ENUM_HCCL_* */
    uint8_t source;                                           /* enum comm_source */
    bool is_master;
};

/* A turn of a fused operator: of communication on the AI CPU, or of computation on the cores. */
struct comm_turn {
    int64_t points[AICPU_COMM_POINTS]; /* where its steps begin and end; computation has AICPU_COMPUTE_POINTS */
    uint32_t stream_id, task_id;
    uint8_t turn; /* 1 … */
    bool compute;
};

/* A group of timeline threads: the group itself at first_tid, its plane p at first_tid + 1 + p. */
struct comm_group {
    str_id name;            /* "N/A": the lane is just called Communication */
    uint32_t first_tid;     /* runs on over the devices */
    ARRAY(uint32_t) planes; /* ascending; plane -1 counts as 0 */
};

/* A row of communication_statistic. Times in ns. */
struct comm_statistic {
    str_id op_type;
    uint64_t count;
    int64_t total_ns, min_ns, max_ns;
    double ratio; /* % of the device's total */
};

enum overlap_kind { OVERLAP_COMPUTE, OVERLAP_COMMUNICATION, OVERLAP_NOT_OVERLAPPED, OVERLAP_FREE, OVERLAP_KINDS };

struct section {
    int64_t start_ns, end_ns; /* end > start; of computation in a script timeline they may be equal */
};

struct device_model {
    const struct prof_dir *dir;
    uint16_t device_id;
    struct window window;               /* what of it is exported */
    struct device_data data;            /* pmu, steps, reduces, get_nexts, freqs; data.tasks is freed once joined */
    ARRAY(struct task) tasks;           /* ascending start; tasks that ended before the collection start are left out */
    ARRAY(struct task) untyped;         /* operators whose device type has no name: only op_statistic counts them */
    ARRAY(struct comm_op) comm_ops;     /* launched ones, ascending start, then fused ones, ascending start */
    size_t n_fused_ops;                 /* of comm_ops, at its end */
    ARRAY(struct comm_task) comm_tasks; /* ascending start */
    size_t comm_tasks_before;           /* launched ones left out: they ran before the collection */
    ARRAY(struct comm_turn) comm_turns; /* computation first, each in the order of the records */
    ARRAY(struct comm_group) comm_groups;
    ARRAY(struct comm_statistic) comm_statistics; /* total descending */
    ARRAY(struct section) overlap[OVERLAP_KINDS]; /* ascending */
    bool has_tasks;                               /* some device task was joined: the overlap layer exists */
};

enum model_scope {
    MODEL_WHOLE,
    MODEL_ITERATIONS, /* some iterations of the collection, by the windows of the devices */
    MODEL_NOTHING,    /* the iterations that were asked for do not exist */
};

struct model {
    const struct session *session;
    enum model_scope scope;
    struct strpool *strings; /* owned */
    struct host_data host;
    struct device_model *devices; /* in the order of the session */
    size_t n_devices;
    struct device_model **by_number; /* [n_devices], the same, ascending device id */
    void **metric_data;              /* what metrics/ loaded: see metric_data() in metrics/metric.h */
};

struct model_options {
    unsigned threads;                  /* >= 1 */
    struct progress *progress;         /* may be NULL */
    bool only_communication;           /* no tasks, counters, overlap, metrics */
    const struct selection *selection; /* NULL = the whole collection, where that is possible */
    bool all_iterations; /* the whole collection even where that is not: a task may have the operator of another
                            iteration */
};

/* Read and join everything of a session. Always succeeds: what could not be used is in `diag`. The session must outlive
 * the model. */
void model_build(struct model *m, const struct session *s, const struct model_options *options, struct diag *diag);
void model_free(struct model *m);

/* Text of a string id. */
static inline const char *model_text(const struct model *m, str_id id)
{
    return strpool_text(m->strings, id);
}

/* Which stream each task of a device was launched on, by task id (chip.unique_task_ids). Of several launches with one
 * id the first counts; what the AI CPU launched it tells itself. */
void model_streams(const struct model *m, const struct device_model *d, struct map *stream_of);

/* Is this one of the kfc streams of mc2_comm_info (MC2 fused operators)? */
bool model_is_kfc_stream(const struct model *m, uint32_t stream_id);

#endif
