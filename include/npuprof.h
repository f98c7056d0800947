/* npuprof: reads the raw profiling data of Ascend NPU jobs (PROF_XXX directories) and writes what people and tools
 * read.
 *
 *     struct npuprof_options options;
 *     npuprof_options_init(&options);
 *     struct npuprof_report *report;
 *     int status = npuprof_export("PROF_000001_…", &options, &report);
 *     … npuprof_report_*(report) …
 *     npuprof_report_free(report);
 *
 * The library never prints and never exits (except when memory runs out). Raw data is opened read-only. Functions are
 * safe to call from several threads on different PROF directories. */
#ifndef NPUPROF_H
#define NPUPROF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char *npuprof_version(void);

enum npuprof_output {
    NPUPROF_TIMELINE = 1, /* mindstudio_profiler_output/msprof_*.json, step_trace_*.json */
    NPUPROF_SUMMARY = 2,  /* mindstudio_profiler_output/(reports).csv, README.txt */
    NPUPROF_DB = 4,       /* msprof_*.db */
    NPUPROF_ALL = 7,
    NPUPROF_FOUND = 8, /* mindstudio_profiler_log/import_*.log: what the collection holds */
};

enum npuprof_format { NPUPROF_CSV, NPUPROF_JSON };

enum npuprof_rule {
    NPUPROF_COMMUNICATION = 1,        /* analyze/communication.json: times and bandwidths of communication operators */
    NPUPROF_COMMUNICATION_MATRIX = 2, /* analyze/communication_matrix.json: what they sent over each link */
};

enum npuprof_status {
    NPUPROF_OK = 0,
    NPUPROF_FAILED = 1,   /* something asked for could not be exported; the report says what */
    NPUPROF_BAD_PATH = 2, /* no PROF directory there; a file of the options that cannot be read */
    /* Of npuprof_analyze: */
    NPUPROF_ALL_BEFORE = 3, /* all communication ran before the collection */
    NPUPROF_NO_TIMES = 8,   /* nothing of NPUPROF_COMMUNICATION: no task tells when some of the operators ran */
    /* Of clusters: */
    NPUPROF_NO_CLUSTER = 11,    /* not a directory that holds the PROF directories of a cluster, or not imported */
    NPUPROF_NO_CLUSTER_DB = 12, /* a database of the cluster is missing or cannot be used */
};

/* How far a run is, for npuprof_options.on_progress. */
struct npuprof_progress {
    const char *prof;     /* name of the PROF directory */
    const char *phase;    /* "reading", "joining", "writing" */
    uint64_t done, total; /* units of the phase; total 0 = not known, of rows it is an estimate */
    int units_are_bytes;
    double elapsed_seconds;   /* in this phase */
    size_t profs_done, profs; /* PROF directories: done, and of this run */
};

struct npuprof_options {
    unsigned outputs;           /* enum npuprof_output, or-ed; default NPUPROF_ALL */
    unsigned jobs;              /* threads, shared by the PROF directories at work; 0 = one per processor (default) */
    enum npuprof_format format; /* of the reports of a summary; default NPUPROF_CSV */
    unsigned slice_mb; /* timelines larger than about so many MB are cut into files by time; 0 (default) = never */
    int has_selection; /* export only some iterations of one model: */
    int64_t model_id;  /* 4294967295 = the steps that the program marked */
    int64_t iteration_id, iteration_count;
    const char *reports_file; /* a file that says which parts the timeline has; NULL (default) = it has all */
    unsigned rules;           /* of npuprof_analyze: enum npuprof_rule, or-ed; default both */
    int only_db;              /* npuprof_analyze writes no JSON; default 0 */
    /* Called a few times per second from another thread, about the first PROF directory that is not done; NULL
     * (default) = not called. */
    void (*on_progress)(const struct npuprof_progress *progress, void *context);
    void *context;
};

void npuprof_options_init(struct npuprof_options *options);

enum npuprof_severity { NPUPROF_INFO, NPUPROF_WARNING, NPUPROF_ERROR };

/* One line of what was lost, skipped or failed. */
struct npuprof_message {
    enum npuprof_severity severity;
    const char *prof; /* name of the PROF directory, "" = none in particular */
    const char *file; /* relative to it, "" = none in particular */
    int has_offset;
    uint64_t offset; /* byte offset of the first occurrence */
    uint64_t count;  /* how often */
    const char *text;
};

struct npuprof_file {
    const char *path; /* as a user can open it */
    uint64_t bytes;
    uint64_t rows; /* events, operators or rows */
};

/* How it went with one PROF directory. */
struct npuprof_prof {
    const char *name;
    size_t files; /* written */
    uint64_t bytes;
    double seconds;
    size_t errors, warnings;
    const char *error; /* text of the first error, "" = none: all is well */
};

struct npuprof_report;

/* Export the PROF directory `dir`, or every PROF directory directly below it: as many at once as there are
 * threads and memory for. Always sets *report (free it). Returns an enum npuprof_status; one failing PROF never stops
 * the others. */
int npuprof_export(const char *dir, const struct npuprof_options *options, struct npuprof_report **report);

/* Analyze the communication of the PROF directory `dir`, or of all PROF directories directly below it together, from
 * their raw data, and write <dir>/analyze/: communication_analyzer.db and a JSON file per rule. Otherwise like
 * npuprof_export. */
int npuprof_analyze(const char *dir, const struct npuprof_options *options, struct npuprof_report **report);

/* Make the databases of a cluster: `dir` holds the PROF directories of all its ranks, <dir>/sqlite/cluster_rank.db and
 * cluster_step_trace.db (and cluster_parallel.db, if the framework said how the job is parallel) tell who they are and
 * what their iterations took. Otherwise like npuprof_export. */
int npuprof_import_cluster(const char *dir, const struct npuprof_options *options, struct npuprof_report **report);

/* A row of what npuprof_query finds: a directory of a collection, and a model of which it saw iterations. */
struct npuprof_query_row {
    const char *job;     /* "N/A" when unknown */
    const char *device;  /* id; "" for the host */
    const char *dir;     /* name of the directory */
    const char *time;    /* when the collection began, local time; "N/A" */
    int64_t rank;        /* -1 = none */
    int has_model;       /* else nothing is known of models: */
    uint32_t model_id;   /* 4294967295 = the steps that the program marked */
    uint32_t iterations; /* the last one's id */
    const char *longest; /* ids of the five that took longest, longest first: "5,1,3" */
};

struct npuprof_query;

/* What the directory `dir` is about: a PROF directory, its host or one of its devices; or a cluster that was imported,
 * whose rows have its devices with "PROF_…/" in front of their directories. Models are told once the collection was
 * imported or exported, as the reference tool does. *query (free it) has the rows, sorted by job and time, or what is
 * wrong. Returns NPUPROF_OK, NPUPROF_BAD_PATH or NPUPROF_NO_CLUSTER_DB; *is_parent is set when `dir` holds PROF
 * directories itself and was not imported: there are no rows then. */
int npuprof_query(const char *dir, struct npuprof_query **query, int *is_parent);
size_t npuprof_query_rows(const struct npuprof_query *query, const struct npuprof_query_row **rows);
const char *npuprof_query_error(const struct npuprof_query *query); /* NULL = none */
void npuprof_query_free(struct npuprof_query *query);

/* A question about a cluster, or a directory that may be one. */
struct npuprof_question {
    int data_type; /* 0: is it a cluster? 1 … 10: see docs/outputs/cluster.md */
    int has_id, has_model_id, has_iteration_id;
    int64_t id; /* rank, device where there are no ranks; -1 = all */
    int64_t model_id, iteration_id;
    unsigned jobs; /* threads, 0 = one per processor */
};

/* A line of the answer: a file that was written, another fact, or what is wrong. */
struct npuprof_answer_line {
    int failed;       /* 0, 1; 2: not failed, only something worth knowing */
    const char *info; /* what is wrong, or that; "" = nothing */
    const char *data; /* path or fact, "" = nothing */
};

struct npuprof_answer;

/* Answer a question about `dir`; files are written into <dir>/query. *answer (free it) has the lines. Returns
 * NPUPROF_OK (also when there is no such data: the lines say so), NPUPROF_FAILED when the question makes no sense,
 * NPUPROF_BAD_PATH, NPUPROF_NO_CLUSTER or NPUPROF_NO_CLUSTER_DB. */
int npuprof_ask(const char *dir, const struct npuprof_question *question, struct npuprof_answer **answer);
size_t npuprof_answer_lines(const struct npuprof_answer *answer, const struct npuprof_answer_line **lines);
void npuprof_answer_free(struct npuprof_answer *answer);

/* The report: files written, messages (sorted), seconds of wall time and bytes of input read. Everything is good until
 * npuprof_report_free. */
size_t npuprof_report_files(const struct npuprof_report *report, const struct npuprof_file **files);
size_t npuprof_report_messages(const struct npuprof_report *report, const struct npuprof_message **messages);
double npuprof_report_seconds(const struct npuprof_report *report);
uint64_t npuprof_report_input_bytes(const struct npuprof_report *report);
/* The PROF directories found, in the order of the messages. */
size_t npuprof_report_profs(const struct npuprof_report *report, const struct npuprof_prof **profs);
/* After an export with a summary of a directory that holds PROF directories: the lines of the "Cluster Tuning Report",
 * what to look at in the job as a whole. */
size_t npuprof_report_advice(const struct npuprof_report *report, const char *const **lines);
void npuprof_report_free(struct npuprof_report *report);

/* Remove the unfinished files of this process. Async-signal-safe: for handlers of SIGINT and SIGTERM, before _exit. */
void npuprof_abort(void);

#ifdef __cplusplus
}
#endif

#endif
