/* The library's face: runs session, model and exporters for one PROF directory after another, and turns what they left
 * in the diagnostics into the report.
 *
 * A thread beside the work looks at the progress object a few times per second and calls on_progress; nothing that
 * works waits for it. */
#include "npuprof.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/analyze.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/jobs.h"
#include "base/progress.h"
#include "base/tempfile.h"
#include "export/export.h"
#include "export/timeline/reports.h"
#include "model/model.h"
#include "session/session.h"

#define TICK_MS 200 /* between two calls of on_progress */

struct npuprof_report {
    ARRAY(struct npuprof_file) files;
    ARRAY(struct npuprof_message) messages;
    ARRAY(char *) texts; /* what files and messages point to */
    double seconds;
    uint64_t input_bytes;
    size_t profs;
    bool failed;
};

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

size_t npuprof_report_files(const struct npuprof_report *report, const struct npuprof_file **files)
{
    *files = report->files.at;
    return report->files.n;
}

size_t npuprof_report_messages(const struct npuprof_report *report, const struct npuprof_message **messages)
{
    *messages = report->messages.at;
    return report->messages.n;
}

double npuprof_report_seconds(const struct npuprof_report *report)
{
    return report->seconds;
}

uint64_t npuprof_report_input_bytes(const struct npuprof_report *report)
{
    return report->input_bytes;
}

size_t npuprof_report_profs(const struct npuprof_report *report)
{
    return report->profs;
}

void npuprof_report_free(struct npuprof_report *report)
{
    if (!report) return;
    for (size_t i = 0; i < report->texts.n; i++) free(report->texts.at[i]);
    array_free(&report->texts);
    array_free(&report->files);
    array_free(&report->messages);
    free(report);
}

void npuprof_abort(void)
{
    tempfile_discard_all();
}

/* The report owns `text` from now on. */
static const char *keep(struct npuprof_report *report, char *text)
{
    array_push(&report->texts, text);
    return text;
}

static const char *keep_copy(struct npuprof_report *report, const char *text)
{
    return keep(report, mem_strndup(text, strlen(text)));
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The thread that tells how far a PROF is. */
struct watch {
    const struct npuprof_options *options;
    const char *prof;
    struct progress progress;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool started, stop;
};

static void tell(struct watch *w, const char *phase, double phase_start)
{
    struct npuprof_progress told = {
        .prof = w->prof,
        .phase = phase,
        .done = w->progress.done,
        .total = w->progress.total,
        .units_are_bytes = w->progress.bytes,
        .elapsed_seconds = now_seconds() - phase_start,
    };
    w->options->on_progress(&told, w->options->context);
}

static void *watch_work(void *context)
{
    struct watch *w = context;
    const char *phase = NULL;
    double phase_start = 0,
           last_look = now_seconds(); /* a phase began after the last look: its time is not too short */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        until.tv_nsec += TICK_MS * 1000000l;
        until.tv_sec += until.tv_nsec / 1000000000l;
        until.tv_nsec %= 1000000000l;
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
        const char *current = w->progress.phase;
        if (w->stop || !current) continue;
        if (current != phase) phase_start = last_look;
        phase = current;
        last_look = now_seconds();
        tell(w, phase, phase_start);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void watch_start(struct watch *w, const struct npuprof_options *options, const char *prof)
{
    *w = (struct watch){.options = options, .prof = prof};
    if (!options->on_progress) return;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&w->lock, NULL);
    w->started = !pthread_create(&w->thread, NULL, watch_work, w);
}

static void watch_stop(struct watch *w)
{
    if (!w->options->on_progress) return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->started) pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->wake);
}

/* One PROF directory on its way into the report. */
struct prof_run {
    const char *path;
    const char *name;
    const struct npuprof_options *options;
    const struct reports *reports; /* of an export */
    struct analysis *analysis;     /* NULL = it is an export */
    struct npuprof_report *report;
    struct diag *diag;
};

static void note_error(struct diag *diag, const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    diag_note(diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "%s", error_text(err, text, sizeof text));
}

static void add_message(const struct diag_entry *e, void *context)
{
    static const enum npuprof_severity severities[] = {
        [DIAG_INFO] = NPUPROF_INFO, [DIAG_WARNING] = NPUPROF_WARNING, [DIAG_ERROR] = NPUPROF_ERROR};
    struct prof_run *r = context;
    struct npuprof_message m = {
        .severity = severities[e->level],
        .prof = r->name,
        .file = keep_copy(r->report, e->file),
        .has_offset = e->first_offset != DIAG_NO_OFFSET,
        .offset = e->first_offset != DIAG_NO_OFFSET ? e->first_offset : 0,
        .count = e->count,
        .text = keep_copy(r->report, e->why),
    };
    array_push(&r->report->messages, m);
    if (e->level == DIAG_ERROR) r->report->failed = true;
}

/* Paths in `written` are relative to `dir`. */
static void add_files(struct npuprof_report *report, const char *dir, const struct written_list *written)
{
    for (size_t i = 0; i < written->files.n; i++) {
        const struct written_file *f = &written->files.at[i];
        struct npuprof_file file = {keep(report, mem_printf("%s/%s", dir, f->path)), f->bytes, f->rows};
        array_push(&report->files, file);
    }
}

static unsigned threads_of(const struct npuprof_options *options)
{
    return options->jobs ? options->jobs : jobs_cores();
}

static void build_model(struct model *m, struct prof_run *r, struct session *s, struct progress *progress)
{
    struct model_options options = {
        .threads = threads_of(r->options), .progress = progress, .only_communication = r->analysis != NULL};
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
    struct export_options options = {r->options->outputs, threads_of(r->options), r->options->format, r->reports,
                                     (uint64_t)r->options->slice_mb * 1000000};
    if (model.scope != MODEL_WHOLE) s->script_timeline = s->script_summary = true;
    if (model.scope != MODEL_NOTHING) export_run(&model, &options, r->diag, progress, &written);
    if (!written.files.n && !diag_entries(r->diag, DIAG_ERROR))
        diag_note(r->diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "nothing to export: it holds no data of what was asked for");
    add_files(r->report, r->path, &written);
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

/* Open a PROF directory, and export or analyze it. */
static void run_prof(struct prof_run r)
{
    const char *slash = strrchr(r.path, '/');
    struct error err = {0};
    r.name = keep_copy(r.report, slash ? slash + 1 : r.path);
    r.diag = diag_new();
    struct session *s = session_open(r.path, r.diag, &err);
    if (s) {
        struct watch w;
        watch_start(&w, r.options, r.name);
        struct progress *progress = r.options->on_progress ? &w.progress : NULL;
        if (r.analysis) analyze_session(&r, s, progress);
        else export_session(&r, s, progress);
        watch_stop(&w);
        session_close(s);
    } else {
        note_error(r.diag, &err);
    }
    diag_each(r.diag, add_message, &r);
    diag_free(r.diag);
}

static void add_own_message(struct npuprof_report *report, enum npuprof_severity severity, const char *file,
                            const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    struct npuprof_message m = {
        severity, "", keep_copy(report, file), 0, 0, 1, keep_copy(report, error_text(err, text, sizeof text))};
    array_push(&report->messages, m);
}

/* What is wrong with the content costs only the selection. */
static int read_reports(struct reports *reports, const char *path, struct npuprof_report *report)
{
    struct error err = {0}, complaint = {0};
    *reports = (struct reports){0};
    if (!path) return 0;
    if (reports_read(reports, path, &complaint, &err)) {
        error_wrap(&err, "the selection of reports");
        add_own_message(report, NPUPROF_ERROR, "", &err);
        return -1;
    }
    if (complaint.n) {
        error_wrap(&complaint, "not used, everything is exported");
        add_own_message(report, NPUPROF_WARNING, path, &complaint);
    }
    return 0;
}

int npuprof_export(const char *dir, const struct npuprof_options *options, struct npuprof_report **report)
{
    double start = now_seconds();
    struct npuprof_report *out = *report = mem_zalloc(1, sizeof *out);
    struct error err = {0};
    struct reports reports;
    char **paths;
    if (read_reports(&reports, options->reports_file, out)) return NPUPROF_BAD_PATH;
    if (session_discover(dir, &paths, &out->profs, &err)) {
        add_own_message(out, NPUPROF_ERROR, "", &err);
        out->profs = 0;
        reports_free(&reports);
        return NPUPROF_BAD_PATH;
    }
    for (size_t i = 0; i < out->profs; i++) {
        run_prof((struct prof_run){.path = paths[i], .options = options, .reports = &reports, .report = out});
        free(paths[i]);
    }
    free(paths);
    reports_free(&reports);
    out->seconds = now_seconds() - start;
    return out->failed ? NPUPROF_FAILED : NPUPROF_OK;
}

static void write_analysis(struct analysis *a, const char *dir, const struct npuprof_options *options,
                           struct npuprof_report *report)
{
    struct prof_run r = {.name = "", .report = report, .diag = diag_new()};
    struct written_list written = {0};
    struct error err = {0};
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    char *trimmed = mem_strndup(dir, n);
    if (analysis_write(a, trimmed, !options->only_db, &written, r.diag, &err)) note_error(r.diag, &err);
    add_files(report, trimmed, &written);
    written_free(&written);
    diag_each(r.diag, add_message, &r);
    diag_free(r.diag);
    free(trimmed);
}

/* Directories and devices come in the order of the reference tool, in which the last one has the last word on operators
 * that several have. */
int npuprof_analyze(const char *dir, const struct npuprof_options *options, struct npuprof_report **report)
{
    double start = now_seconds();
    struct npuprof_report *out = *report = mem_zalloc(1, sizeof *out);
    struct error err = {0};
    char **paths;
    if (session_discover(dir, &paths, &out->profs, &err)) {
        add_own_message(out, NPUPROF_ERROR, "", &err);
        out->profs = 0;
        return NPUPROF_BAD_PATH;
    }
    struct analysis *a = analysis_new(options->rules);
    for (size_t i = out->profs; i--;) {
        run_prof((struct prof_run){.path = paths[i], .options = options, .analysis = a, .report = out});
        free(paths[i]);
    }
    free(paths);
    write_analysis(a, dir, options, out);
    int status = analysis_without_master(a) ? NPUPROF_NO_TIMES
                 : out->failed              ? NPUPROF_FAILED
                 : analysis_all_before(a)   ? NPUPROF_ALL_BEFORE
                                            : NPUPROF_OK;
    analysis_free(a);
    out->seconds = now_seconds() - start;
    return status;
}
