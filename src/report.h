/* What a run has to say: struct npuprof_report. Each PROF fills one of its own, on whichever thread; joined in order
 * they are the report of the run. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/error.h"
#include "export/export.h"
#include "npuprof.h"

struct npuprof_report {
    ARRAY(struct npuprof_file) files;
    ARRAY(struct npuprof_message) messages;
    ARRAY(struct npuprof_prof) profs;
    ARRAY(const char *) advice;
    ARRAY(char *) texts; /* what all of these point to */
    double seconds;
    uint64_t input_bytes;
    bool failed;
};

/* A copy of `text` that lives as long as the report. */
const char *report_keep(struct npuprof_report *report, const char *text);

/* Add a line of advice. */
void report_advise(struct npuprof_report *report, const char *line);

/* Add a written file; its path is as a user can open it. */
void report_file(struct npuprof_report *report, const char *path);

/* Add written files; their paths are relative to `dir`. */
void report_files(struct npuprof_report *report, const char *dir, const struct written_list *written);

/* Add what `diag` says of the PROF directory `prof`, "" = of none in particular; errors make the report failed. */
void report_diag(struct npuprof_report *report, const char *prof, struct diag *diag);

/* Add a message of the run as a whole. */
void report_error(struct npuprof_report *report, enum npuprof_severity severity, const char *file,
                  const struct error *err);

/* Note how it went with the PROF directory that this report is about, and nothing else. */
void report_prof(struct npuprof_report *report, const char *name, double seconds);

/* Move everything of `from`, a zeroed or filled one, behind what `report` has. */
void report_append(struct npuprof_report *report, struct npuprof_report *from);

#endif
