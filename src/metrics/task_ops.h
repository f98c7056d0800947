/* Names of the operators behind the tasks that samples of a device speak of, by stream and task id. */
#ifndef METRICS_TASK_OPS_H
#define METRICS_TASK_OPS_H

#include "metrics/metric.h"

struct task_ops {
    struct map names; /* task << 16 | stream -> str_id */
};

/* Of tasks that share both ids, the operator launched first or last is taken. Free with map_free(&o->names). */
void task_ops_build(struct task_ops *o, const struct metric_source *from, bool last);

/* "N/A" when no operator is known. */
str_id task_ops_name(const struct task_ops *o, uint32_t stream, uint32_t task);

/* Two rates of a task. */
struct task_rate {
    uint32_t stream, task;
    double first, second;
    str_id op; /* "N/A" when it is not known */
};

/* What such a metric loads from a device. */
struct task_rates {
    ARRAY(struct task_rate) rows; /* in the order of the records */
    bool with_ops;                /* operators were launched for this device */
    bool no_first;                /* the first rate is not to be told */
};

/* Fill in the operators (the last that was launched under the ids of a task). */
void task_rates_name(struct task_rates *r, const struct metric_source *from);
void task_rates_free(void *data);

/* Write the report of all devices; columns[6] end with the one for operators, which is left out where there are none.
 */
int task_rates_write(struct export_target *target, const char *stem, const char *const *columns,
                     const struct metric *metric, struct error *err);

/* Event codes of a setting of sample.json: hexadecimal numbers between commas, up to a semicolon. Returns how many
 * there are, of which the first `room` are in events[]. */
unsigned event_list(const char *text, uint32_t *events, unsigned room);

#endif
