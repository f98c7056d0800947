/* Device records of the Ascend 950: short task logs, unique task ids, counters of main and slave cores, parts of fused
 * tasks, the clock of each die. */
#include "device_prof.h"

static void start(struct device_prof *p)
{
    prof_start(p);
    p->dir.chip = chip_find(15);
    p->dir.clock.device_hz = 1000000000;
    p->dir.meta.aic_metrics = p->dir.meta.aiv_metrics = "ArithmeticUtilization";
    p->dir.meta.aic_events[0] = p->dir.meta.aiv_events[0] = 0x323;
    p->dir.meta.aic_events[1] = p->dir.meta.aiv_events[1] = 0x324;
    p->dir.meta.n_aic_events = p->dir.meta.n_aiv_events = 2;
}

static void put32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

static void add_short(struct device_prof *p, unsigned func, uint32_t task, unsigned type, uint64_t time, unsigned at16)
{
    uint8_t r[32] = {0};
    put16(r, func | type << 10);
    put16(r + 2, 0x6BD3);
    put32(r + 4, task);
    put64(r + 8, DEVICE_REF + time);
    put16(r + 16, at16);
    prof_add(p, INPUT_STARS_SOC, r, sizeof r);
}

static void add_short_run(struct device_prof *p, uint32_t task, uint64_t from, uint64_t to)
{
    add_short(p, 0, task, 0, from, 0);
    add_short(p, 1, task, 0, to, 0);
}

struct record {
    unsigned func;
    uint32_t task;
    bool main, mix, vector;
    uint64_t start, end, cycles, counter0;
};

static void add_record(struct device_prof *p, struct record c)
{
    uint8_t r[128] = {0};
    put16(r, c.func);
    put16(r + 2, 0x6BD3);
    put32(r + 4, c.task);
    put64(r + 8, c.cycles);
    r[17] = (uint8_t)(c.main | c.mix << 1);
    r[20] = c.vector;
    r[21] = 7;
    put64(r + 32, c.counter0);
    put64(r + 112, DEVICE_REF + c.start);
    put64(r + 120, DEVICE_REF + c.end);
    prof_add(p, INPUT_FFTS_PROFILE, r, sizeof r);
}

static double value(const struct device_prof *p, size_t row, const char *name)
{
    assert_true(row < p->data.pmu.rows.n);
    for (size_t c = 0; c < p->data.pmu.columns.n; c++)
        if (!strcmp(p->data.pmu.columns.at[c].name, name)) return pmu_value(&p->data.pmu, row, c);
    fail_msg("no column %s", name);
    return 0;
}

static void tasks_have_ids_of_32_bits_and_get_their_stream_by_them(void **state)
{
    (void)state;
    struct device_prof p;
    struct map stream_of = {0};
    start(&p);
    add_short_run(&p, 0x80000007, 100, 200);
    add_short_run(&p, 0xFFFFFFFF, 300, 400);
    add_short_run(&p, 7, 500, 600);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 3);
    map_put(&stream_of, 7, 2, NULL);
    map_put(&stream_of, 0xFFFFFFFF, 40000, NULL);
    device_name_streams(&p.data, &stream_of);
    map_free(&stream_of);
    assert_int_equal(p.data.tasks.at[0].task_id, 7);
    assert_int_equal(p.data.tasks.at[0].stream_id, 2);
    assert_int_equal(p.data.tasks.at[1].task_id, 0x80000007);
    assert_int_equal(p.data.tasks.at[1].stream_id, STREAM_UNKNOWN);
    assert_int_equal(p.data.tasks.at[2].stream_id, 40000);
    assert_string_equal(strpool_text(p.strings, p.data.tasks.at[0].type), "AI_CORE");
    prof_end(&p);
}

static void a_start_whose_end_was_lost_is_left_out(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    add_short(&p, 0, 9, 1, 100, 0);
    add_short(&p, 0, 9, 1, 200, 0);
    add_short(&p, 1, 9, 1, 250, 0);
    add_short(&p, 1, 9, 1, 260, 0);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    assert_int_equal(p.data.tasks.at[0].start, DEVICE_REF + 200);
    assert_int_equal(p.data.tasks.at[0].end, DEVICE_REF + 250);
    prof_end(&p);
}

static void parts_of_fused_tasks_pair_first_in_first_out(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    add_short(&p, 23, 5, 2, 50, 0);            /* its start was lost */
    add_short(&p, 22, 5, 2, 100, 4);           /* AI core */
    add_short(&p, 22, 5, 2, 110, 16 | 9 << 5); /* CCU of die 1, mission 9 */
    add_short(&p, 23, 5, 2, 150, 0);
    add_short(&p, 23, 5, 2, 160, 0);
    add_short(&p, 22, 6, 2, 170, 0); /* no end */
    prof_load(&p);
    assert_int_equal(p.data.fusions.n, 2);
    const struct fusion_part *f = p.data.fusions.at;
    assert_int_equal(f[0].unit, FUSION_AICORE);
    assert_int_equal(f[0].end, DEVICE_REF + 150);
    assert_int_equal(f[1].unit, FUSION_CCU_DIE1);
    assert_int_equal(f[1].mission_id, 9);
    assert_int_equal(f[1].start, DEVICE_REF + 110);
    assert_int_equal(f[1].end, DEVICE_REF + 160);
    prof_end(&p);
}

static void a_mix_kernel_has_a_record_of_its_slave_cores(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    add_short_run(&p, 70000, 0, 50000);
    add_record(&p, (struct record){42, 70000, false, true, true, 100, 5220, 400, 100}); /* the slave may come first */
    add_record(&p, (struct record){42, 70000, true, true, false, 100, 3235, 1000, 250});
    add_record(&p, (struct record){42, 70000, false, true, true, 100, 9999, 1, 1}); /* a second slave is not used */
    prof_load(&p);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_int_equal(p.data.tasks.at[0].pmu, 0);
    assert_true(value(&p, 0, "aic_total_time") == 3.14); /* 3.135 of a double is a little more */
    assert_true(value(&p, 0, "aic_total_cycles") == 1000);
    assert_true(value(&p, 0, "aic_mac_fp16_ratio") == 0.25);
    assert_true(value(&p, 0, "aic_cube_fops") == 250 * 8192);
    assert_true(value(&p, 0, "aiv_total_time") == 5.12);
    assert_true(value(&p, 0, "aiv_mac_fp16_ratio") == 0.25);
    prof_end(&p);
}

static void without_the_mix_flag_there_is_no_slave(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    add_short_run(&p, 3, 0, 50000);
    add_record(&p, (struct record){42, 3, true, false, true, 100, 200, 10, 5});
    add_record(&p, (struct record){42, 3, false, false, false, 100, 200, 10, 5});
    prof_load(&p);
    assert_int_equal(p.data.pmu.rows.n, 1);
    assert_true(value(&p, 0, "aic_total_cycles") == 0);
    assert_true(value(&p, 0, "aiv_total_cycles") == 10);
    prof_end(&p);
}

static void records_belong_to_the_runs_of_their_task_in_order(void **state)
{
    (void)state;
    struct device_prof p;
    struct map none = {0};
    start(&p);
    add_short_run(&p, 3, 0, 100);
    add_short_run(&p, 3, 200, 300);
    for (uint64_t i = 1; i <= 3; i++) add_record(&p, (struct record){42, 3, true, false, false, 10, 90, i, 0});
    add_record(&p, (struct record){42, 4, true, false, false, 10, 90, 4, 0});
    prof_load(&p);
    assert_int_equal(p.data.pmu.rows.n, 4);
    assert_true(value(&p, p.data.tasks.at[0].pmu, "aic_total_cycles") == 1);
    assert_true(value(&p, p.data.tasks.at[1].pmu, "aic_total_cycles") == 2);
    assert_int_equal(p.data.pmu.orphans.n, 2);
    device_name_streams(&p.data, &none);
    assert_int_equal(p.data.pmu.orphans.at[1].task_id, 4);
    assert_int_equal(p.data.pmu.orphans.at[1].stream_id, STREAM_UNKNOWN);
    prof_end(&p);
}

static void blocks_are_kept_and_not_summed(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    add_short_run(&p, 3, 0, 100);
    add_record(&p, (struct record){41, 3, true, false, true, 10, 60, 77, 0});
    prof_load(&p);
    assert_int_equal(p.data.pmu.rows.n, 0);
    assert_int_equal(p.data.blocks.n, 1);
    assert_int_equal(p.data.blocks.at[0].core, 7);
    assert_true(p.data.blocks.at[0].vector);
    assert_int_equal(p.data.blocks.at[0].end, DEVICE_REF + 60);
    prof_end(&p);
}

static void counters_of_an_unknown_group_leave_the_blocks(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    p.dir.meta.aic_metrics = "NoSuchGroup";
    add_record(&p, (struct record){41, 3, true, false, true, 10, 60, 77, 0});
    add_record(&p, (struct record){42, 3, true, false, true, 10, 60, 77, 0});
    prof_load(&p);
    assert_int_equal(p.data.blocks.n, 1);
    assert_int_equal(p.data.pmu.rows.n, 0);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void each_die_has_its_clock(void **state)
{
    (void)state;
    struct device_prof p;
    start(&p);
    for (unsigned die = 0; die < 3; die++) {
        uint8_t r[64] = {0};
        put16(r, die << 10 | 29);
        put16(r + 2, 0x6BD3);
        put64(r + 8, DEVICE_REF + 100 - die);
        put16(r + 46, 1650 - die);
        prof_add(&p, INPUT_STARS_SOC_PROFILE, r, sizeof r);
    }
    prof_load(&p);
    assert_int_equal(p.data.freqs.n, 2);
    assert_int_equal(p.data.freqs.at[0].of_die, 2);
    assert_int_equal(p.data.freqs.at[0].mhz, 1649);
    assert_int_equal(p.data.freqs.at[1].of_die, 1);
    assert_int_equal(p.data.freqs.at[1].mhz, 1650);
    prof_end(&p);
}

static void step_records_have_their_tag_first(void **state)
{
    (void)state;
    struct device_prof p;
    uint8_t begin[24] = {0}, end[24] = {0};
    start(&p);
    put64(begin, 1);
    put64(begin + 8, 0xFFFFFFFF);
    put16(begin + 16, 60000);
    put16(begin + 18, 3);
    memcpy(end, begin, sizeof end);
    put16(end + 16, 60001);
    add_ts_track(&p, 10, 1000, begin, sizeof begin);
    add_ts_track(&p, 10, 5000, end, sizeof end);
    prof_load(&p);
    assert_int_equal(p.data.steps.n, 1);
    assert_int_equal(p.data.steps.at[0].iteration_time_ns, 4000);
    prof_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_have_ids_of_32_bits_and_get_their_stream_by_them),
        cmocka_unit_test(a_start_whose_end_was_lost_is_left_out),
        cmocka_unit_test(parts_of_fused_tasks_pair_first_in_first_out),
        cmocka_unit_test(a_mix_kernel_has_a_record_of_its_slave_cores),
        cmocka_unit_test(without_the_mix_flag_there_is_no_slave),
        cmocka_unit_test(records_belong_to_the_runs_of_their_task_in_order),
        cmocka_unit_test(blocks_are_kept_and_not_summed),
        cmocka_unit_test(counters_of_an_unknown_group_leave_the_blocks),
        cmocka_unit_test(each_die_has_its_clock),
        cmocka_unit_test(step_records_have_their_tag_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
