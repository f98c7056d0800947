/* The one place where counts become time. Everything in the model is nanoseconds since the epoch (local wall clock of
 * the collection).
 *
 * Model of the clocks (docs/formats/clocks.md): the host's CLOCK_MONOTONIC_RAW was mono_ns when the device counter
 * stood at device_ref and the host counter at host_ref; epoch time = raw time + epoch_offset_ns. From there on all
 * arithmetic is exact (integers, rounded down); absurd counts give the largest or smallest time.
 */
#ifndef SESSION_CLOCK_H
#define SESSION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAX_HZ 9000000000u /* no counter is faster; keeps the arithmetic within 64 bits */

struct clock {
    uint64_t device_ref;     /* dev_start.log cntvct, device ticks */
    uint64_t device_hz;      /* hwts_frequency in Hz, 1 … CLOCK_MAX_HZ */
    int64_t device_mono_ns;  /* dev_start.log clock_monotonic_raw */
    uint64_t host_ref;       /* host_start.log cntvct, host ticks */
    uint64_t host_hz;        /* host counter in Hz, 1 … CLOCK_MAX_HZ */
    bool host_is_ns;         /* host counts already are raw ns (frequency empty or 1000 MHz) */
    int64_t mono_ns;         /* raw ns when the counters stood at their references */
    bool task_seconds;       /* clock_task_ns goes through seconds */
    double mono_s;           /* for that: the same in seconds */
    int64_t epoch_offset_ns; /* collectionTimeBegin * 1000 - clockMonotonicRaw */
};

int64_t clock_device_ns(const struct clock *c, uint64_t ticks); /* device counter -> epoch ns */
int64_t clock_task_ns(const struct clock *c, uint64_t ticks);   /* the same, for starts and ends of tasks: see below */
double clock_task_raw(const struct clock *c, uint64_t ticks);   /* the double of raw ns on the way there */
int64_t clock_host_ns(const struct clock *c, uint64_t ticks);   /* host counter -> epoch ns */
int64_t clock_device_duration_ns(const struct clock *c, uint64_t ticks);

/* Whole ns between two counts, cut off from the difference of two doubles of ms: sometimes one less than exact. The
 * reference has AI CPU tasks that the scheduler reports so. */
int64_t clock_ms_duration_ns(const struct clock *c, uint64_t start, uint64_t end);

double clock_device_duration_us(const struct clock *c,
                                uint64_t ticks); /* with the rounding of the reference's scripts */

/* How much longer, in ps, than `ns`, the difference of their times, it is from one count to a later one: what was lost
 * when the times were rounded to whole ns. 0 when it is more than that. Of tasks: as exact as clock_task_ns. */
int16_t clock_task_rest_ps(const struct clock *c, uint64_t start, uint64_t end, int64_t ns);
int16_t clock_host_rest_ps(const struct clock *c, uint64_t begin, uint64_t end, int64_t ns);

int64_t clock_sampled_ns(const struct clock *c, int64_t device_mono_ns); /* device CLOCK_MONOTONIC_RAW ns -> epoch ns */
int64_t clock_raw_ns(const struct clock *c, int64_t host_raw_ns);        /* host CLOCK_MONOTONIC_RAW ns -> epoch ns */

/* The reference tool stores starts and ends of tasks as doubles of raw ns, steps of 1/64 ns after a day of uptime and
 * of 2 ns after 104 days. clock_task_ns goes through the same double: with counters whose tick is no whole number of ns
 * the last digit is sometimes one more than exact, and times are what tasks are known by in both tools' outputs. Where
 * the reference's scripts read the task log (chip.native_tasks) it converts by way of seconds since boot. */

/* clock.mono_ns: what CLOCK_MONOTONIC_RAW showed `host_ticks` of the host counter after it showed mono_ns. In floating
 * point, like the reference tool: beyond 2^53 ns a multiple of 2 or more. */
int64_t clock_reference_ns(int64_t mono_ns, int64_t host_ticks, uint64_t host_hz);

/* clock.mono_s: the same in seconds, the ticks rounded to whole ns. */
double clock_reference_s(int64_t mono_ns, int64_t host_ticks, uint64_t host_hz);

#endif
