/* The critical path: the chain of operators that an iteration could not have been shorter than.
 *
 *     stream 1  |--A--|        |--B--|           B waited for the communication C, which waited for A:
 *     stream 2         |--C---|      |--D--|     the path is A, C, B, D
 *
 * It is followed backwards, from what ended last: in front of an operator is the one before it in its lane, if that
 * ended no longer than a µs before it began; else whatever ended last before it began. */
#ifndef CLUSTER_CRITICAL_PATH_H
#define CLUSTER_CRITICAL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that ran. */
struct path_event {
    int64_t start_ns, end_ns; /* end > start */
    uint64_t lane;            /* what runs one after the other */
};

/* Set on_path[n] for events[n], n < 2^31. O(n log n). */
void critical_path(const struct path_event *events, size_t n, bool *on_path);

/* How long each of events[n] ran while none of the others did, into serial_ns[n]. O(n log n). */
void serial_times(const struct path_event *events, size_t n, uint64_t *serial_ns);

#endif
