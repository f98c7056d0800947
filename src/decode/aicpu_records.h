/* aicpu.data: what the AI CPU of a device reports (docs/formats/aicpu-records.md). Records of 256 bytes whose head is
 * that of the host's additional records; the type says what the body is. Times are counts of the device unless stated.
 *
 * A reader takes the types that it wants:
 *
 *     static const record_visit visits[AICPU_TYPES] = {[AICPU_FLIP] = visit_flip, [AICPU_OP] = visit_op};
 *     aicpu_each(files, visits, diag, progress, context);
 */
#ifndef DECODE_AICPU_RECORDS_H
#define DECODE_AICPU_RECORDS_H

#include "decode/host_records.h"
#include "decode/records.h"

enum aicpu_type {
    AICPU_NODE = 0,         /* an AI CPU kernel */
    AICPU_PREPROCESS = 1,   /* data preprocessing */
    AICPU_MODEL = 2,        /* a model with queues */
    AICPU_QUEUE = 3,        /* waiting for a queue */
    AICPU_COMM_TURN = 4,    /* fused operators: a turn of communication … */
    AICPU_COMPUTE_TURN = 5, /* … and of computation */
    AICPU_COMM_OP = 10,     /* a communication operator that the AI CPU unfolds */
    AICPU_FLIP = 11,        /* the task ids of a stream begin anew */
    AICPU_MAIN_TASK = 12,   /* first or last sub-task of such an operator on its main stream */
    AICPU_COMM_INFO = 13,   /* what its sub-tasks are, two to a record */
    AICPU_TYPES = 14,
};

/* Visit the records of INPUT_AICPU whose type has a visitor, in order. Those of other known types are passed over; of
 * several readers of the same files only one should be given `diag`, the others NULL. */
void aicpu_each(const struct input_files *files, const record_visit visits[AICPU_TYPES], struct diag *diag,
                struct progress *progress, void *context);

struct __attribute__((packed)) aicpu_node_record {
    struct record_head head;
    uint16_t stream_id, task_id;
    uint32_t reserved;
    uint64_t start;
    uint64_t run_start;
    uint64_t compute_start_us, memcpy_start_us, memcpy_end_us, run_end_us;
    uint64_t run_end;
    uint32_t thread, device;
    uint64_t submit, schedule, before_run, after_run;
    uint32_t kernel_type, dispatch_us, total_us;
    uint16_t ffts_thread;
    uint8_t version;
    uint8_t padding[113];
};
RECORD_SIZE(aicpu_node_record, 256);
RECORD_FIELD(aicpu_node_record, run_end, 80);
RECORD_FIELD(aicpu_node_record, kernel_type, 128);

struct __attribute__((packed)) aicpu_preprocess_record { /* head.time: ns */
    struct record_head head;
    char action[16];
    char source[64];
    uint64_t index, size;
    uint8_t padding[136];
};
RECORD_SIZE(aicpu_preprocess_record, 256);
RECORD_FIELD(aicpu_preprocess_record, index, 104);

struct __attribute__((packed)) aicpu_model_record {
    struct record_head head;
    uint64_t index;
    uint32_t model;
    uint16_t tag, reserved;
    uint64_t event;
    uint8_t padding[208];
};
RECORD_SIZE(aicpu_model_record, 256);
RECORD_FIELD(aicpu_model_record, event, 40);

struct __attribute__((packed)) aicpu_queue_record {
    struct record_head head;
    uint32_t tag; /* 1: GetNext_dequeue_wait */
    uint32_t reserved;
    uint64_t queue_size, start_us, end_us;
    uint8_t padding[200];
};
RECORD_SIZE(aicpu_queue_record, 256);

#define AICPU_COMM_POINTS    7 /* server start, wait for message, algorithm, send task, sent, executed, server end */
#define AICPU_COMPUTE_POINTS 3 /* wait, compute, end */

struct __attribute__((packed)) aicpu_comm_turn_record {
    struct record_head head;
    uint64_t points[AICPU_COMM_POINTS];
    uint64_t data_length;
    uint32_t device;
    uint16_t stream_id, task_id;
    uint8_t version, turns, turn; /* turn: 1 … turns */
    uint8_t padding[157];
};
RECORD_SIZE(aicpu_comm_turn_record, 256);
RECORD_FIELD(aicpu_comm_turn_record, turn, 98);

struct __attribute__((packed)) aicpu_compute_turn_record {
    struct record_head head;
    uint64_t points[AICPU_COMPUTE_POINTS];
    uint64_t data_length;
    uint32_t device;
    uint16_t stream_id, task_id;
    uint8_t version, turns, turn;
    uint8_t padding[189];
};
RECORD_SIZE(aicpu_compute_turn_record, 256);
RECORD_FIELD(aicpu_compute_turn_record, turn, 66);

struct __attribute__((packed)) aicpu_comm_op_record {
    struct record_head head;
    uint8_t flags; /* bit 0 relay, bit 1 retry */
    uint8_t data_type;
    uint64_t algorithm;
    uint64_t count;
    uint64_t group;
    uint32_t rank_size;
    uint16_t stream_id; /* of the kernel that unfolds it */
    uint32_t task_id;
    uint8_t padding[196];
};
RECORD_SIZE(aicpu_comm_op_record, 256);
RECORD_FIELD(aicpu_comm_op_record, task_id, 56);

struct __attribute__((packed)) aicpu_flip_record {
    struct record_head head;
    uint16_t stream_id, task_id;
    uint32_t number;
    uint8_t padding[224];
};
RECORD_SIZE(aicpu_flip_record, 256);

enum aicpu_main_task_kind { AICPU_MAIN_FIRST = 0, AICPU_MAIN_LAST = 1 };

struct __attribute__((packed)) aicpu_main_task_record {
    struct record_head head;
    uint16_t kernel_stream_id, kernel_task_id;
    uint16_t stream_id, task_id; /* the sub-task */
    uint16_t kind;               /* enum aicpu_main_task_kind */
    uint8_t padding[222];
};
RECORD_SIZE(aicpu_main_task_record, 256);

struct __attribute__((packed)) aicpu_comm_info_entry {
    uint64_t item, tag, group;
    uint32_t local_rank, remote_rank, rank_size, stage;
    uint64_t notify_id;
    uint64_t time;
    double estimated_us;
    uint64_t source, destination; /* addresses */
    uint64_t size;                /* bytes */
    uint32_t task_id, reserved0;
    uint16_t stream_id, plane_id;
    uint8_t reduce_op, data_type, link_type, transport_type, rdma_type, role, mode, reserved1;
};
RECORD_SIZE(aicpu_comm_info_entry, 108);

struct __attribute__((packed)) aicpu_comm_info_record {
    struct record_head head;
    struct {
        struct aicpu_comm_info_entry entry; /* group 0 = there is none */
        uint8_t padding[8];
    } entries[2];
};
RECORD_SIZE(aicpu_comm_info_record, 256);

#endif
