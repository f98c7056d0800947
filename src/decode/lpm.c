/* Records of the low power management, taken apart. */
#include "decode/lpm.h"

#define LPM_RECORD  888u
#define LPM_CHANGES 55u

enum { AT_COUNT = 0, AT_TYPE = 4, AT_CHANGES = 8, CHANGE_SIZE = 16, AT_VALUE = 8 };

struct reader {
    lpm_visit visit;
    struct diag *diag;
    void *context;
};

static void read_record(const uint8_t *record, const struct record_place *place, void *context)
{
    const struct reader *r = context;
    uint32_t count = get_u32(record + AT_COUNT);
    if (count > LPM_CHANGES) {
        diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset,
                  "more changes than the record has room for");
        count = LPM_CHANGES;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *change = record + AT_CHANGES + i * CHANGE_SIZE;
        r->visit(get_u32(record + AT_TYPE), get_u64(change), get_u32(change + AT_VALUE), r->context);
    }
}

void lpm_each(const struct input_files *files, struct diag *diag, struct progress *progress, lpm_visit visit,
              void *context)
{
    struct diag *quiet = diag ? NULL : diag_new();
    struct reader r = {visit, diag ? diag : quiet, context};
    records_each(files, LPM_RECORD, NULL, r.diag, progress, read_record, &r);
    if (quiet) diag_free(quiet);
}
