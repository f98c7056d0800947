/* Metric groups as tables: a group is a list of metrics, a metric is a column and its formula over events. Internal to
 * the room.
 *
 * Which groups there are, and how a counter becomes a value, differs from generation to generation of the chips: each
 * has a set of groups, and the chip table names the set. */
#ifndef DEVICE_PMU_GROUPS_H
#define DEVICE_PMU_GROUPS_H

#include "device/pmu.h"

/* Which side a metric is about; the other side has the column too, but reports do not show it.
 * NEITHER: no report shows it, only the database. */
enum pmu_unit { BOTH, CUBE, VECTOR, NEITHER };

struct pmu_event_term {
    uint16_t event; /* code */
    double factor;
};

/* A column. It is there when all its events were counted; of several metrics with one name the first such. */
struct pmu_metric {
    const char *name;
    enum pmu_unit unit;
    enum pmu_kind kind;
    enum pmu_formula formula;
    struct pmu_event_term terms[PMU_TERMS]; /* event 0 = end */
    uint16_t per[PMU_TERMS]; /* the value is per ratio of the first of these, unless one of them counted nothing */
};

/* A pipe has two columns: the time it was busy and the share of the cycles. */
#define PIPE(time_name, ratio_name, unit, ...)                                                                         \
    {time_name, unit, PMU_TIME, PMU_OF_TIME, {__VA_ARGS__}, {0}},                                                      \
    {                                                                                                                  \
        ratio_name, unit, PMU_RATIO, PMU_OF_RATIO, {__VA_ARGS__},                                                      \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
#define RATIO(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_RATIO, PMU_OF_RATIO, {__VA_ARGS__},                                                            \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
/* Share of the cycles of one event per that of another. */
#define RATIO_PER(name, unit, event, other)                                                                            \
    {                                                                                                                  \
        name, unit, PMU_RATIO, PMU_OF_RATIO, {{event, 1}},                                                             \
        {                                                                                                              \
            other                                                                                                      \
        }                                                                                                              \
    }
#define QUOTIENT(name, unit, part, whole)                                                                              \
    {                                                                                                                  \
        name, unit, PMU_RATIO, PMU_OF_QUOTIENT, {{part, 1}, {whole, 1}},                                               \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
#define COUNT(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_VALUE, PMU_OF_COUNTERS, {__VA_ARGS__},                                                         \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
#define FLOPS(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_VALUE, PMU_OF_OPERATIONS, {__VA_ARGS__},                                                       \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
/* `bits` per count in one pipe, `pipes` of them */
#define BANDWIDTH(name, unit, event, bits, pipes)                                                                      \
    {                                                                                                                  \
        name, unit, PMU_BANDWIDTH, PMU_OF_BANDWIDTH, {{event, (double)(bits) * (pipes)}},                              \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
/* Two events that count parts of one flow. */
#define BANDWIDTH_SUM(name, unit, event, bits, pipes, other, other_bits, other_pipes)                                  \
    {                                                                                                                  \
        name, unit, PMU_BANDWIDTH, PMU_OF_BANDWIDTH,                                                                   \
            {{event, (double)(bits) * (pipes)}, {other, (double)(other_bits) * (other_pipes)}},                        \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
/* While the pipe was busy: per ratio of `busy`, when `also` counted something as well. */
#define BANDWIDTH_BUSY(name, unit, event, bits, pipes, busy, also)                                                     \
    {                                                                                                                  \
        name, unit, PMU_BANDWIDTH, PMU_OF_BANDWIDTH, {{event, (double)(bits) * (pipes)}},                              \
        {                                                                                                              \
            busy, also                                                                                                 \
        }                                                                                                              \
    }
#define METRICS_END                                                                                                    \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

struct pmu_group {
    const char *name;                 /* ai_core_metrics, aiv_metrics */
    const struct pmu_metric *metrics; /* NULL name = end */
};

struct pmu_group_set {
    const struct pmu_group *groups;
    unsigned n_groups;
    bool all_events;   /* a group is only used when all events of all its metrics were counted */
    bool rounded_time; /* total times are rounded to two decimals */
    enum pmu_no_divisor no_divisor;
};

/* The groups of a set. */
#define COUNTED(array) (array), sizeof(array) / sizeof *(array)

/* The set of a chip, or NULL when its counters are not read. */
const struct pmu_group_set *pmu_group_set(const struct chip *chip);

/* The set for sampled counters (pmu_samples.c), or NULL. */
const struct pmu_group_set *pmu_sampled_set(const struct chip *chip);

/* Groups that several sets have in common (pmu_metrics.c; those of the Ascend 950: pmu_events.c). */
extern const struct pmu_metric pmu_pipe_utilization[], pmu_arithmetic[], pmu_arithmetic_narrow[], pmu_memory_l0[],
    pmu_resource_conflict_ratio[], pmu_l2_cache[], pmu_l2_cache_950[];

/* Pieces of groups. */
#define ARITHMETIC_RATIOS                                                                                              \
    RATIO("mac_fp16_ratio", CUBE, {0x49, 1}), RATIO("mac_int8_ratio", CUBE, {0x4a, 1}),                                \
        RATIO("vec_fp32_ratio", VECTOR, {0x4b, 1}), RATIO("vec_fp16_ratio", VECTOR, {0x4c, 1}, {0x4d, 1}),             \
        RATIO("vec_int32_ratio", VECTOR, {0x4e, 1}), RATIO("vec_misc_ratio", VECTOR, {0x4f, 1})
#define CUBE_OPERATIONS FLOPS("cube_fops", CUBE, {0x49, 8192}, {0x4a, 16384})

/* KB: counts are of 128 or 256 bytes; moves that one counter sees and another names are taken off. */
#define MEMORY_ACCESS(suffix)                                                                                          \
    COUNT("read_main_memory_datas" suffix, BOTH, {0x50d, 0.125}, {0x50e, 0.125}),                                      \
        COUNT("write_main_memory_datas" suffix, BOTH, {0x50c, 0.125}),                                                 \
        COUNT("GM_to_L1_datas" suffix, BOTH, {0x32, 0.25}, {0x206, -0.25}),                                            \
        COUNT("L0C_to_L1_datas" suffix, BOTH, {0x206, 0.125}),                                                         \
        COUNT("L0C_to_GM_datas" suffix, BOTH, {0x20c, 0.125}, {0x206, -0.125}),                                        \
        COUNT("GM_to_UB_datas" suffix, BOTH, {0x3e, 0.125}), COUNT("UB_to_GM_datas" suffix, BOTH, {0x3d, 0.125})

/* The sets (pmu_metrics.c, pmu_events.c). */
extern const struct pmu_group_set pmu_groups_split, pmu_groups_common, pmu_groups_narrow, pmu_groups_310,
    pmu_groups_950;

#endif
