/* task_time of the Ascend 310: how long tasks waited, were pending and ran, put together by task. */
#ifndef SUMMARY_TASK_PHASES_H
#define SUMMARY_TASK_PHASES_H

#include "export/export.h"

/* Write the report task_time if there is anything to write. Returns 0, or -1 with *err set. */
int task_phases_write(struct export_target *target, struct error *err);

#endif
