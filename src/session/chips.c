/* The chips: one row per chip, one column per fact. A new chip is a new row; a new difference between chips is a new
 * column in struct chip that the rows name. */
#include "session/chips.h"

#include <stddef.h>

/* Device task types by the number in the task log, per generation of the task scheduler. */
static const char *const stars_sqes[SQE_NAMES] = {
    [0] = "AI_CORE",          [1] = "AI_CPU",         [2] = "AIV_SQE",           [3] = "PLACE_HOLDER_SQE",
    [4] = "EVENT_RECORD_SQE", [5] = "EVENT_WAIT_SQE", [6] = "NOTIFY_RECORD_SQE", [7] = "NOTIFY_WAIT_SQE",
    [8] = "WRITE_VALUE_SQE",  [9] = "VQ6_SQE",        [10] = "TOF_SQE",          [11] = "SDMA_SQE",
    [12] = "VPC_SQE",         [13] = "JPEGE_SQE",     [14] = "JPEGD_SQE",        [15] = "DSA_SQE",
    [16] = "ROCCE_SQE",       [17] = "PCIE_DMA_SQE",  [18] = "HOST_CPU_SQE",     [19] = "CDQM_SQE",
    [20] = "C_CORE_SQE",
};

static const char *const hwts_sqes[SQE_NAMES] = {
    [0] = "AI_CORE",          [1] = "AI_CPU",         [2] = "AIV_SQE",           [3] = "PLACE_HOLDER_SQE",
    [4] = "EVENT_RECORD_SQE", [5] = "EVENT_WAIT_SQE", [6] = "NOTIFY_RECORD_SQE", [7] = "NOTIFY_WAIT_SQE",
    [8] = "WRITE_VALUE_SQE",  [9] = "SDMA_SQE",       [10] = "MAX_SQE",
};

/* Numbers that are not shown. */
static const char *const no_sqes[SQE_NAMES] = {NULL};

static const char *const v6_sqes[SQE_NAMES] = {
    [0] = "AI_CORE",
    [1] = "AIV_SQE",
    [2] = "FUSION",
    [3] = "PLACE_HOLDER_SQE",
    [4] = "AICPU_H",
    [5] = "AICPU_D",
    [6] = "NOTIFY_RECORD_SQE",
    [7] = "NOTIFY_WAIT_SQE",
    [8] = "WRITE_VALUE_SQE",
    [9] = "UBDMA",
    [10] = "ASYNCDMA",
    [11] = "SDMA_SQE",
    [12] = "VPC",
    [13] = "JPEGE",
    [14] = "JPEGD",
    [15] = "CMO_SQE",
    [16] = "CCU_SQE",
    [20] = "CONDITION_SQE",
    [21] = "END_SQE",
};

/* The nano chip numbers its own task types. */
static const char *const nano_sqes[SQE_NAMES] = {
    [0] = "AI_CORE",   [1] = "AI_CPU",  [2] = "AI_VECTOR_CORE", [3] = "WRITE_BACK", [4] = "MIX_AIC", [5] = "MIX_AIV",
    [6] = "FFTS_PLUS", [7] = "DSA_SQE", [8] = "DVPP",           [9] = "HCCL",       [10] = "FUSION", [11] = "INVALID",
};

/* What all chips but the smallest sample. */
#define SAMPLES_COMMON (SAMPLE_HBM | SAMPLE_CTRL_CPU)

/* The 310B class has counters in its event list for these, but nothing behind them. */
static const char *const no_vector_counters[] = {
    "vec_ratio",
    "vec_time",
    "ub_read_bw",
    "ub_write_bw",
    "l0c_write_bw",
    "l2_write_bw",
    "vec_fp32_ratio",
    "vec_fp16_ratio",
    "vec_int32_ratio",
    "vec_misc_ratio",
    "vec_bankgroup_cflt_ratio",
    "vec_bank_cflt_ratio",
    "vec_resc_cflt_ratio",
    NULL,
};

static const struct chip chips[] = {
    {
        .id = 0,
        .name = "CHIP_V1_1_0",
        .product = "Atlas 200 / 300 / 500 (Ascend 310)",
        .npu_name = "Ascend310",
        .counter_mhz = 19.2,
        .aic_mhz = 680,
        .task_log = TASK_LOG_TIMELINE,
        .copies_from_ts = true,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_310,
        .core_samples = CORE_SAMPLES_APART,
        .sqe_names = hwts_sqes,
        .sqe_unknown = "Other",
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC_TEXT | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NIC |
                   SAMPLE_ROCE | SAMPLE_NETDEV | SAMPLE_DVPP | SAMPLE_NPU_MEM | SAMPLE_TS_CPU,
        .ddr_bytes = 16,
    },
    {
        .id = 1,
        .l2_events = L2_EVENTS_910,
        .name = "CHIP_V2_1_0",
        .product = "Atlas training series (Ascend 910A)",
        .npu_name = "Ascend910A",
        .counter_mhz = 100,
        .aic_mhz = 1000,
        .rdma_gbs = 12.5,
        .hccs_gbs = 18,
        .pcie_gbs = 20,
        .task_log = TASK_LOG_HWTS,
        .aicpu_from_ts = true,
        .copies_from_ts = true,
        .can_export_all = true,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_COMMON,
        .core_samples = CORE_SAMPLES_APART,
        .sqe_names = no_sqes,
        .sqe_unknown = "Other",
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NIC | SAMPLE_ROCE |
                   SAMPLE_NETDEV | SAMPLE_DVPP | SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE |
                   SAMPLE_TS_CPU,
        .ddr_bytes = 32,
        .llc_parts = 4,
        .dvpp_ids = true,
    },
    {
        .id = 2,
        .l2_events = L2_EVENTS_310P,
        .name = "CHIP_V3_1_0",
        .product = "MDC 610",
        .npu_name = "UNKNOWN",
        .counter_mhz = 38.4,
        .aic_mhz = 960,
        .task_log = TASK_LOG_HWTS,
        .copies_from_ts = true,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_NARROW,
        .core_samples = CORE_SAMPLES_APART,
        .sqe_names = hwts_sqes,
        .sqe_unknown = "Other",
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NETDEV |
                   SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU,
        .ddr_bytes = 32,
        .llc_parts = 4,
    },
    {
        .id = 3,
        .l2_events = L2_EVENTS_310P,
        .name = "CHIP_V3_2_0",
        .product = "SoC products (lhisi)",
        .npu_name = "UNKNOWN",
        .counter_mhz = 38.4,
        .aic_mhz = 1150,
        .task_log = TASK_LOG_HWTS,
        .copies_from_ts = true,
        .can_export_all = true,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_NARROW,
        .core_samples = CORE_SAMPLES_APART,
        .sqe_names = hwts_sqes,
        .sqe_unknown = "Other",
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NETDEV |
                   SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU,
        .ddr_bytes = 32,
        .llc_parts = 4,
    },
    {
        .id = 4,
        .l2_events = L2_EVENTS_310P,
        .name = "CHIP_V3_3_0",
        .freq_in_timeline = true,
        .product = "Atlas inference series (Ascend 310P)",
        .npu_name = "Ascend310P",
        .counter_mhz = 38.4,
        .aic_mhz = 1150,
        .task_log = TASK_LOG_HWTS,
        .schedules_from_ts = true,
        .copies_from_ts = true,
        .can_export_all = true,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_NARROW,
        .core_samples = CORE_SAMPLES_APART,
        .sqe_names = hwts_sqes,
        .sqe_unknown = "Other",
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NETDEV |
                   SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU,
        .ddr_bytes = 32,
        .llc_parts = 4,
    },
    {
        .id = 5,
        .l2_events = L2_EVENTS_STARS,
        .name = "CHIP_V4_1_0",
        .counters_in_db = true,
        .freq_in_timeline = true,
        .freq_in_db = true,
        .product = "Atlas A2 / A3 (Ascend 910B, 910_93)",
        .npu_name = "Ascend910B",
        .counter_mhz = 50,
        .aic_mhz = 1850,
        .rdma_gbs = 25,
        .hccs_gbs = 28,
        .task_log = TASK_LOG_STARS,
        .copies_from_ts = true,
        .stars = true,
        .native_tasks = true,
        .native_views = true,
        .can_export_all = true,
        .context_ids = true,
        .mix_pmu = true,
        .stars_record = 64,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_SPLIT,
        .core_samples = CORE_SAMPLES_TOGETHER,
        .last_cube_core = 24,
        .sqe_names = stars_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_LLC | SAMPLE_HCCS | SAMPLE_PCIE | SAMPLE_NIC | SAMPLE_ROCE | SAMPLE_NETDEV |
                   SAMPLE_DVPP | SAMPLE_QOS | SAMPLE_STARS | SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_SOC_PMU |
                   SAMPLE_L2_CACHE | SAMPLE_TS_CPU | SAMPLE_VOLTAGE | SAMPLE_BIU_RECORDS,
        .llc_parts = 2,
        .pcie_latest = true,
        .dvpp_ids = true,
    },
    {
        .id = 7,
        .l2_events = L2_EVENTS_STARS,
        .name = "CHIP_V1_1_1",
        .counters_in_db = true,
        .freq_in_timeline = true,
        .freq_in_db = true,
        .product = "Atlas 200I / 500 A2 (Ascend 310B)",
        .npu_name = "Ascend310B",
        .counter_mhz = 48,
        .aic_mhz = 1250,
        .task_log = TASK_LOG_STARS,
        .stars = true,
        .can_export_all = true,
        .context_ids = true,
        .stars_record = 64,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_COMMON,
        .core_samples = CORE_SAMPLES_TOGETHER,
        .pmu_not_there = no_vector_counters,
        .sqe_names = stars_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_NIC | SAMPLE_NETDEV | SAMPLE_DVPP | SAMPLE_STARS |
                   SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU | SAMPLE_BIU_RECORDS,
        .ddr_bytes = 16,
        .llc_parts = 1,
        .dvpp_ids = true,
    },
    {
        .id = 8,
        .l2_events = L2_EVENTS_STARS,
        .name = "CHIP_V1_1_2",
        .counters_in_db = true,
        .product = "Ascend 310B class (tiny)",
        .npu_name = "UNKNOWN",
        .counter_mhz = 48,
        .aic_mhz = 1250,
        .task_log = TASK_LOG_STARS,
        .stars = true,
        .can_export_all = true,
        .context_ids = true,
        .stars_record = 64,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_COMMON,
        .core_samples = CORE_SAMPLES_TOGETHER,
        .pmu_not_there = no_vector_counters,
        .sqe_names = stars_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_NIC | SAMPLE_NETDEV | SAMPLE_DVPP | SAMPLE_STARS |
                   SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU | SAMPLE_BIU_RECORDS,
        .ddr_bytes = 16,
        .llc_parts = 1,
        .dvpp_ids = true,
    },
    {
        .id = 9,
        .name = "CHIP_V5_1_0",
        .product = "Ascend nano",
        .npu_name = "UNKNOWN",
        .can_export_all = true,
        .pmu_counters = 10,
        .sqe_names = nano_sqes,
    },
    {
        .id = 11,
        .l2_events = L2_EVENTS_STARS,
        .name = "CHIP_V1_1_3",
        .counters_in_db = true,
        .product = "MDC (AS31XM1)",
        .npu_name = "UNKNOWN",
        .counter_mhz = 48,
        .aic_mhz = 1250,
        .task_log = TASK_LOG_STARS,
        .stars = true,
        .context_ids = true,
        .stars_record = 64,
        .pmu_counters = 8,
        .pmu_groups = PMU_GROUPS_COMMON,
        .core_samples = CORE_SAMPLES_TOGETHER,
        .pmu_not_there = no_vector_counters,
        .sqe_names = stars_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_DDR | SAMPLE_LLC | SAMPLE_NIC | SAMPLE_NETDEV | SAMPLE_DVPP | SAMPLE_STARS |
                   SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_L2_CACHE | SAMPLE_TS_CPU | SAMPLE_BIU_RECORDS,
        .ddr_bytes = 16,
        .llc_parts = 1,
        .dvpp_ids = true,
    },
    {
        .id = 15,
        .l2_events = L2_EVENTS_950,
        .name = "CHIP_V6_1_0",
        .counters_in_db = true,
        .freq_in_timeline = true,
        .freq_in_db = true,
        .product = "Ascend 950 (910_95)",
        .npu_name = "Ascend950",
        .counter_mhz = 1000,
        .aic_mhz = 800,
        .task_log = TASK_LOG_STARS,
        .stars = true,
        .native_views = true,
        .unique_task_ids = true,
        .physical_threads = true,
        .freq_of_dies = true,
        .can_export_all = true,
        .mix_pmu = true,
        .stars_record = 32,
        .pmu_counters = 10,
        .pmu_groups = PMU_GROUPS_950,
        .core_samples = CORE_SAMPLES_COUNTED,
        .last_cube_core = 35,
        .sqe_names = v6_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_LLC | SAMPLE_PCIE | SAMPLE_DVPP | SAMPLE_STARS | SAMPLE_UB | SAMPLE_CCU |
                   SAMPLE_BIU | SAMPLE_DPU_COMM | SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_SOC_PMU |
                   SAMPLE_L2_CACHE,
        .llc_parts = 4,
        .dvpp_ids = true,
    },
    {
        .id = 16,
        .l2_events = L2_EVENTS_950,
        .name = "CHIP_V6_2_0",
        .counters_in_db = true,
        .freq_in_timeline = true,
        .freq_in_db = true,
        .product = "Ascend 910_96",
        .npu_name = "UNKNOWN",
        .counter_mhz = 1000,
        .aic_mhz = 1650,
        .task_log = TASK_LOG_STARS,
        .stars = true,
        .native_views = true,
        .unique_task_ids = true,
        .physical_threads = true,
        .freq_of_dies = true,
        .can_export_all = true,
        .mix_pmu = true,
        .stars_record = 32,
        .pmu_counters = 10,
        .pmu_groups = PMU_GROUPS_950,
        .core_samples = CORE_SAMPLES_COUNTED,
        .last_cube_core = 35,
        .sqe_names = v6_sqes,
        .samples = SAMPLES_COMMON | SAMPLE_LLC | SAMPLE_PCIE | SAMPLE_DVPP | SAMPLE_STARS | SAMPLE_UB | SAMPLE_CCU |
                   SAMPLE_BIU | SAMPLE_DPU_COMM | SAMPLE_NPU_MEM | SAMPLE_NPU_MODULE_MEM | SAMPLE_SOC_PMU |
                   SAMPLE_L2_CACHE,
        .llc_parts = 4,
        .dvpp_ids = true,
    },
};

/* Host data of a chip that is newer than this program still is what it always was; nothing is assumed of its devices.
 */
static const struct chip unknown = {
    .id = -1,
    .name = "UNKNOWN",
    .product = "unknown chip",
    .npu_name = "UNKNOWN",
    .native_tasks = true,
    .native_views = true,
    .sqe_names = (const char *const[SQE_NAMES]){0},
};

#define N_CHIPS (sizeof chips / sizeof *chips)

const struct chip *chip_find(int id)
{
    for (size_t i = 0; i < N_CHIPS; i++)
        if (chips[i].id == id) return &chips[i];
    return NULL;
}

const struct chip *chip_unknown(void)
{
    return &unknown;
}

const struct chip *chip_all(unsigned *n)
{
    *n = N_CHIPS;
    return chips;
}
