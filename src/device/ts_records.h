/* Records of ts_track: 40 bytes with a tag. On the Ascend 310 some of its packets are such records (ts_timeline.c).
 * docs/formats/device-records.md has the layouts. Internal to the room. */
#ifndef DEVICE_TS_RECORDS_H
#define DEVICE_TS_RECORDS_H

#include "device/task_runs.h"

#define TS_RECORD 40u

enum ts_tag { TS_STEP = 10, TS_COPY = 11, TS_TASK_TYPE = 12, TS_OLD_FLIP = 13, TS_FLIP = 14, TS_BLOCKS = 15 };

enum { TS_AT_TAG = 1, TS_AT_SIZE = 2, TS_AT_TIME = 8 };

static inline bool ts_tag_known(uint8_t tag)
{
    return tag >= TS_STEP && tag <= TS_BLOCKS;
}

/* A record_valid. */
static inline bool ts_record_valid(const uint8_t *record)
{
    return get_u16(record + TS_AT_SIZE) == TS_RECORD || ts_tag_known(record[TS_AT_TAG]);
}

/* A record with TS_STEP. unique: of a chip with unique task ids; expanded: as in struct device_source (ts_track.c). */
struct step_record ts_step(const uint8_t *record, bool unique, bool expanded);

/* Take in a record with TS_COPY (ts_states.c). */
void ts_states_add_copy(struct ts_states *s, const uint8_t *record);

#endif
