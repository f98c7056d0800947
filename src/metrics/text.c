/* Lines of text inputs. */
#include "metrics/text.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 63 /* characters of a number */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

size_t text_split(const char *line, size_t len, struct text_field *fields, size_t room)
{
    size_t n = 0, at = 0;
    for (;;) {
        while (at < len && is_blank(line[at])) at++;
        if (at == len) return n;
        size_t from = at;
        while (at < len && !is_blank(line[at])) at++;
        if (n < room) fields[n] = (struct text_field){line + from, at - from};
        n++;
    }
}

bool text_u64(struct text_field f, uint64_t *value)
{
    uint64_t v = 0;
    for (size_t i = 0; i < f.len; i++) {
        if (f.at[i] < '0' || f.at[i] > '9') return false;
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(f.at[i] - '0'), &v))
            return false;
    }
    *value = v;
    return f.len > 0;
}

bool text_time(struct text_field f, uint64_t *ns)
{
    if (f.len && f.at[f.len - 1] == ':') f.len--;
    return text_u64(f, ns);
}

/* Decimal numbers only: strtod alone would take "inf", "nan" and hexadecimal ones too. */
bool text_f64(struct text_field f, double *value)
{
    char copy[NUMBER_MAX + 1], *end;
    if (!f.len || f.len > NUMBER_MAX) return false;
    for (size_t i = 0; i < f.len; i++) {
        if (!memchr("+-.0123456789eE", f.at[i], 15)) return false;
        copy[i] = f.at[i];
    }
    copy[f.len] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0';
}

bool text_seconds(struct text_field f, uint64_t *ns)
{
    const char *point = memchr(f.at, '.', f.len);
    size_t whole = point ? (size_t)(point - f.at) : f.len;
    uint64_t v;
    if (!text_u64((struct text_field){f.at, whole}, &v) || __builtin_mul_overflow(v, 1000000000u, &v)) return false;
    uint64_t unit = 100000000;
    for (size_t i = whole + 1; i < f.len; i++, unit /= 10) {
        if (f.at[i] < '0' || f.at[i] > '9') return false;
        if (__builtin_add_overflow(v, (uint64_t)(f.at[i] - '0') * unit, &v)) return false;
    }
    *ns = v;
    return true;
}

bool text_is(struct text_field f, const char *text)
{
    return strlen(text) == f.len && !memcmp(f.at, text, f.len);
}

size_t text_split_at(struct text_field text, char at, struct text_field *pieces, size_t room)
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.at[i] != at) continue;
        if (n < room) pieces[n] = (struct text_field){text.at + from, i - from};
        n++;
        from = i + 1;
    }
    return n;
}

struct text_field text_value(struct text_field piece)
{
    const char *colon = piece.len ? memrchr(piece.at, ':', piece.len) : NULL;
    if (!colon) return (struct text_field){piece.at, 0};
    return (struct text_field){colon + 1, piece.len - (size_t)(colon + 1 - piece.at)};
}

struct text_reader {
    void (*visit)(struct text_field text, const struct record_place *place, void *context);
    void *context;
};

/* A line begins with the NUL that ends the text before. */
static void read_texts(const char *line, size_t len, const struct record_place *place, void *context)
{
    const struct text_reader *r = context;
    for (size_t from = 0; from < len;) {
        const char *nul = memchr(line + from, '\0', len - from);
        size_t end = nul ? (size_t)(nul - line) : len;
        if (end > from) r->visit((struct text_field){line + from, end - from}, place, r->context);
        from = end + 1;
    }
}

void texts_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                void (*visit)(struct text_field text, const struct record_place *place, void *context), void *context)
{
    struct text_reader r = {visit, context};
    lines_each(files, diag, progress, read_texts, &r);
}
