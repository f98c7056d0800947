/* The registry of input files: every kind of raw data file the program knows, with its name pattern and side. */
#ifndef SESSION_INPUTS_H
#define SESSION_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum input_id {
    /* host/data */
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
    INPUT_TENSOR_INFO,
    INPUT_CONTEXT_ID_INFO,
    INPUT_FUSION_OP_INFO,
    INPUT_GRAPH_ID_MAP,
    INPUT_HCCL_INFO,
    INPUT_LOGIC_STREAM_INFO,
    INPUT_MC2_COMM_INFO,
    INPUT_CAPTURE_OP_INFO,          /* additional: fixed 256-byte records */
    INPUT_CAPTURE_OP_INFO_VARIABLE, /* variable: 24 + dataLen bytes */
    /* device_N/data */
    INPUT_STARS_SOC,
    INPUT_FFTS_PROFILE,
    INPUT_TS_TRACK,
    INPUT_LPM_FREQ_CONV,
    INPUT_LPM_INFO_CONV,
    INPUT_COUNT
};

/* Names: host "<aging|unaging>.<family>.<tag>.slice_<n>", device "<tag>.<family>.<device>.slice_<n>". */
enum input_side { SIDE_HOST, SIDE_DEVICE };

struct input_kind {
    enum input_id id;
    enum input_side side;
    const char *family;   /* host program data: "api_event", "compact", "additional", "variable"; device data: "data" */
    const char *tag;      /* "task_track", "stars_soc"; for api_event "data" */
    unsigned record_size; /* bytes, 0 = text or variable length (stars_soc: see the chip table) */
};

struct input_file {
    char *path;  /* to open it */
    char *shown; /* relative to the PROF directory, for messages: "host/data/aging.api_event.data.slice_0" */
    uint64_t size;
    uint32_t slice;
    bool aging; /* false: "unaging" (registered once, kept), or a kind that has no such prefix */
    bool gap;   /* slices between the previous file and this one are missing: the stream does not continue */
};

/* The files of one kind in one directory, in reading order: unaging before aging, each by slice number. Empty files are
 * left out. */
struct input_files {
    struct input_file *at;
    size_t n;
    uint64_t bytes; /* sum of the sizes */
};

const struct input_kind *input_kind(enum input_id id);

/* Parse a file name of a data directory. Returns 0 and fills *id, *slice, *aging, or -1 when it is no input (.done,
 * .complete, .zip, unknown kinds). Anything else may follow the slice number. */
int input_match(const char *name, enum input_side side, enum input_id *id, uint32_t *slice, bool *aging);

/* Find the input files in the directory `path` ("shown" in messages) and fill files[INPUT_COUNT], which the caller
 * frees with inputs_free. A missing directory is an empty one. Links and other special files are refused: nothing
 * outside of the PROF is read. Missing slices are noted. Returns the sum of the sizes. */
uint64_t inputs_scan(struct input_files files[INPUT_COUNT], const char *path, const char *shown, enum input_side side,
                     struct diag *diag);
void inputs_free(struct input_files files[INPUT_COUNT]);

#endif
