/* The AI core clock over time. */
#include "device_prof.h"

struct change {
    uint64_t time; /* since the reference */
    uint32_t mhz;
};

struct point {
    int64_t time_ns;
    uint32_t mhz;
};

static void add_lpm(struct device_prof *p, enum input_id id, uint32_t count, uint32_t type,
                    const struct change *changes, unsigned n)
{
    uint8_t r[888] = {0};
    memcpy(r, &count, 4);
    memcpy(r + 4, &type, 4);
    for (unsigned i = 0; i < n; i++) {
        put64(r + 8 + 16 * i, DEVICE_REF + changes[i].time);
        memcpy(r + 16 + 16 * i, &changes[i].mhz, 4);
    }
    prof_add(p, id, r, sizeof r);
}

static void check_points(const struct device_prof *p, const struct point *expected, size_t n)
{
    assert_int_equal(p->data.freqs.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(p->data.freqs.at[i].time_ns, expected[i].time_ns);
        assert_int_equal(p->data.freqs.at[i].mhz, expected[i].mhz);
    }
}

static void without_records_the_clock_is_that_of_the_chip(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    prof_load(&p);
    check_points(&p, (struct point[]){{p.session.start_ns, 1850}, {p.session.end_ns, 1850}}, 2);
    prof_end(&p);
}

static void without_end_there_is_no_last_point(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.meta.has_end = false;
    prof_load(&p);
    check_points(&p, (struct point[]){{p.session.start_ns, 1850}}, 1);
    prof_end(&p);
}

static void a_change_before_the_reference_tells_the_clock_there(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct change changes[] = {{(uint64_t)-500, 800}, {(uint64_t)-10, 1500}, {50, 1800}, {100, 1200}};
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 4, 0, changes, 4);
    prof_load(&p);
    check_points(&p,
                 (struct point[]){{p.session.start_ns, 1850},
                                  {MONO_NS, 1500},
                                  {MONO_NS + 1000, 1800},
                                  {MONO_NS + 2000, 1200},
                                  {p.session.end_ns, 1200}},
                 5);
    prof_end(&p);
}

static void points_before_the_collection_become_its_first(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.meta.start_ns = MONO_NS + 1500;
    struct change changes[] = {{100, 1200}, {50, 1800}};
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 2, 0, changes, 2);
    prof_load(&p);
    check_points(&p, (struct point[]){{MONO_NS + 1500, 1800}, {MONO_NS + 2000, 1200}, {p.session.end_ns, 1200}}, 3);
    prof_end(&p);
}

static void points_behind_the_end_stay_behind_it(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.meta.end_ns = MONO_NS + 1500;
    struct change changes[] = {{50, 1800}, {100, 1200}};
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 2, 0, changes, 2);
    prof_load(&p);
    assert_int_equal(p.data.freqs.n, 5);
    assert_int_equal(p.data.freqs.at[3].time_ns, MONO_NS + 1500);
    assert_int_equal(p.data.freqs.at[4].time_ns, MONO_NS + 2000);
    prof_end(&p);
}

static void voltages_are_no_frequencies(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct change mhz = {50, 1800}, mv = {60, 900};
    add_lpm(&p, INPUT_LPM_INFO_CONV, 1, 0, &mhz, 1);
    add_lpm(&p, INPUT_LPM_INFO_CONV, 1, 1, &mv, 1);
    add_lpm(&p, INPUT_LPM_INFO_CONV, 1, 2, &mv, 1);
    prof_load(&p);
    assert_int_equal(p.data.freqs.n, 4);
    assert_int_equal(p.data.freqs.at[2].mhz, 1800);
    prof_end(&p);
}

static void a_point_in_both_files_counts_once(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct change mhz = {50, 1800};
    add_lpm(&p, INPUT_LPM_INFO_CONV, 1, 0, &mhz, 1);
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 1, 0, &mhz, 1);
    prof_load(&p);
    assert_int_equal(p.data.freqs.n, 4);
    prof_end(&p);
}

static void points_of_one_of_the_files_are_marked(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct change conv = {50, 1800}, info = {60, 1700};
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 1, 0, &conv, 1);
    add_lpm(&p, INPUT_LPM_INFO_CONV, 1, 0, &info, 1);
    prof_load(&p);
    static const bool twice[] = {false, true, true, false, false};
    assert_int_equal(p.data.freqs.n, 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(p.data.freqs.at[i].twice, twice[i]);
    prof_end(&p);
}

static void a_count_beyond_the_record_is_cut(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct change mhz = {50, 1800};
    add_lpm(&p, INPUT_LPM_FREQ_CONV, 4000000000u, 0, &mhz, 1);
    prof_load(&p);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void the_clock_at_a_time_is_the_last_change_before(void **state)
{
    (void)state;
    freq_changes c = {0};
    assert_true(freq_at(&c, 5, 1000) == 1000);
    array_push(&c, ((struct freq_change){.time = 10, .mhz = 800}));
    array_push(&c, ((struct freq_change){.time = 20, .mhz = 900}));
    assert_true(freq_at(&c, 9, 1000) == 1000);
    assert_true(freq_at(&c, 10, 1000) == 800);
    assert_true(freq_at(&c, 19, 1000) == 800);
    assert_true(freq_at(&c, 20, 1000) == 900);
    assert_true(freq_trusted(&c));
    array_push(&c, ((struct freq_change){.time = 30, .mhz = 0}));
    assert_false(freq_trusted(&c));
    array_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_records_the_clock_is_that_of_the_chip),
        cmocka_unit_test(without_end_there_is_no_last_point),
        cmocka_unit_test(a_change_before_the_reference_tells_the_clock_there),
        cmocka_unit_test(points_before_the_collection_become_its_first),
        cmocka_unit_test(points_behind_the_end_stay_behind_it),
        cmocka_unit_test(voltages_are_no_frequencies),
        cmocka_unit_test(a_point_in_both_files_counts_once),
        cmocka_unit_test(points_of_one_of_the_files_are_marked),
        cmocka_unit_test(a_count_beyond_the_record_is_cut),
        cmocka_unit_test(the_clock_at_a_time_is_the_last_change_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
