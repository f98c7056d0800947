/* Layouts of the records in host/data (docs/formats/host-records.md). Little-endian, packed; a record is copied into
 * its struct with memcpy, never read in place. */
#ifndef DECODE_HOST_RECORDS_H
#define DECODE_HOST_RECORDS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAGIC_HOST 0x5A5A
#define RECORD_EVENT_END  UINT64_MAX /* api_event.end of a single event: half of a pair */

#define RECORD_SIZE(type, bytes)         static_assert(sizeof(struct type) == (bytes), #type " has " #bytes " bytes")
#define RECORD_FIELD(type, field, place) static_assert(offsetof(struct type, field) == (place), #type "." #field)

/* api_event.data */
struct __attribute__((packed)) api_event_record {
    uint16_t magic, level;
    uint32_t type, thread_id;
    uint32_t request_id;
    uint64_t begin, end;
    uint64_t item;
};
RECORD_SIZE(api_event_record, 40);

/* Head of all other kinds. */
struct __attribute__((packed)) record_head {
    uint16_t magic, level;
    uint32_t type, thread_id;
    uint32_t data_length; /* bytes of the body that mean something */
    uint64_t time;
};
RECORD_SIZE(record_head, 24);

/* ---- compact: 64 bytes ------------------------------------------------------------------------------------------ */

struct __attribute__((packed)) node_basic_record {
    struct record_head head;
    uint64_t op_name;
    uint32_t task_type; /* ge_task_type_name */
    uint64_t op_type;
    uint32_t blocks; /* low half: blocks, high half: slave cores per block */
    uint32_t op_flag;
    uint8_t op_state; /* not used: the file prefix tells */
    uint8_t reserved[11];
};
RECORD_SIZE(node_basic_record, 64);
RECORD_FIELD(node_basic_record, blocks, 44);

struct __attribute__((packed)) node_attr_record {
    struct record_head head;
    uint64_t op_name;
    uint32_t attr_type;
    uint64_t attr;
    uint8_t reserved[20];
};
RECORD_SIZE(node_attr_record, 64);

#define TASK_TRACK_EXTENDED 40 /* data_length when the extension is there */

struct __attribute__((packed)) task_track_record {
    struct record_head head;
    uint16_t device; /* 12 bits id, 4 bits kind */
    uint16_t stream_id;
    uint32_t
        task; /* low half task id, high half batch id or flip number; all of it the task id on chips with unique ids */
    uint64_t task_type;
    uint64_t kernel_name; /* 0 = none */
    union {
        struct __attribute__((packed)) {
            uint16_t blocks, args_size;
            uint8_t modes; /* bits 0-2: slave cores per block */
        } kernel;
        struct __attribute__((packed)) {
            uint16_t grid[3], block[3], args_size;
            uint8_t modes;
        } simt;
        uint8_t bytes[16];
    } extension;
};
RECORD_SIZE(task_track_record, 64);
RECORD_FIELD(task_track_record, extension, 48);

struct __attribute__((packed)) memcpy_record {
    struct record_head head;
    uint64_t size, max_size; /* bytes of the call, bytes that one task copies at most */
    uint16_t direction;
    uint8_t reserved[22];
};
RECORD_SIZE(memcpy_record, 64);

struct __attribute__((packed)) hccl_op_record {
    struct record_head head;
    uint8_t flags; /* bit 0 relay, bit 1 retry */
    uint8_t data_type;
    uint64_t algorithm;
    uint64_t count; /* elements */
    uint64_t group;
    uint8_t reserved[14];
};
RECORD_SIZE(hccl_op_record, 64);
RECORD_FIELD(hccl_op_record, group, 42);

struct __attribute__((packed)) capture_stream_record {
    struct record_head head;
    uint16_t status; /* 0 captured, 1 destroyed */
    uint16_t model_stream, original_stream;
    uint16_t model_id;
    uint16_t device;
    uint8_t reserved[30];
};
RECORD_SIZE(capture_stream_record, 64);

struct __attribute__((packed)) expand_stream_record {
    struct record_head head;
    uint8_t expanded;
    uint8_t reserved[39];
};
RECORD_SIZE(expand_stream_record, 64);

/* ---- additional: 256 bytes -------------------------------------------------------------------------------------- */

#define TENSOR_DIMS 8

struct __attribute__((packed)) tensor_record {
    uint32_t kind; /* 0 input, 1 output */
    uint32_t format, data_type;
    uint32_t shape[TENSOR_DIMS];
};
RECORD_SIZE(tensor_record, 44);

#define TENSORS_PER_RECORD 5

struct __attribute__((packed)) tensor_info_record {
    struct record_head head;
    uint64_t op_name;
    uint32_t count;
    struct tensor_record tensors[TENSORS_PER_RECORD];
};
RECORD_SIZE(tensor_info_record, 256);

#define CONTEXTS_PER_RECORD 55

struct __attribute__((packed)) context_id_record {
    struct record_head head;
    uint64_t op_name;
    uint32_t count;
    uint32_t ids[CONTEXTS_PER_RECORD]; /* level node: a list; level communication: first and last */
};
RECORD_SIZE(context_id_record, 256);

#define FUSION_OPS 8

struct __attribute__((packed)) fusion_op_record {
    struct record_head head;
    uint64_t name;
    uint32_t count;
    uint64_t input, output, weight, workspace, total; /* bytes */
    uint64_t ops[FUSION_OPS];
    uint8_t reserved[116];
};
RECORD_SIZE(fusion_op_record, 256);
RECORD_FIELD(fusion_op_record, ops, 76);

struct __attribute__((packed)) graph_id_record {
    struct record_head head;
    uint64_t name;
    uint32_t graph_id, model_id;
    uint8_t reserved[216];
};
RECORD_SIZE(graph_id_record, 256);

struct __attribute__((packed)) hccl_info_record {
    struct record_head head;
    uint64_t item, tag, group;
    uint32_t local_rank, remote_rank, rank_size;
    uint32_t flow_mode, plane_id;
    uint32_t context_id; /* UINT32_MAX = none */
    uint64_t notify_id;
    uint32_t stage, role;
    double estimated_us;
    uint64_t source, destination;
    uint64_t size; /* bytes */
    uint32_t reduce_op, data_type, link_type, transport_type, rdma_type;
    uint8_t reserved[116];
};
RECORD_SIZE(hccl_info_record, 256);
RECORD_FIELD(hccl_info_record, estimated_us, 88);
RECORD_FIELD(hccl_info_record, rdma_type, 136);

#define LOGIC_STREAMS 56

struct __attribute__((packed)) logic_stream_record {
    struct record_head head;
    uint32_t logic_stream;
    uint32_t count;
    uint32_t physical[LOGIC_STREAMS];
};
RECORD_SIZE(logic_stream_record, 256);

struct __attribute__((packed)) mc2_comm_record {
    struct record_head head;
    uint64_t group;
    uint32_t rank_size, rank_id, user_rank_id;
    uint32_t kfc_stream; /* stream of the AI CPU kernels of the group */
    uint32_t count;
    uint32_t streams[8];
    uint8_t reserved[172];
};
RECORD_SIZE(mc2_comm_record, 256);
RECORD_FIELD(mc2_comm_record, kfc_stream, 44);

/* capture_op_info: this head, then tensors. In the fixed form as many as fit into 256 bytes. */
struct __attribute__((packed)) capture_op_record {
    struct record_head head;
    uint32_t model_id, device, stream_id, task_id;
    uint32_t task_type, blocks;
    uint64_t op_name, op_type;
    uint64_t attr; /* 0 = none */
    uint64_t reserved;
    uint32_t op_flag;
    uint32_t count;
};
RECORD_SIZE(capture_op_record, 88);

#endif
