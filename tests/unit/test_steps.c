/* Step records become iterations. */
#include "device_prof.h"

#define T0 600000

static const struct step *step(const struct device_prof *p, size_t i)
{
    assert_true(i < p->data.steps.n);
    return &p->data.steps.at[i];
}

/* Ticks are 20 ns. */
static int64_t ns(uint64_t time)
{
    return MONO_NS + 20 * (int64_t)time;
}

static void two_iterations_with_a_reduce(void **state)
{
    (void)state;
    static const struct {
        unsigned tag, stream, time;
    } records[] = {
        {0, 3, 0},     {2, 3, 500},   {3, 3, 20500}, {10000, 7, 21000}, {10001, 7, 23500},
        {4, 3, 25000}, {2, 3, 26000}, {3, 3, 46000}, {4, 3, 50000},     {1, 3, 50100},
    };
    struct device_prof p;
    prof_start(&p);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        add_step(&p, 1, 1, records[i].stream, records[i].tag, T0 + records[i].time);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 2);
    const struct step *a = step(&p, 0), *b = step(&p, 1);
    assert_int_equal(a->model_id, 1);
    assert_int_equal(a->iteration_id, 1);
    assert_int_equal(a->fp_start_ns, ns(600500));
    assert_int_equal(a->bp_end_ns, ns(620500));
    assert_int_equal(a->iteration_end_ns, ns(625000));
    assert_int_equal(a->iteration_time_ns, 25000 * 20);
    assert_int_equal(a->fp_bp_ns, 20000 * 20);
    assert_int_equal(a->refresh_ns, 4500 * 20);
    assert_int_equal(a->data_aug_ns, 0);
    assert_int_equal(b->iteration_id, 2);
    assert_int_equal(b->iteration_time_ns, 25000 * 20);
    assert_int_equal(b->refresh_ns, 4000 * 20);
    assert_int_equal(b->data_aug_ns, 1000 * 20);
    assert_int_equal(p.data.reduces.n, 1);
    assert_int_equal(p.data.reduces.at[0].iteration_id, 1);
    assert_int_equal(p.data.reduces.at[0].iteration_end_ns, ns(625000));
    assert_int_equal(p.data.reduces.at[0].start_ns, ns(621000));
    assert_int_equal(p.data.reduces.at[0].end_ns, ns(623500));
    assert_int_equal(p.data.reduces.at[0].duration_ns, 2500 * 20);
    prof_end(&p);
}

static void pipelined_iterations_are_told_apart(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, 1, 1, 3, 0, 100);
    add_step(&p, 1, 1, 3, 2, 110);
    add_step(&p, 1, 1, 3, 2, 120); /* forward of the second, before the first has ended */
    add_step(&p, 1, 1, 3, 3, 130);
    add_step(&p, 1, 1, 3, 3, 140);
    add_step(&p, 1, 1, 3, 4, 150);
    add_step(&p, 1, 1, 3, 4, 160);
    add_step(&p, 1, 1, 3, 1, 170);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 2);
    assert_int_equal(step(&p, 0)->fp_start_ns, ns(110));
    assert_int_equal(step(&p, 0)->bp_end_ns, ns(130));
    assert_int_equal(step(&p, 0)->iteration_end_ns, ns(150));
    assert_int_equal(step(&p, 1)->fp_start_ns, ns(120));
    assert_int_equal(step(&p, 1)->bp_end_ns, ns(140));
    assert_int_equal(step(&p, 1)->iteration_end_ns, ns(160));
    prof_end(&p);
}

static void a_model_that_only_starts_and_ends_is_an_iteration(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    for (unsigned i = 0; i < 2; i++) {
        add_step(&p, 4, i, 3, 0, 100 + 50 * i);
        add_step(&p, 4, i, 3, 1, 120 + 50 * i);
    }
    add_step(&p, 4, 3, 3, 0, 300); /* has not ended */
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 2);
    assert_int_equal(step(&p, 1)->iteration_id, 2);
    assert_int_equal(step(&p, 1)->iteration_time_ns, 20 * 20);
    assert_int_equal(step(&p, 1)->fp_start_ns, 0);
    assert_int_equal(step(&p, 1)->refresh_ns, 0);
    prof_end(&p);
}

static void models_count_for_themselves_but_share_the_data_wait(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, 7, 1, 3, 0, 200);
    add_step(&p, 7, 1, 3, 2, 230);
    add_step(&p, 7, 1, 3, 1, 300);
    add_step(&p, 1, 1, 3, 0, 100);
    add_step(&p, 1, 1, 3, 1, 190);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 2);
    assert_int_equal(step(&p, 0)->model_id, 1);
    assert_int_equal(step(&p, 1)->model_id, 7);
    assert_int_equal(step(&p, 1)->iteration_id, 1);
    assert_int_equal(step(&p, 1)->data_aug_ns, 40 * 20);
    prof_end(&p);
}

static void explicit_steps_are_iterations_without_passes(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, UINT32_MAX, 1, 2, 60000, 100);
    add_step(&p, UINT32_MAX, 1, 2, 60001, 150);
    add_step(&p, UINT32_MAX, 2, 2, 60000, 160); /* has not ended */
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 1);
    assert_int_equal(step(&p, 0)->model_id, UINT32_MAX);
    assert_int_equal(step(&p, 0)->iteration_id, 1);
    assert_int_equal(step(&p, 0)->iteration_end_ns, ns(150));
    assert_int_equal(step(&p, 0)->iteration_time_ns, 50 * 20);
    assert_int_equal(p.data.get_nexts.n, 0);
    prof_end(&p);
}

static void get_next_pairs_the_last_start_before_an_end(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, 1, 1, 3, 0, 100);
    add_step(&p, 1, 1, 9, 20001, 105); /* its start is lost */
    add_step(&p, 1, 1, 9, 20000, 110); /* its end is lost */
    add_step(&p, 1, 1, 9, 20000, 120);
    add_step(&p, 1, 1, 9, 20002, 125); /* another queue */
    add_step(&p, 1, 1, 9, 20001, 130);
    add_step(&p, 1, 1, 9, 20003, 140);
    add_step(&p, 1, 1, 3, 4, 200);
    prof_load(&p);
    assert_int_equal(p.data.get_nexts.n, 2);
    assert_int_equal(p.data.get_nexts.at[0].start_ns, ns(120));
    assert_int_equal(p.data.get_nexts.at[0].end_ns, ns(130));
    assert_int_equal(p.data.get_nexts.at[1].start_ns, ns(125));
    assert_int_equal(p.data.get_nexts.at[1].end_ns, ns(140));
    prof_end(&p);
}

static void reduces_are_grouped_by_stream_and_may_lack_their_end(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, 1, 1, 3, 0, 100);
    add_step(&p, 1, 1, 18, 10000, 110);
    add_step(&p, 1, 1, 19, 10002, 112);
    add_step(&p, 1, 1, 18, 10001, 115);
    add_step(&p, 1, 1, 18, 10004, 120);
    add_step(&p, 1, 1, 3, 4, 200);
    prof_load(&p);
    assert_int_equal(p.data.reduces.n, 3);
    assert_int_equal(p.data.reduces.at[0].start_ns, ns(110));
    assert_int_equal(p.data.reduces.at[0].duration_ns, 5 * 20);
    assert_int_equal(p.data.reduces.at[1].start_ns, ns(120));
    assert_int_equal(p.data.reduces.at[1].end_ns, 0);
    assert_int_equal(p.data.reduces.at[2].start_ns, ns(112));
    assert_int_equal(p.data.reduces.at[2].duration_ns, 0);
    prof_end(&p);
}

static void a_record_reported_twice_counts_once(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    for (unsigned i = 0; i < 2; i++) add_step(&p, UINT32_MAX, 1, 2, 60000, 100);
    add_step(&p, UINT32_MAX, 1, 2, 60001, 150);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 1);
    prof_end(&p);
}

static void an_iteration_without_time_is_left_out_and_told(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_step(&p, 1, 1, 3, 0, 100);
    add_step(&p, 1, 1, 3, 1, 100);
    add_step(&p, 1, 1, 3, 0, 110);
    add_step(&p, 1, 1, 3, 1, 130);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 1);
    assert_int_equal(step(&p, 0)->iteration_id, 2);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void many_open_entries_take_no_time(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    step_records records = {0};
    for (unsigned i = 0; i < 400000; i++)
        array_push(&records, ((struct step_record){.time = i, .model = 1, .tag = i & 1 ? STEP_ITERATION_END : 0}));
    for (unsigned i = 0; i < 400000; i++)
        array_push(&records, ((struct step_record){.time = 400000 + i, .model = 1, .tag = STEP_ITERATION_END}));
    struct device_source from = {&p.session, &p.dir, false, p.diag, NULL};
    steps_build(&p.data, &records, &from);
    assert_true(p.data.steps.n > 0);
    array_free(&records);
    prof_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_iterations_with_a_reduce),
        cmocka_unit_test(pipelined_iterations_are_told_apart),
        cmocka_unit_test(a_model_that_only_starts_and_ends_is_an_iteration),
        cmocka_unit_test(models_count_for_themselves_but_share_the_data_wait),
        cmocka_unit_test(explicit_steps_are_iterations_without_passes),
        cmocka_unit_test(get_next_pairs_the_last_start_before_an_end),
        cmocka_unit_test(reduces_are_grouped_by_stream_and_may_lack_their_end),
        cmocka_unit_test(a_record_reported_twice_counts_once),
        cmocka_unit_test(an_iteration_without_time_is_left_out_and_told),
        cmocka_unit_test(many_open_entries_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
