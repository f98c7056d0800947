/* Counter records become rows: which task they belong to, and their total time. */
#include "device_prof.h"

#define NEAR(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static double value(const struct device_prof *p, size_t row, const char *name)
{
    assert_true(row < p->data.pmu.rows.n);
    for (size_t c = 0; c < p->data.pmu.columns.n; c++)
        if (!strcmp(p->data.pmu.columns.at[c].name, name)) return pmu_value(&p->data.pmu, row, c);
    fail_msg("no column %s", name);
    return 0;
}

static bool ran(const struct device_prof *p, const struct device_orphan *o)
{
    for (size_t i = 0; i < p->data.tasks.n; i++)
        if (p->data.tasks.at[i].stream_id == o->stream_id && p->data.tasks.at[i].task_id == o->task_id) return true;
    return false;
}

/* Every task that ran was launched, with these block numbers. */
static void attach(struct device_prof *p, uint16_t block_num, uint16_t mix_block_num)
{
    size_t n, n_tasks = p->data.tasks.n;
    struct device_orphan *orphans = device_orphans(&p->data, &n);
    struct device_blocks *blocks = mem_zalloc(n_tasks + n, sizeof *blocks);
    for (size_t i = 0; i < n_tasks + n; i++)
        if (i < n_tasks || ran(p, &orphans[i - n_tasks]))
            blocks[i] = (struct device_blocks){block_num, mix_block_num, true};
    device_attach_pmu(&p->data, &p->dir, blocks, blocks + n_tasks, p->diag);
    free(orphans);
    free(blocks);
}

static const struct counters some = {1000, {100, 0, 0, 0, 0, 0, 0, 0}};

static void a_cube_kernel(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 3, 17, 500000, 501250);
    struct counters c = {1850000, {600000, 0, 200000, 300000, 900000, 150000, 20000, 400}};
    add_context(&p, 3, 17, 0, 0, 0, c, 501200);
    prof_load(&p);
    attach(&p, 20, 0);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_int_equal(p.data.tasks.at[0].pmu, 0);
    assert_true(value(&p, 0, "aic_total_time") == 50.0);
    assert_true(value(&p, 0, "aic_total_cycles") == 1850000);
    NEAR(value(&p, 0, "aic_mac_time"), 16.216216216216218);
    NEAR(value(&p, 0, "aic_mac_ratio_extra"), 0.32432432432432434);
    NEAR(value(&p, 0, "aic_scalar_time"), 5.405405405405405);
    NEAR(value(&p, 0, "aic_scalar_ratio"), 0.10810810810810811);
    NEAR(value(&p, 0, "aic_mte1_time"), 8.108108108108109);
    NEAR(value(&p, 0, "aic_mte1_ratio_extra"), 0.16216216216216217);
    NEAR(value(&p, 0, "aic_mte2_time"), 24.324324324324326);
    NEAR(value(&p, 0, "aic_mte2_ratio"), 0.4864864864864865);
    NEAR(value(&p, 0, "aic_fixpipe_time"), 4.054054054054054);
    NEAR(value(&p, 0, "aic_fixpipe_ratio"), 0.08108108108108109);
    NEAR(value(&p, 0, "aic_icache_miss_rate"), 0.02);
    assert_true(value(&p, 0, "aiv_total_time") == 0);
    assert_true(value(&p, 0, "aiv_vec_ratio") == 0);
    assert_true(pmu_has_cube(&p.data.pmu));
    NEAR(pmu_cube_utilization(&p.data.pmu, 0, 25), 166.66666666666666);
    assert_true(pmu_cube_utilization(&p.data.pmu, 0, 0) == 0);
    prof_end(&p);
}

/* A mix kernel whose main cores are cubes, with two vector blocks. */
static void start_mix(struct device_prof *p)
{
    prof_start(p);
    add_run(p, 3, 18, 501800, 503200);
    add_subtask(p, 34, 3, 18, 0, 6, 501900);
    add_subtask(p, 35, 3, 18, 0, 6, 503100);
    struct counters first = {300000, {100000, 0, 40000, 0, 60000, 30000, 5000, 100}};
    struct counters second = {320000, {150000, 0, 41000, 0, 61000, 31000, 5200, 104}};
    add_block(p, 3, 18, 6, 0, true, first, 502600);
    add_block(p, 3, 18, 6, 0, true, second, 502700);
    struct counters c = {740000, {300000, 10000, 50000, 90000, 400000, 20000, 8000, 200}};
    add_context(p, 3, 18, 4, 6, 0, c, 503000);
}

static void a_mix_kernel_has_the_sum_of_its_slave_blocks(void **state)
{
    (void)state;
    struct device_prof p;
    start_mix(&p);
    add_block(&p, 3, 18, 6, 0, false, some, 502700); /* a block of the main cores */
    add_block(&p, 3, 18, 7, 0, true, some, 502700);  /* of another kind of kernel */
    add_block(&p, 3, 18, 6, 0, true, some, 503101);  /* ended behind the task */
    add_block(&p, 3, 18, 6, 1, true, some, 502700);  /* of another context */
    prof_load(&p);
    attach(&p, 4, 2);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_int_equal(p.data.tasks.at[0].pmu, 0);
    assert_int_equal(p.data.tasks.at[1].pmu, NONE);
    assert_true(value(&p, 0, "aic_total_time") == 100.0);
    NEAR(value(&p, 0, "aic_mac_ratio_extra"), 0.41891891891891897);
    NEAR(value(&p, 0, "aic_mte2_time"), 54.054054054054056);
    NEAR(value(&p, 0, "aic_icache_miss_rate"), 0.025);
    assert_true(value(&p, 0, "aiv_total_cycles") == 620000);
    NEAR(value(&p, 0, "aiv_total_time"), 167.56756756756758);
    NEAR(value(&p, 0, "aiv_vec_time"), 67.56756756756756);
    NEAR(value(&p, 0, "aiv_vec_ratio"), 0.4032258064516129);
    NEAR(value(&p, 0, "aiv_scalar_time"), 21.891891891891895);
    NEAR(value(&p, 0, "aiv_mte2_ratio"), 0.19516129032258064);
    NEAR(value(&p, 0, "aiv_mte3_time"), 16.486486486486488);
    NEAR(value(&p, 0, "aiv_icache_miss_rate"), 0.02);
    prof_end(&p);
}

static void no_more_blocks_count_than_the_kernel_has(void **state)
{
    (void)state;
    struct device_prof p;
    start_mix(&p);
    prof_load(&p);
    attach(&p, 4, 1);
    assert_true(value(&p, 0, "aiv_total_cycles") == 300000);
    NEAR(value(&p, 0, "aiv_total_time"), 300000 / 1850.0);
    prof_end(&p);
}

static void blocks_of_a_kernel_that_the_host_does_not_know_do_not_count(void **state)
{
    (void)state;
    struct device_prof p;
    start_mix(&p);
    prof_load(&p);
    attach(&p, 0, 0);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_true(value(&p, 0, "aic_total_time") == 0);
    assert_true(value(&p, 0, "aic_total_cycles") == 740000);
    assert_true(value(&p, 0, "aiv_total_cycles") == 0);
    prof_end(&p);
}

static void blocks_go_to_the_run_in_which_they_ended(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    for (unsigned i = 0; i < 9; i++) {
        add_subtask(&p, 34, 3, 18, 0, 7, 100 * i);
        add_subtask(&p, 35, 3, 18, 0, 7, 100 * i + 50);
        add_context(&p, 3, 18, 4, 7, 0, some, 100 * i + 40);
    }
    for (unsigned i = 9; i--;) { /* in any order */
        struct counters c = {10 * i + 1, {0}};
        add_block(&p, 3, 18, 7, 0, false, c, 100 * i + 50);
        add_block(&p, 3, 18, 7, 0, false, c, 100 * i + 51); /* between the runs */
    }
    prof_load(&p);
    attach(&p, 1, 1);
    assert_int_equal(p.data.pmu.rows.n, 9);
    for (unsigned i = 0; i < 9; i++) {
        assert_true(value(&p, i, "aic_total_cycles") == 10 * i + 1);
        assert_true(value(&p, i, "aiv_total_cycles") == 1000);
    }
    prof_end(&p);
}

static void a_record_belongs_to_the_run_in_which_it_ended(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 2, 1, 100, 200);
    add_run(&p, 2, 1, 300, 400);
    add_run(&p, 2, 2, 500, 600);
    struct counters c[] = {{1, {0}}, {2, {0}}, {3, {0}}, {4, {0}}};
    add_context(&p, 2, 1, 1, 0, 0, c[0], 99);
    add_context(&p, 2, 1, 1, 0, 0, c[1], 400);
    add_context(&p, 2, 2, 1, 0, 0, c[2], 601);
    add_context(&p, 9, 9, 1, 0, 0, c[3], 601);
    prof_load(&p);
    attach(&p, 1, 0);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_int_equal(p.data.tasks.at[0].pmu, NONE);
    assert_int_equal(p.data.tasks.at[1].pmu, 0);
    assert_int_equal(p.data.tasks.at[2].pmu, NONE);
    assert_true(value(&p, 0, "aiv_total_cycles") == 2);
    prof_end(&p);
}

static void overflowed_counters_are_kept_and_told(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 2, 1, 100, 200);
    add_context(&p, 2, 1, 0, 0x400, 0, some, 150);
    prof_load(&p);
    attach(&p, 1, 0);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void more_blocks_than_cores_take_more_rounds(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 2, 1, 100, 200);
    add_context(&p, 2, 1, 0, 0, 0, some, 150);
    prof_load(&p);
    attach(&p, 25, 0);
    NEAR(value(&p, 0, "aic_total_time"), 1000 / 1850.0 / 25 * 2);
    prof_end(&p);
}

static void add_change(struct device_prof *p, enum input_id id, uint64_t time, uint32_t mhz)
{
    uint8_t r[888] = {1};
    put64(r + 8, DEVICE_REF + time);
    memcpy(r + 16, &mhz, 4);
    prof_add(p, id, r, sizeof r);
}

/* Total time of a kernel of 1000 cycles that ended at 150, with one clock change. */
static double time_with_change(enum input_id id, uint64_t time, uint32_t mhz)
{
    struct device_prof p;
    prof_start(&p);
    add_change(&p, id, time, mhz);
    add_run(&p, 2, 1, 100, 200);
    add_context(&p, 2, 1, 0, 0, 0, some, 150);
    prof_load(&p);
    attach(&p, 1, 0);
    double us = value(&p, 0, "aic_total_time");
    prof_end(&p);
    return us;
}

static void the_clock_at_the_end_of_the_kernel_counts(void **state)
{
    (void)state;
    NEAR(time_with_change(INPUT_LPM_FREQ_CONV, 150, 1000), 1.0);
    NEAR(time_with_change(INPUT_LPM_FREQ_CONV, 151, 1000), 1000 / 1850.0);
    NEAR(time_with_change(INPUT_LPM_FREQ_CONV, 100, 0), 1000 / 1850.0);
    NEAR(time_with_change(INPUT_LPM_INFO_CONV, 150, 1000), 1000 / 1850.0);
}

static void start_custom(struct device_prof *p)
{
    prof_start(p);
    p->dir.meta.aic_metrics = p->dir.meta.aiv_metrics = "Custom:0x49,0x500";
    p->dir.meta.aic_events[0] = p->dir.meta.aiv_events[0] = 0x49;
    p->dir.meta.aic_events[1] = p->dir.meta.aiv_events[1] = 0x500;
    p->dir.meta.n_aic_events = p->dir.meta.n_aiv_events = 2;
}

static void custom_counters_are_shown_as_they_are(void **state)
{
    (void)state;
    struct device_prof p;
    start_custom(&p);
    add_change(&p, INPUT_LPM_INFO_CONV, 100, 1000);
    add_run(&p, 2, 1, 100, 200);
    add_run(&p, 2, 1, 300, 400);
    add_context(&p, 2, 1, 0, 0x400, 0, some, 120); /* overflowed */
    add_context(&p, 2, 1, 0, 0, 0, (struct counters){1234, {5, 6}}, 99);
    add_context(&p, 2, 1, 0, 0, 0, (struct counters){1234, {7, 8}}, 500);
    prof_load(&p);
    attach(&p, 1, 0);
    static const char *const names[] = {"aic_total_time", "aic_total_cycles", "aic_r49", "aic_r500",
                                        "aiv_total_time", "aiv_total_cycles", "aiv_r49", "aiv_r500"};
    assert_int_equal(p.data.pmu.columns.n, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(p.data.pmu.columns.at[i].name, names[i]);
        assert_true(p.data.pmu.columns.at[i].in_summary);
    }
    assert_int_equal(p.data.pmu.rows.n, 2);
    assert_true(value(&p, 0, "aic_r49") == 5);
    assert_true(value(&p, 1, "aic_r500") == 8);
    NEAR(value(&p, 1, "aic_total_time"), 1.23);
    assert_false(pmu_has_cube(&p.data.pmu));
    prof_end(&p);
}

static void custom_counters_without_a_run_are_rows_behind_the_others(void **state)
{
    (void)state;
    struct device_prof p;
    start_custom(&p);
    add_run(&p, 2, 1, 100, 200);
    add_context(&p, 2, 1, 0, 0, 0, (struct counters){3700, {1}}, 150);
    add_context(&p, 2, 1, 1, 0, 0, (struct counters){3700, {2}}, 160); /* the launch ran once */
    add_context(&p, 9, 4, 0, 0, 0, (struct counters){3700, {3}}, 170); /* no such task */
    prof_load(&p);
    attach(&p, 2, 0);
    assert_int_equal(p.data.pmu.rows.n, 3);
    assert_true(value(&p, 0, "aic_r49") == 1);
    assert_true(value(&p, 1, "aiv_r49") == 2);
    assert_true(value(&p, 2, "aic_r49") == 3);
    NEAR(value(&p, 1, "aiv_total_time"), 1.0);
    assert_true(value(&p, 2, "aic_total_time") == 0);
    assert_int_equal(p.data.pmu.orphans.n, 2);
    assert_int_equal(p.data.pmu.orphans.at[0].row, 1);
    assert_int_equal(p.data.pmu.orphans.at[0].stream_id, 2);
    assert_int_equal(p.data.pmu.orphans.at[0].task_id, 1);
    assert_int_equal(p.data.pmu.orphans.at[1].row, 2);
    assert_int_equal(p.data.pmu.orphans.at[1].stream_id, 9);
    assert_int_equal(p.data.pmu.orphans.at[1].context_id, CONTEXT_NONE);
    prof_end(&p);
}

/* Cores of one kind: records of whole tasks, matched in order; other kinds of tasks and of records do not count. */
static void cores_of_one_kind_count_whole_tasks_in_order(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.chip = chip_find(7);
    p.session.all_export = false;
    p.dir.meta.aic_metrics = p.dir.meta.aiv_metrics = "PipeUtilization";
    memcpy(p.dir.meta.aic_events, p.dir.meta.aiv_events, sizeof p.dir.meta.aic_events);
    p.dir.meta.aic_mhz = 1000;
    add_task(&p, 0, 2, 1, 1, 10); /* AI_CPU */
    add_task(&p, 1, 2, 1, 1, 20);
    add_run(&p, 2, 1, 100, 200);
    add_run(&p, 2, 1, 300, 400);
    add_block(&p, 2, 1, 6, 0, true, some, 150);
    add_context(&p, 2, 1, 0, 0x400, 0, some, 120); /* overflowed */
    add_context(&p, 2, 1, 4, 6, 7, (struct counters){23045, {5, 6}}, 99);
    add_context(&p, 2, 1, 0, 0, 0, (struct counters){2000, {7, 8}}, 500);
    prof_load(&p);
    attach(&p, 1, 0);
    assert_int_equal(p.data.tasks.n, 3);
    assert_int_equal(p.data.pmu.rows.n, 2);
    assert_int_equal(p.data.tasks.at[0].pmu, NONE);
    assert_int_equal(p.data.tasks.at[1].pmu, 0);
    assert_int_equal(p.data.tasks.at[2].pmu, 1);
    assert_true(p.data.pmu.no_batch);
    assert_true(value(&p, 0, "total_time") == 23.05); /* 23.045 is a little more */
    assert_true(value(&p, 1, "total_time") == 2.0);
    prof_end(&p);
}

static void custom_counters_stay_in_their_batch(void **state)
{
    (void)state;
    struct device_prof p;
    start_custom(&p);
    add_run(&p, 2, 1, 100, 200);
    add_flip(&p, 2, 1, 0, 250);
    add_run(&p, 2, 1, 300, 400);
    add_context(&p, 2, 1, 0, 0, 0, some, 350);
    prof_load(&p);
    attach(&p, 1, 0);
    assert_int_equal(p.data.tasks.at[0].pmu, NONE);
    assert_int_equal(p.data.tasks.at[1].pmu, 0);
    prof_end(&p);
}

static void counters_of_an_unusable_group_are_left_out_and_tasks_stay(void **state)
{
    (void)state;
    static const char *const groups[] = {"PipelineExecuteUtilization", "Nonsense", "", "MemoryL0"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct device_prof p;
        prof_start(&p);
        p.dir.meta.aic_metrics = groups[i];
        add_run(&p, 2, 1, 100, 200);
        add_context(&p, 2, 1, 0, 0, 0, some, 150);
        prof_load(&p);
        attach(&p, 1, 0);
        assert_int_equal(p.data.tasks.n, 1);
        assert_int_equal(p.data.tasks.at[0].pmu, NONE);
        assert_int_equal(p.data.pmu.rows.n, 0);
        assert_int_equal(p.data.pmu.columns.n, 0);
        assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
        prof_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_kernel),
        cmocka_unit_test(a_mix_kernel_has_the_sum_of_its_slave_blocks),
        cmocka_unit_test(no_more_blocks_count_than_the_kernel_has),
        cmocka_unit_test(blocks_of_a_kernel_that_the_host_does_not_know_do_not_count),
        cmocka_unit_test(blocks_go_to_the_run_in_which_they_ended),
        cmocka_unit_test(a_record_belongs_to_the_run_in_which_it_ended),
        cmocka_unit_test(overflowed_counters_are_kept_and_told),
        cmocka_unit_test(more_blocks_than_cores_take_more_rounds),
        cmocka_unit_test(the_clock_at_the_end_of_the_kernel_counts),
        cmocka_unit_test(custom_counters_are_shown_as_they_are),
        cmocka_unit_test(custom_counters_without_a_run_are_rows_behind_the_others),
        cmocka_unit_test(cores_of_one_kind_count_whole_tasks_in_order),
        cmocka_unit_test(custom_counters_stay_in_their_batch),
        cmocka_unit_test(counters_of_an_unusable_group_are_left_out_and_tasks_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
