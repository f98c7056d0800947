/* Clocks: counts become epoch nanoseconds exactly, whatever the frequency, the uptime or the count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/clock.h"

/* The example of docs/formats/clocks.md. */
static struct clock example(uint64_t device_hz, uint64_t host_hz)
{
    return (struct clock){
        .device_ref = 1833256145654,
        .device_hz = device_hz,
        .host_ref = 3666503140109,
        .host_hz = host_hz,
        .mono_ns = 36471130547330,
        .epoch_offset_ns = 1767225600000000000 - 36471129547330,
    };
}

static void device_counts_of_whole_ns(void **state)
{
    (void)state;
    struct clock c = example(50000000, 100000000);
    assert_int_equal(clock_device_ns(&c, c.device_ref), 1767225600001000000);
    assert_int_equal(clock_device_ns(&c, c.device_ref + 5003), 1767225600001100060);
    assert_int_equal(clock_device_ns(&c, c.device_ref - 1), 1767225600000999980);
    assert_int_equal(clock_device_duration_ns(&c, 504), 10080);
}

static void device_counts_round_down(void **state)
{
    (void)state;
    struct clock c = example(48000000, 100000000);
    assert_int_equal(clock_device_ns(&c, c.device_ref + 5003), 1767225600001104229); /* .166… */
    assert_int_equal(clock_device_ns(&c, c.device_ref - 1), 1767225600000999979);    /* -20.83 */
    assert_int_equal(clock_device_ns(&c, c.device_ref - 3), 1767225600000999937);    /* -62.5 */
    assert_int_equal(clock_device_ns(&c, c.device_ref - 48), 1767225600000999000);   /* exact */
    assert_int_equal(clock_device_duration_ns(&c, 1), 20);
}

static void task_times_of_scripts_go_through_seconds(void **state)
{
    (void)state;
    struct clock c = example(47999001, 100000000);
    c.mono_ns += 150000000000000;
    c.mono_s = clock_reference_s(c.mono_ns, 0, c.host_hz);
    c.task_seconds = true;
    unsigned other = 0;
    for (uint64_t ticks = 0; ticks < 10000; ticks++) {
        int64_t more = clock_task_ns(&c, c.device_ref + ticks) - clock_device_ns(&c, c.device_ref + ticks);
        assert_in_range(more + 1, 0, 2);
        other += more != 0;
    }
    assert_true(other > 0); /* the last digit differs now and then */
}

static void a_reference_in_seconds_counts_whole_ns(void **state)
{
    (void)state;
    assert_true(clock_reference_s(1000000000, 1, 3000000000) == 1.0);
    assert_true(clock_reference_s(1000000000, 2, 3000000000) == 1.000000001);
}

static void task_times_go_through_a_double(void **state)
{
    (void)state;
    struct clock c = {.device_hz = 49999001, .mono_ns = 82133488943335};
    unsigned later = 0;
    for (uint64_t ticks = 0; ticks < 10000; ticks++) {
        int64_t more = clock_task_ns(&c, ticks) - clock_device_ns(&c, ticks);
        assert_true(more == 0 || more == 1);
        later += more == 1;
    }
    assert_in_range(later, 60, 100); /* those within 1/128 ns below a whole one */
    c.device_hz = 50000000;
    for (uint64_t ticks = 0; ticks < 100; ticks++)
        assert_int_equal(clock_task_ns(&c, ticks), clock_device_ns(&c, ticks));
    c.mono_ns = 17889966368567721; /* beyond 2^53: even */
    assert_int_equal(clock_task_ns(&c, 0), 17889966368567720);
}

static void odd_frequency_stays_exact_for_years(void **state)
{
    (void)state;
    struct clock c = {.device_hz = 47999001};
    uint64_t ten_years = 10ull * 365 * 86400;
    assert_int_equal(clock_device_ns(&c, ten_years * c.device_hz), (int64_t)ten_years * 1000000000);
    assert_int_equal(clock_device_ns(&c, ten_years * c.device_hz + 1), (int64_t)ten_years * 1000000000 + 20);
}

static void host_counts(void **state)
{
    (void)state;
    struct clock c = example(50000000, 100000000);
    assert_int_equal(clock_host_ns(&c, c.host_ref + 1000), 1767225600001010000);
    assert_int_equal(clock_host_ns(&c, c.host_ref + 3000), 1767225600001030000);
    c.host_is_ns = true;
    assert_int_equal(clock_host_ns(&c, 36471130547330), 1767225600001000000);
}

static void sampled_times_go_through_both_monotonic_clocks(void **state)
{
    (void)state;
    struct clock c = {.mono_ns = 5000, .device_mono_ns = 700, .epoch_offset_ns = 1000000};
    assert_int_equal(clock_sampled_ns(&c, 710), 1005010);
    assert_int_equal(clock_sampled_ns(&c, 600), 1004900);
    assert_int_equal(clock_raw_ns(&c, 42), 1000042);
}

static void reference_moves_by_the_ticks_between_two_readings(void **state)
{
    (void)state;
    assert_int_equal(clock_reference_ns(17889966368566260, 1463, 100000000), 17889966368580890);
    assert_int_equal(clock_reference_ns(1000, 0, 48000000), 1000);
    assert_int_equal(clock_reference_ns(1000, 1, 48000000), 1020);
    assert_int_equal(clock_reference_ns(1000, -1, 48000000), 979);
    assert_int_equal(clock_reference_ns(17889966368566260, 1463, 1000000000), 17889966368567724); /* as in double */
}

static void absurd_counts_saturate(void **state)
{
    (void)state;
    uint64_t frequencies[] = {1, 50000000, 48000000, 1000000000, CLOCK_MAX_HZ};
    for (unsigned i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
        struct clock c = example(frequencies[i], frequencies[i]);
        c.device_ref = 0;
        assert_true(clock_device_ns(&c, UINT64_MAX) > 0);
        c.device_ref = UINT64_MAX;
        assert_true(clock_device_ns(&c, 0) < clock_device_ns(&c, UINT64_MAX));
        assert_true(clock_device_duration_ns(&c, UINT64_MAX) > 0);
        assert_true(clock_reference_ns(0, INT64_MIN, frequencies[i]) < 0);
    }
    struct clock ns = {.host_is_ns = true, .epoch_offset_ns = INT64_MAX};
    assert_int_equal(clock_host_ns(&ns, UINT64_MAX), INT64_MAX);
    struct clock far = {.mono_ns = INT64_MIN, .device_mono_ns = INT64_MAX, .epoch_offset_ns = INT64_MIN};
    assert_int_equal(clock_sampled_ns(&far, INT64_MIN), INT64_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_counts_of_whole_ns),
        cmocka_unit_test(device_counts_round_down),
        cmocka_unit_test(task_times_of_scripts_go_through_seconds),
        cmocka_unit_test(a_reference_in_seconds_counts_whole_ns),
        cmocka_unit_test(task_times_go_through_a_double),
        cmocka_unit_test(odd_frequency_stays_exact_for_years),
        cmocka_unit_test(host_counts),
        cmocka_unit_test(sampled_times_go_through_both_monotonic_clocks),
        cmocka_unit_test(reference_moves_by_the_ticks_between_two_readings),
        cmocka_unit_test(absurd_counts_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
