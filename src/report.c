/* Texts are owned by the report and never move, so that files and messages can point at them and reports can be joined
 * by moving pointers. */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

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

size_t npuprof_report_profs(const struct npuprof_report *report, const struct npuprof_prof **profs)
{
    *profs = report->profs.at;
    return report->profs.n;
}

size_t npuprof_report_advice(const struct npuprof_report *report, const char *const **lines)
{
    *lines = report->advice.at;
    return report->advice.n;
}

double npuprof_report_seconds(const struct npuprof_report *report)
{
    return report->seconds;
}

uint64_t npuprof_report_input_bytes(const struct npuprof_report *report)
{
    return report->input_bytes;
}

static void release(struct npuprof_report *report)
{
    array_free(&report->texts);
    array_free(&report->files);
    array_free(&report->messages);
    array_free(&report->profs);
    array_free(&report->advice);
}

void npuprof_report_free(struct npuprof_report *report)
{
    if (!report) return;
    for (size_t i = 0; i < report->texts.n; i++) free(report->texts.at[i]);
    release(report);
    free(report);
}

/* The report owns `text` from now on. */
static const char *own(struct npuprof_report *report, char *text)
{
    array_push(&report->texts, text);
    return text;
}

const char *report_keep(struct npuprof_report *report, const char *text)
{
    return own(report, mem_strndup(text, strlen(text)));
}

void report_advise(struct npuprof_report *report, const char *line)
{
    array_push(&report->advice, report_keep(report, line));
}

void report_file(struct npuprof_report *report, const char *path)
{
    struct stat st;
    uint64_t bytes = stat(path, &st) ? 0 : (uint64_t)st.st_size;
    array_push(&report->files, ((struct npuprof_file){report_keep(report, path), bytes, 0}));
}

void report_files(struct npuprof_report *report, const char *dir, const struct written_list *written)
{
    for (size_t i = 0; i < written->files.n; i++) {
        const struct written_file *f = &written->files.at[i];
        struct npuprof_file file = {own(report, mem_printf("%s/%s", dir, f->path)), f->bytes, f->rows};
        array_push(&report->files, file);
    }
}

struct about {
    struct npuprof_report *report;
    const char *prof;
};

static void add_message(const struct diag_entry *e, void *context)
{
    static const enum npuprof_severity severities[] = {
        [DIAG_INFO] = NPUPROF_INFO, [DIAG_WARNING] = NPUPROF_WARNING, [DIAG_ERROR] = NPUPROF_ERROR};
    const struct about *a = context;
    struct npuprof_message m = {
        .severity = severities[e->level],
        .prof = a->prof,
        .file = report_keep(a->report, e->file),
        .has_offset = e->first_offset != DIAG_NO_OFFSET,
        .offset = e->first_offset != DIAG_NO_OFFSET ? e->first_offset : 0,
        .count = e->count,
        .text = report_keep(a->report, e->why),
    };
    array_push(&a->report->messages, m);
    if (e->level == DIAG_ERROR) a->report->failed = true;
}

void report_diag(struct npuprof_report *report, const char *prof, struct diag *diag)
{
    struct about about = {report, report_keep(report, prof)};
    diag_each(diag, add_message, &about);
}

void report_error(struct npuprof_report *report, enum npuprof_severity severity, const char *file,
                  const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    struct npuprof_message m = {
        severity, "", report_keep(report, file), 0, 0, 1, report_keep(report, error_text(err, text, sizeof text))};
    array_push(&report->messages, m);
}

void report_prof(struct npuprof_report *report, const char *name, double seconds)
{
    struct npuprof_prof prof = {.name = report_keep(report, name), .seconds = seconds, .error = ""};
    for (size_t i = 0; i < report->messages.n; i++) {
        const struct npuprof_message *m = &report->messages.at[i];
        prof.warnings += m->severity == NPUPROF_WARNING;
        if (m->severity == NPUPROF_ERROR && !prof.errors++) prof.error = m->text;
    }
    prof.files = report->files.n;
    for (size_t i = 0; i < report->files.n; i++) prof.bytes += report->files.at[i].bytes;
    array_push(&report->profs, prof);
}

#define APPEND(to, from)                                                                                               \
    for (size_t i = 0; i < (from)->n; i++) array_push(to, (from)->at[i])

void report_append(struct npuprof_report *report, struct npuprof_report *from)
{
    APPEND(&report->files, &from->files);
    APPEND(&report->messages, &from->messages);
    APPEND(&report->profs, &from->profs);
    APPEND(&report->advice, &from->advice);
    APPEND(&report->texts, &from->texts);
    report->input_bytes += from->input_bytes;
    report->failed |= from->failed;
    release(from);
    *from = (struct npuprof_report){0};
}
