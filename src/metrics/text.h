/* Lines of text inputs: fields between blanks, and the numbers in them. */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
