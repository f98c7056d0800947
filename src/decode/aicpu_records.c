/* aicpu.data: framing, and which record goes to which visitor. */
#include "decode/aicpu_records.h"

struct reader {
    const record_visit *visits;
    struct diag *diag;
    void *context;
};

/* Types that nothing uses but that are in order: a range of the kinds above. */
static bool known(uint32_t type)
{
    return type <= AICPU_COMPUTE_TURN || (type >= AICPU_COMM_OP && type < AICPU_TYPES);
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    const struct reader *r = context;
    struct record_head head;
    memcpy(&head, record, sizeof head);
    if (known(head.type)) {
        if (r->visits[head.type]) r->visits[head.type](record, place, r->context);
    } else if (r->diag) {
        diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset, "record of an unknown kind skipped");
    }
}

void aicpu_each(const struct input_files *files, const record_visit visits[AICPU_TYPES], struct diag *diag,
                struct progress *progress, void *context)
{
    struct diag *quiet = diag ? NULL : diag_new();
    struct reader r = {visits, diag, context};
    records_each(files, sizeof(struct aicpu_node_record), record_valid_host, diag ? diag : quiet, progress, visit, &r);
    if (quiet) diag_free(quiet);
}
