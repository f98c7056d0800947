/* Metric groups of the chips other than Atlas A2 and A3. */
#include "device_prof.h"

#include <math.h>

struct group_test {
    struct pmu pmu;
    struct metadata meta;
};

/* `events` ends with 0; both sides count the same. 1,000,000 cycles, counters 1000, 2000 …, 500 µs in all. */
static void set_up(struct group_test *t, int chip, const char *group, const uint32_t *events)
{
    *t = (struct group_test){
        .meta = {.aic_metrics = group, .aiv_metrics = group, .aic_mhz = 1000, .ai_core_num = 4, .aiv_num = 8}};
    struct metadata *m = &t->meta;
    for (; events[m->n_aic_events]; m->n_aic_events++)
        m->aic_events[m->n_aic_events] = m->aiv_events[m->n_aic_events] = events[m->n_aic_events];
    m->n_aiv_events = m->n_aic_events;
    assert_null(pmu_set_up(&t->pmu, m, chip_find(chip)));
    struct pmu_side side = {1000000, 500, {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000}};
    array_push(&t->pmu.sides, side);
    array_push(&t->pmu.rows, ((struct pmu_row){0, 0}));
}

static void check_columns(const struct group_test *t, const char *expected)
{
    char text[1024] = "";
    for (size_t i = 0; i < t->pmu.columns.n; i++) {
        if (*text) strcat(text, " ");
        strcat(text, t->pmu.columns.at[i].name);
    }
    assert_string_equal(text, expected);
}

static double value(const struct group_test *t, const char *name)
{
    for (size_t c = 0; c < t->pmu.columns.n; c++)
        if (!strcmp(t->pmu.columns.at[c].name, name)) return pmu_value(&t->pmu, 0, c);
    fail_msg("no column %s", name);
    return 0;
}

static void check(const struct group_test *t, const char *name, double expected)
{
    assert_true(fabs(value(t, name) - expected) <= 1e-9 * (fabs(expected) + 1));
}

static double gb_per_s(double bits, double seconds)
{
    return bits / seconds / 8589934592.0;
}

static const uint32_t pipes[] = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55, 0};

static void a_task_as_a_whole_has_columns_without_prefix(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 1, "PipeUtilization", pipes);
    check_columns(&t,
                  "total_time total_cycles vec_time vec_ratio mac_time mac_ratio scalar_time scalar_ratio mte1_time "
                  "mte1_ratio mte2_time mte2_ratio mte3_time mte3_ratio icache_miss_rate");
    check(&t, "mac_time", 1.0);
    check(&t, "icache_miss_rate", 8.0 / 7);
    assert_true(pmu_has_cube(&t.pmu));
    assert_true(pmu_has_memory_bound(&t.pmu));
    check(&t, "mte2_ratio", 0.005);
    assert_true(pmu_memory_bound(&t.pmu, 0) == 0.005 / 0.002);
    pmu_free(&t.pmu);
}

static void what_is_divided_by_nothing_is_the_bare_counter(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 1, "PipeUtilization", pipes);
    t.pmu.sides.at[0].counter[6] = 0; /* no requests: per cycle */
    check(&t, "icache_miss_rate", 0.008);
    t.pmu.sides.at[0].cycles = 0;
    check(&t, "mac_ratio", 2000);
    check(&t, "icache_miss_rate", 8000);
    pmu_free(&t.pmu);
}

static void a_cube_that_did_nothing_has_no_utilization(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 1, "PipeUtilization", pipes);
    assert_true(fabs(pmu_cube_utilization(&t.pmu, 0, 500) - 50) < 1e-9);
    t.pmu.sides.at[0].counter[1] = 499; /* shown as 0.000 */
    assert_true(pmu_cube_utilization(&t.pmu, 0, 500) == 0);
    pmu_free(&t.pmu);
}

static void metrics_without_their_events_are_left_out(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 1, "PipeUtilization", (uint32_t[]){0x8, 0xa, 0x55, 0});
    check_columns(&t, "total_time total_cycles vec_time vec_ratio mac_time mac_ratio icache_miss_rate");
    check(&t, "icache_miss_rate", 0.003);
    assert_false(pmu_has_memory_bound(&t.pmu));
    pmu_free(&t.pmu);
}

static void pipes_that_execute_go_by_either_pair_of_cube_events(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 7, "PipelineExecuteUtilization", (uint32_t[]){0x12c, 0x49, 0x4a, 0x9, 0x302, 0xc, 0xd, 0x303, 0});
    check(&t, "mac_exe_ratio", 0.005);
    check(&t, "mte1_exe_time", 2.5);
    assert_false(pmu_has_cube(&t.pmu));
    assert_true(pmu_has_memory_bound(&t.pmu));
    pmu_free(&t.pmu);
    set_up(&t, 7, "PipelineExecuteUtilization", (uint32_t[]){0x416, 0x417, 0});
    check(&t, "mac_exe_ratio", 0.003);
    pmu_free(&t.pmu);
}

static void the_310b_has_no_vector_counters_to_show(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 7, "PipeUtilization", pipes);
    for (size_t i = 0; i < t.pmu.columns.n; i++) {
        const struct pmu_column *c = &t.pmu.columns.at[i];
        assert_int_equal(c->not_there, !strncmp(c->name, "vec_", 4));
    }
    pmu_free(&t.pmu);
}

static void narrow_vector_units_count_fewer_operations(void **state)
{
    (void)state;
    static const uint32_t events[] = {0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0};
    struct group_test t;
    set_up(&t, 1, "ArithmeticUtilization", events);
    check(&t, "vector_fops", 4000 * 128.0 + 5000 * 64.0 + 3000 * 64.0 + 6000 * 64.0 + 7000 * 32.0);
    pmu_free(&t.pmu);
    set_up(&t, 4, "ArithmeticUtilization", events);
    check(&t, "vector_fops", 4000 * 128.0 + 5000 * 64.0 + 3000 * 64.0 + 6000 * 16.0 + 7000 * 16.0);
    check(&t, "vec_fp16_ratio", 0.009);
    pmu_free(&t.pmu);
}

static void main_memory_is_measured_while_its_pipes_are_busy(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 15, "Memory", (uint32_t[]){0x56f, 0x571, 0x570, 0x572, 0x707, 0x709, 0x400, 0x401, 0x202, 0x203, 0});
    double read = gb_per_s(7000 * 64.0, 0.001);
    check(&t, "aic_main_mem_read_bw", read / 0.009);
    check(&t, "aic_main_mem_write_bw", gb_per_s(8000 * 64.0, 0.001) / 0.01);
    check(&t, "aiv_ub_read_bw", gb_per_s(1000 * 1024.0 + 2000 * 256.0, 0.001));
    check(&t, "aiv_ub_write_bw", gb_per_s(3000 * 1024.0, 0.001)); /* conflicts were not counted */
    t.pmu.sides.at[0].counter[9] = 0;
    check(&t, "aic_main_mem_read_bw", read);
    pmu_free(&t.pmu);
}

static void the_950_adds_what_the_vector_port_writes_when_it_counts_conflicts(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 15, "Memory", (uint32_t[]){0x570, 0x572, 0x556, 0});
    check(&t, "aiv_ub_write_bw", gb_per_s(1000 * 1024.0 + 2000 * 256.0, 0.001));
    t.pmu.sides.at[0].cycles = 0;
    check(&t, "aiv_ub_write_bw", 3000);
    pmu_free(&t.pmu);
    set_up(&t, 16, "ResourceConflictRatio", (uint32_t[]){0x540, 0x556, 0x528, 0x502, 0});
    check(&t, "aiv_vec_bank_cflt_ratio", 0.003);
    check(&t, "aiv_vec_resc_cflt_ratio", 0.75);
    t.pmu.sides.at[0].counter[3] = 0;
    check(&t, "aiv_vec_resc_cflt_ratio", 0);
    pmu_free(&t.pmu);
}

static void the_310_measures_over_the_total_time(void **state)
{
    (void)state;
    struct group_test t;
    set_up(&t, 0, "MemoryUB", (uint32_t[]){0x3d, 0x3e, 0x43, 0x44, 0x37, 0x38, 0});
    check_columns(&t, "total_time total_cycles ub_read_bw_mte ub_write_bw_mte ub_read_bw_vector ub_write_bw_vector "
                      "ub_read_bw_scalar ub_write_bw_scalar");
    check(&t, "ub_read_bw_vector", gb_per_s(3000 * 4096.0, 0.0005));
    t.pmu.sides.at[0].total_us = NAN; /* blocks are not known */
    assert_true(isnan(value(&t, "ub_read_bw_vector")));
    pmu_free(&t.pmu);
}

static void a_group_that_a_chip_does_not_have_is_said(void **state)
{
    (void)state;
    struct metadata m = {.aic_metrics = "MemoryAccess", .aiv_metrics = "", .n_aic_events = 1, .aic_events = {0x32}};
    struct pmu p = {0};
    assert_non_null(pmu_set_up(&p, &m, chip_find(1)));
    assert_int_equal(p.columns.n, 0);
    assert_non_null(pmu_set_up(&p, &m, chip_unknown()));
    pmu_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_as_a_whole_has_columns_without_prefix),
        cmocka_unit_test(what_is_divided_by_nothing_is_the_bare_counter),
        cmocka_unit_test(a_cube_that_did_nothing_has_no_utilization),
        cmocka_unit_test(metrics_without_their_events_are_left_out),
        cmocka_unit_test(pipes_that_execute_go_by_either_pair_of_cube_events),
        cmocka_unit_test(the_310b_has_no_vector_counters_to_show),
        cmocka_unit_test(narrow_vector_units_count_fewer_operations),
        cmocka_unit_test(main_memory_is_measured_while_its_pipes_are_busy),
        cmocka_unit_test(the_950_adds_what_the_vector_port_writes_when_it_counts_conflicts),
        cmocka_unit_test(the_310_measures_over_the_total_time),
        cmocka_unit_test(a_group_that_a_chip_does_not_have_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
