/* Metric groups: their columns and formulas. */
#include "device_prof.h"

#define NEAR(a, b) assert_true((a) - (b) < 1e-9 * ((b) + 1) && (b) - (a) < 1e-9 * ((b) + 1))

/* Both sides of a group, counted by `events` (0 = end). */
static void set_up(struct pmu *p, const char *group, const uint32_t *events)
{
    struct metadata m = {.aic_metrics = group, .aiv_metrics = group, .aic_mhz = 1000, .ai_core_num = 4, .aiv_num = 8};
    for (; events[m.n_aic_events]; m.n_aic_events++)
        m.aic_events[m.n_aic_events] = m.aiv_events[m.n_aic_events] = events[m.n_aic_events];
    m.n_aiv_events = m.n_aic_events;
    *p = (struct pmu){0};
    assert_null(pmu_set_up(p, &m, chip_find(5)));
}

/* Columns shown in op_summary, joined by ' '. */
static void check_summary(const struct pmu *p, const char *expected)
{
    char text[2048] = "";
    for (size_t i = 0; i < p->columns.n; i++) {
        if (!p->columns.at[i].in_summary) continue;
        if (*text) strcat(text, " ");
        strcat(text, p->columns.at[i].name);
    }
    assert_string_equal(text, expected);
}

/* Value of a column for 1,000,000 cycles and counters 1000, 2000, 3000 … in a total time of 500 µs. */
static double value(struct pmu *p, const char *name)
{
    if (!p->rows.n) {
        struct pmu_side side = {1000000, 500, {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000}};
        array_push(&p->sides, side);
        array_push(&p->rows, ((struct pmu_row){0, 0}));
    }
    for (size_t c = 0; c < p->columns.n; c++)
        if (!strcmp(p->columns.at[c].name, name)) return pmu_value(p, 0, c);
    fail_msg("no column %s", name);
    return 0;
}

/* GB/s of `count` events of `bits` in 1,000,000 cycles of 1 GHz. */
static double gb_per_s(double count, double bits)
{
    return count * bits / 0.001 / 8589934592.0;
}

static void pipe_utilization(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "PipeUtilization", (uint32_t[]){0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55, 0});
    assert_int_equal(p.columns.n, 2 * 15);
    check_summary(&p, "aic_total_time aic_total_cycles aic_mac_time aic_mac_ratio aic_scalar_time aic_scalar_ratio "
                      "aic_mte1_time aic_mte1_ratio aic_mte2_time aic_mte2_ratio aic_mte3_time aic_mte3_ratio "
                      "aic_icache_miss_rate aiv_total_time aiv_total_cycles aiv_vec_time aiv_vec_ratio aiv_scalar_time "
                      "aiv_scalar_ratio aiv_mte2_time aiv_mte2_ratio aiv_mte3_time aiv_mte3_ratio "
                      "aiv_icache_miss_rate");
    NEAR(value(&p, "aic_mac_ratio"), 0.002);
    NEAR(value(&p, "aic_mac_time"), 1.0);
    NEAR(value(&p, "aiv_icache_miss_rate"), 8.0 / 7);
    assert_true(pmu_has_cube(&p));
    pmu_free(&p);
}

static void arithmetic_utilization(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "ArithmeticUtilization", (uint32_t[]){0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aic_mac_fp16_ratio aic_mac_int8_ratio aic_cube_fops "
                      "aiv_total_time aiv_total_cycles aiv_vec_fp32_ratio aiv_vec_fp16_ratio aiv_vec_int32_ratio "
                      "aiv_vec_misc_ratio aiv_vector_fops");
    NEAR(value(&p, "aiv_vec_fp16_ratio"), 0.009);
    NEAR(value(&p, "aic_cube_fops"), 1000.0 * 8192 + 2000.0 * 16384);
    NEAR(value(&p, "aiv_vector_fops"), 4000.0 * 128 + 5000.0 * 64 + 3000.0 * 64 + 6000.0 * 64 + 7000.0 * 32);
    assert_false(pmu_has_cube(&p));
    p.sides.at[0].cycles = 0;
    assert_true(value(&p, "aic_cube_fops") == 0);
    assert_true(value(&p, "aiv_vec_fp16_ratio") == 0);
    pmu_free(&p);
}

static void memory(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "Memory", (uint32_t[]){0x15, 0x16, 0x31, 0x32, 0xf, 0x10, 0x12, 0x13, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aic_l1_read_bw aic_l1_write_bw aic_main_mem_read_bw "
                      "aic_main_mem_write_bw aic_l2_read_bw aic_l2_write_bw aiv_total_time aiv_total_cycles "
                      "aiv_ub_read_bw aiv_ub_write_bw aiv_main_mem_read_bw aiv_main_mem_write_bw aiv_l2_read_bw "
                      "aiv_l2_write_bw");
    NEAR(value(&p, "aiv_ub_read_bw"), gb_per_s(1000, 256 * 4));
    NEAR(value(&p, "aic_l1_read_bw"), gb_per_s(3000, 256 * 16));
    NEAR(value(&p, "aic_l1_write_bw"), gb_per_s(4000, 128 * 8));
    NEAR(value(&p, "aic_main_mem_read_bw"), gb_per_s(7000, 8 * 8));
    NEAR(value(&p, "aic_l2_write_bw"), gb_per_s(6000, 256 * 8));
    p.aic_mhz = 0;
    assert_true(value(&p, "aic_l2_write_bw") == 0);
    pmu_free(&p);
}

static void memory_l0(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "MemoryL0", (uint32_t[]){0x1b, 0x1c, 0x21, 0x22, 0x27, 0x29, 0x28, 0x2a, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aic_l0a_read_bw aic_l0a_write_bw aic_l0b_read_bw "
                      "aic_l0b_write_bw aic_l0c_read_bw_cube aic_l0c_write_bw_cube aiv_total_time aiv_total_cycles "
                      "aiv_l0c_read_bw aiv_l0c_write_bw");
    NEAR(value(&p, "aic_l0b_read_bw"), gb_per_s(3000, 256 * 16));
    NEAR(value(&p, "aic_l0b_write_bw"), gb_per_s(4000, 256 * 8));
    NEAR(value(&p, "aic_l0c_read_bw_cube"), gb_per_s(7000, 256 * 32));
    pmu_free(&p);
}

static void memory_ub(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "MemoryUB", (uint32_t[]){0x10, 0x13, 0x37, 0x38, 0x3d, 0x3e, 0x43, 0x44, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aic_ub_read_bw_scalar aic_ub_write_bw_scalar aiv_total_time "
                      "aiv_total_cycles aiv_ub_read_bw_vector aiv_ub_write_bw_vector aiv_ub_read_bw_scalar "
                      "aiv_ub_write_bw_scalar");
    NEAR(value(&p, "aiv_ub_write_bw_vector"), gb_per_s(8000, 128 * 2));
    NEAR(value(&p, "aic_ub_read_bw_scalar"), gb_per_s(3000, 128));
    pmu_free(&p);
}

static void resource_conflict_ratio(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "ResourceConflictRatio", (uint32_t[]){0x64, 0x65, 0x66, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aiv_total_time aiv_total_cycles aiv_vec_bankgroup_cflt_ratio "
                      "aiv_vec_bank_cflt_ratio aiv_vec_resc_cflt_ratio");
    NEAR(value(&p, "aiv_vec_resc_cflt_ratio"), 0.003);
    pmu_free(&p);
}

static void l2_cache(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "L2Cache", (uint32_t[]){0x500, 0x502, 0x504, 0x506, 0x508, 0x50a, 0});
    assert_int_equal(p.columns.n, 16);
    NEAR(value(&p, "aic_r1_read_cache_miss_allocate"), 6000);
    p.sides.at[0].cycles = 0;
    NEAR(value(&p, "aiv_write_cache_hit"), 1000);
    pmu_free(&p);
}

static void memory_access(void **state)
{
    (void)state;
    struct pmu p;
    set_up(&p, "MemoryAccess", (uint32_t[]){0x32, 0x3e, 0x206, 0x20c, 0x50c, 0x50d, 0x50e, 0x3d, 0});
    check_summary(&p, "aic_total_time aic_total_cycles aic_read_main_memory_datas aic_write_main_memory_datas "
                      "aic_GM_to_L1_datas aic_L0C_to_L1_datas aic_L0C_to_GM_datas aic_GM_to_UB_datas "
                      "aic_UB_to_GM_datas aiv_total_time aiv_total_cycles aiv_read_main_memory_datas "
                      "aiv_write_main_memory_datas aiv_GM_to_L1_datas aiv_L0C_to_L1_datas aiv_L0C_to_GM_datas "
                      "aiv_GM_to_UB_datas aiv_UB_to_GM_datas");
    NEAR(value(&p, "aic_read_main_memory_datas"), 0.125 * 13000);
    assert_true(value(&p, "aic_GM_to_L1_datas") == -500); /* more from L0C than in all */
    NEAR(value(&p, "aic_L0C_to_GM_datas"), 0.125 * 1000);
    pmu_free(&p);
}

static void sides_may_have_different_groups(void **state)
{
    (void)state;
    struct metadata m = {.aic_metrics = "L2Cache",
                         .aiv_metrics = "ResourceConflictRatio",
                         .aic_events = {0x500, 0x502, 0x504, 0x506, 0x508, 0x50a},
                         .aiv_events = {0x64, 0x65, 0x66},
                         .n_aic_events = 6,
                         .n_aiv_events = 3};
    struct pmu p = {0}, other = {0};
    assert_null(pmu_set_up(&p, &m, chip_find(5)));
    assert_int_equal(p.columns.n, 8 + 5);
    assert_string_equal(p.columns.at[10].name, "aiv_vec_bankgroup_cflt_ratio");
    assert_true(p.columns.at[10].aiv);
    assert_true(pmu_same_columns(&p, &p));
    assert_false(pmu_same_columns(&p, &other));
    pmu_free(&p);
}

static void events_beyond_what_the_chip_counts_are_not_there(void **state)
{
    (void)state;
    struct metadata m = {.aic_metrics = "L2Cache",
                         .aiv_metrics = "L2Cache",
                         .aic_events = {1, 2, 3, 4, 0x502, 0x504, 0x506, 0x508, 0x50a, 0x500},
                         .aiv_events = {0x500, 0x502, 0x504, 0x506, 0x508, 0x50a},
                         .n_aic_events = 10,
                         .n_aiv_events = 6};
    struct pmu p = {0};
    assert_non_null(pmu_set_up(&p, &m, chip_find(5)));
    assert_int_equal(p.columns.n, 0);
    pmu_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipe_utilization),
        cmocka_unit_test(arithmetic_utilization),
        cmocka_unit_test(memory),
        cmocka_unit_test(memory_l0),
        cmocka_unit_test(memory_ub),
        cmocka_unit_test(resource_conflict_ratio),
        cmocka_unit_test(l2_cache),
        cmocka_unit_test(memory_access),
        cmocka_unit_test(sides_may_have_different_groups),
        cmocka_unit_test(events_beyond_what_the_chip_counts_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
