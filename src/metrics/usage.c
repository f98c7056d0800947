/* What the usage metrics of a host have in common. */
#include "metrics/usage.h"

#include <math.h>
#include <stdlib.h>

#include "metrics/sampling.h"
#include "metrics/text.h"

#define PERCENTILE 0.98
#define HEADROOM   0.8

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

struct usage_peak usage_peak(double *values, size_t n)
{
    if (n) qsort(values, n, sizeof *values, ascending);
    size_t first = 0;
    while (first < n && !(values[first] > 0)) first++;
    if (first == n) return (struct usage_peak){0};
    size_t at = first + (size_t)ceil((double)(n - first - 1) * PERCENTILE);
    return (struct usage_peak){values[n - 1], values[at] / HEADROOM, true};
}

void usage_cells(struct table *t, struct usage_peak p, bool rounded)
{
    if (!p.any) {
        table_na(t, 2);
        return;
    }
    void (*cell)(struct table *, double) = rounded ? table_round : table_shortest;
    cell(t, p.peak);
    cell(t, p.recommend);
}

double usage_info_number(const struct prof_dir *dir, const char *key)
{
    const json_t *value = json_object_get(dir->meta.info, key);
    double number = 0;
    if (json_is_number(value)) number = json_number_value(value);
    else if (json_is_string(value))
        text_f64((struct text_field){json_string_value(value), json_string_length(value)}, &number);
    return number > 0 ? number : 0;
}

double usage_round(double percent)
{
    return fabs(percent) < 1e9 ? rint(percent * 1e6) / 1e6 : percent;
}

int64_t usage_time(const struct prof_dir *dir, uint64_t raw_ns)
{
    return clock_raw_ns(&dir->clock, raw_ns > INT64_MAX ? INT64_MAX : (int64_t)raw_ns);
}

void usage_counter(struct trace *t, uint32_t pid, const char *name, int64_t time_ns, double percent)
{
    trace_begin(t);
    out_text(&t->out, name);
    trace_counter(t, pid, 0, time_ns);
    trace_arg_double(t, "Usage(%)", percent);
    trace_end(t);
}
