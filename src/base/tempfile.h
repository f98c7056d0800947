/* Files that appear under their final name only when they are complete. */
#ifndef BASE_TEMPFILE_H
#define BASE_TEMPFILE_H

#include "base/error.h"

struct tempfile {
    char *path;       /* where to write: beside the final file, a hidden name. Owned */
    char *final_path; /* the name it gets. Owned */
    int slot;
};

/* Prepare a temporary name for final_path (nothing is created; a leftover of that name is removed). */
void tempfile_start(struct tempfile *t, const char *final_path);

/* Give the file its final name, replacing one of that name; releases *t. Returns 0, or -1 with *err set (the temporary
 * file is removed). */
int tempfile_commit(struct tempfile *t, struct error *err);

/* Remove the temporary file and release *t; nothing happens when *t is zeroed, committed or already discarded. */
void tempfile_discard(struct tempfile *t);

/* Remove all temporary files of this process. Async-signal-safe. */
void tempfile_discard_all(void);

#endif
