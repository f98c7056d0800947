/* The host side of a collection: API calls, and which task each of them launched for which operator.
 *
 * host_load decodes host/data, rebuilds the call tree of every thread and classifies every launched task
 * (docs/formats/association.md). Tasks are in the order: thread id ascending, then walk order of the tree. Everything
 * is independent of the number of threads. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/strpool.h"
#include "session/session.h"

#define NONE         UINT32_MAX /* "no index" everywhere in the model */
#define CONTEXT_NONE UINT32_MAX /* no context (sub-task) id */
#define MODEL_NONE   UINT32_MAX /* no model */

enum level {
    LEVEL_PYTORCH = 30000,
    LEVEL_PTA = 25000,
    LEVEL_TX = 20500,
    LEVEL_ACL = 20000,
    LEVEL_MODEL = 15000,
    LEVEL_NODE = 10000,
    LEVEL_AICPU = 6000,
    LEVEL_COMMUNICATION = 5500,
    LEVEL_RUNTIME = 5000,
};

enum api_flag {
    API_EXPORTED =
        1, /* shown: begin not 0, and it ended after the collection start or lies inside a ModelLoad of its thread */
    API_FLOW_START =
        2, /* an arrow to the device starts here (node level, event record / wait, or launched an async copy) */
    API_EVENT_SYNC = 4, /* acl API aclrtRecordEvent or aclrtStreamWaitEvent */
    API_OUTSIDE = 16,   /* of no iteration that is exported (model/selection.h): not shown */
    API_TIMED = 32,     /* begin not 0 */
    API_STRADDLES = 8,  /* began before the collection, in no ModelLoad of its thread: scripts do not show it */
};

/* One API call. Connection id = index in host.apis + 1. */
struct api {
    union {
        struct {
            uint64_t begin, end;
        }; /* host counter, while host_load works */
        struct {
            int64_t start_ns, end_ns;
        }; /* epoch ns, from then on */
    };
    uint32_t thread_id;
    uint32_t request_id; /* of a paired event */
    str_id name;         /* dictionary name of (level, type) */
    str_id item;         /* operator name, model id, "0" */
    uint16_t level;      /* enum level, or any number */
    uint16_t acl_tag;    /* level acl: type >> 16 (host_acl_tag_name) */
    uint8_t flags;       /* enum api_flag */
    int16_t rest_ps;     /* the duration is that much longer than end_ns - start_ns */
};

/* An operator description (interned: many launches share one). All texts ready for output. */
struct op {
    str_id name;      /* op_name */
    str_id type;      /* op_type, "N/A" */
    str_id task_type; /* GE task type: AI_CORE, AI_VECTOR_CORE, MIX_AIC …, "N/A" at level 0 */
    str_id state;     /* "static", "dynamic", "N/A" */
    str_id hf32;      /* "YES", "NO", "N/A" */
    str_id attr;      /* text of the attributes; NONE = no attribute record or its hash is unknown */
    str_id input_formats, input_types,
        input_shapes; /* joined by ';', "N/A" without tensors; shapes without surrounding quotes */
    str_id output_formats, output_types, output_shapes;
    str_id grid_dim, block_dim; /* "x,y,z" or "N/A" */
    uint32_t tensor_count;
    uint32_t block_num, mix_block_num;
    uint32_t model_id;
    uint8_t flags; /* enum op_flag */
};

enum op_flag {
    OP_HAS_INPUTS = 1, /* input texts are of real tensors: shapes get quotes in outputs even when empty */
    OP_HAS_OUTPUTS = 2,
    OP_AICPU_KERNEL = 4,      /* name ends in "AicpuKernel" */
    OP_AIV_KERNEL = 8,        /* name ends in "AivKernel" */
    OP_NOT_COMPUTE_TYPE = 16, /* task type WRITE_BACK, INVALID, HCCL_AI_CPU, or COMMUNICATION whose name does not end in
                                 "AivKernel": not in op_summary */
};

/* A task that the host launched (row of HostTask); with op != NONE also a row of TaskInfo. */
struct host_task {
    uint64_t time; /* host counter of the launch */
    uint32_t thread_id;
    uint32_t stream_id, task_id, context_id, batch_id;
    uint32_t model_id;
    int32_t request_id;  /* index_id, -1 = none */
    uint32_t connection; /* id of the API it belongs to: an index in apis + 1, or > n_apis for a thread's root */
    str_id type;         /* KERNEL_AICORE, MEMCPY_ASYNC, EVENT_RECORD … */
    str_id kernel_name;  /* "N/A" */
    uint32_t op;         /* index in ops, or NONE */
    uint16_t device_id;  /* as in the record (raw u16) */
};

/* What hccl_info says of a communication sub-task. Enum values as in the database (ENUM_HCCL_*): 255 RESERVED, 65534
 * N/A, 65535 INVALID_TYPE. */
struct comm_info {
    str_id name, group; /* group: dictionary text of the key */
    uint64_t group_key;
    int32_t plane_id; /* -1 = no info */
    uint32_t local_rank, remote_rank, rank_size;
    uint64_t notify_id;  /* UINT64_MAX = none */
    double estimated_us; /* -1.0 = no info */
    int64_t size;        /* bytes, -1 = no info */
    uint32_t context_id;
    uint16_t data_type, link_type, transport_type, rdma_type;
};

/* A communication sub-task on the host side (row of HCCLTask); joined with device tasks by (device, stream, batch,
 * task, context). */
struct host_comm_task {
    uint64_t time;
    uint32_t thread_id;
    uint32_t stream_id, task_id, context_id, batch_id;
    uint32_t model_id;
    int32_t request_id;
    uint32_t connection;
    uint32_t info; /* index in comm_infos; 0 is the default ("no info") entry */
    uint16_t device_id;
    bool is_master;
};

/* A communication operator (row of HCCLOP). */
struct host_comm_op {
    uint64_t begin, end; /* host counter */
    uint32_t thread_id;
    uint32_t model_id;
    int32_t request_id;
    uint32_t connection;
    uint32_t kfc_connection;                      /* NONE = -1 */
    str_id name, op_type, state, alg_type, group; /* "N/A" when unknown; group: dictionary text */
    uint64_t group_key;                           /* valid when group is not "N/A" */
    int8_t relay, retry;                          /* -1 = unknown */
    uint16_t data_type;                           /* ENUM_HCCL_DATA_TYPE, 65534 = N/A */
    int64_t count;                                /* elements, -1 = unknown */
    uint16_t device_id;
};

/* A row of MemcpyInfo. */
struct memcpy_info {
    uint32_t host_task; /* index in tasks; NONE: copies were reported but no MEMCPY_ASYNC task was seen */
    uint64_t size;      /* bytes */
    uint16_t direction; /* ENUM_MEMCPY_OPERATION, 65535 = other */
};

/* Is a call shown in the timeline? (scripts: session.script_timeline) */
static inline bool api_shown(const struct api *a, bool scripts)
{
    return (a->flags & (API_EXPORTED | API_OUTSIDE)) == API_EXPORTED && !(scripts && a->flags & API_STRADDLES);
}

/* Is it counted in reports? (scripts: session.script_summary) Scripts count what came before the collection, too. */
static inline bool api_counted(const struct api *a, bool scripts)
{
    return scripts ? (a->flags & (API_TIMED | API_OUTSIDE)) == API_TIMED : api_shown(a, false);
}

struct fusion_op {
    uint32_t model_id;
    str_id name;
    str_id ops;                                       /* original op names joined by ';' */
    uint64_t input, output, weight, workspace, total; /* bytes */
};

struct model_name {
    uint32_t model_id;
    str_id name;
};

#define MC2_STREAMS 8

/* A group whose communication is unfolded on the AI CPU (row of mc2_comm_info). A captured AI CPU stream gives a second
 * entry, with the stream that replays it. */
struct mc2_group {
    str_id group; /* dictionary text */
    uint64_t group_key;
    uint32_t kfc_stream; /* runs the AI CPU kernels */
    uint32_t n_streams;
    uint32_t streams[MC2_STREAMS]; /* run the sub-tasks */
};

struct host_data {
    ARRAY(struct api) apis;  /* (begin, level descending, file order) */
    ARRAY(uint32_t) threads; /* thread ids of the APIs that the timeline shows, ascending */
    ARRAY(struct op) ops;
    ARRAY(struct host_task) tasks;
    ARRAY(struct comm_info) comm_infos; /* [0] is the default entry */
    ARRAY(struct host_comm_task) comm_tasks;
    ARRAY(struct host_comm_op) comm_ops;
    ARRAY(struct memcpy_info) memcpys; /* ascending host_task */
    ARRAY(struct fusion_op) fusion_ops;
    ARRAY(struct model_name) model_names; /* record order */
    ARRAY(uint32_t) kfc_streams;          /* kfc_stream of mc2_groups, ascending, each once */
    ARRAY(struct mc2_group) mc2_groups;   /* record order, those of captured streams behind */
    struct map logical_streams;           /* physical -> logical stream id */
    struct map hash_texts;                /* the dictionary of the collection, for hashes in other data: -> str_id */
    bool has_apis;                        /* any api record at all */
    bool has_memcpy_records;
};

/* Is stream id expansion active (first record of expand_stream_spec)? Cheap; the device side needs it before host_load
 * is done. */
bool host_streams_expanded(const struct session *s, struct diag *diag);

/* Load everything. A PROF without host directory gives an empty *h. Damaged records are noted in diag and skipped. */
void host_load(struct host_data *h, const struct session *s, struct strpool *strings, unsigned threads,
               struct diag *diag, struct progress *progress);
void host_free(struct host_data *h);

/* List the threads of the calls that are shown anew. */
void host_list_threads(struct host_data *h, bool scripts);

/* Text of a hash in data of a device, its decimal digits when the dictionary does not have it. */
str_id host_text(const struct host_data *h, struct strpool *strings, uint64_t hash);

/* Tag name of a level-acl API ("ACL_NN"), decimal text for unknown tags. buf[8] may be used. */
const char *host_acl_tag_name(uint16_t tag, char buf[8]);

/* "acl", "model", "node", "communication", "runtime"; NULL for any other level. */
const char *host_level_name(uint16_t level);

/* The same where the reference's scripts name levels: also "pytorch", "pta", "msproftx"; decimal text for any other.
 * buf[8] may be used. */
const char *host_script_level_name(uint16_t level, char buf[8]);

/* Names of communication enums by database number; NULL when the number has no name. */
const char *comm_data_type_name(uint16_t value);
const char *comm_link_type_name(uint16_t value);
const char *comm_transport_type_name(uint16_t value);
const char *comm_rdma_type_name(uint16_t value);

/* "host to device" …, "other". */
const char *memcpy_direction_name(uint16_t direction);

#endif
