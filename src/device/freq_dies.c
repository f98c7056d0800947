/* The AI core clock of each die: low power records in stars_soc_profile, 64 bytes, twenty 16-bit values.
 *
 * Values come in pairs, the second before the first: the clock is the first one of the sixth pair. A record may speak
 * of one die or of the chip as a whole; a chip has two dies. */
#include "device/parts.h"

#define STARS_RECORD   64u
#define FUNC_LOW_POWER 29u
#define DIES           2u

enum { AT_WORD = 0, AT_TIME = 8, AT_MHZ = 24 + 2 * 11 };

struct reader {
    struct device_data *d;
    const struct clock *clock;
};

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    unsigned word = get_u16(record + AT_WORD), die = word >> 10;
    if ((word & 0x3F) != FUNC_LOW_POWER || die >= DIES) return;
    array_push(&r->d->freqs, ((struct freq_point){
                                 .time_ns = clock_task_ns(r->clock, get_u64(record + AT_TIME)),
                                 .mhz = get_u16(record + AT_MHZ),
                                 .of_die = (uint8_t)(die + 1),
                             }));
}

void freq_load_dies(struct device_data *d, const struct device_source *from)
{
    struct reader r = {d, &from->dir->clock};
    records_each(prof_dir_files(from->dir, INPUT_STARS_SOC_PROFILE), STARS_RECORD, record_valid_stars, from->diag,
                 from->progress, visit, &r);
    struct sort_key *order = mem_alloc(d->freqs.n * sizeof *order);
    for (size_t i = 0; i < d->freqs.n; i++)
        order[i] = (struct sort_key){(uint64_t)d->freqs.at[i].time_ns ^ 1ull << 63, (uint32_t)i};
    sort_keys(order, d->freqs.n);
    sort_permute(d->freqs.at, sizeof *d->freqs.at, order, d->freqs.n);
    free(order);
}
