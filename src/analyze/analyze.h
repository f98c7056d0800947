/* Analysis of communication: what each operator spent its time on, how fast its links were, how much went over each
 * link between two ranks. Over one PROF directory or several of a job; what is written: docs/outputs/analyze.md. */
#ifndef ANALYZE_ANALYZE_H
#define ANALYZE_ANALYZE_H

#include <stdint.h>

#include "base/diag.h"
#include "base/error.h"
#include "export/export.h"
#include "model/model.h"
#include "npuprof.h"

/* What was found so far. Keeps nothing of the models it was made of. */
struct analysis;

/* rules: enum npuprof_rule, or-ed. */
struct analysis *analysis_new(unsigned rules);
void analysis_free(struct analysis *a);

/* Add the operators of all devices of a PROF directory, last device name first. An operator that was there before, of
 * another device or directory, gives way to the later one in NPUPROF_COMMUNICATION; in NPUPROF_COMMUNICATION_MATRIX the
 * links of both count. */
void analysis_add(struct analysis *a, const struct model *m, struct diag *diag);

/* Is there nothing because all communication ran before the collection? */
bool analysis_all_before(const struct analysis *a);

/* Operators that no task of a master plane says the times of. With one of them nothing of NPUPROF_COMMUNICATION is
 * written: its totals would be wrong. */
size_t analysis_without_master(const struct analysis *a);

/* Write <dir>/analyze/: communication_analyzer.db and, with `json`, the JSON file of each rule. Tables of rules that
 * this analysis does not have are taken over from an older database. Lists what was written; returns 0, or -1 with *err
 * set when something could not be written; the rest is. */
int analysis_write(const struct analysis *a, const char *dir, bool json, struct written_list *written,
                   struct diag *diag, struct error *err);

#endif
