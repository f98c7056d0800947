/* What a PROF_XXX directory is: its host and device directories, their metadata, clocks and data files. Opened
 * read-only, nothing in it is ever changed; markers (.done, .complete), sqlite/ folders and outputs left by other tools
 * are neither needed nor trusted. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/error.h"
#include "session/chips.h"
#include "session/clock.h"
#include "session/inputs.h"

#define PMU_MAX_EVENTS 10

/* Facts of info.json, sample.json, start_info, end_info of one directory; where it lacks one of the first three, those
 * of a sibling. Missing texts are "", missing numbers 0 unless stated. Owned by the session. */
struct metadata {
    int platform_version;       /* -1 = missing */
    uint64_t drv_version;       /* drvVersion */
    int cann_major, cann_minor; /* -1 = unknown */
    uint32_t pid;               /* "NA" or garbage -> 0 */
    const char *pid_name;
    int64_t rank_id;                 /* -1 = none */
    const char *hostname, *host_uid; /* host_uid "0" when missing */
    /* DeviceInfo[0] */
    double aic_mhz, aiv_mhz;
    uint32_t ai_core_num, aiv_num;
    /* sample.json */
    const char *ai_core_mode;              /* ai_core_profiling_mode: "task-based", "sample-based", "" */
    const char *aic_metrics, *aiv_metrics; /* ai_core_metrics, aiv_metrics: "PipeUtilization", "Custom:0x..", "" */
    uint32_t aic_events[PMU_MAX_EVENTS], aiv_events[PMU_MAX_EVENTS]; /* event codes in counter order, 0 = unused */
    unsigned n_aic_events, n_aiv_events; /* events given: may be more than PMU_MAX_EVENTS, the rest is not kept */
    bool level0;                         /* profLevel (else prof_level) is l0 / level0 */
    bool dynamic;                        /* "dynamic": "on" */
    bool task_block;                     /* "taskBlock": "on" */
    /* start_info, end_info */
    bool has_start, has_end;
    int64_t start_ns, end_ns; /* epoch; end_ns = start + 30 min when !has_end */
    int64_t start_raw_ns;     /* clockMonotonicRaw of start_info */
    const char *start_date;   /* collectionDateBegin: local time as text, "" */
    /* the whole files, for metrics that need a key nobody else does; NULL when missing */
    json_t *info, *sample;
};

struct prof_dir {
    char *path; /* …/PROF_X/device_0 */
    char *name; /* "host", "device_0" */
    bool is_host;
    uint16_t device_id;      /* number in device_N; 64 for the host */
    size_t position;         /* in session.devices; n_devices for the host */
    const struct chip *chip; /* never NULL */
    struct metadata meta;
    struct clock clock;
    struct input_files inputs[INPUT_COUNT];
};

struct session {
    char *path;               /* the PROF directory, as given (no trailing slash) */
    char *name;               /* its base name */
    struct prof_dir *host;    /* NULL = device-only collection */
    struct prof_dir *devices; /* ascending name, as text */
    size_t n_devices;
    /* The session record: the host's, else the first device's */
    const struct metadata *meta;
    const struct chip *chip;  /* never NULL */
    int64_t start_ns, end_ns; /* collection interval, epoch ns */
    bool has_end;
    bool all_export; /* driver and chip number tasks uniquely: batch ids from flips (first directory of the PROF,
                    devices first) */
    /* The reference tool makes the timeline, the reports of this collection with scripts, whose rows and columns differ
     * from those of its native part (docs/compatibility.md). Of the chip and of how it was sampled; an export of single
     * iterations sets both. */
    bool script_timeline, script_summary;
    bool script_tasks;    /* the same of task logs and counters of a chip with native_tasks: for single iterations */
    uint64_t input_bytes; /* sum of all known input files */
};

/* Is this directory a PROF directory: does it have a sub-directory with an info.json*, or one called host or device_N
 * that holds data or metadata? */
bool session_is_prof(const char *path);

/* Find the PROF directories that `path` means: itself, or its direct children, sorted by name. *paths is an array of *n
 * allocated strings (free each and the array). Returns 0, or -1 with *err set when there is none (path missing, not a
 * directory, nothing inside). */
int session_discover(const char *path, char ***paths, size_t *n, struct error *err);

/* Say which directories directly below `path`, but those that tools leave, are no PROF directories. */
void session_note_others(const char *path, struct diag *diag);

/* Open a PROF directory. Directories of it that cannot be used are noted in `diag` and left out; fails only when
 * nothing of it can be used (or it is no PROF). Returns NULL with *err set then. */
struct session *session_open(const char *path, struct diag *diag, struct error *err);
void session_close(struct session *s);

/* Forget the files of one kind, in all directories: nobody is going to need them. */
void session_leave_out(struct session *s, enum input_id id);

/* The device directory with that id, or NULL. */
const struct prof_dir *session_device(const struct session *s, uint16_t device_id);

/* The files of one kind; never NULL, n may be 0. dir may be NULL (no host). */
const struct input_files *prof_dir_files(const struct prof_dir *dir, enum input_id id);

#endif
