/* A buffered writer to a file that appears under its name only when complete.
 *
 *     struct out o;
 *     if (out_open(&o, path, err)) return -1;
 *     out_text(&o, "{\"name\":");
 *     out_json_string(&o, name, len);
 *     return out_commit(&o, err);        // or out_discard(&o)
 *
 * Writing never fails in the middle: the first I/O error is remembered and out_commit reports it (and leaves no file).
 */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/tempfile.h"

#define OUT_BUFFER (1u << 20)

struct out {
    char *at;  /* next free byte */
    char *end; /* end of the buffer */
    char *buffer;
    int fd;
    int failed_errno;
    uint64_t flushed; /* bytes already handed to the kernel */
    struct tempfile temp;
};

/* Start a file that will be called `path`, mode 0640. Returns 0, or -1 with *err set. */
int out_open(struct out *o, const char *path, struct error *err);

/* Finish: flush, close, rename. Returns 0, or -1 with *err set and no file left. Releases *o in both cases. */
int out_commit(struct out *o, struct error *err);

/* Give up: no file is left. Also fine on a zeroed or finished writer. */
void out_discard(struct out *o);

/* Bytes written so far. */
static inline uint64_t out_size(const struct out *o)
{
    return o->flushed + (uint64_t)(o->at - o->buffer);
}

void out_flush(struct out *o);
void out_bytes_slow(struct out *o, const void *data, size_t n);

/* Room for n <= OUT_BUFFER bytes at o->at; write there and move o->at. */
static inline char *out_room(struct out *o, size_t n)
{
    if ((size_t)(o->end - o->at) < n) out_flush(o);
    return o->at;
}

static inline void out_bytes(struct out *o, const void *data, size_t n)
{
    if ((size_t)(o->end - o->at) >= n) {
        memcpy(o->at, data, n);
        o->at += n;
    } else {
        out_bytes_slow(o, data, n);
    }
}

#define out_literal(o, text) out_bytes((o), "" text, sizeof(text) - 1)

static inline void out_text(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

static inline void out_char(struct out *o, char c)
{
    *out_room(o, 1) = c;
    o->at++;
}

static inline void out_u64(struct out *o, uint64_t v)
{
    o->at = format_u64(out_room(o, FORMAT_U64), v);
}

static inline void out_i64(struct out *o, int64_t v)
{
    o->at = format_i64(out_room(o, FORMAT_I64), v);
}

/* format_us: ns as µs with three decimals. */
static inline void out_us(struct out *o, int64_t ns)
{
    o->at = format_us(out_room(o, FORMAT_US), ns);
}

/* format_us_number: ns as a JSON floating point number of µs. */
static inline void out_us_number(struct out *o, int64_t ns)
{
    o->at = format_us_number(out_room(o, FORMAT_US), ns);
}

static inline void out_double(struct out *o, double v)
{
    o->at = format_double(out_room(o, FORMAT_DOUBLE), v);
}

/* A JSON string with its quotes. Escapes quote, backslash and control characters; valid UTF-8 goes through unchanged,
 * each byte that is not part of valid UTF-8 becomes U+FFFD, so that the file stays readable JSON. */
void out_json_string(struct out *o, const char *text, size_t n);

/* The inside of such a string, without the quotes: for texts put together from pieces. */
void out_json_chars(struct out *o, const char *text, size_t n);

/* Length of the valid UTF-8 sequence at p (1 … 4) with n >= 1 bytes left, 0 when there is none. */
size_t utf8_length(const unsigned char *p, size_t n);

/* One CSV cell: quoted (quotes doubled) only when it holds a comma, a quote, CR or LF. What is not valid UTF-8 becomes
 * U+FFFD as above; so does NUL, at which readers stop. */
void out_csv_cell(struct out *o, const char *text, size_t n);

#endif
