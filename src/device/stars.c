/* The task log of the STARS scheduler: stars_soc, 64-byte records.
 *
 * Two pairs of record kinds matter here: start and end of whole tasks, and start and end of FFTS+ sub-tasks (contexts).
 * Other kinds in the same file are bandwidth and power samples; they are left to whoever reads those. */
#include "device/parts.h"

#define STARS_RECORD 64u

enum { FUNC_TASK_START = 0, FUNC_TASK_END = 1, FUNC_SUBTASK_START = 34, FUNC_SUBTASK_END = 35 };

enum { AT_WORD = 0, AT_SID = 4, AT_TID = 6, AT_TIME = 8, AT_SUBTASK_TYPE = 16, AT_SUBTASK_ID = 18 };

static const char *const subtask_names[] = {
    [0] = "AIC",
    [1] = "AIV",
    [3] = "Notify Wait",
    [4] = "Notify Record",
    [5] = "Write Value",
    [6] = "MIX_AIC",
    [7] = "MIX_AIV",
    [8] = "SDMA",
    [9] = "Data Context",
    [10] = "Invalidate Data Context",
    [11] = "Writeback Data Context",
    [12] = "AI_CPU",
    [13] = "Load Context",
    [15] = "DSA",
};

#define SUBTASK_NAMES (sizeof subtask_names / sizeof *subtask_names)

void stars_type_names(struct type_names *names, const struct chip *chip, struct strpool *strings)
{
    str_id unknown = strpool_add_z(strings, "UNKNOWN");
    for (unsigned i = 0; i < 64; i++) {
        const char *name = i < SQE_NAMES ? chip->sqe_names[i] : NULL;
        names->task[i] = name ? strpool_add_z(strings, name) : unknown;
    }
    for (unsigned i = 0; i < 256; i++) {
        const char *name = i < SUBTASK_NAMES ? subtask_names[i] : NULL;
        names->subtask[i] = name ? strpool_add_z(strings, name) : unknown;
    }
}

struct reader {
    log_array *log;
    bool expanded;
};

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint16_t word = get_u16(record + AT_WORD);
    unsigned func = word & 0x3F, sqe = word >> 10;
    bool task = func == FUNC_TASK_START || func == FUNC_TASK_END;
    if (!task && func != FUNC_SUBTASK_START && func != FUNC_SUBTASK_END) return;
    struct task_ids ids = task_ids(get_u16(record + AT_SID), get_u16(record + AT_TID), sqe, r->expanded);
    array_push(r->log, ((struct log_record){
                           .at = {get_u64(record + AT_TIME), ids.task, ids.stream, 0},
                           .context = task ? CONTEXT_NONE : get_u16(record + AT_SUBTASK_ID),
                           .type = task ? (uint8_t)sqe : record[AT_SUBTASK_TYPE],
                           .is_end = func == FUNC_TASK_END || func == FUNC_SUBTASK_END,
                       }));
}

void stars_load(log_array *log, const struct device_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_STARS_SOC);
    if (!files->n) return;
    if (from->dir->chip->stars_record != STARS_RECORD) {
        diag_note(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET,
                  "the task log of this chip is not read");
        return;
    }
    struct reader r = {log, from->expanded};
    records_each(files, STARS_RECORD, record_valid_stars, from->diag, from->progress, visit, &r);
}
