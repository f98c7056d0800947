/* Lines of text inputs: fields between blanks, and the numbers in them. */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/records.h"

struct text_field {
    const char *at;
    size_t len;
};

/* Split a line at blanks (space, tab, CR). Returns how many fields there are, of which the first `room` are in
 * fields[]. */
size_t text_split(const char *line, size_t len, struct text_field *fields, size_t room);

/* The whole field as a number; false when it is none. */
bool text_u64(struct text_field f, uint64_t *value);
bool text_f64(struct text_field f, double *value);    /* decimal, finite or not */
bool text_time(struct text_field f, uint64_t *value); /* digits, perhaps a colon behind them */

/* Seconds with decimals, as exact ns; digits behind the ninth are cut. */
bool text_seconds(struct text_field f, uint64_t *ns);

/* Is the field this text? */
bool text_is(struct text_field f, const char *text);

/* Split a text at a character. Returns how many pieces there are, of which the first `room` are in pieces[]. */
size_t text_split_at(struct text_field text, char at, struct text_field *pieces, size_t room);

/* What stands behind the last colon; nothing when there is none. */
struct text_field text_value(struct text_field piece);

/* Visit every text of files in which a NUL byte ends each, and perhaps a newline before it. Empty ones are passed over.
 */
void texts_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                void (*visit)(struct text_field text, const struct record_place *place, void *context), void *context);

#endif
