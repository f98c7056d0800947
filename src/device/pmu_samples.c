/* Metric groups of counters that are sampled per core, not counted per task.
 *
 * The sums of all samples of a core are treated like the counters of a task, by the same kinds of formulas, but the
 * reference has another table for them: pipes have ratios only, and some factors and columns are others. Where the
 * chips agree they share a table. docs/formats/pmu.md has the same tables for people. */
#include "device/pmu_groups.h"

/* --- all but the Ascend 950 ----------------------------------------------------------------------------------------
 */

static const struct pmu_metric pipe_utilization[] = {
    RATIO("vec_ratio", VECTOR, {0x8, 1}),
    RATIO("mac_ratio", CUBE, {0xa, 1}),
    RATIO("scalar_ratio", BOTH, {0x9, 1}),
    RATIO("mte1_ratio", CUBE, {0xb, 1}),
    RATIO("mte2_ratio", BOTH, {0xc, 1}),
    RATIO("mte3_ratio", BOTH, {0xd, 1}),
    QUOTIENT("icache_miss_rate", BOTH, 0x55, 0x54),
    METRICS_END,
};

static const struct pmu_metric pipe_utilization_exct[] = {
    RATIO("mac_ratio_extra", CUBE, {0x416, 1}, {0x417, 1}),
    RATIO("scalar_ratio", BOTH, {0x9, 1}),
    RATIO("mte1_ratio_extra", CUBE, {0x302, 1}),
    RATIO("mte2_ratio", BOTH, {0xc, 1}),
    RATIO("fixpipe_ratio", CUBE, {0x303, 1}),
    QUOTIENT("icache_miss_rate", BOTH, 0x55, 0x54),
    METRICS_END,
};

static const struct pmu_metric pipeline_execute_utilization[] = {
    RATIO("vec_exe_ratio", VECTOR, {0x12c, 1}),   RATIO("mac_exe_ratio", CUBE, {0x49, 1}, {0x4a, 1}),
    RATIO("scalar_exe_ratio", BOTH, {0x9, 1}),    RATIO("mte1_exe_ratio", CUBE, {0x302, 1}),
    RATIO("mte2_exe_ratio", BOTH, {0xc, 1}),      RATIO("mte3_exe_ratio", BOTH, {0xd, 1}),
    RATIO("fixpipe_exe_ratio", CUBE, {0x303, 1}), METRICS_END,
};

static const struct pmu_metric arithmetic_310[] = {
    ARITHMETIC_RATIOS,
    CUBE_OPERATIONS,
    FLOPS("vector_fops", VECTOR, {0x4c, 128}, {0x4d, 64}, {0x4b, 32}, {0x4e, 64}, {0x4f, 32}),
    METRICS_END,
};

#define MEMORY(l2)                                                                                                     \
    BANDWIDTH("ub_read_bw", VECTOR, 0x15, 256, 4), BANDWIDTH("ub_write_bw", VECTOR, 0x16, 256, 4),                     \
        BANDWIDTH("l1_read_bw", CUBE, 0x31, 256, 16), BANDWIDTH("l1_write_bw", CUBE, 0x32, 128, 8),                    \
        BANDWIDTH("l2_read_bw", l2, 0xf, 256, 8), BANDWIDTH("l2_write_bw", l2, 0x10, 256, 8),                          \
        BANDWIDTH("main_mem_read_bw", BOTH, 0x12, 8, 8), BANDWIDTH("main_mem_write_bw", BOTH, 0x13, 8, 8)

static const struct pmu_metric memory[] = {MEMORY(BOTH), METRICS_END};

/* The report does not show the L2 cache. */
static const struct pmu_metric memory_without_l2[] = {MEMORY(NEITHER), METRICS_END};

#define MEMORY_UB(mte)                                                                                                 \
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x43, 128, 2),                                                              \
        BANDWIDTH_SUM("ub_read_bw_vector", VECTOR, 0x17f, 128, 2, 0x180, 128, 2),                                      \
        BANDWIDTH("ub_write_bw_vector", VECTOR, 0x44, 128, 1), BANDWIDTH("ub_write_bw_vector", VECTOR, 0x191, 128, 1), \
        BANDWIDTH("ub_read_bw_scalar", BOTH, 0x37, 128, 1), BANDWIDTH("ub_write_bw_scalar", BOTH, 0x38, 128, 1),       \
        BANDWIDTH("ub_read_bw_mte", mte, 0x3d, 128, 1), BANDWIDTH("ub_read_bw_mte", mte, 0x1a5, 128, 1),               \
        BANDWIDTH("ub_write_bw_mte", mte, 0x3e, 128, 1), BANDWIDTH("ub_write_bw_mte", mte, 0x1a6, 128, 1)

static const struct pmu_metric memory_ub[] = {MEMORY_UB(NEITHER), METRICS_END};

/* The only report that shows what the transfer engines move. */
static const struct pmu_metric memory_ub_310[] = {MEMORY_UB(BOTH), METRICS_END};

static const struct pmu_metric memory_access[] = {MEMORY_ACCESS("(KB)"), METRICS_END};

#define GROUPS(arithmetic, memory, memory_ub)                                                                          \
    {"PipeUtilization", pipe_utilization}, {"PipeUtilizationExct", pipe_utilization_exct},                             \
        {"PipelineExecuteUtilization", pipeline_execute_utilization}, {"ArithmeticUtilization", arithmetic},           \
        {"Memory", memory}, {"MemoryL0", pmu_memory_l0}, {"MemoryUB", memory_ub},                                      \
        {"ResourceConflictRatio", pmu_resource_conflict_ratio}, {"L2Cache", pmu_l2_cache},                             \
        {"MemoryAccess", memory_access},

static const struct pmu_group split[] = {GROUPS(pmu_arithmetic, memory, memory_ub)};
static const struct pmu_group common[] = {GROUPS(pmu_arithmetic, memory_without_l2, memory_ub)};
static const struct pmu_group narrow[] = {GROUPS(pmu_arithmetic_narrow, memory_without_l2, memory_ub)};
static const struct pmu_group ascend_310[] = {GROUPS(arithmetic_310, memory, memory_ub_310)};

/* --- Ascend 950 --------------------------------------------------------------------------------------------------- */

static const struct pmu_metric pipe_utilization_950[] = {
    RATIO("vec_ratio", VECTOR, {0x501, 1}),
    RATIO("mac_ratio", CUBE, {0x301, 1}),
    RATIO("scalar_ratio", BOTH, {0x1, 1}),
    RATIO("mte1_ratio", CUBE, {0x701, 1}),
    RATIO("mte2_ratio", BOTH, {0x202, 1}),
    RATIO("mte3_ratio", BOTH, {0x203, 1}),
    QUOTIENT("icache_miss_rate", BOTH, 0x35, 0x34),
    RATIO("fixpipe_ratio", CUBE, {0x714, 1}),
    METRICS_END,
};

static const struct pmu_metric arithmetic_950[] = {
    RATIO("mac_fp16_ratio", CUBE, {0x323, 1}),
    RATIO("mac_int8_ratio", CUBE, {0x324, 1}),
    FLOPS("cube_fops", CUBE, {0x323, 8192}, {0x324, 16384}),
    METRICS_END,
};

static const struct pmu_metric memory_950[] = {
    BANDWIDTH_SUM("ub_read_bw", VECTOR, 0x56f, 256, 4, 0x571, 256, 4),
    BANDWIDTH_SUM("ub_write_bw", VECTOR, 0x570, 256, 4, 0x572, 256, 4),
    BANDWIDTH("l1_read_bw", CUBE, 0x707, 256, 16),
    BANDWIDTH("l1_write_bw", CUBE, 0x709, 256, 8),
    BANDWIDTH("main_mem_read_bw", BOTH, 0x400, 8, 8),
    BANDWIDTH("main_mem_write_bw", BOTH, 0x401, 8, 8),
    METRICS_END,
};

static const struct pmu_metric memory_l0_950[] = {
    BANDWIDTH("l0a_read_bw", CUBE, 0x304, 256, 16),      BANDWIDTH("l0a_write_bw", CUBE, 0x703, 256, 16),
    BANDWIDTH("l0b_read_bw", CUBE, 0x306, 256, 16),      BANDWIDTH("l0b_write_bw", CUBE, 0x705, 256, 8),
    BANDWIDTH("l0c_read_bw", VECTOR, 0x712, 256, 8),     BANDWIDTH("l0c_read_bw_cube", CUBE, 0x30a, 256, 8),
    BANDWIDTH("l0c_write_bw_cube", CUBE, 0x308, 256, 8), METRICS_END,
};

static const struct pmu_metric memory_ub_950[] = {
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x571, 128, 2), BANDWIDTH("ub_write_bw_vector", VECTOR, 0x572, 128, 1),
    BANDWIDTH("ub_read_bw_scalar", BOTH, 0x3, 128, 1),     BANDWIDTH("ub_write_bw_scalar", BOTH, 0x5, 128, 1),
    BANDWIDTH("ub_read_bw_mte", NEITHER, 0x204, 128, 1),   BANDWIDTH("ub_write_bw_mte", NEITHER, 0x206, 128, 1),
    BANDWIDTH("fixp2ub_write_bw", BOTH, 0x70c, 256, 8),    METRICS_END,
};

static const struct pmu_metric resource_conflict_ratio_950[] = {
    RATIO("vec_bank_cflt_ratio", VECTOR, {0x540, 1}, {0x556, 1}),
    QUOTIENT("vec_resc_cflt_ratio", VECTOR, 0x528, 0x502),
    METRICS_END,
};

static const struct pmu_group ascend_950[] = {
    {"PipeUtilization", pipe_utilization_950},
    {"ArithmeticUtilization", arithmetic_950},
    {"Memory", memory_950},
    {"MemoryL0", memory_l0_950},
    {"MemoryUB", memory_ub_950},
    {"ResourceConflictRatio", resource_conflict_ratio_950},
    {"L2Cache", pmu_l2_cache_950},
};

const struct pmu_group_set *pmu_sampled_set(const struct chip *chip)
{
    static const struct pmu_group_set sets[] = {
        [PMU_GROUPS_SPLIT] = {COUNTED(split)},    [PMU_GROUPS_COMMON] = {COUNTED(common)},
        [PMU_GROUPS_NARROW] = {COUNTED(narrow)},  [PMU_GROUPS_310] = {COUNTED(ascend_310)},
        [PMU_GROUPS_950] = {COUNTED(ascend_950)},
    };
    return chip->pmu_groups ? &sets[chip->pmu_groups] : NULL;
}
