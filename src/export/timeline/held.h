/* Values that hold until the next one, as the reference's scripts draw them: a line of repetitions. */
#ifndef TIMELINE_HELD_H
#define TIMELINE_HELD_H

#include "export/timeline/trace.h"

struct held_value {
    int64_t time_ns; /* epoch */
    uint32_t value;
};

/* Write a counter event for each of values[n] (ascending time), repeated every ms until the next one or the end of the
 * directory's collection; when that is not known the last value holds for a µs. That is done for an hour; what does not
 * fit into it has its ends only. Values from before the collection are left out. */
void held_line(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct held_value *values, size_t n,
               void (*put)(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t value));

#endif
