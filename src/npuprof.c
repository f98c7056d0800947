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
    *options = (struct npuprof_options){.outputs = NPUPROF_ALL};
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
    const struct reports *reports;
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

static void add_files(struct prof_run *r, const struct written_list *written)
{
    for (size_t i = 0; i < written->files.n; i++) {
        const struct written_file *f = &written->files.at[i];
        struct npuprof_file file = {keep(r->report, mem_printf("%s/%s", r->path, f->path)), f->bytes, f->rows};
        array_push(&r->report->files, file);
    }
}

static void export_session(struct prof_run *r, const struct session *s, struct watch *w)
{
    struct progress *progress = r->options->on_progress ? &w->progress : NULL;
    unsigned threads = r->options->jobs ? r->options->jobs : jobs_cores();
    struct model model;
    double start = now_seconds();
    model_build(&model, s, &(struct model_options){threads, progress}, r->diag);
    diag_note(r->diag, DIAG_INFO, "", DIAG_NO_OFFSET, "raw data read and joined in %.2f s", now_seconds() - start);
    struct written_list written = {0};
    struct export_options options = {r->options->outputs, threads, r->options->format, r->reports};
    export_run(&model, &options, r->diag, progress, &written);
    if (!written.files.n && !diag_entries(r->diag, DIAG_ERROR))
        diag_note(r->diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "nothing to export: it holds no data of what was asked for");
    add_files(r, &written);
    written_free(&written);
    model_free(&model);
}

static void export_prof(const char *path, const struct npuprof_options *options, const struct reports *reports,
                        struct npuprof_report *report)
{
    const char *slash = strrchr(path, '/');
    struct prof_run r = {path, keep_copy(report, slash ? slash + 1 : path), options, reports, report, diag_new()};
    struct error err = {0};
    struct session *s = session_open(path, r.diag, &err);
    if (s) {
        struct watch w;
        report->input_bytes += s->input_bytes;
        watch_start(&w, options, r.name);
        export_session(&r, s, &w);
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
        export_prof(paths[i], options, &reports, out);
        free(paths[i]);
    }
    free(paths);
    reports_free(&reports);
    out->seconds = now_seconds() - start;
    return out->failed ? NPUPROF_FAILED : NPUPROF_OK;
}
