#include "base/json.h"

void json_key(struct out *o, const char *name, bool first)
{
    if (!first) out_literal(o, ", ");
    out_char(o, '"');
    out_text(o, name);
    out_literal(o, "\": ");
}

void json_any_key(struct out *o, const char *name, bool first)
{
    if (!first) out_literal(o, ", ");
    json_text(o, name);
    out_literal(o, ": ");
}

void json_number(struct out *o, double value)
{
    o->at = format_python(out_room(o, FORMAT_DOUBLE), value);
}

void json_text(struct out *o, const char *text)
{
    out_json_string(o, text, strlen(text));
}

/* The shortest text of that double is the decimal fraction itself, unless it is too small, or too long for one. */
void json_millionths(struct out *o, int64_t n)
{
    if (n < 100 || n >= 1000000000000000) {
        json_number(o, (double)n / 1e6);
        return;
    }
    char *end = format_u64(out_room(o, FORMAT_U64 + 8), (uint64_t)n / 1000000);
    uint32_t rest = (uint32_t)(n % 1000000), digit = 100000;
    *end++ = '.';
    do {
        *end++ = (char)('0' + rest / digit);
        rest %= digit;
        digit /= 10;
    } while (rest);
    o->at = end;
}

void json_number_member(struct out *o, const char *name, double value)
{
    json_key(o, name, false);
    json_number(o, value);
}

void json_int_member(struct out *o, const char *name, int64_t value)
{
    json_key(o, name, false);
    out_i64(o, value);
}

void json_text_member(struct out *o, const char *name, const char *text)
{
    json_key(o, name, false);
    json_text(o, text);
}
