/* The AI CPU waiting for the queue with the next data of a training: a record of aicpu.data, or, of older collectors, a
 * text in DATA_PREPROCESS.AICPUMI:
 *
 *     Node:GetNext_dequeue_wait,queue size:1,Run start:350005690000,Run end:350005690123
 */
#ifndef METRICS_QUEUE_WAITS_H
#define METRICS_QUEUE_WAITS_H

#include "metrics/text.h"

struct queue_wait {
    struct text_field node;    /* who waited */
    uint64_t start_us, end_us; /* as reported: no clock is known for them */
    uint64_t queue_size;       /* what it held then */
};

/* The wait of a record of type AICPU_QUEUE (decode/aicpu_records.h). */
struct queue_wait queue_wait_of(const uint8_t *record);

/* Those of the texts; the node is there during the visit only. */
void queue_texts_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct queue_wait *w, void *context), void *context);

#endif
