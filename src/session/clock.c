/* raw = mono_ns + (count - reference) * 10^9 / hz; epoch = raw + offset.
 *
 * The distance from the reference is rounded to whole picoseconds (a millionth of the µs that the reference tool counts
 * in), the time then down to whole nanoseconds. A count is split into whole seconds and a rest, so that everything fits
 * 64 bits without losing a digit. Counts come from files that may be damaged: whatever they hold, results saturate
 * instead of overflowing. */
#include "session/clock.h"

#include <math.h>

#define NS_PER_S 1000000000u

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static int64_t subtract(int64_t a, int64_t b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference)) return b > 0 ? INT64_MIN : INT64_MAX;
    return difference;
}

/* A time or a duration: ns + ps / 1000, ps < 1000. */
struct fine {
    int64_t ns;
    unsigned ps;
};

static struct fine ticks_time(uint64_t ticks, uint64_t hz)
{
    uint64_t seconds = ticks / hz, rest = (ticks % hz) * NS_PER_S, ns;
    uint64_t ps = (rest % hz * 1000 + hz / 2) / hz;
    rest = rest / hz + ps / 1000;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &ns) || __builtin_add_overflow(ns, rest, &ns) || ns > INT64_MAX)
        return (struct fine){INT64_MAX, 0};
    return (struct fine){(int64_t)ns, (unsigned)(ps % 1000)};
}

/* The same when a tick is a whole number of ns, which the common counters have (50 and 100 MHz). */
static struct fine whole_ticks_time(uint64_t ticks, uint64_t ns_per_tick)
{
    uint64_t ns;
    bool too_long = __builtin_mul_overflow(ticks, ns_per_tick, &ns) || ns > INT64_MAX;
    return (struct fine){too_long ? INT64_MAX : (int64_t)ns, 0};
}

static struct fine distance(uint64_t ticks, uint64_t hz)
{
    return NS_PER_S % hz ? ticks_time(ticks, hz) : whole_ticks_time(ticks, NS_PER_S / hz);
}

/* Raw time of a count. */
static struct fine raw_time(const struct clock *c, uint64_t ticks, uint64_t reference, uint64_t hz)
{
    bool before = ticks < reference;
    struct fine d = distance(before ? reference - ticks : ticks - reference, hz);
    if (!before) return (struct fine){add(c->mono_ns, d.ns), d.ps};
    int64_t ns = subtract(c->mono_ns, d.ns);
    return d.ps ? (struct fine){subtract(ns, 1), 1000 - d.ps} : (struct fine){ns, 0};
}

static int64_t whole_ns(double ns)
{
    return ns >= 0x1p63 ? INT64_MAX : ns < -0x1p63 ? INT64_MIN : (int64_t)floor(ns);
}

/* In double, because the times of the reference tool hang on this one point: from 2^53 ns on (104 days of uptime) it is
 * a multiple of 2 ns there, and a time that differs in the last digit would not be found again. */
int64_t clock_reference_ns(int64_t mono_ns, int64_t host_ticks, uint64_t host_hz)
{
    return whole_ns((double)mono_ns + (double)host_ticks * 1000 / ((double)host_hz / 1e6));
}

double clock_reference_s(int64_t mono_ns, int64_t host_ticks, uint64_t host_hz)
{
    return ((double)mono_ns + rint((double)host_ticks * 1e9 / (double)host_hz)) / 1e9;
}

int64_t clock_device_ns(const struct clock *c, uint64_t ticks)
{
    return clock_raw_ns(c, raw_time(c, ticks, c->device_ref, c->device_hz).ns);
}

/* Digit by digit like the reference's scripts: both references make the detour of a division and a multiplication. */
static double seconds_time(const struct clock *c, uint64_t ticks)
{
    double reference = (double)c->device_ref / 1e9;
    return ((double)ticks - reference * 1e9) / (double)c->device_hz * 1e9 + c->mono_s * 1e9;
}

double clock_task_raw(const struct clock *c, uint64_t ticks)
{
    if (c->task_seconds) return seconds_time(c, ticks);
    struct fine raw = raw_time(c, ticks, c->device_ref, c->device_hz);
    return (double)raw.ns + raw.ps / 1e3;
}

int64_t clock_ms_duration_ns(const struct clock *c, uint64_t start, uint64_t end)
{
    return whole_ns((clock_task_raw(c, end) / 1e6 - clock_task_raw(c, start) / 1e6) * 1e6);
}

int64_t clock_task_ns(const struct clock *c, uint64_t ticks)
{
    return clock_raw_ns(c, whole_ns(clock_task_raw(c, ticks)));
}

int64_t clock_host_ns(const struct clock *c, uint64_t ticks)
{
    if (c->host_is_ns) return clock_raw_ns(c, ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks);
    return clock_raw_ns(c, raw_time(c, ticks, c->host_ref, c->host_hz).ns);
}

double clock_device_duration_us(const struct clock *c, uint64_t ticks)
{
    return (double)ticks / (double)c->device_hz * 1e6;
}

int64_t clock_device_duration_ns(const struct clock *c, uint64_t ticks)
{
    return distance(ticks, c->device_hz).ns;
}

#define REST_MAX_NS 2 /* each of two times was rounded */

static int16_t rest_ps(struct fine exact, int64_t ns)
{
    int64_t more = subtract(exact.ns, ns);
    if (more < -REST_MAX_NS || more > REST_MAX_NS) return 0;
    return (int16_t)(more * 1000 + (int64_t)exact.ps);
}

int16_t clock_task_rest_ps(const struct clock *c, uint64_t start, uint64_t end, int64_t ns)
{
    struct fine exact;
    if (end <= start) return 0;
    if (c->task_seconds) {
        double span = seconds_time(c, end) - seconds_time(c, start);
        exact = (struct fine){whole_ns(span), (unsigned)lround((span - floor(span)) * 1000)};
    } else {
        exact = distance(end - start, c->device_hz);
    }
    return rest_ps(exact, ns);
}

int16_t clock_host_rest_ps(const struct clock *c, uint64_t begin, uint64_t end, int64_t ns)
{
    if (c->host_is_ns || end <= begin) return 0;
    return rest_ps(distance(end - begin, c->host_hz), ns);
}

int64_t clock_sampled_ns(const struct clock *c, int64_t device_mono_ns)
{
    return clock_raw_ns(c, add(c->mono_ns, subtract(device_mono_ns, c->device_mono_ns)));
}

int64_t clock_raw_ns(const struct clock *c, int64_t host_raw_ns)
{
    return add(host_raw_ns, c->epoch_offset_ns);
}
