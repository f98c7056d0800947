/* Pieces of JSON in the form of Python's json module: ", " and ": " between them, numbers as Python writes them. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

/* The key of a member, which needs no escapes: "name": , with the separator in front unless it is the first. */
void json_key(struct out *o, const char *name, bool first);

/* The same of any text. */
void json_any_key(struct out *o, const char *name, bool first);

void json_number(struct out *o, double value);
void json_text(struct out *o, const char *text);

/* ns as ms, bytes as MB: a floating point number. */
void json_millionths(struct out *o, int64_t n);

/* "name": value, … not as the first member. */
void json_number_member(struct out *o, const char *name, double value);
void json_int_member(struct out *o, const char *name, int64_t value);
void json_text_member(struct out *o, const char *name, const char *text);

#endif
