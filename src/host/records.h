/* Host records, decoded to what association needs of them: small structs, texts resolved, ascending (thread, time),
 * file order where both are equal. Times are host counts. */
#ifndef HOST_RECORDS_H
#define HOST_RECORDS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/progress.h"
#include "decode/records.h"
#include "host/dictionary.h"
#include "host/host.h"
#include "host/intern.h"
#include "host/tensors.h"

/* Every kind begins with these two, so that one function sorts and finds all of them. */
#define RECORD_STAMP                                                                                                   \
    uint64_t time;                                                                                                     \
    uint32_t thread_id

/* node_basic_info */
struct basic {
    RECORD_STAMP;
    str_id name, type;
    uint32_t ge_type; /* enum ge_task_type, or any number */
    uint32_t blocks;  /* as recorded: low half blocks, high half slave cores per block */
    bool hf32;
    bool dynamic; /* reported at every launch, not once at load */
};

/* node_attr_info */
struct attr {
    RECORD_STAMP;
    str_id name, text; /* text NONE: hash unknown */
};

/* tensor_info, all records of one launch together */
struct tensors {
    RECORD_STAMP;
    str_id name;
    uint32_t signature; /* index in records.tensor_texts */
};

/* context_id_info: ids[first … first + count) of records.context_ids */
struct contexts {
    RECORD_STAMP;
    str_id name;
    uint32_t first, count;
};

/* hccl_info */
struct comm_record {
    RECORD_STAMP;
    uint32_t info; /* index in host_data.comm_infos */
};

/* hccl_op_info */
struct comm_op_info {
    RECORD_STAMP;
    str_id algorithm, group;
    uint64_t count, group_key;
    uint16_t data_type;
    bool relay, retry;
};

struct fusion {
    RECORD_STAMP;
    struct fusion_op op; /* model_id not set */
};

struct copy {
    RECORD_STAMP;
    uint64_t size, max_size;
    uint16_t direction;
};

/* What rules want to know of a task's type. */
enum task_trait {
    TASK_IS_OPERATOR = 1, /* a kernel or another task that runs an operator */
    TASK_IS_GRAPH = 2,    /* FFTS+: runs operators unless it is communication */
    TASK_HAS_CONTEXTS = 4,
    TASK_NAMES_OPERATOR = 8, /* without a launch, the kernel's name stands for the operator */
    TASK_IS_MIX = 16,
    TASK_IS_AICORE = 32,
    TASK_IS_AICPU = 64,
    TASK_IS_SIMT = 128,
    TASK_IS_MEMCPY = 256,
};

/* task_track */
struct track {
    RECORD_STAMP;
    uint16_t stream_id, device_id;
    uint16_t traits; /* enum task_trait */
    uint8_t ge_type; /* of the operator that a kernel name stands for */
    bool has_blocks; /* the track says how many blocks */
    uint32_t task_id;
    uint32_t batch_id;
    str_id type;
    str_id kernel_name; /* "N/A" */
    uint32_t block_num, mix_block_num;
    str_id grid_dim, block_dim; /* "N/A" */
};

/* A wrap of the task ids of a stream. */
struct flip {
    uint64_t time;
    uint32_t stream;  /* device << 16 | stream */
    uint16_t task_id; /* smallest id that still belongs to the batch before */
    uint16_t number;  /* FLIP_DESTROYED: the stream was destroyed */
};

#define FLIP_DESTROYED UINT16_MAX

/* capture_stream_info */
struct captured_stream {
    uint64_t time;
    uint16_t status, device, original_stream, model_stream, model_id;
};

/* capture_op_info: an operator of a captured graph */
struct captured_op {
    uint32_t device, stream_id, task_id;
    uint32_t model_id;
    str_id name, type, attr;
    uint32_t ge_type, blocks;
    bool hf32, dynamic;
    struct tensor_texts tensors;
};

struct records {
    const struct session *session;
    const struct chip *chip;
    const struct dictionary *dictionary;
    struct strpool *strings;
    struct diag *diag;
    struct progress *progress;
    struct host_data *host; /* apis, comm_infos, model_names, logical_streams, kfc_streams are filled here */

    ARRAY(struct basic) basics;
    ARRAY(struct attr) attrs;
    ARRAY(struct tensors) tensors;
    ARRAY(struct tensor_texts) tensor_texts;
    ARRAY(struct contexts) node_contexts;
    ARRAY(struct contexts) comm_contexts;
    ARRAY(uint32_t) context_ids;
    ARRAY(struct comm_record) comms;
    ARRAY(struct comm_op_info) comm_ops;
    ARRAY(struct fusion) fusions;
    ARRAY(struct track) tracks;
    ARRAY(struct flip) flips;
    ARRAY(struct copy) copies;
    ARRAY(struct captured_stream) captured_streams; /* file order */
    ARRAY(struct captured_op) captured_ops;         /* reading order */
    struct intern signatures;                       /* raw tensors */
    struct intern infos;                            /* struct comm_info */
};

/* Decode all of host/data, the API calls included. The caller has filled the pointers at the top. */
void records_load(struct records *r, unsigned threads);
void records_free(struct records *r);

/* Text of a hash in the record at `place`. One that no dictionary has is noted, and stands as its decimal digits. */
str_id records_text(const struct records *r, const struct record_place *place, uint64_t hash);

/* Sort elements[n] of `size` bytes that begin with RECORD_STAMP by (thread, time), stable. */
void records_sort(void *elements, size_t size, size_t n);

/* The elements of a thread in sorted elements[n]: [*first, *end). */
void records_of_thread(const void *elements, size_t size, size_t n, uint32_t thread_id, size_t *first, size_t *end);

/* Parts of records_load with a file of their own. */
void records_load_tracks(struct records *r);  /* tracks.c */
void records_load_capture(struct records *r); /* capture.c */

/* Give every track the batch it belongs to: how often the ids of its stream had wrapped. `tracks` in any order (equal
 * times: earlier index first). */
void batches_assign(struct track *tracks, size_t n, const struct flip *flips, size_t n_flips);

#endif
