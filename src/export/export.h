/* Writing the outputs of one PROF directory from its model. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdint.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/error.h"
#include "base/progress.h"
#include "model/model.h"
#include "npuprof.h"

struct reports; /* timeline/reports.h */

/* A file that was written. */
struct written_file {
    char *path; /* relative to the PROF directory; owned by the list */
    uint64_t bytes;
    uint64_t rows; /* events, rows */
};

struct written_list {
    ARRAY(struct written_file) files;
};

/* What is exported, and how. */
struct export_options {
    unsigned outputs;              /* enum npuprof_output, or-ed */
    unsigned threads;              /* >= 1 */
    enum npuprof_format format;    /* of the reports of a summary */
    const struct reports *reports; /* which layers the timeline has; NULL = all */
    uint64_t slice_bytes;          /* about how large a timeline file may be, 0 = as large as it gets */
};

/* What every exporter gets. One per exporter and run, so lists need no lock. */
struct export_target {
    const struct model *model;
    char stamp[15];         /* YYYYMMDDhhmmss of the run, in all file names */
    const char *output_dir; /* <PROF>/mindstudio_profiler_output; exists for timeline and summary */
    enum npuprof_format format;
    bool with_timelines;           /* the run writes timelines, too */
    const struct reports *reports; /* NULL = all layers */
    uint64_t slice_bytes;          /* 0 = one timeline file */
    struct written_list written;
    struct diag *diag;
    struct progress *progress; /* may be NULL; exporters add the rows they wrote */
};

/* "<output_dir>/<stem>_<stamp>.<ext>", malloc'ed. slice < 0: no slice part; else "<stem>_slice_<slice>_<stamp>.<ext>".
 */
char *export_path(const struct export_target *t, const char *stem, int slice, const char *ext);

/* Remember that `path` (absolute or as made by export_path) was written. */
void export_wrote(struct export_target *t, const char *path, uint64_t bytes, uint64_t rows);
void written_free(struct written_list *w);

/* The exporters. Each writes all its files; returns 0, or -1 with *err set when one of them could not be written (the
 * others still are). A report without data gives no file and no error. */
int timeline_export(struct export_target *t, struct error *err); /* msprof_, step_trace_ json */
int summary_export(struct export_target *t, struct error *err);  /* csv files; not README.txt */
int db_export(struct export_target *t,
              struct error *err); /* msprof_<stamp>.db in the PROF directory; takes the place of older ones */

/* Is a timeline file of that stem written when the collection has what it shows? */
bool timeline_has_file(const char *stem);

int found_export(struct export_target *t, struct error *err); /* mindstudio_profiler_log/import_<stamp>.log */

/* Make a directory for outputs, mode 0750; *made says whether it was not there. Links are refused: raw data made by
 * somebody else must not make us write elsewhere. Returns 0, or -1 with *err set. */
int export_make_dir(const char *path, bool *made, struct error *err);

/* Run the exporters that are asked for side by side, and write README.txt after a summary. All files of the run carry
 * one stamp, the local time, moved on while files of that stamp are there already. `written` (zeroed by the caller, who
 * frees it) lists the files, sorted by path; what could not be written is an error in `diag`. */
void export_run(const struct model *model, const struct export_options *options, struct diag *diag,
                struct progress *progress, struct written_list *written);

/* README.txt in our own words, from the files that are in output_dir now. */
int readme_write(const char *output_dir, struct error *err);

#endif
