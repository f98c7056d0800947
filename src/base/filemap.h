/* Read-only views of whole files. */
#ifndef BASE_FILEMAP_H
#define BASE_FILEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct filemap {
    const uint8_t *data; /* NULL when size is 0 */
    size_t size;
};

/* Map a regular file (anything else, a link too, is an error) for one sequential pass. Returns 0, or -1 with *err set.
 * The file must not shrink while it is mapped: raw data of a finished collection does not. */
int filemap_open(struct filemap *m, const char *path, struct error *err);

/* Unmap; its pages stop counting as ours. */
void filemap_close(struct filemap *m);

#endif
