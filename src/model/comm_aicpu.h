/* Communication on the AI CPU while it is put together: shared by comm_aicpu.c, comm_kernels.c and comm_rows.c. */
#ifndef MODEL_COMM_AICPU_H
#define MODEL_COMM_AICPU_H

#include "model/comm.h"

/* A group of mc2_comm_info with all of its streams. */
struct aicpu_group {
    str_id name;
    uint64_t key;
    ARRAY(uint32_t) streams;          /* indices in aicpu_work.streams */
    uint32_t first_kernel, n_kernels; /* in aicpu_work.by_group */
};

/* A stream that sub-tasks run on: its part of aicpu_work.smalls, ascending end. */
struct aicpu_stream {
    uint32_t first, n;
};

/* A sub-task that ran. */
struct aicpu_small {
    uint32_t task;   /* index in data.tasks */
    uint32_t info;   /* index in aicpu.infos, NONE = there are none at this level */
    uint32_t stream; /* index in aicpu_work.streams */
    double rate;
    bool first, taken;
};

/* A kernel that ran on the AI CPU, and its operator. */
struct aicpu_kernel {
    uint64_t start, end; /* of the operator, device counter */
    uint32_t task;       /* index in data.tasks */
    uint32_t launch;     /* index in host.tasks */
    uint32_t iteration;
    uint32_t run; /* index in runs, NONE = of no launched operator that ran */
    uint32_t op;  /* index in device.comm_ops, NONE */
    str_id name;  /* of the operator; later with suffix */
    str_id key;
    str_id group; /* dictionary text */
    uint64_t group_key;
    uint64_t launched; /* host counter, 0 = not known */
    uint8_t source;    /* enum comm_source */
    int8_t relay, retry;
};

struct aicpu_work {
    const struct model *m;
    struct device_model *d;
    const uint32_t *host_of;
    const struct comm_runs *runs;
    ARRAY(struct aicpu_group) groups;
    ARRAY(struct aicpu_stream) streams;
    struct map group_of;  /* group key -> index in groups */
    struct map stream_of; /* stream id -> index in streams */
    struct map kfc_group; /* AI CPU stream -> index in host.mc2_groups */
    ARRAY(struct aicpu_small) smalls;
    ARRAY(struct aicpu_kernel) kernels; /* ascending (stream, start) */
    uint32_t *by_group;                 /* kernels, by group and start */
    size_t budget;                      /* sub-tasks that may still be looked at: a bound for absurd groups */
    size_t without_master, skipped_groups;
};

static inline const struct device_task *aicpu_task(const struct aicpu_work *w, uint32_t i)
{
    return &w->d->data.tasks.at[i];
}

/* comm_kernels.c: fill in kernels, then what their operators are called and how long they lasted. */
void aicpu_collect_kernels(struct aicpu_work *w);
void aicpu_find_operators(struct aicpu_work *w);

/* comm_rows.c: append the rows of all kernels; needs everything else. */
void aicpu_store(struct aicpu_work *w);

#endif
