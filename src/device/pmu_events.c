/* Metric groups of the chips that count for a task as a whole (Atlas training, inference, 200I/500 A2), and of the
 * Ascend 950. docs/formats/pmu.md has the same tables for people.
 *
 * All sets say the same things of the same kinds of units, but event codes, widths of the data paths and the treatment
 * of zeros differ; where two sets agree they share a table. Without cycles these chips show the bare counters; the
 * Ascend 310 shows nothing. */
#include "device/pmu_groups.h"

/* Cache misses per request; of all cycles when requests were not counted. */
#define ICACHE_MISS_RATE(miss, request)                                                                                \
    RATIO_PER("icache_miss_rate", BOTH, miss, request), RATIO("icache_miss_rate", BOTH, {miss, 1})

/* --- Atlas training and inference, 200I/500 A2 ------------------------------------------------------------------- */

static const struct pmu_metric pipe_utilization[] = {
    PIPE("vec_time", "vec_ratio", VECTOR, {0x8, 1}),
    PIPE("mac_time", "mac_ratio", CUBE, {0xa, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio", CUBE, {0xb, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("mte3_time", "mte3_ratio", BOTH, {0xd, 1}),
    ICACHE_MISS_RATE(0x55, 0x54),
    METRICS_END,
};

static const struct pmu_metric pipe_utilization_exct[] = {
    PIPE("mac_time", "mac_ratio_extra", CUBE, {0x416, 1}, {0x417, 1}),
    PIPE("mac_time", "mac_ratio_extra", CUBE, {0x49, 1}, {0x4a, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio_extra", CUBE, {0x302, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("fixpipe_time", "fixpipe_ratio", CUBE, {0x303, 1}),
    ICACHE_MISS_RATE(0x55, 0x54),
    METRICS_END,
};

static const struct pmu_metric pipeline_execute_utilization[] = {
    PIPE("vec_exe_time", "vec_exe_ratio", VECTOR, {0x12c, 1}),
    PIPE("mac_exe_time", "mac_exe_ratio", CUBE, {0x49, 1}, {0x4a, 1}),
    PIPE("mac_exe_time", "mac_exe_ratio", CUBE, {0x416, 1}, {0x417, 1}),
    PIPE("scalar_exe_time", "scalar_exe_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_exe_time", "mte1_exe_ratio", CUBE, {0x302, 1}),
    PIPE("mte2_exe_time", "mte2_exe_ratio", BOTH, {0xc, 1}),
    PIPE("mte3_exe_time", "mte3_exe_ratio", BOTH, {0xd, 1}),
    PIPE("fixpipe_exe_time", "fixpipe_exe_ratio", CUBE, {0x303, 1}),
    METRICS_END,
};

static const struct pmu_metric memory[] = {
    BANDWIDTH("ub_read_bw", VECTOR, 0x15, 256, 4),
    BANDWIDTH("ub_write_bw", VECTOR, 0x16, 256, 4),
    BANDWIDTH("l1_read_bw", CUBE, 0x31, 256, 16),
    BANDWIDTH("l1_write_bw", CUBE, 0x32, 256, 8),
    BANDWIDTH_BUSY("main_mem_read_bw", BOTH, 0x12, 8, 8, 0xc, 0xd),
    BANDWIDTH("main_mem_read_bw", BOTH, 0x12, 8, 8),
    BANDWIDTH_BUSY("main_mem_write_bw", BOTH, 0x13, 8, 8, 0xd, 0xc),
    BANDWIDTH("main_mem_write_bw", BOTH, 0x13, 8, 8),
    METRICS_END,
};

static const struct pmu_metric memory_l0[] = {
    BANDWIDTH("l0a_read_bw", CUBE, 0x1b, 256, 16),
    BANDWIDTH("l0a_write_bw", CUBE, 0x1c, 256, 16),
    BANDWIDTH("l0b_read_bw", CUBE, 0x21, 256, 8),
    BANDWIDTH("l0b_write_bw", CUBE, 0x22, 256, 8),
    BANDWIDTH("l0c_read_bw", VECTOR, 0x27, 256, 8),
    BANDWIDTH("l0c_write_bw", VECTOR, 0x29, 256, 8),
    BANDWIDTH("l0c_read_bw_cube", CUBE, 0x28, 256, 8),
    BANDWIDTH("l0c_write_bw_cube", CUBE, 0x2a, 256, 8),
    METRICS_END,
};

static const struct pmu_metric memory_ub[] = {
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x43, 128, 2),
    BANDWIDTH_SUM("ub_read_bw_vector", VECTOR, 0x17f, 128, 2, 0x180, 128, 2),
    BANDWIDTH("ub_write_bw_vector", VECTOR, 0x44, 128, 2),
    BANDWIDTH("ub_write_bw_vector", VECTOR, 0x191, 128, 2),
    BANDWIDTH("ub_read_bw_scalar", BOTH, 0x37, 128, 1),
    BANDWIDTH("ub_write_bw_scalar", BOTH, 0x38, 128, 1),
    METRICS_END,
};

static const struct pmu_group common[] = {
    {"PipeUtilization", pipe_utilization},
    {"PipeUtilizationExct", pipe_utilization_exct},
    {"PipelineExecuteUtilization", pipeline_execute_utilization},
    {"ArithmeticUtilization", pmu_arithmetic},
    {"Memory", memory},
    {"MemoryL0", memory_l0},
    {"MemoryUB", memory_ub},
    {"ResourceConflictRatio", pmu_resource_conflict_ratio},
    {"L2Cache", pmu_l2_cache},
};

const struct pmu_group_set pmu_groups_common = {
    COUNTED(common),
    .rounded_time = true,
    .no_divisor = PMU_SHOW_COUNTER,
};

static const struct pmu_group narrow[] = {
    {"PipeUtilization", pipe_utilization},
    {"PipeUtilizationExct", pipe_utilization_exct},
    {"PipelineExecuteUtilization", pipeline_execute_utilization},
    {"ArithmeticUtilization", pmu_arithmetic_narrow},
    {"Memory", memory},
    {"MemoryL0", memory_l0},
    {"MemoryUB", memory_ub},
    {"ResourceConflictRatio", pmu_resource_conflict_ratio},
    {"L2Cache", pmu_l2_cache},
};

const struct pmu_group_set pmu_groups_narrow = {
    COUNTED(narrow),
    .rounded_time = true,
    .no_divisor = PMU_SHOW_COUNTER,
};

/* --- Ascend 310 --------------------------------------------------------------------------------------------------- */

/* Over the total time of all blocks, not the cycles. */
#define RATE(name, unit, event, bits, pipes)                                                                           \
    {                                                                                                                  \
        name, unit, PMU_BANDWIDTH, PMU_OF_RATE, {{event, (double)(bits) * (pipes)}},                                   \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static const struct pmu_metric arithmetic_utilization_310[] = {
    ARITHMETIC_RATIOS,
    COUNT("cube_fops", CUBE, {0x49, 8192}, {0x4a, 16384}),
    COUNT("vector_fops", VECTOR, {0x4c, 128}, {0x4d, 64}, {0x4b, 32}, {0x4e, 64}, {0x4f, 32}),
    METRICS_END,
};

static const struct pmu_metric memory_310[] = {
    RATE("ub_read_bw", VECTOR, 0x15, 256, 4),
    RATE("ub_write_bw", VECTOR, 0x16, 256, 4),
    RATE("l1_read_bw", CUBE, 0x31, 256, 16),
    RATE("l1_write_bw", CUBE, 0x32, 128, 8),
    RATE("l2_read_bw", BOTH, 0xf, 256, 8),
    RATE("l2_write_bw", BOTH, 0x10, 256, 8),
    RATE("main_mem_read_bw", BOTH, 0x12, 256, 8),
    RATE("main_mem_write_bw", BOTH, 0x13, 256, 8),
    METRICS_END,
};

static const struct pmu_metric memory_l0_310[] = {
    RATE("l0a_read_bw", CUBE, 0x1b, 256, 16),
    RATE("l0a_write_bw", CUBE, 0x1c, 256, 16),
    RATE("l0b_read_bw", CUBE, 0x21, 256, 16),
    RATE("l0b_write_bw", CUBE, 0x22, 256, 8),
    RATE("l0c_read_bw", VECTOR, 0x27, 256, 8),
    RATE("l0c_write_bw", VECTOR, 0x29, 256, 8),
    RATE("l0c_read_bw_cube", CUBE, 0x28, 256, 32),
    RATE("l0c_write_bw_cube", CUBE, 0x2a, 256, 32),
    METRICS_END,
};

static const struct pmu_metric memory_ub_310[] = {
    RATE("ub_read_bw_mte", VECTOR, 0x3d, 128, 8),
    RATE("ub_write_bw_mte", VECTOR, 0x3e, 128, 8),
    RATE("ub_read_bw_vector", VECTOR, 0x43, 256, 16),
    RATE("ub_write_bw_vector", VECTOR, 0x44, 256, 8),
    RATE("ub_read_bw_scalar", BOTH, 0x37, 256, 32),
    RATE("ub_write_bw_scalar", BOTH, 0x38, 256, 32),
    METRICS_END,
};

static const struct pmu_group ascend_310[] = {
    {"PipeUtilization", pmu_pipe_utilization},
    {"ArithmeticUtilization", arithmetic_utilization_310},
    {"Memory", memory_310},
    {"MemoryL0", memory_l0_310},
    {"MemoryUB", memory_ub_310},
    {"ResourceConflictRatio", pmu_resource_conflict_ratio},
    {"L2Cache", pmu_l2_cache},
};

const struct pmu_group_set pmu_groups_310 = {
    COUNTED(ascend_310),
    .no_divisor = PMU_SHOW_NOTHING,
};

/* --- Ascend 950 --------------------------------------------------------------------------------------------------- */

static const struct pmu_metric pipe_utilization_950[] = {
    PIPE("vec_time", "vec_ratio", VECTOR, {0x501, 1}),
    PIPE("mac_time", "mac_ratio", CUBE, {0x301, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x1, 1}),
    PIPE("mte1_time", "mte1_ratio", CUBE, {0x701, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0x202, 1}),
    PIPE("mte3_time", "mte3_ratio", BOTH, {0x203, 1}),
    PIPE("fixpipe_time", "fixpipe_ratio", CUBE, {0x714, 1}),
    ICACHE_MISS_RATE(0x35, 0x34),
    METRICS_END,
};

static const struct pmu_metric arithmetic_utilization_950[] = {
    RATIO("mac_fp16_ratio", CUBE, {0x323, 1}),
    RATIO("mac_int8_ratio", CUBE, {0x324, 1}),
    {"cube_fops", CUBE, PMU_VALUE, PMU_OF_RATIOS, {{0x323, 8192}, {0x324, 16384}}, {0}},
    METRICS_END,
};

/* The vector unit has a port of its own into the unified buffer. What it writes is only added where conflicts of that
 * port were counted, too. */
#define UB_WRITE_950                                                                                                   \
    {                                                                                                                  \
        "ub_write_bw", VECTOR, PMU_BANDWIDTH, PMU_OF_BANDWIDTH, {{0x570, 256 * 4}, {0x572, 128 * 2}, {0x556, 0}},      \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static const struct pmu_metric memory_950[] = {
    BANDWIDTH_SUM("ub_read_bw", VECTOR, 0x56f, 256, 4, 0x571, 128, 2),
    BANDWIDTH("ub_read_bw", VECTOR, 0x56f, 256, 4),
    UB_WRITE_950,
    BANDWIDTH("ub_write_bw", VECTOR, 0x570, 256, 4),
    BANDWIDTH("l1_read_bw", CUBE, 0x707, 256, 16),
    BANDWIDTH("l1_write_bw", CUBE, 0x709, 256, 8),
    BANDWIDTH_BUSY("main_mem_read_bw", BOTH, 0x400, 8, 8, 0x202, 0x203),
    BANDWIDTH("main_mem_read_bw", BOTH, 0x400, 8, 8),
    BANDWIDTH_BUSY("main_mem_write_bw", BOTH, 0x401, 8, 8, 0x203, 0x202),
    BANDWIDTH("main_mem_write_bw", BOTH, 0x401, 8, 8),
    METRICS_END,
};

static const struct pmu_metric memory_l0_950[] = {
    BANDWIDTH("l0a_read_bw", CUBE, 0x304, 256, 16),      BANDWIDTH("l0a_write_bw", CUBE, 0x703, 256, 16),
    BANDWIDTH("l0b_read_bw", CUBE, 0x306, 256, 8),       BANDWIDTH("l0b_write_bw", CUBE, 0x705, 256, 8),
    BANDWIDTH("l0c_read_bw", VECTOR, 0x712, 256, 8),     BANDWIDTH("l0c_read_bw_cube", CUBE, 0x30a, 256, 8),
    BANDWIDTH("l0c_write_bw_cube", CUBE, 0x308, 256, 8), METRICS_END,
};

static const struct pmu_metric memory_ub_950[] = {
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x571, 128, 2), BANDWIDTH("ub_write_bw_vector", VECTOR, 0x572, 128, 2),
    BANDWIDTH("ub_read_bw_scalar", BOTH, 0x3, 128, 1),     BANDWIDTH("ub_write_bw_scalar", BOTH, 0x5, 128, 1),
    BANDWIDTH("fixp2ub_write_bw", BOTH, 0x70c, 256, 8),    METRICS_END,
};

static const struct pmu_metric resource_conflict_ratio_950[] = {
    RATIO("vec_bank_cflt_ratio", VECTOR, {0x540, 1}, {0x556, 1}),
    RATIO("vec_bank_cflt_ratio", VECTOR, {0x540, 1}),
    QUOTIENT("vec_resc_cflt_ratio", VECTOR, 0x528, 0x502),
    COUNT("vec_resc_cflt_ratio", VECTOR, {0x528, 1}),
    METRICS_END,
};

const struct pmu_metric pmu_l2_cache_950[] = {
    COUNT("read_local_l2_hit", BOTH, {0x424, 1}),
    COUNT("read_local_l2_miss", BOTH, {0x425, 1}),
    COUNT("read_local_l2_victim", BOTH, {0x426, 1}),
    COUNT("write_local_l2_hit", BOTH, {0x42a, 1}),
    COUNT("write_local_l2_miss", BOTH, {0x42b, 1}),
    COUNT("write_local_l2_victim", BOTH, {0x42c, 1}),
    METRICS_END,
};

static const struct pmu_group ascend_950[] = {
    {"PipeUtilization", pipe_utilization_950},
    {"ArithmeticUtilization", arithmetic_utilization_950},
    {"Memory", memory_950},
    {"MemoryL0", memory_l0_950},
    {"MemoryUB", memory_ub_950},
    {"ResourceConflictRatio", resource_conflict_ratio_950},
    {"L2Cache", pmu_l2_cache_950},
};

const struct pmu_group_set pmu_groups_950 = {
    COUNTED(ascend_950),
    .rounded_time = true,
    .no_divisor = PMU_SHOW_COUNTER,
};
