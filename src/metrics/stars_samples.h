/* stars_soc_profile: samples of several kinds in one file, 64 bytes each; the low six bits of the first word tell the
 * kind. */
#ifndef METRICS_STARS_SAMPLES_H
#define METRICS_STARS_SAMPLES_H

#include "decode/records.h"
#include "metrics/metric.h"

enum stars_sample {
    STARS_QOS = 24,
    STARS_SIO = 25,
    STARS_ACC_PMU = 26,
    STARS_CHIP_TRANS = 27,
    STARS_INTER_SOC = 28,
};

/* What all kinds have: the upper bits of the first word and the time. */
static inline unsigned stars_upper_bits(const uint8_t *p)
{
    return get_u16(p) >> 10;
}

static inline int64_t stars_time(const struct prof_dir *dir, const uint8_t *p)
{
    return clock_device_ns(&dir->clock, get_u64(p + 8));
}

/* Do samples of this chip belong to dies (Ascend 950)? Their layouts differ. */
static inline bool stars_by_die(const struct prof_dir *dir)
{
    return dir->chip->freq_of_dies;
}

/* Visit the samples of one kind, in the order of the file. */
void stars_samples_each(const struct metric_source *from, enum stars_sample kind,
                        void (*visit)(const uint8_t *record, void *context), void *context);

/* The reference's name of a die by the id in SIO samples, NULL = not shown. */
const char *stars_die_name(const struct prof_dir *dir, uint32_t id);

#endif
