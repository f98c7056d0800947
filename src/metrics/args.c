/* Args that timeline and database show. */
#include "metrics/args.h"

#include <assert.h>
#include <string.h>

#include "base/format.h"
#include "metrics/digits.h"

static struct arg *add(struct args *a, const char *key)
{
    assert(a->n < ARGS_MAX);
    a->at[a->n].key = key;
    return &a->at[a->n++];
}

void args_count(struct args *a, const char *key, uint64_t value)
{
    struct arg *arg = add(a, key);
    arg->kind = ARG_COUNT;
    arg->count = value;
}

void args_double(struct args *a, const char *key, double value)
{
    struct arg *arg = add(a, key);
    arg->kind = ARG_DOUBLE;
    arg->number = value;
}

void args_text(struct args *a, const char *key, const char *text)
{
    struct arg *arg = add(a, key);
    arg->kind = ARG_TEXT;
    arg->text = text;
}

void args_trace(struct trace *t, const struct args *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        const struct arg *arg = &a->at[i];
        if (t->has_args) out_char(&t->out, ',');
        t->has_args = true;
        out_json_string(&t->out, arg->key, strlen(arg->key));
        out_char(&t->out, ':');
        if (arg->kind == ARG_COUNT) out_u64(&t->out, arg->count);
        else if (arg->kind == ARG_DOUBLE) out_double(&t->out, arg->number);
        else out_json_string(&t->out, arg->text, strlen(arg->text));
    }
}

typedef ARRAY(char) text_array;

static void put(text_array *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) array_push(out, bytes[i]);
}

static void put_string(text_array *out, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    array_push(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        char escape[6] = {'\\', 'u', '0', '0', hex[*p >> 4], hex[*p & 15]};
        if (*p < 0x20) {
            put(out, escape, sizeof escape);
            continue;
        }
        if (*p == '"' || *p == '\\') array_push(out, '\\');
        array_push(out, (char)*p);
    }
    array_push(out, '"');
}

void args_db(struct db_run *run, struct db_table *t, const struct args *a)
{
    text_array out = {0};
    char number[FORMAT_DOUBLE];
    array_push(&out, '[');
    for (unsigned i = 0; i < a->n; i++) {
        const struct arg *arg = &a->at[i];
        if (i) array_push(&out, ',');
        put_string(&out, arg->key);
        array_push(&out, ',');
        if (arg->kind == ARG_TEXT) put_string(&out, arg->text);
        else
            put(&out, number,
                (size_t)((arg->kind == ARG_COUNT ? format_u64(number, arg->count)
                                                 : digits_double(number, arg->number)) -
                         number));
    }
    array_push(&out, ']');
    db_string(run, t, strpool_add(run->ids.strings, out.at, out.n));
    array_free(&out);
}
