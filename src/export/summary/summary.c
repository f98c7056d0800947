/* The registry of reports, and the walk over it. A new report is a file of its own and a line here. */
#include "export/summary/summary.h"

static const struct report *const reports[] = {
    &report_op_summary, &report_op_statistic, &report_communication_statistic, &report_api_statistic, &report_task_time,
    &report_step_trace, &report_fusion_op,
};

#define N_REPORTS (sizeof reports / sizeof *reports)

const struct report *report_find(const char *stem, size_t len)
{
    for (size_t i = 0; i < N_REPORTS; i++)
        if (strlen(reports[i]->stem) == len && !memcmp(reports[i]->stem, stem, len)) return reports[i];
    return NULL;
}

int summary_export(struct export_target *t, struct error *err)
{
    bool level0 = t->model->session->meta->level0;
    int status = 0;
    for (size_t i = 0; i < N_REPORTS; i++) {
        if (level0 && reports[i]->needs_ops) continue;
        struct error one = {0};
        if (!reports[i]->write(t, &one)) continue;
        if (!status) *err = one;
        else {
            char text[ERROR_DEPTH * ERROR_TEXT];
            diag_note(t->diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "%s", error_text(&one, text, sizeof text));
        }
        status = -1;
    }
    return status;
}
