/* The reports of a summary: one file each, all known to the registry in summary.c. */
#ifndef SUMMARY_SUMMARY_H
#define SUMMARY_SUMMARY_H

#include <stdbool.h>

#include "export/export.h"
#include "export/summary/table.h"

struct report {
    const char *stem;  /* of the file name: <stem>_<stamp>.csv */
    const char *about; /* for README.txt: a sentence or two, one per line */
    bool needs_ops;    /* of operators that were named: not at profiling level 0 */

    /* Write the report if there is anything to write. Returns 0, or -1 with *err set. NULL for the report of a metric
     * (metrics/) that is one table per directory, put together under the columns Device_id and: */
    int (*write)(struct export_target *t, struct error *err);
    const char *const *columns;                                     /* ended by NULL */
    uint64_t (*rows)(const struct prof_dir *dir, const void *data); /* of a directory */
    void (*fill)(struct table *t, const struct prof_dir *dir, const void *data);
};

extern const struct report report_op_summary, report_op_statistic, report_communication_statistic, report_api_statistic,
    report_task_time, report_step_trace, report_fusion_op;

/* In `fill`: begin a row with its Device_id, and end it; false = the file cannot be written, stop. */
void report_row(struct table *t, const struct prof_dir *dir);
static inline bool report_row_end(struct table *t)
{
    return !table_end_row(t);
}

/* The i-th directory under whose Device_id reports list what the host did, NULL = no more: the host; in the reference's
 * scripts (session.script_summary) every device, the host only where there is none. */
const struct prof_dir *host_listed_under(const struct model *m, size_t i);

/* Name of a model, "N/A" when it has none. */
str_id report_model_name(const struct model *m, uint32_t model_id);

/* The reports that are of no metric: *n entries. */
const struct report *const *reports_own(size_t *n);

/* The report with that stem, or NULL. */
const struct report *report_find(const char *stem, size_t len);

/* end - start, but never negative and never more than an int64_t holds, whatever damaged clocks made of the times. */
static inline int64_t span_ns(int64_t start_ns, int64_t end_ns)
{
    int64_t span;
    if (end_ns <= start_ns) return 0;
    return __builtin_sub_overflow(end_ns, start_ns, &span) ? INT64_MAX : span;
}

/* The same in ps, exact: struct task and struct api say what rounding took away. */
__extension__ typedef unsigned __int128 wide;
static inline wide span_ps(int64_t start_ns, int64_t end_ns, int16_t rest_ps)
{
    __extension__ __int128 ps = (__int128)span_ns(start_ns, end_ns) * 1000 + rest_ps;
    return ps < 0 ? 0 : (wide)ps;
}

/* The quotient rounded half up, at most an int64_t. */
static inline int64_t divide_round(wide a, wide b)
{
    wide q = (a + b / 2) / b;
    return q > INT64_MAX ? INT64_MAX : (int64_t)q;
}

/* Number of elements of an array of column names. */
#define COLUMNS(array) (array), sizeof(array) / sizeof *(array)

#endif
