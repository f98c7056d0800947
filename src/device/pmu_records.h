/* Counter records between their decoding and the rows that become of them. Internal to pmu_records.c, pmu_attach.c. */
#ifndef DEVICE_PMU_RECORDS_H
#define DEVICE_PMU_RECORDS_H

#include "device/parts.h"

/* Which cores a kernel ran on. Of a mix kernel one kind is the main one, which reports the kernel as a whole. */
enum accelerator { ACCELERATOR_AIC, ACCELERATOR_AIV, ACCELERATOR_MIX_AIC, ACCELERATOR_MIX_AIV };

/* A context record that belongs to a task; its counters are d->pmu.sides.at[side]. */
struct pmu_match {
    double mhz; /* clock when it ended */
    uint32_t task, side;
    uint8_t accelerator;
};

/* A context record that is to be a row without a task: its match names none. */
struct pmu_left_over {
    struct pmu_match match;
    struct pmu_orphan orphan;
    uint32_t nth; /* of the records of its (stream, task, context), in whatever batch */
};

/* The slave blocks of one run of a mix kernel. */
struct block_sum {
    struct pmu_side side;
    uint32_t task;
    uint32_t blocks; /* summed so far */
    uint8_t accelerator;
};

/* Sums up block records as they come. */
struct block_summer {
    const struct device_data *d;
    struct map runs;   /* run_key of a sub-task -> its first run in d->tasks */
    struct map sum_of; /* task * 2 + (accelerator is MIX_AIV) -> index in sums */
    ARRAY(struct block_sum) sums;
    const struct device_blocks *limits; /* of each task; NULL = all blocks count */
    uint32_t last;                      /* sum of the last record: the next one mostly belongs to it, too */
    uint64_t homeless;                  /* records that no run was found for */
    bool expanded, indexed;
};

/* d->pending */
struct pmu_pending {
    ARRAY(struct pmu_match) matches; /* ascending task */
    ARRAY(struct pmu_left_over) left_over;
    struct block_summer summer;
};

/* Number of blocks of a slave core that count for a task. */
static inline uint32_t block_limit(const struct device_blocks *blocks)
{
    return blocks->mix_block_num;
}

/* Sum the blocks again, now with summer->limits. */
void pmu_sum_blocks_again(struct block_summer *summer, const struct prof_dir *dir);

#endif
