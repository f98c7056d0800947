/* The task log of the STARS scheduler: stars_soc, records of 64 bytes (Ascend 950: 32).
 *
 * Two pairs of record kinds matter here: start and end of whole tasks, and start and end of FFTS+ sub-tasks (contexts).
 * Other kinds in the same file are bandwidth and power samples; they are left to whoever reads those. */
#include "device/parts.h"

#define STARS_RECORD 64u
#define SHORT_RECORD 32u

enum {
    FUNC_TASK_START = 0,
    FUNC_TASK_END = 1,
    FUNC_FUSION_START = 22,
    FUNC_FUSION_END = 23,
    FUNC_SUBTASK_START = 34,
    FUNC_SUBTASK_END = 35
};

enum { AT_WORD = 0, AT_SID = 4, AT_TID = 6, AT_TIME = 8, AT_SUBTASK_TYPE = 16, AT_SUBTASK_ID = 18 };

/* Of the short records. */
enum { AT_TASK = 4, AT_FUSION = 16, AT_ACC_ID = 18 };

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
    str_id unknown = strpool_add_z(strings, chip->sqe_unknown ? chip->sqe_unknown : "UNKNOWN");
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
    fusion_array *fusions;
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

/* Short records have one unique number for the task and do not tell its stream. */
static void visit_short(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint16_t word = get_u16(record + AT_WORD), fusion = get_u16(record + AT_FUSION);
    unsigned func = word & 0x3F;
    uint64_t time = get_u64(record + AT_TIME);
    if (func == FUNC_TASK_START || func == FUNC_TASK_END)
        array_push(r->log, ((struct log_record){
                               .at = {time, get_u32(record + AT_TASK), STREAM_UNKNOWN, 0},
                               .context = CONTEXT_NONE,
                               .type = (uint8_t)(word >> 10),
                               .is_end = func == FUNC_TASK_END,
                           }));
    else if (func == FUNC_FUSION_START || func == FUNC_FUSION_END)
        array_push(r->fusions, ((struct fusion_record){
                                   .time = time,
                                   .task = get_u32(record + AT_TASK),
                                   .acc_id = get_u16(record + AT_ACC_ID),
                                   .type = (uint8_t)(word >> 10),
                                   .units = fusion & 0x1F,
                                   .mission = fusion >> 5 & 0xF,
                                   .is_end = func == FUNC_FUSION_END,
                               }));
}

void stars_load(log_array *log, fusion_array *fusions, const struct device_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_STARS_SOC);
    unsigned size = from->dir->chip->stars_record;
    if (!files->n) return;
    if (size != STARS_RECORD && size != SHORT_RECORD) {
        diag_note(from->diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET,
                  "the task log of this chip is not read");
        return;
    }
    struct reader r = {log, fusions, from->expanded};
    records_each(files, size, record_valid_stars, from->diag, from->progress,
                 size == STARS_RECORD ? visit : visit_short, &r);
}
