/* The chip table: everything that differs from chip to chip. Code outside this table asks it a question; it never
 * compares chip ids. */
#ifndef SESSION_CHIPS_H
#define SESSION_CHIPS_H

#include <stdbool.h>
#include <stdint.h>

#define SQE_NAMES 32

struct chip {
    int id;                      /* info.json platform_version */
    const char *name;            /* "CHIP_V4_1_0" */
    const char *product;         /* for people: "Atlas A2 / A3 (Ascend 910B, 910_93)" */
    const char *npu_name;        /* NPU_INFO.name of the database: "Ascend910B", "UNKNOWN" when the chip has none */
    double counter_mhz, aic_mhz; /* typical device counter and AI core clock, 0 = not known; info.json has the real
                                    ones */
    bool stars;                  /* tasks are logged by STARS (stars_soc), not by HWTS */
    bool unique_task_ids;        /* V6: task ids are 32 bits and never wrap: no batch ids, no flips */
    bool can_export_all;         /* whole-collection export is possible with a driver that numbers tasks uniquely */
    bool context_ids;            /* host context_id_info records are used */
    bool native_tasks;     /* the reference tool reads task logs and counters of this chip with its native part; those
                              of the others with scripts, which pair, number and convert differently */
    bool native_views;     /* the reference tool writes timeline and reports of this chip with its native part; of
                              the others with scripts, which have other rows and columns (session.h) */
    bool mix_pmu;          /* both an AIC and an AIV side of counters per task (prefix aic_ / aiv_) */
    unsigned stars_record; /* bytes of a stars_soc record, 0 = none */
    unsigned pmu_counters; /* counters in a task PMU record */
    const char *const *sqe_names; /* SQE_NAMES entries: device task type by number, NULL = unknown number */
    /* … decoders of other chips add their facts here */
};

/* The chip with that id, or NULL when there is none. */
const struct chip *chip_find(int id);

/* What stands for a chip that the table does not have: id -1, nothing assumed. */
const struct chip *chip_unknown(void);

/* All chips, for listings: *n entries. */
const struct chip *chip_all(unsigned *n);

#endif
