/* What the usage metrics of a host have in common: the value that most samples stay below, with room to spare, and
 * numbers of info.json. */
#ifndef METRICS_USAGE_H
#define METRICS_USAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "metrics/metric.h"

struct usage_peak {
    double peak;      /* the largest value */
    double recommend; /* of the values above 0 the one at 98 %, divided by 0.8 */
    bool any;         /* is there a value above 0? The others are 0 if not */
};

/* values[n] is sorted in place. */
struct usage_peak usage_peak(double *values, size_t n);

/* Two cells, peak and recommendation; N/A when there is none. rounded: to three decimals, else
 * the shortest text of the number. */
void usage_cells(struct table *t, struct usage_peak p, bool rounded);

/* A number of info.json that is above 0; 0 when it is missing or no number. Numbers in quotes are fine. */
double usage_info_number(const struct prof_dir *dir, const char *key);

/* To six decimals, as the reference stores percentages. */
double usage_round(double percent);

/* Epoch ns of a sample of a host, stamped with ns of its CLOCK_MONOTONIC_RAW. */
int64_t usage_time(const struct prof_dir *dir, uint64_t raw_ns);

/* A counter event "<name>" with the single series "Usage(%)". */
void usage_counter(struct trace *t, uint32_t pid, const char *name, int64_t time_ns, double percent);

#endif
