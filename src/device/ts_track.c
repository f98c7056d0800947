/* Events of the task scheduler: ts_track, 40-byte records with a tag.
 *
 * Used are step records (where iterations begin and end) and task flips (task ids begin anew). The other known tags are
 * states that nothing shows; tags that are not known come from newer drivers. */
#include "device/parts.h"

#define TS_RECORD 40u

enum ts_tag {
    TAG_STEP = 10,
    TAG_MEMCPY = 11,
    TAG_TASK_TYPE = 12,
    TAG_OLD_FLIP = 13,
    TAG_FLIP = 14,
    TAG_BLOCK_NUM = 15
};

enum {
    AT_TAG = 1,
    AT_SIZE = 2,
    AT_TIME = 8,
    AT_INDEX = 16,
    AT_MODEL = 24,
    AT_STEP_SID = 32,
    AT_STEP_TASK = 34,
    AT_STEP_TAG = 36
};

/* The same of a step record where task ids are unique: the task takes four bytes. */
enum { AT_UNIQUE_STEP_TAG = 32, AT_UNIQUE_STEP_SID = 34, AT_UNIQUE_STEP_TASK = 36 };

enum { AT_FLIP_SID = 16, AT_FLIP_NUMBER = 18, AT_FLIP_TASK = 22 };

struct reader {
    flip_array *flips;
    step_records *records;
    bool expanded, unique;
    unsigned at_step_sid, at_step_tag;
    struct record_place unknown; /* the first record with an unknown tag */
    uint64_t n_unknown;
};

static bool known_tag(uint8_t tag)
{
    return tag >= TAG_STEP && tag <= TAG_BLOCK_NUM;
}

static bool valid(const uint8_t *record)
{
    return get_u16(record + AT_SIZE) == TS_RECORD || known_tag(record[AT_TAG]);
}

static void add_step(struct reader *r, const uint8_t *record)
{
    array_push(r->records,
               ((struct step_record){
                   .time = get_u64(record + AT_TIME),
                   .index = get_u64(record + AT_INDEX),
                   .model = get_u64(record + AT_MODEL),
                   .task = r->unique ? get_u32(record + AT_UNIQUE_STEP_TASK) : get_u16(record + AT_STEP_TASK),
                   .stream = plain_stream(get_u16(record + r->at_step_sid), r->expanded),
                   .tag = get_u16(record + r->at_step_tag),
               }));
}

static void add_flip(struct reader *r, const uint8_t *record)
{
    array_push(r->flips, ((struct flip){
                             .time = get_u64(record + AT_TIME),
                             .stream = plain_stream(get_u16(record + AT_FLIP_SID), r->expanded),
                             .task = get_u16(record + AT_FLIP_TASK),
                             .number = get_u16(record + AT_FLIP_NUMBER),
                         }));
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    uint8_t tag = record[AT_TAG];
    if (tag == TAG_STEP) add_step(r, record);
    else if (tag == TAG_FLIP) add_flip(r, record);
    else if (!known_tag(tag) && !r->n_unknown++) r->unknown = *place;
}

void ts_track_load(flip_array *flips, step_records *records, const struct device_source *from)
{
    bool unique = from->dir->chip->unique_task_ids;
    struct reader r = {
        .flips = flips,
        .records = records,
        .expanded = from->expanded,
        .unique = unique,
        .at_step_sid = unique ? AT_UNIQUE_STEP_SID : AT_STEP_SID,
        .at_step_tag = unique ? AT_UNIQUE_STEP_TAG : AT_STEP_TAG,
    };
    records_each(prof_dir_files(from->dir, INPUT_TS_TRACK), TS_RECORD, valid, from->diag, from->progress, visit, &r);
    if (r.n_unknown)
        diag_count(from->diag, DIAG_WARNING, r.unknown.file->shown, r.unknown.offset, r.n_unknown,
                   "record of an unknown kind skipped");
    flips_sort(flips);
}
