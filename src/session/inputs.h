/* The registry of input files: every kind of raw data file the program knows, with its name pattern and side. */
#ifndef SESSION_INPUTS_H
#define SESSION_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum input_id {
    /* host/data: what the program did */
    INPUT_API_EVENT,
    INPUT_HASH_DIC,
    INPUT_TYPE_INFO_DIC,
    INPUT_TASK_TRACK,
    INPUT_MEMCPY_INFO,
    INPUT_NODE_BASIC_INFO,
    INPUT_NODE_ATTR_INFO,
    INPUT_HCCL_OP_INFO,
    INPUT_CAPTURE_STREAM_INFO,
    INPUT_EXPAND_STREAM_SPEC,
    INPUT_DPU_TRACK,
    INPUT_TENSOR_INFO,
    INPUT_CONTEXT_ID_INFO,
    INPUT_FUSION_OP_INFO,
    INPUT_GRAPH_ID_MAP,
    INPUT_HCCL_INFO,
    INPUT_LOGIC_STREAM_INFO,
    INPUT_MC2_COMM_INFO,
    INPUT_MULTI_THREAD,
    INPUT_MEMORY_APPLICATION,
    INPUT_STATIC_OP_MEM,
    INPUT_TASK_MEMORY_INFO,
    INPUT_MSPROFTX,
    INPUT_DPU_HCCL_INFO,
    INPUT_CCU_TASK_INFO,
    INPUT_CCU_WAIT_SIGNAL_INFO,
    INPUT_CCU_GROUP_INFO,
    INPUT_CAPTURE_OP_INFO,          /* additional: fixed 256-byte records */
    INPUT_CAPTURE_OP_INFO_VARIABLE, /* variable: 24 + dataLen bytes */
    INPUT_MODEL_EXEOM,
    INPUT_DBG, /* one file per model, no slices */
    /* host/data: samples of the host */
    INPUT_HOST_CPU,
    INPUT_HOST_MEM,
    INPUT_HOST_DISK,
    INPUT_HOST_NETWORK,
    INPUT_HOST_SYSCALL,
    INPUT_HOST_PTHREADCALL,
    INPUT_HOST_SYS_CPU,
    INPUT_HOST_SYS_MEM,
    INPUT_HOST_PROCESS_CPU, /* number: pid */
    INPUT_HOST_PROCESS_MEM, /* number: pid */
    /* device_N/data: tasks and their counters */
    INPUT_STARS_SOC,
    INPUT_FFTS_PROFILE,
    INPUT_TS_TRACK,
    INPUT_TS_TRACK_AIV,
    INPUT_HWTS,
    INPUT_HWTS_AIV,
    INPUT_AICORE,
    INPUT_AI_VECTOR_CORE,
    INPUT_NANO_STARS_PROFILE,
    INPUT_LPM_FREQ_CONV,
    INPUT_LPM_INFO_CONV,
    INPUT_AICPU,
    INPUT_DATA_PREPROCESS_AICPU,
    INPUT_DATA_PREPROCESS_DP,
    INPUT_DATA_PREPROCESS_AICPUMI,
    INPUT_DATA_PREPROCESS_AICPU_MODEL,
    INPUT_DEVICE_QUEUE,
    INPUT_DATASET_ITERATOR,
    INPUT_PARALLEL_STRATEGY,
    INPUT_BIU_PERF,  /* number: group; core */
    INPUT_CCU_INSTR, /* number: die */
    INPUT_CCU_STAT,  /* number: die */
    /* device_N/data: samples of the device */
    INPUT_STARS_SOC_PROFILE,
    INPUT_L2_CACHE,
    INPUT_SOC_PMU,
    INPUT_DDR,
    INPUT_HBM,
    INPUT_LLC,
    INPUT_HCCS,
    INPUT_PCIE,
    INPUT_NIC,
    INPUT_ROCE,
    INPUT_NETDEV_STATS,
    INPUT_UB,
    INPUT_QOS,
    INPUT_DVPP,
    INPUT_NPU_MEM,
    INPUT_NPU_MEM_APP,
    INPUT_NPU_MODULE_MEM,
    INPUT_TS_CPU,
    INPUT_AI_CTRL_CPU, /* of both CPUs */
    INPUT_CTRL_CPU,    /* of the control CPU alone: older collectors */
    INPUT_SYSTEM_CPU,
    INPUT_SYSTEM_MEM,
    INPUT_PROCESS_CPU, /* number: pid */
    INPUT_PROCESS_MEM, /* number: pid */
    INPUT_COUNT
};

enum input_side { SIDE_HOST, SIDE_DEVICE };

enum input_core { CORE_AIC, CORE_AIV0, CORE_AIV1 };

struct input_kind {
    enum input_id id;
    enum input_side side;
    const char *tag;      /* "task_track", "stars_soc": what people call it */
    const char *pattern;  /* of its names: see inputs.c */
    unsigned record_size; /* bytes, 0 = text or variable length (stars_soc: see the chip table) */
};

/* What the name of a file tells. */
struct input_name {
    enum input_id id;
    uint32_t slice;
    uint32_t number;      /* pid, group or die; 0 = the kind has none */
    enum input_core core; /* CORE_AIC where the kind has none */
    bool aging;           /* false: "unaging" (registered once, kept), or a kind that has no such prefix */
};

struct input_file {
    char *path;  /* to open it */
    char *shown; /* relative to the PROF directory, for messages: "host/data/aging.api_event.data.slice_0" */
    uint64_t size;
    uint32_t slice, number; /* as in input_name, like core and aging */
    enum input_core core;
    bool aging;
    bool gap; /* slices between the previous file and this one are missing: the stream does not continue */
};

/* Is b of another stream than a? */
static inline bool input_streams_differ(const struct input_file *a, const struct input_file *b)
{
    return a->number != b->number || a->core != b->core || a->aging != b->aging;
}

/* The files of one kind in one directory, in reading order: by number and core, unaging before aging, each by slice
 * number. Empty files are left out. */
struct input_files {
    struct input_file *at;
    size_t n;
    uint64_t bytes; /* sum of the sizes */
};

const struct input_kind *input_kind(enum input_id id);

/* Parse a file name of a data directory. Returns 0 and fills *parsed, or -1 when it is no input (.done, .complete,
 * .zip, unknown kinds). Anything else may follow the slice number. */
int input_match(const char *name, enum input_side side, struct input_name *parsed);

/* Find the input files in the directory `path` ("shown" in messages) and fill files[INPUT_COUNT], which the caller
 * frees with inputs_free. A missing directory is an empty one. Links and other special files are refused: nothing
 * outside of the PROF is read. Missing slices are noted. Returns the sum of the sizes. */
uint64_t inputs_scan(struct input_files files[INPUT_COUNT], const char *path, const char *shown, enum input_side side,
                     struct diag *diag);
void inputs_free(struct input_files files[INPUT_COUNT]);

/* Forget the files of one kind. Returns the sum of their sizes. */
uint64_t inputs_leave_out(struct input_files files[INPUT_COUNT], enum input_id id);

#endif
