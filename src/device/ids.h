/* Stream and task id in the two 16-bit words that records of a device have for them. */
#ifndef DEVICE_IDS_H
#define DEVICE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#define SQE_AI_CORE      0
#define SQE_AICPU        1u
#define SQE_AIV          2
#define SQE_PLACE_HOLDER 3u
#define SQE_EVENT_RECORD 4u

struct task_ids {
    uint16_t stream, task;
};

/* The two 16-bit words of a record hold stream and task id in one of several packings, told by their upper bits. `sqe`
 * is the task type of the record, 0 where it has none. */
struct task_ids task_ids(uint16_t sid, uint16_t tid, unsigned sqe, bool expanded);

/* Stream id of a record that only has one word for it. */
uint16_t plain_stream(uint16_t sid, bool expanded);

#endif
