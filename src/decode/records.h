/* Framing: the slices of one kind as a stream of whole records.
 *
 * All slices of a kind (per aging prefix) are one byte stream. A record may straddle two slices. A stream whose length
 * is not a multiple of the record size either starts in the middle of a record (its head was aged out) or ends in one
 * (the collection was interrupted); which of the two is told by `valid`, tried on the first records at both alignments.
 * After a missing slice (input_file.gap), and where a slice does not continue the one before, it is aligned anew.
 * Whatever is dropped is noted, nothing is read out of bounds. */
#ifndef DECODE_RECORDS_H
#define DECODE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/diag.h"
#include "base/progress.h"
#include "session/inputs.h"

static inline uint16_t get_u16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t get_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t get_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline double get_f64(const uint8_t *p)
{
    double v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where a record comes from: the file it begins in, and the offset there. */
struct record_place {
    const struct input_file *file;
    uint64_t offset;
};

/* Is this the beginning of a record of the kind? Used to align the stream and to skip damaged records. */
typedef bool (*record_valid)(const uint8_t *record);

typedef void (*record_visit)(const uint8_t *record, const struct record_place *place, void *context);

/* The usual checks. */
bool record_valid_host(const uint8_t *record);  /* 0x5A5A at 0 */
bool record_valid_stars(const uint8_t *record); /* 0x6BD3 at 2 */

/* Visit every whole valid record of `files` in order; a record is there during its visit only. `valid` may be NULL:
 * every record counts as valid, and a stream that does not fit is taken to have lost its front, or its end when it
 * begins with slice 0. Unreadable files, dropped bytes and invalid records go to `diag`; progress (may be NULL)
 * advances by bytes. */
void records_each(const struct input_files *files, size_t record_size, record_valid valid, struct diag *diag,
                  struct progress *progress, record_visit visit, void *context);

/* Visit every line (without its newline, not NUL terminated) of text files, in order; a line may straddle two slices of
 * the same prefix. */
void lines_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                void (*visit)(const char *line, size_t len, const struct record_place *place, void *context),
                void *context);

/* Upper bound of the number of records, for reserving room. */
static inline size_t records_count(const struct input_files *files, size_t record_size)
{
    return (size_t)(files->bytes / record_size);
}

#endif
