/* Diagnostics: what of the input was skipped or lost, said once at the end instead of a line per record.
 *
 * Notes with the same file and the same reason are one entry that counts. Safe to use from several threads; the order
 * in which entries are visited depends only on their text. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdint.h>

struct diag;

enum diag_level {
    DIAG_INFO,    /* worth knowing, nothing lost */
    DIAG_WARNING, /* something of the input could not be used */
    DIAG_ERROR,   /* something asked for could not be exported */
};

struct diag_entry {
    enum diag_level level;
    const char *file;      /* path as shown to the user, relative to the PROF directory; "" = the PROF as a whole */
    const char *why;       /* a phrase, lower case, no full stop */
    uint64_t first_offset; /* byte offset of the first occurrence, DIAG_NO_OFFSET when it makes no sense */
    uint64_t count;        /* occurrences (records, bytes, lines: the phrase says which) */
};

#define DIAG_NO_OFFSET UINT64_MAX

struct diag *diag_new(void);
void diag_free(struct diag *d);

/* Note one occurrence. `file` and the text made from `format` are copied. */
void diag_note(struct diag *d, enum diag_level level, const char *file, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Note `count` occurrences at once (0 = none: nothing happens). */
void diag_count(struct diag *d, enum diag_level level, const char *file, uint64_t offset, uint64_t count,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Visit all entries, sorted by (file, why). */
void diag_each(struct diag *d, void (*visit)(const struct diag_entry *, void *), void *context);

/* Number of entries of at least `level`. */
unsigned diag_entries(struct diag *d, enum diag_level level);

#endif
