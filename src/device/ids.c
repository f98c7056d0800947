/* Stream and task id in two 16-bit words.
 *
 * Streams were numbered below 2048 first, which left upper bits of the stream word to say how the words are packed
 * (docs/formats/device-records.md, "Stream and task id"). Newer drivers give out stream ids up to 32767 and say so with
 * an expansion record on the host; there only bit 15 is left for that. */
#include "device/parts.h"

#define STREAM_BITS   0x07FFu
#define EXPANDED_BITS 0x7FFFu

static struct task_ids plain_ids(uint16_t sid, uint16_t tid)
{
    if (sid & 0x1000) return (struct task_ids){sid & STREAM_BITS, (uint16_t)((tid & 0x1FFF) | (sid & 0xE000))};
    if (sid & 0x2000) return (struct task_ids){tid & STREAM_BITS, (uint16_t)((sid & 0x0FFF) | (tid & 0xF000))};
    return (struct task_ids){sid & STREAM_BITS, tid};
}

static struct task_ids expanded_ids(uint16_t sid, uint16_t tid, unsigned sqe)
{
    if (sqe != SQE_PLACE_HOLDER && sqe != SQE_EVENT_RECORD && sid & 0x8000)
        return (struct task_ids){tid & EXPANDED_BITS, (uint16_t)((tid & 0x8000) | (sid & EXPANDED_BITS))};
    return (struct task_ids){sid & EXPANDED_BITS, tid};
}

struct task_ids task_ids(uint16_t sid, uint16_t tid, unsigned sqe, bool expanded)
{
    return expanded ? expanded_ids(sid, tid, sqe) : plain_ids(sid, tid);
}

uint16_t plain_stream(uint16_t sid, bool expanded)
{
    return sid & (expanded ? EXPANDED_BITS : STREAM_BITS);
}
