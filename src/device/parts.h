/* The steps of device_load and device_attach_pmu. Internal to the room. */
#ifndef DEVICE_PARTS_H
#define DEVICE_PARTS_H

#include "base/map.h"
#include "base/sort.h"
#include "decode/records.h"
#include "device/device.h"
#include "device/ids.h"
#include "host/host.h"

/* What everything that reads one device needs. */
struct device_source {
    const struct session *session;
    const struct prof_dir *dir;
    bool expanded; /* stream ids above 2047 are in use */
    struct diag *diag;
    struct progress *progress;
};

/* Do task ids of this collection wrap in a way that the records tell? */
bool batches_used(const struct device_source *from);

/* --- batch.c: telling apart tasks whose 16-bit id has wrapped --------------------------------------------------- */

/* What a record of something that ran starts with. */
struct stamped {
    uint64_t time; /* device counter */
    uint32_t task;
    uint16_t stream, batch;
};

/* The task ids of a stream begin anew. */
struct flip {
    uint64_t time;
    uint16_t stream;
    uint16_t task;   /* ids of the new batch that were already given out: those up to this one */
    uint16_t number; /* of the flip; FLIP_STREAM_GONE = the stream was destroyed */
};

#define FLIP_STREAM_GONE 0xFFFFu

typedef ARRAY(struct flip) flip_array;

/* All runs of one launch have the same key; ascending keys are the order of the tasks. A context id is 16 bits, "none"
 * comes behind all of them; stream ids are 15 bits at most. */
static inline uint64_t run_key(uint32_t task, uint32_t stream, uint32_t context)
{
    uint64_t last = context == CONTEXT_NONE ? 0x10000 : context & 0xFFFF;
    return (uint64_t)task << 32 | (uint64_t)(stream & 0x7FFF) << 17 | last;
}

/* Sort by (stream, time). */
void flips_sort(flip_array *flips);

/* Set the batch of the items that by_stream[n].index names: the first `stride`-sized elements of `at` are struct
 * stamped, in order of time. native: by the rules of the reference's native part (chip.native_tasks), else by those of
 * its scripts. The keys of by_stream are overwritten. */
void batch_number(const flip_array *flips, struct sort_key *by_stream, size_t n, void *at, size_t stride, bool native);

/* --- stars.c: the task log -------------------------------------------------------------------------------------- */

/* A start or an end of a task. */
struct log_record {
    struct stamped at; /* batch: of starts, set by pairing */
    uint32_t context;  /* CONTEXT_NONE = whole task */
    uint8_t type;      /* task type number; of a sub-task its sub-task type */
    bool is_end;
};

typedef ARRAY(struct log_record) log_array;

/* A start or an end of a part of a fused task. */
struct fusion_record {
    uint64_t time; /* device counter */
    uint32_t task;
    uint16_t acc_id;
    uint8_t type;  /* task type number */
    uint8_t units; /* a bit per enum fusion_unit */
    uint8_t mission;
    bool is_end;
};

typedef ARRAY(struct fusion_record) fusion_array;

/* Decode stars_soc; in file order. */
void stars_load(log_array *log, fusion_array *fusions, const struct device_source *from);

/* Texts of the task types of a chip, by number. */
struct type_names {
    str_id task[64], subtask[256];
};

void stars_type_names(struct type_names *names, const struct chip *chip, struct strpool *strings);

/* --- pairing.c: starts and ends to tasks ------------------------------------------------------------------------ */

/* Append the tasks to d->tasks in their final order. Sorts and frees the log. */
void pair_tasks(struct device_data *d, log_array *log, const flip_array *flips, const struct type_names *names,
                const struct device_source *from);

/* --- fusion.c: parts of fused tasks ------------------------------------------------------------------------------- */

/* Fill d->fusions. Sorts and frees the log. */
void fusion_pair(struct device_data *d, fusion_array *log, const struct type_names *names,
                 const struct device_source *from);

/* --- ts_track.c: scheduler events ------------------------------------------------------------------------------- */

enum step_tag {
    STEP_MODEL_START = 0,
    STEP_MODEL_END = 1,
    STEP_FP_START = 2,
    STEP_BP_END = 3,
    STEP_ITERATION_END = 4,
    STEP_MARK = 11,
    STEP_RANGE = 12,
    STEP_REDUCE_FIRST = 10000, /* even = start, odd = end, from here on */
    STEP_GET_NEXT_FIRST = 20000,
    STEP_EXPLICIT_START = 60000,
    STEP_EXPLICIT_END = 60001,
};

struct step_record {
    uint64_t time; /* device counter */
    uint64_t index, model;
    uint32_t task;
    uint16_t stream;
    uint16_t tag; /* enum step_tag or a number of a range */
};

typedef ARRAY(struct step_record) step_records;

void ts_track_load(flip_array *flips, step_records *records, const struct device_source *from);

/* --- steps.c: step records to iterations ------------------------------------------------------------------------ */

/* Fill d->steps, d->reduces, d->get_nexts. Sorts the records. */
void steps_build(struct device_data *d, step_records *records, const struct device_source *from);

/* --- marks.c: step records to marks of the user ------------------------------------------------------------------ */

/* Fill d->marks. */
void marks_build(struct device_data *d, const step_records *records, const struct device_source *from);

/* --- freq.c: the AI core clock over time ------------------------------------------------------------------------ */

struct freq_change {
    uint64_t time; /* device counter */
    uint32_t mhz;
    bool twice; /* as in struct freq_point */
};

typedef ARRAY(struct freq_change) freq_changes;

/* The frequency changes of the files of one kind, ascending; the first is the frequency at the reference count of the
 * clock. Empty when nothing was recorded. */
void freq_load(freq_changes *changes, const struct device_source *from, enum input_id id);

/* Take the changes of `other` in; the same change twice counts once. */
void freq_merge(freq_changes *into, const freq_changes *other);

/* Fill d->freqs: points before the collection began become one at its begin, the last frequency holds until its end. */
void freq_export(struct device_data *d, const freq_changes *changes, const struct device_source *from);

/* Fill d->freqs where each die reports its clock (chip.freq_of_dies). */
void freq_load_dies(struct device_data *d, const struct device_source *from);

/* A list with a frequency of 0 is not to be used for counters. */
bool freq_trusted(const freq_changes *changes);

/* MHz at `time`; `fallback` when no change is known before. */
double freq_at(const freq_changes *changes, uint64_t time, double fallback);

/* --- pmu_metrics.c: metric groups to columns -------------------------------------------------------------------- */

/* Set up p->columns, frequency and core numbers for the metric groups of the collection. Returns NULL, or what about
 * them cannot be used (static text; no columns then). */
const char *pmu_set_up(struct pmu *p, const struct metadata *meta, const struct chip *chip);

/* The same for tasks that only ran on vector cores: the columns are about what those counted. */
const char *pmu_set_up_vector(struct pmu *p, const struct metadata *meta, const struct chip *chip);

/* --- pmu_records.c: counter records to rows --------------------------------------------------------------------- */

/* Decode ffts_profile and find the task of each record; needs d->tasks. What is left to be done is in d->pending. */
void pmu_load(struct device_data *d, const flip_array *flips, const freq_changes *freq,
              const struct device_source *from);

void pmu_free_pending(struct device_data *d);

/* --- aicpu_comm.c, aicpu_match.c: communication that the AI CPU unfolds ------------------------------------------- */

/* Decode aicpu.data; in file order, no tasks found yet. */
void aicpu_comm_load(struct aicpu_comm *c, const struct device_source *from);

/* Find the tasks that the records of d->aicpu speak of; needs d->tasks. */
void aicpu_comm_match(struct device_data *d, const flip_array *flips, const struct device_source *from);

/* --- pmu_950.c: the same where task ids are unique (chip.unique_task_ids) ----------------------------------------- */

/* Decode ffts_profile, make the rows of d->pmu and fill d->blocks; needs d->tasks. */
void pmu_load_unique(struct device_data *d, const struct device_source *from);

#endif
