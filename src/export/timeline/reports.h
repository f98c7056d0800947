/* Which layers of the timeline are wanted: a file in which people switch them on and off,
 *
 *     {"json_process": {"ascend": true, "cann": false, …}}
 *
 * Layers that are not named are off. A file that does not say so, because it is no JSON, has no switches, names a layer
 * that does not exist or gives something else than true and false, switches nothing: everything is wanted then. */
#ifndef TIMELINE_REPORTS_H
#define TIMELINE_REPORTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

#define REPORTS_MAX_BYTES (64u << 20)

struct reports {
    json_t *switches; /* NULL = everything is wanted */
};

/* Read the file. Returns 0, or -1 with *err set when it cannot be read: not there, no regular file, larger than
 * REPORTS_MAX_BYTES. What is wrong with its content is put into *complaint, which stays untouched if nothing is. */
int reports_read(struct reports *r, const char *path, struct error *complaint, struct error *err);
void reports_free(struct reports *r);

/* Is the layer with that key wanted? r may be NULL: everything is. */
bool reports_want(const struct reports *r, const char *key);

#endif
