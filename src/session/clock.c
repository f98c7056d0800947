/* raw = mono_ns + (count - reference) * 10^9 / hz, rounded down; epoch = raw + offset.
 *
 * A count is split into whole seconds and a rest, so that everything fits 64 bits without losing a digit. Counts come
 * from files that may be damaged: whatever they hold, results saturate instead of overflowing. */
#include "session/clock.h"

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

/* ticks in ns, rounded down, or up when `up` is 1. */
static int64_t ticks_ns(uint64_t ticks, uint64_t hz, uint64_t up)
{
    uint64_t seconds = ticks / hz, rest = (ticks % hz) * NS_PER_S, whole;
    rest = (rest + up * (hz - 1)) / hz;
    if (__builtin_mul_overflow(seconds, NS_PER_S, &whole) || __builtin_add_overflow(whole, rest, &whole) ||
        whole > INT64_MAX)
        return INT64_MAX;
    return (int64_t)whole;
}

/* The same when a tick is a whole number of ns, which the common counters have (50 and 100 MHz). */
static int64_t whole_ticks_ns(uint64_t ticks, uint64_t ns_per_tick)
{
    uint64_t ns;
    return __builtin_mul_overflow(ticks, ns_per_tick, &ns) || ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static int64_t distance_ns(uint64_t ticks, uint64_t hz, uint64_t up)
{
    return NS_PER_S % hz ? ticks_ns(ticks, hz, up) : whole_ticks_ns(ticks, NS_PER_S / hz);
}

/* ns of a moment `ticks` after (or before) the one at `ns`. */
static int64_t moved_ns(int64_t ns, uint64_t ticks, bool before, uint64_t hz)
{
    return before ? subtract(ns, distance_ns(ticks, hz, 1)) : add(ns, distance_ns(ticks, hz, 0));
}

int64_t clock_reference_ns(int64_t mono_ns, int64_t host_ticks, uint64_t host_hz)
{
    bool before = host_ticks < 0;
    return moved_ns(mono_ns, before ? 0 - (uint64_t)host_ticks : (uint64_t)host_ticks, before, host_hz);
}

static int64_t counter_ns(const struct clock *c, uint64_t ticks, uint64_t reference, uint64_t hz)
{
    bool before = ticks < reference;
    int64_t raw = moved_ns(c->mono_ns, before ? reference - ticks : ticks - reference, before, hz);
    return add(raw, c->epoch_offset_ns);
}

int64_t clock_device_ns(const struct clock *c, uint64_t ticks)
{
    return counter_ns(c, ticks, c->device_ref, c->device_hz);
}

int64_t clock_host_ns(const struct clock *c, uint64_t ticks)
{
    if (c->host_is_ns) return clock_raw_ns(c, ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks);
    return counter_ns(c, ticks, c->host_ref, c->host_hz);
}

int64_t clock_device_duration_ns(const struct clock *c, uint64_t ticks)
{
    return distance_ns(ticks, c->device_hz, 0);
}

int64_t clock_sampled_ns(const struct clock *c, int64_t device_mono_ns)
{
    return clock_raw_ns(c, add(c->mono_ns, subtract(device_mono_ns, c->device_mono_ns)));
}

int64_t clock_raw_ns(const struct clock *c, int64_t host_raw_ns)
{
    return add(host_raw_ns, c->epoch_offset_ns);
}
