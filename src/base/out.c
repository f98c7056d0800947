#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

int out_open(struct out *o, const char *path, struct error *err)
{
    *o = (struct out){.fd = -1};
    tempfile_start(&o->temp, path);
    o->fd = open(o->temp.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (o->fd < 0) {
        int e = errno;
        tempfile_discard(&o->temp);
        return error_set(err, "cannot create %s: %s", path, strerror(e));
    }
    o->buffer = o->at = mem_alloc(OUT_BUFFER);
    o->end = o->buffer + OUT_BUFFER;
    return 0;
}

static void write_all(struct out *o, const char *data, size_t n)
{
    while (n && !o->failed_errno) {
        ssize_t done = write(o->fd, data, n);
        if (done < 0) {
            if (errno != EINTR) o->failed_errno = errno;
            continue;
        }
        data += done;
        n -= (size_t)done;
        o->flushed += (uint64_t)done;
    }
}

void out_flush(struct out *o)
{
    write_all(o, o->buffer, (size_t)(o->at - o->buffer));
    o->at = o->buffer;
}

void out_bytes_slow(struct out *o, const void *data, size_t n)
{
    out_flush(o);
    if (n >= OUT_BUFFER) {
        write_all(o, data, n);
    } else {
        memcpy(o->at, data, n);
        o->at += n;
    }
}

static void release(struct out *o)
{
    if (o->fd >= 0) close(o->fd);
    free(o->buffer);
    o->buffer = o->at = o->end = NULL;
    o->fd = -1;
}

int out_commit(struct out *o, struct error *err)
{
    out_flush(o);
    if (close(o->fd) && !o->failed_errno) o->failed_errno = errno;
    o->fd = -1;
    int e = o->failed_errno;
    release(o);
    if (e) {
        error_set(err, "cannot write %s: %s", o->temp.final_path, strerror(e));
        tempfile_discard(&o->temp);
        return -1;
    }
    return tempfile_commit(&o->temp, err);
}

void out_discard(struct out *o)
{
    if (!o->buffer) return;
    release(o);
    tempfile_discard(&o->temp);
}

size_t utf8_length(const unsigned char *p, size_t n)
{
    size_t len;
    uint32_t code, lowest;
    if (p[0] < 0x80) return 1;
    if ((p[0] & 0xE0) == 0xC0) len = 2, code = p[0] & 0x1F, lowest = 0x80;
    else if ((p[0] & 0xF0) == 0xE0) len = 3, code = p[0] & 0x0F, lowest = 0x800;
    else if ((p[0] & 0xF8) == 0xF0) len = 4, code = p[0] & 0x07, lowest = 0x10000;
    else return 0;
    if (len > n) return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    return code < lowest || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : len;
}

static void escape(struct out *o, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    switch (c) {
    case '"': out_literal(o, "\\\""); break;
    case '\\': out_literal(o, "\\\\"); break;
    case '\b': out_literal(o, "\\b"); break;
    case '\f': out_literal(o, "\\f"); break;
    case '\n': out_literal(o, "\\n"); break;
    case '\r': out_literal(o, "\\r"); break;
    case '\t': out_literal(o, "\\t"); break;
    default: out_bytes(o, text, 6);
    }
}

void out_json_chars(struct out *o, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + n, *plain = p;
    while (p < end) {
        if (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') {
            p++;
            continue;
        }
        size_t len = *p < 0x80 ? 0 : utf8_length(p, (size_t)(end - p));
        if (len) {
            p += len;
            continue;
        }
        out_bytes(o, plain, (size_t)(p - plain));
        if (*p < 0x80) escape(o, *p);
        else out_literal(o, "\xEF\xBF\xBD");
        plain = ++p;
    }
    out_bytes(o, plain, (size_t)(p - plain));
}

void out_json_string(struct out *o, const char *text, size_t n)
{
    out_char(o, '"');
    out_json_chars(o, text, n);
    out_char(o, '"');
}

/* The inside of a cell: quotes doubled. */
static void csv_chars(struct out *o, const unsigned char *p, const unsigned char *end)
{
    const unsigned char *plain = p;
    while (p < end) {
        size_t len = *p == '"' || !*p ? 0 : utf8_length(p, (size_t)(end - p));
        if (len) {
            p += len;
            continue;
        }
        out_bytes(o, plain, (size_t)(p - plain));
        if (*p == '"') out_literal(o, "\"\"");
        else out_literal(o, "\xEF\xBF\xBD");
        plain = ++p;
    }
    out_bytes(o, plain, (size_t)(p - plain));
}

void out_csv_cell(struct out *o, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    bool quote = false, plain = true;
    for (size_t i = 0; i < n; i++) {
        quote |= p[i] == ',' || p[i] == '"' || p[i] == '\n' || p[i] == '\r';
        plain &= p[i] && p[i] < 0x80;
    }
    if (!quote && plain) {
        out_bytes(o, text, n);
        return;
    }
    if (quote) out_char(o, '"');
    csv_chars(o, p, p + n);
    if (quote) out_char(o, '"');
}
