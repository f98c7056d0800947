/* Communication that is unfolded on the AI CPU of a device: there the host launches a kernel, and what the kernel sends
 * to the device is known from the records of the AI CPU alone (aicpu.data). */
#ifndef DEVICE_AICPU_COMM_H
#define DEVICE_AICPU_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "decode/aicpu_records.h"

/* On chips whose task ids are unique a record that has the task id alone leaves the stream open. */
#define AICPU_STREAM_OPEN UINT32_MAX

/* A communication operator, reported while its kernel runs. */
struct aicpu_op {
    uint64_t time;               /* device counter */
    uint32_t stream_id, task_id; /* the kernel */
    uint64_t algorithm, group;   /* hashes of the host's dictionary */
    uint64_t count;              /* elements */
    uint32_t rank_size;
    uint16_t data_type; /* ENUM_HCCL_DATA_TYPE */
    bool relay, retry;
};

/* A sub-task on the main stream of an operator. */
struct aicpu_main_task {
    uint64_t time;
    uint32_t kernel_stream_id, kernel_task_id;
    uint32_t stream_id, task_id; /* the sub-task */
    uint32_t task;               /* index in device_data.tasks, NONE = it is not in the task log */
    bool first;                  /* it is the first one, else the last */
};

/* What a sub-task does. */
struct aicpu_info {
    uint64_t time;
    uint32_t stream_id, task_id;
    uint32_t task; /* as above */
    uint32_t plane_id;
    uint64_t name, group; /* hashes */
    uint32_t local_rank, remote_rank;
    uint64_t notify_id;
    double estimated_us;
    uint64_t size; /* bytes */
    uint16_t data_type, link_type, transport_type, rdma_type;
};

/* The task ids of a stream begin anew, as the AI CPU counts them. */
struct aicpu_flip {
    uint64_t time;
    uint32_t stream_id;
    uint32_t number;
};

/* A turn of a fused operator, on the AI CPU (communication) or the cores (computation). */
struct aicpu_turn {
    uint64_t points[AICPU_COMM_POINTS]; /* device counter; computation has the first AICPU_COMPUTE_POINTS */
    uint32_t stream_id, task_id;
    uint8_t turn; /* 1 … */
    bool compute;
};

struct aicpu_comm {
    ARRAY(struct aicpu_op) ops; /* all in the order of the records */
    ARRAY(struct aicpu_main_task) main_tasks;
    ARRAY(struct aicpu_info) infos;
    ARRAY(struct aicpu_flip) flips;
    ARRAY(struct aicpu_turn) turns;
};

void aicpu_comm_free(struct aicpu_comm *c);

#endif
