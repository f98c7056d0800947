/* What the host says of CCU instructions: ccu_wait_signal_info and ccu_group_info, 256-byte records with up to sixteen
 * channels and the ranks behind them (docs/formats/host-records.md). */
#include <stdio.h>

#include "base/sort.h"
#include "decode/records.h"
#include "metrics/ccu.h"

#define INFO_RECORD 256u
#define NO_CHANNEL  UINT16_MAX
#define NO_RANK     UINT32_MAX

enum {
    AT_STREAM = 58,
    AT_TASK = 60,
    AT_DIE = 64,
    AT_INSTRUCTION = 66,
    AT_REDUCE_OP = 69,
    AT_INPUT_TYPE = 70,
    AT_OUTPUT_TYPE = 71,
    AT_SIZE = 72, /* group */
    AT_MASK = 76, /* wait */
    AT_CHANNELS = 80,
    AT_RANKS = 112,
};

struct reader {
    ccu_instructions *list;
    uint64_t empty;
    struct record_place first_empty;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct ccu_instruction i = {
        .stream_id = get_u16(p + AT_STREAM),
        .task_id = get_u32(p + AT_TASK),
        .instruction = get_u16(p + AT_INSTRUCTION),
        .die = p[AT_DIE],
        .reduce_op = p[AT_REDUCE_OP],
        .input_type = p[AT_INPUT_TYPE],
        .output_type = p[AT_OUTPUT_TYPE],
        .mask = get_u32(p + AT_MASK),
        .size = get_u64(p + AT_SIZE),
    };
    for (unsigned k = 0; k < CCU_CHANNELS; k++) {
        uint16_t channel = get_u16(p + AT_CHANNELS + 2 * k);
        if (channel != NO_CHANNEL && get_u32(p + AT_RANKS + 4 * k) != NO_RANK) i.channels[i.n_channels++] = channel;
    }
    if (i.n_channels) array_push(r->list, i);
    else if (!r->empty++) r->first_empty = *place;
}

static uint64_t task_and_stream(const struct ccu_instruction *i)
{
    return (uint64_t)i->task_id << 32 | i->stream_id;
}

void ccu_load_instructions(ccu_instructions *list, enum input_id id, const struct metric_source *from)
{
    struct reader r = {.list = list};
    bool first = !from->dir->position; /* other devices read the same records again: said and counted once */
    struct diag *diag = first ? from->diag : diag_new();
    records_each(prof_dir_files(from->model->session->host, id), INFO_RECORD, NULL, diag, first ? from->progress : NULL,
                 visit, &r);
    if (r.empty)
        diag_count(diag, DIAG_INFO, r.first_empty.file->shown, r.first_empty.offset, r.empty,
                   "CCU instructions that name no channel are left out");
    if (!first) diag_free(diag);
    struct sort_key *order = mem_alloc(list->n * sizeof *order);
    for (size_t i = 0; i < list->n; i++) order[i] = (struct sort_key){list->at[i].instruction, (uint32_t)i};
    sort_keys(order, list->n);
    for (size_t i = 0; i < list->n; i++) order[i].key = task_and_stream(&list->at[order[i].index]);
    sort_keys(order, list->n);
    sort_permute(list->at, sizeof *list->at, order, list->n);
    free(order);
}

/* Index of the first record that is not before (key, instruction). */
static size_t first_from(const ccu_instructions *list, uint64_t key, uint32_t instruction)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct ccu_instruction *at = &list->at[mid];
        uint64_t at_key = task_and_stream(at);
        if (at_key < key || (at_key == key && at->instruction < instruction)) low = mid + 1;
        else high = mid;
    }
    return low;
}

void ccu_find(const ccu_instructions *list, uint32_t stream_id, uint32_t task_id, uint16_t instruction, size_t *first,
              size_t *end)
{
    uint64_t key = (uint64_t)task_id << 32 | stream_id;
    *first = first_from(list, key, instruction);
    *end = first_from(list, key, instruction + 1u);
}

static const char *name_or_number(const char *name, uint8_t number, char buf[4])
{
    if (name) return name;
    snprintf(buf, 4, "%u", number);
    return buf;
}

const char *ccu_reduce_op_name(uint8_t op, char buf[4])
{
    static const char *const names[] = {"SUM", "PROD", "MAX", "MIN"};
    const char *name = op == CCU_RESERVED ? "RESERVED" : op < 4 ? names[op] : NULL;
    return name_or_number(name, op, buf);
}

const char *ccu_data_type_name(uint8_t type, char buf[4])
{
    return name_or_number(comm_data_type_name(type), type, buf);
}
