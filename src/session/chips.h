/* The chip table: everything that differs from chip to chip. Code outside this table asks it a question; it never
 * compares chip ids. */
#ifndef SESSION_CHIPS_H
#define SESSION_CHIPS_H

#include <stdbool.h>
#include <stdint.h>

#define SQE_NAMES 32

/* What collectors sample on a chip, in the forms that src/metrics/ reads. */
enum chip_sample {
    SAMPLE_HBM = 1u << 0,
    SAMPLE_DDR = 1u << 1,
    SAMPLE_LLC = 1u << 2,      /* binary */
    SAMPLE_LLC_TEXT = 1u << 3, /* output of perf */
    SAMPLE_HCCS = 1u << 4,
    SAMPLE_PCIE = 1u << 5,
    SAMPLE_NIC = 1u << 6,
    SAMPLE_ROCE = 1u << 7,
    SAMPLE_NETDEV = 1u << 8,
    SAMPLE_DVPP = 1u << 9,
    SAMPLE_QOS = 1u << 10,
    SAMPLE_STARS = 1u << 11, /* stars_soc_profile */
    SAMPLE_UB = 1u << 12,
    SAMPLE_CCU = 1u << 13,
    SAMPLE_NPU_MEM = 1u << 14,
    SAMPLE_NPU_MODULE_MEM = 1u << 15,
    SAMPLE_SOC_PMU = 1u << 16,
    SAMPLE_L2_CACHE = 1u << 17,
    SAMPLE_CTRL_CPU = 1u << 18, /* AI CPU and control CPU */
    SAMPLE_TS_CPU = 1u << 19,
    SAMPLE_VOLTAGE = 1u << 20,
    SAMPLE_BIU = 1u << 21,         /* instruction monitor, in words */
    SAMPLE_DPU_COMM = 1u << 22,    /* communication of DPUs */
    SAMPLE_BIU_RECORDS = 1u << 23, /* instruction monitor, in samples of every so many clocks */
};

/* How counters of tasks become columns: sets of metric groups (src/device/pmu_metrics.c, pmu_events.c). */
enum pmu_groups {
    PMU_GROUPS_NONE,
    PMU_GROUPS_SPLIT,  /* Atlas A2, A3: of cube and vector cores */
    PMU_GROUPS_COMMON, /* of a task as a whole */
    PMU_GROUPS_NARROW, /* the same, with a narrower vector unit */
    PMU_GROUPS_310,
    PMU_GROUPS_950,
};

/* Where it is logged when tasks ran. */
enum task_log {
    TASK_LOG_NONE,
    TASK_LOG_STARS,    /* stars_soc */
    TASK_LOG_HWTS,     /* hwts; counters of whole tasks in aicore, aiVectorCore */
    TASK_LOG_TIMELINE, /* ts_track, in packets of any length, counters included */
};

/* Which events of the L2 cache are requests, hits and victims. */
enum l2_events { L2_EVENTS_910, L2_EVENTS_310P, L2_EVENTS_STARS, L2_EVENTS_950 };

/* Where the counters of cores are when they are sampled, not counted per task. */
enum core_samples {
    CORE_SAMPLES_NONE,
    CORE_SAMPLES_APART,    /* of cube cores in aicore, of vector cores in aiVectorCore */
    CORE_SAMPLES_TOGETHER, /* in ffts_profile, stamped in ns … */
    CORE_SAMPLES_COUNTED,  /* … and in counts of the device */
};

struct chip {
    int id;                      /* info.json platform_version */
    const char *name;            /* "CHIP_V4_1_0" */
    const char *product;         /* for people: "Atlas A2 / A3 (Ascend 910B, 910_93)" */
    const char *npu_name;        /* NPU_INFO.name of the database: "Ascend910B", "UNKNOWN" when the chip has none */
    double counter_mhz, aic_mhz; /* typical device counter and AI core clock, 0 = not known; info.json has the real
                                    ones */
    bool stars;                  /* tasks are logged by STARS (stars_soc), not by HWTS */
    enum task_log task_log;
    bool aicpu_from_ts;     /* ts_track, not the task log, says when AI CPU tasks ran */
    bool schedules_from_ts; /* ts_track says when tasks of the scheduler itself ran */
    bool copies_from_ts;    /* ts_track says when the scheduler copied */
    bool unique_task_ids;   /* V6: task ids are 32 bits and never wrap: no batch ids, no flips */
    bool counters_in_db;    /* the reference's database has the counters of tasks */
    bool freq_in_timeline;  /* the reference shows the clock of the AI cores over time … */
    bool freq_in_db;        /* … in its timeline, in its database */
    bool physical_threads;  /* timeline threads are physical streams, even where the host names logical ones */
    bool freq_of_dies;      /* each die reports the clock of its AI cores, in stars_soc_profile */
    bool can_export_all;    /* whole-collection export is possible with a driver that numbers tasks uniquely */
    bool context_ids;       /* host context_id_info records are used */
    bool native_tasks;      /* the reference tool reads task logs and counters of this chip with its native part; those
                               of the others with scripts, which pair, number and convert differently */
    bool native_views;      /* the reference tool writes timeline and reports of this chip with its native part; of
                               the others with scripts, which have other rows and columns (session.h) */
    bool mix_pmu;           /* both an AIC and an AIV side of counters per task (prefix aic_ / aiv_) */
    unsigned stars_record;  /* bytes of a stars_soc record, 0 = none */
    unsigned pmu_counters;  /* counters in a task PMU record */
    enum pmu_groups pmu_groups;
    const char *const *pmu_not_there; /* counter columns without a unit behind them, NULL ended; may be NULL */
    const char *const *sqe_names;     /* SQE_NAMES entries: device task type by number, NULL = unknown number */
    const char *sqe_unknown;          /* what a task of an unknown number is called; NULL = "UNKNOWN" */
    uint32_t samples;                 /* enum chip_sample, or-ed */
    unsigned ddr_bytes;               /* bytes of a transfer that the DDR counters count */
    unsigned llc_parts;               /* parts of the last level cache that are shown: 0 … n - 1 */
    enum l2_events l2_events;
    bool pcie_latest; /* the pcie report is of the latest sample, not of the average */
    bool dvpp_ids;    /* there are several DVPPs: samples say of which they are */
    enum core_samples core_samples;
    unsigned last_cube_core;             /* of samples in ffts_profile: cores behind it are vector cores */
    double rdma_gbs, hccs_gbs, pcie_gbs; /* what a link of that kind can do, GB/s; 0 = not known */
};

/* The chip with that id, or NULL when there is none. */
const struct chip *chip_find(int id);

/* What stands for a chip that the table does not have: id -1, nothing assumed. */
const struct chip *chip_unknown(void);

/* All chips, for listings: *n entries. */
const struct chip *chip_all(unsigned *n);

#endif
