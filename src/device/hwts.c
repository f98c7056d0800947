/* The task log of the HWTS scheduler: hwts, and hwts.aiv_data of a scheduler of vector cores; 64-byte records.
 *
 * A record is a start or an end. Records are in the order of events: an end belongs to the last start of its stream and
 * task. A start that another one follows, or nothing, has lost its end; an end without a start has lost that. */
#include "device/task_runs.h"

#define HWTS_RECORD 64u

enum { LOG_START = 0, LOG_END = 1 };

enum { AT_TAG = 0, AT_TYPE = 1, AT_TASK = 6, AT_TIME = 8, AT_STREAM = 16 };

struct reader {
    run_array *runs;
    struct map open; /* stream << 16 | task -> index in starts, NONE = no start */
    ARRAY(uint64_t) starts;
    uint64_t n_starts, lost_ends;
};

static void add_start(struct reader *r, uint32_t key, uint64_t time)
{
    uint32_t *at = map_put(&r->open, key, NONE, NULL);
    r->n_starts++;
    if (*at == NONE) {
        *at = (uint32_t)r->starts.n;
        array_push(&r->starts, time);
    } else {
        r->starts.at[*at] = time;
    }
}

static void add_end(struct reader *r, uint32_t key, uint64_t time, uint8_t type)
{
    uint32_t *at = map_put(&r->open, key, NONE, NULL);
    if (*at == NONE || r->starts.at[*at] > time) {
        r->lost_ends++;
        return;
    }
    array_push(r->runs, ((struct run){{r->starts.at[*at], key & 0xFFFF, (uint16_t)(key >> 16), 0}, time, type, false}));
    *at = NONE;
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    unsigned tag = record[AT_TAG] & 7;
    uint32_t key = (uint32_t)plain_stream(get_u16(record + AT_STREAM), false) << 16 | get_u16(record + AT_TASK);
    if (tag == LOG_START) add_start(r, key, get_u64(record + AT_TIME));
    else if (tag == LOG_END) add_end(r, key, get_u64(record + AT_TIME), record[AT_TYPE]);
}

/* Records carry the mark of STARS records, but nothing says that all do. */
static bool valid(const uint8_t *record)
{
    return (record[AT_TAG] & 7) <= LOG_END;
}

void hwts_load(run_array *runs, const struct device_source *from)
{
    static const enum input_id inputs[] = {INPUT_HWTS, INPUT_HWTS_AIV};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        const struct input_files *files = prof_dir_files(from->dir, inputs[i]);
        if (!files->n) continue;
        struct reader r = {.runs = runs};
        size_t before = runs->n;
        records_each(files, HWTS_RECORD, valid, from->diag, from->progress, visit, &r);
        diag_count(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, r.n_starts - (runs->n - before),
                   "task starts without an end");
        diag_count(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, r.lost_ends,
                   "task ends without a start");
        map_free(&r.open);
        array_free(&r.starts);
    }
}
