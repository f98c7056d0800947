/* Samples of stars_soc_profile by kind. */
#include "metrics/stars_samples.h"

#define RECORD    64u
#define KIND_BITS 0x3Fu

struct filter {
    unsigned kind;
    void (*visit)(const uint8_t *, void *);
    void *context;
};

static void visit_kind(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    const struct filter *f = context;
    if ((get_u16(record) & KIND_BITS) == f->kind) f->visit(record, f->context);
}

void stars_samples_each(const struct metric_source *from, enum stars_sample kind,
                        void (*visit)(const uint8_t *record, void *context), void *context)
{
    struct filter f = {kind, visit, context};
    records_each(prof_dir_files(from->dir, INPUT_STARS_SOC_PROFILE), RECORD, record_valid_stars, from->diag,
                 from->progress, visit_kind, &f);
}

const char *stars_die_name(const struct prof_dir *dir, uint32_t id)
{
    static const char *const dies[] = {"die 0", "die 1"};
    static const char *const named_dies[] = {"D-DIE0", NULL, "U-DIE0", "U-DIE1"};
    if (stars_by_die(dir)) return id < sizeof named_dies / sizeof *named_dies ? named_dies[id] : NULL;
    return id < sizeof dies / sizeof *dies ? dies[id] : NULL;
}
