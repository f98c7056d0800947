/* Events of the task scheduler: ts_track, 40-byte records with a tag.
 *
 * Used are step records (where iterations begin and end) and task flips (task ids begin anew). The other known tags are
 * states that nothing shows; tags that are not known come from newer drivers. */
#include "device/ts_records.h"

enum {
    AT_INDEX = 16,
    AT_MODEL = 24,
    AT_STEP_SID = 32,
    AT_STEP_TASK = 34,
    AT_STEP_TAG = 36,
};

/* The same of a step record where task ids are unique: the task takes four bytes. */
enum { AT_UNIQUE_STEP_TAG = 32, AT_UNIQUE_STEP_SID = 34, AT_UNIQUE_STEP_TASK = 36 };

enum { AT_FLIP_SID = 16, AT_FLIP_NUMBER = 18, AT_FLIP_TASK = 22 };

struct reader {
    flip_array *flips;
    step_records *records;
    bool expanded, unique;
    struct record_place unknown; /* the first record with an unknown tag */
    uint64_t n_unknown;
};

struct step_record ts_step(const uint8_t *record, bool unique, bool expanded)
{
    return (struct step_record){
        .time = get_u64(record + TS_AT_TIME),
        .index = get_u64(record + AT_INDEX),
        .model = get_u64(record + AT_MODEL),
        .task = unique ? get_u32(record + AT_UNIQUE_STEP_TASK) : get_u16(record + AT_STEP_TASK),
        .stream = plain_stream(get_u16(record + (unique ? AT_UNIQUE_STEP_SID : AT_STEP_SID)), expanded),
        .tag = get_u16(record + (unique ? AT_UNIQUE_STEP_TAG : AT_STEP_TAG)),
    };
}

static void add_flip(struct reader *r, const uint8_t *record)
{
    array_push(r->flips, ((struct flip){
                             .time = get_u64(record + TS_AT_TIME),
                             .stream = plain_stream(get_u16(record + AT_FLIP_SID), r->expanded),
                             .task = get_u16(record + AT_FLIP_TASK),
                             .number = get_u16(record + AT_FLIP_NUMBER),
                         }));
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    uint8_t tag = record[TS_AT_TAG];
    if (tag == TS_STEP) array_push(r->records, ts_step(record, r->unique, r->expanded));
    else if (tag == TS_FLIP) add_flip(r, record);
    else if (!ts_tag_known(tag) && !r->n_unknown++) r->unknown = *place;
}

void ts_track_load(flip_array *flips, step_records *records, const struct device_source *from)
{
    struct reader r = {
        .flips = flips,
        .records = records,
        .expanded = from->expanded,
        .unique = from->dir->chip->unique_task_ids,
    };
    records_each(prof_dir_files(from->dir, INPUT_TS_TRACK), TS_RECORD, ts_record_valid, from->diag, from->progress,
                 visit, &r);
    if (r.n_unknown)
        diag_count(from->diag, DIAG_WARNING, r.unknown.file->shown, r.unknown.offset, r.n_unknown,
                   "record of an unknown kind skipped");
    flips_sort(flips);
}
