/* Marks of the user on the host (msproftx, mstx), for what shows them together with those of devices. */
#ifndef METRICS_MSPROFTX_H
#define METRICS_MSPROFTX_H

#include "metrics/metric.h"

/* Id by which a mark of the host and one of a device belong together in the database; marks without device have
 * MARK_ALONE. */
#define MARK_ALONE 4000000000u
static inline uint64_t mark_connection(uint64_t mark_id)
{
    return mark_id + MARK_ALONE + 1;
}

/* Message of the host's mark with that id, `missing` when there is none. */
str_id mark_message(const struct model *m, uint64_t mark_id, str_id missing);

#endif
