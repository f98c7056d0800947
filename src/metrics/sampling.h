/* What metrics have in common: times of samples, units, and counters of the timeline. */
#ifndef METRICS_SAMPLING_H
#define METRICS_SAMPLING_H

#include "decode/records.h"
#include "metrics/metric.h"

#define BYTES_PER_MB 1048576.0
#define BYTES_PER_KB 1024.0

/* Do the records have the layouts of info.json "version" 2.0? */
bool sample_layout_2(const struct prof_dir *dir);

/* Epoch ns of a sample whose stamp is ns of the device's CLOCK_MONOTONIC_RAW. Absurd counts give the largest time. */
int64_t sample_time(const struct prof_dir *dir, uint64_t device_mono_ns);

/* ns of the device's CLOCK_MONOTONIC_RAW, microseconds after its profiler started. */
uint64_t sample_device_ns(const struct prof_dir *dir, uint64_t us);

/* Epoch ns of memory metrics, whose stamps are microseconds since the profiler of the device started, or epoch ns. The
 * reference stores these as doubles, which near today are multiples of 256 ns, and computes rates from them: the same
 * rates come from the same times only. */
int64_t sample_stored_time(const struct prof_dir *dir, uint64_t us);
int64_t sample_stored_epoch(uint64_t ns);

/* Sort n samples of `size` bytes by a key, stable: by the minor key first, then by the major one. */
typedef uint64_t (*sample_key)(const void *sample);
void sample_sort(void *samples, size_t n, size_t size, sample_key key);

/* The key of a signed time. */
static inline uint64_t sample_time_key(int64_t time_ns)
{
    return (uint64_t)time_ns ^ 1ull << 63;
}

/* Was that before the collection began? Neither timeline nor database show it. */
static inline bool sample_too_early(const struct prof_dir *dir, int64_t time_ns)
{
    return time_ns < dir->meta.start_ns;
}

/* A rate of a database, in B/s: the whole part of MB/s * 2^20. */
int64_t sample_bytes_per_s(double mb_per_s);

/* A line of a text input that cannot be used is skipped and noted, but for a heading at the start of a file and blank
 * lines. */
void sample_skip_line(struct diag *diag, const struct record_place *place, size_t n_fields);

/* To three decimals, as the reference stores many rates. */
double sample_round(double value);

/* A text of sample.json of a directory, "" when it is missing or no text. */
const char *sample_setting(const struct prof_dir *dir, const char *key);

/* The value of a series of a counter, after trace_counter. */
#define trace_arg_double(t, key, value) (trace_key(t, key), out_double(&(t)->out, (value)))

/* The same with a name that is known at run time only and needs no escaping. */
void sample_series(struct trace *t, const char *name, double value);
void sample_series_u64(struct trace *t, const char *name, uint64_t value);

/* Is the core in the comma list of a key ("ctrl_cpu", "ai_cpu") of the device's description? */
bool device_core_listed(const struct prof_dir *dir, const char *key, uint64_t number);

#endif
