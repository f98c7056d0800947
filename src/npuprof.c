/* The library's face: runs session, model and exporters for PROF directories, several at once, and turns what they left
 * in the diagnostics into the report. */
#include "npuprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/analyze.h"
#include "base/diag.h"
#include "base/jobs.h"
#include "base/mem.h"
#include "base/share.h"
#include "base/tempfile.h"
#include "cluster/cluster.h"
#include "cluster/hints.h"
#include "export/export.h"
#include "export/timeline/reports.h"
#include "model/model.h"
#include "report.h"
#include "session/session.h"
#include "watch.h"

/* An export keeps about 0.9 bytes in memory per byte of raw data, a small one up to 1.5; added to it are outputs that
 * are being written. */
#define MEMORY_OF(input_bytes) ((input_bytes) + (input_bytes) / 2)

#define ADVICE_TEXT 4096 /* bytes of a line */

const char *npuprof_version(void)
{
    return NPUPROF_VERSION;
}

void npuprof_options_init(struct npuprof_options *options)
{
    *options = (struct npuprof_options){
        .outputs = NPUPROF_ALL,
        .rules = NPUPROF_COMMUNICATION | NPUPROF_COMMUNICATION_MATRIX,
    };
}

void npuprof_abort(void)
{
    tempfile_discard_all();
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Something done with all PROF directories of a path: an export unless it is an analysis or the import of a cluster. */
struct run {
    const struct npuprof_options *options;
    struct reports reports;    /* of an export */
    struct analysis *analysis; /* NULL = it is no analysis */
    struct cluster *gathered;  /* [n], what each has for the databases of a cluster; NULL = they are not made */
    struct hints *hints;       /* [n], what each export notices beside; NULL = nobody wants to know */
    char **paths;
    size_t n;
    struct npuprof_report *reported; /* [n] */
    struct share share;
    struct watch watch;
};

/* One PROF directory of it. */
struct prof_run {
    const char *path;
    const struct npuprof_options *options;
    const struct reports *reports;
    struct analysis *analysis;
    struct cluster *gathered; /* its own */
    struct hints *hints;      /* its own */
    unsigned threads;
    struct npuprof_report *report; /* its own */
    struct diag *diag;
};

static void note_error(struct diag *diag, const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    diag_note(diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "%s", error_text(err, text, sizeof text));
}

static void build_model(struct model *m, struct prof_run *r, struct session *s, struct progress *progress)
{
    struct model_options options = {
        .threads = r->threads, .progress = progress, .only_communication = r->analysis != NULL};
    double start = now_seconds();
    struct selection selection = {r->options->model_id, r->options->iteration_id, r->options->iteration_count};
    if (r->options->has_selection && !r->analysis) {
        options.selection = &selection;
        s->script_tasks = s->script_timeline = s->script_summary = true;
    }
    model_build(m, s, &options, r->diag);
    diag_note(r->diag, DIAG_INFO, "", DIAG_NO_OFFSET, "raw data read and joined in %.2f s", now_seconds() - start);
}

static void export_session(struct prof_run *r, struct session *s, struct progress *progress)
{
    r->report->input_bytes += s->input_bytes;
    struct model model;
    build_model(&model, r, s, progress);
    struct written_list written = {0};
    struct export_options options = {r->options->outputs, r->threads, r->options->format, r->reports,
                                     (uint64_t)r->options->slice_mb * 1000000};
    if (model.scope != MODEL_WHOLE) s->script_timeline = s->script_summary = true;
    if (model.scope != MODEL_NOTHING) export_run(&model, &options, r->diag, progress, &written);
    if (r->hints) hints_gather(r->hints, &model);
    if (!written.files.n && !diag_entries(r->diag, DIAG_ERROR))
        diag_note(r->diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "nothing to export: it holds no data of what was asked for");
    report_files(r->report, r->path, &written);
    written_free(&written);
    model_free(&model);
}

static void analyze_session(struct prof_run *r, struct session *s, struct progress *progress)
{
    static const enum input_id not_needed[] = {INPUT_TENSOR_INFO, INPUT_NODE_ATTR_INFO, INPUT_FFTS_PROFILE};
    for (size_t i = 0; i < sizeof not_needed / sizeof *not_needed; i++) session_leave_out(s, not_needed[i]);
    r->report->input_bytes += s->input_bytes;
    if (s->meta->level0) {
        diag_note(r->diag, DIAG_WARNING, "", DIAG_NO_OFFSET,
                  "collected at level 0, where nothing is said of communication tasks: nothing to analyze");
        return;
    }
    struct model model;
    build_model(&model, r, s, progress);
    analysis_add(r->analysis, &model, r->diag);
    model_free(&model);
}

static void gather_session(struct prof_run *r, struct session *s, struct progress *progress)
{
    r->report->input_bytes += s->input_bytes;
    cluster_gather(r->gathered, s, r->threads, r->diag, progress);
}

/* Open PROF directory i, and do with it what the run is about. */
static void run_prof(size_t i, void *context)
{
    struct run *run = context;
    struct prof_run r = {
        .path = run->paths[i],
        .options = run->options,
        .reports = &run->reports,
        .analysis = run->analysis,
        .gathered = run->gathered ? &run->gathered[i] : NULL,
        .hints = run->hints ? &run->hints[i] : NULL,
        .threads = share_begin(&run->share),
        .report = &run->reported[i],
        .diag = diag_new(),
    };
    double start = now_seconds();
    uint64_t memory = 0;
    struct error err = {0};
    const char *slash = strrchr(r.path, '/');
    const char *name = report_keep(r.report, slash ? slash + 1 : r.path);
    struct progress *progress = watch_begin(&run->watch, i, name);
    struct session *s = session_open(r.path, r.diag, &err);
    if (s) {
        memory = MEMORY_OF(s->input_bytes);
        share_take_memory(&run->share, memory);
        if (r.analysis) analyze_session(&r, s, progress);
        else if (r.gathered) gather_session(&r, s, progress);
        else export_session(&r, s, progress);
        session_close(s);
    } else {
        note_error(r.diag, &err);
    }
    share_end(&run->share, r.threads, memory);
    watch_end(&run->watch, i);
    report_diag(r.report, name, r.diag);
    report_prof(r.report, name, now_seconds() - start);
    diag_free(r.diag);
}

/* Run all PROF directories, at most `at_once` side by side; the report has them in order however they came to run. */
static void run_all(struct run *run, size_t at_once, struct npuprof_report *report)
{
    unsigned threads = run->options->jobs ? run->options->jobs : jobs_cores();
    run->reported = mem_zalloc(run->n, sizeof *run->reported);
    share_init(&run->share, threads, run->n, at_once, share_half_of_memory());
    watch_start(&run->watch, run->options, run->n);
    jobs_each(share_at_once(&run->share), run->n, run_prof, run);
    watch_stop(&run->watch);
    share_free(&run->share);
    for (size_t i = 0; i < run->n; i++) {
        report_append(report, &run->reported[i]);
        free(run->paths[i]);
    }
    free(run->paths);
    free(run->reported);
}

/* What is wrong with the content costs only the selection. */
static int read_reports(struct reports *reports, const char *path, struct npuprof_report *report)
{
    struct error err = {0}, complaint = {0};
    *reports = (struct reports){0};
    if (!path) return 0;
    if (reports_read(reports, path, &complaint, &err)) {
        error_wrap(&err, "the selection of reports");
        report_error(report, NPUPROF_ERROR, "", &err);
        return -1;
    }
    if (complaint.n) {
        error_wrap(&complaint, "not used, everything is exported");
        report_error(report, NPUPROF_WARNING, path, &complaint);
    }
    return 0;
}

/* Of a cluster that was imported the export tells communication, too. What is missing for that is only worth a warning.
 */
static void advise_communication(const char *dir, const struct npuprof_options *options, struct npuprof_report *report)
{
    struct error err = {0};
    struct npuprof_answer *answer;
    const struct npuprof_answer_line *lines;
    int64_t iteration = options->has_selection ? options->iteration_id : 1;
    char line[ADVICE_TEXT];
    if (cluster_find(dir, &err) != CLUSTER_THERE) return;
    cluster_tune(dir, iteration, options->jobs, &answer);
    size_t n = npuprof_answer_lines(answer, &lines), told = 0;
    for (size_t i = 0; i < n; i++) {
        if (lines[i].failed == 1) {
            error_set(&err, "%s", lines[i].info);
            error_wrap(&err, "communication of the cluster not told");
            report_error(report, NPUPROF_WARNING, "", &err);
        } else if (*lines[i].data) {
            report_file(report, lines[i].data);
        } else {
            if (!told++) report_advise(report, "3. Communication:");
            snprintf(line, sizeof line, "\t%zu) %s", told, lines[i].info);
            report_advise(report, line);
        }
    }
    npuprof_answer_free(answer);
}

/* What the PROF directories of a run have to say together. */
static void advise(struct run *run, size_t n, const char *dir, struct npuprof_report *report)
{
    struct hints all = {0};
    hint_lines lines = {0};
    for (size_t i = 0; i < n; i++) hints_append(&all, &run->hints[i]);
    hints_tell(&all, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        report_advise(report, lines.at[i]);
        free(lines.at[i]);
    }
    if (lines.n) advise_communication(dir, run->options, report);
    array_free(&lines);
    hints_free(&all);
}

int npuprof_export(const char *dir, const struct npuprof_options *options, struct npuprof_report **report)
{
    double start = now_seconds();
    struct npuprof_report *out = *report = mem_zalloc(1, sizeof *out);
    struct error err = {0};
    struct run run = {.options = options};
    if (read_reports(&run.reports, options->reports_file, out)) return NPUPROF_BAD_PATH;
    if (session_discover(dir, &run.paths, &run.n, &err)) {
        report_error(out, NPUPROF_ERROR, "", &err);
        reports_free(&run.reports);
        return NPUPROF_BAD_PATH;
    }
    if ((options->outputs & NPUPROF_SUMMARY) && !session_is_prof(dir)) run.hints = mem_zalloc(run.n, sizeof *run.hints);
    run_all(&run, run.n, out);
    if (run.hints) advise(&run, run.n, dir, out);
    free(run.hints);
    reports_free(&run.reports);
    out->seconds = now_seconds() - start;
    return out->failed ? NPUPROF_FAILED : NPUPROF_OK;
}

/* `path` without slashes at its end. */
static char *trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return mem_strndup(path, n);
}

static void write_analysis(struct analysis *a, const char *dir, const struct npuprof_options *options,
                           struct npuprof_report *report)
{
    struct diag *diag = diag_new();
    struct written_list written = {0};
    struct error err = {0};
    char *path = trimmed(dir);
    if (analysis_write(a, path, !options->only_db, &written, diag, &err)) note_error(diag, &err);
    report_files(report, path, &written);
    written_free(&written);
    report_diag(report, "", diag);
    diag_free(diag);
    free(path);
}

static void reverse(char **paths, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        char *path = paths[i];
        paths[i] = paths[n - 1 - i];
        paths[n - 1 - i] = path;
    }
}

/* Directories and devices come one after the other, in the order of the reference tool, in which the last one has the
 * last word on operators that several have. */
int npuprof_analyze(const char *dir, const struct npuprof_options *options, struct npuprof_report **report)
{
    double start = now_seconds();
    struct npuprof_report *out = *report = mem_zalloc(1, sizeof *out);
    struct error err = {0};
    struct run run = {.options = options};
    if (session_discover(dir, &run.paths, &run.n, &err)) {
        report_error(out, NPUPROF_ERROR, "", &err);
        return NPUPROF_BAD_PATH;
    }
    reverse(run.paths, run.n);
    struct analysis *a = run.analysis = analysis_new(options->rules);
    run_all(&run, 1, out);
    write_analysis(a, dir, options, out);
    int status = analysis_without_master(a) ? NPUPROF_NO_TIMES
                 : out->failed              ? NPUPROF_FAILED
                 : analysis_all_before(a)   ? NPUPROF_ALL_BEFORE
                                            : NPUPROF_OK;
    analysis_free(a);
    out->seconds = now_seconds() - start;
    return status;
}

/* Put together what the PROF directories have, and write it. An error tells why it is no cluster, or what could not be
 * written; *status is set then. */
static int write_cluster(struct cluster *c, struct run *run, size_t n, int *status, struct npuprof_report *report,
                         struct error *err)
{
    struct written_list written = {0};
    for (size_t i = 0; i < n; i++) cluster_append(c, &run->gathered[i]);
    *status = NPUPROF_NO_CLUSTER;
    int failed = cluster_check(c, err);
    if (!failed) {
        *status = NPUPROF_FAILED;
        failed = cluster_write(c, &written, err);
    }
    report_files(report, c->path, &written);
    written_free(&written);
    return failed;
}

int npuprof_import_cluster(const char *dir, const struct npuprof_options *options, struct npuprof_report **report)
{
    double start = now_seconds();
    struct npuprof_report *out = *report = mem_zalloc(1, sizeof *out);
    struct error err = {0};
    struct run run = {.options = options};
    struct cluster c = {.path = trimmed(dir)};
    int status = NPUPROF_NO_CLUSTER, failed;
    if (session_is_prof(c.path))
        failed =
            error_set(&err, "%s is a PROF directory: --cluster takes the directory that holds those of all ranks", dir);
    else failed = session_discover(dir, &run.paths, &run.n, &err);
    if (!failed) {
        struct diag *diag = diag_new();
        session_note_others(dir, diag);
        report_diag(out, "", diag);
        diag_free(diag);
        run.gathered = mem_zalloc(run.n, sizeof *run.gathered);
        run_all(&run, run.n, out);
        failed = write_cluster(&c, &run, run.n, &status, out, &err);
        free(run.gathered);
    }
    if (failed) report_error(out, NPUPROF_ERROR, "", &err);
    else status = out->failed ? NPUPROF_FAILED : NPUPROF_OK;
    cluster_free(&c);
    out->seconds = now_seconds() - start;
    return status;
}
