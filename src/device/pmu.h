/* AI core counters (PMU) of tasks: which columns a metric group has, and their values.
 *
 * A row belongs to one device task that has counters. It has an AIC and an AIV side (chips without that split only have
 * AIC); a side without data is all zeros. Values are computed when asked for: a row keeps the cycles, the total time
 * and the raw counters of its sides. */
#ifndef DEVICE_PMU_H
#define DEVICE_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "session/session.h"

struct pmu_side {
    uint64_t cycles;
    double total_us;                  /* total time of the side, µs */
    uint64_t counter[PMU_MAX_EVENTS]; /* in the order of the event list */
};

struct pmu_row {
    uint32_t aic, aiv; /* index in sides, NONE = that side has no data */
};

/* A row of a record that belongs to no run of its task, or whose task was not logged. Only with Custom metrics, where
 * the reference's database has such rows. */
struct pmu_orphan {
    uint32_t row;
    uint32_t stream_id, task_id, context_id, batch_id;
};

enum pmu_kind {
    PMU_TOTAL_TIME, /* µs */
    PMU_CYCLES,     /* whole number */
    PMU_TIME,       /* µs */
    PMU_RATIO,
    PMU_BANDWIDTH, /* GB/s */
    PMU_VALUE,     /* anything else: operations, KB, hits */
};

#define PMU_TERMS 5 /* counters in a formula */

/* What a value is that would be divided by nothing. */
enum pmu_no_divisor {
    PMU_SHOW_ZERO,
    PMU_SHOW_COUNTER, /* the sum of the bare counters */
    PMU_SHOW_NOTHING, /* NaN: an empty cell */
};

/* How a column is computed from the counters c of its side; sums are over the column's terms. Private to pmu.c. */
enum pmu_formula {
    PMU_OF_TOTAL_TIME,
    PMU_OF_CYCLES,
    PMU_OF_COUNTERS,   /* sum(c * factor) */
    PMU_OF_OPERATIONS, /* sum(c * factor); 0 without cycles */
    PMU_OF_RATIOS,     /* the same by way of ratios: sum(c / cycles * cycles * factor) */
    PMU_OF_RATIO,      /* sum(c) / cycles */
    PMU_OF_TIME,       /* sum(c) / cycles * total time */
    PMU_OF_QUOTIENT,   /* c[0] / c[1]: misses / requests */
    PMU_OF_BANDWIDTH,  /* sum(c * factor) (bits) per second of the cycles */
    PMU_OF_RATE,       /* sum(c * factor) (bits) per second of the total time */
};

struct pmu_term {
    uint8_t slot; /* counter */
    double factor;
};

struct pmu_column {
    char name[56]; /* as in the reference's MetricSummary: "aic_mac_ratio_extra", "aiv_total_time", "aic_l1_read_bw" */
    enum pmu_kind kind;
    bool aiv;        /* side */
    bool in_summary; /* shown in op_summary */
    bool not_there;  /* the chip has no such unit: op_summary says N/A */
    /* private to the room */
    uint8_t n_terms;
    uint8_t n_per; /* terms behind those: the value is per ratio of the first, unless one of them counted nothing */
    enum pmu_formula formula;
    struct pmu_term terms[PMU_TERMS];
};

struct pmu {
    ARRAY(struct pmu_side) sides;
    ARRAY(struct pmu_row) rows;       /* of tasks, then of orphans */
    ARRAY(struct pmu_orphan) orphans; /* in order of their rows */
    ARRAY(struct pmu_column) columns; /* database and CSV order; empty = no usable metric group */
    double aic_mhz;                   /* frequency of the bandwidth formulas */
    uint32_t ai_core_num, aiv_num;
    enum pmu_no_divisor no_divisor;
    bool custom;             /* Custom:… metrics: raw counters */
    bool no_batch;           /* the reference's database has the rows under batch -1, which no task has */
    bool rounded_time;       /* total times are rounded to two decimals */
    bool has_cube;           /* pmu_has_cube */
    uint32_t mac, vec, mte2; /* columns that say what bounds a task as a whole, NONE = not there */
};

/* How long a kernel took whose blocks were busy for busy_us in all: blocks beyond the number of cores run in further
 * rounds. `unknown` when it cannot be said. */
double pmu_total_us(const struct pmu *p, double busy_us, uint32_t blocks, uint32_t cores, double unknown);

/* Value of a column in a row; 0 where the side has no data. Units by kind. NaN = nothing can be said (only with
 * PMU_SHOW_NOTHING). */
double pmu_value(const struct pmu *p, size_t row, size_t column);

/* cube_utilization(%) = cycles / (aic_mhz * ai_core_num) * 100 / duration; 0 when duration_us is 0, and of a task as a
 * whole when its mac ratio is shown as 0. NaN ("N/A") when the frequency or the number of cores is not known. Only for
 * groups with pmu_has_cube. */
double pmu_cube_utilization(const struct pmu *p, size_t row, double duration_us);

/* Does op_summary end with the column cube_utilization(%)? (groups with mac_ratio) */
bool pmu_has_cube(const struct pmu *p);

/* memory_bound = ratio of mte2 / the larger of the ratios of mac and vec, all as shown (three decimals); 0 when both
 * are. Only for groups with pmu_has_memory_bound: those that have the three for the task as a whole. */
double pmu_memory_bound(const struct pmu *p, size_t row);
bool pmu_has_memory_bound(const struct pmu *p);

/* Set up the columns of counters that were sampled per core: total_time, then those of the metric group of cube or
 * vector cores. Rows are the caller's: sides of a core's sums, of which `aic` of a row is the index. Returns NULL, or
 * what cannot be used (static text; no columns then). */
const char *pmu_set_up_sampled(struct pmu *p, const struct metadata *meta, const struct chip *chip, bool vector);

/* Do two devices have the same columns? (op_summary and TASK_PMU_INFO need that) */
bool pmu_same_columns(const struct pmu *a, const struct pmu *b);

void pmu_free(struct pmu *p);

#endif
