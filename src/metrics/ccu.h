/* What the CCU metric is put together from: internal to ccu.c, ccu_host.c, ccu_channels.c. */
#ifndef METRICS_CCU_H
#define METRICS_CCU_H

#include "base/map.h"
#include "metrics/metric.h"

/* --- ccu_host.c: what the host says of instructions --------------------------------------------------------------- */

#define CCU_CHANNELS 16u

/* A wait for signals, or a group of loops, of one instruction. Records that name no channel with a rank are left out.
 */
struct ccu_instruction {
    uint32_t stream_id, task_id;
    uint16_t instruction;
    uint8_t die;
    uint8_t reduce_op, input_type, output_type; /* group */
    uint32_t mask;                              /* wait */
    uint64_t size;                              /* group: bytes */
    unsigned n_channels;
    uint16_t channels[CCU_CHANNELS];
};

typedef ARRAY(struct ccu_instruction) ccu_instructions;

/* All records of one kind, ascending (task, stream, instruction), in the order of the records within. */
void ccu_load_instructions(ccu_instructions *list, enum input_id id, const struct metric_source *from);

/* The records of one instruction: list->at[*first … *end). */
void ccu_find(const ccu_instructions *list, uint32_t stream_id, uint32_t task_id, uint16_t instruction, size_t *first,
              size_t *end);

/* "SUM" …; buf is used for numbers without a name. */
const char *ccu_reduce_op_name(uint8_t op, char buf[4]);
const char *ccu_data_type_name(uint8_t type, char buf[4]);
#define CCU_RESERVED 255u

/* --- ccu_channels.c: samples of the channels --------------------------------------------------------------------- */

/* A look at one channel: delays in ticks of the device counter. */
struct ccu_sample {
    uint64_t time; /* device counter */
    uint32_t channel;
    uint32_t max, min, average;
};

struct ccu_channels {
    ARRAY(struct ccu_sample) samples; /* as read; those without time are left out */
    ARRAY(uint32_t) by_channel;       /* indices in samples, ascending (channel, time) */
    ARRAY(uint32_t) greatest;         /* greatest average of a channel so far, like by_channel */
};

void ccu_load_channels(struct ccu_channels *c, const struct metric_source *from);

/* The greatest average delay of a channel before that time; 0 = nothing is known. */
uint32_t ccu_delay_before(const struct ccu_channels *c, uint16_t channel, uint64_t time);

void ccu_free_channels(struct ccu_channels *c);

#endif
