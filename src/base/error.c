#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *e, const char *format, ...)
{
    if (!e) return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(e->cause[0], ERROR_TEXT, format, args);
    va_end(args);
    e->n = 1;
    return -1;
}

int error_wrap(struct error *e, const char *format, ...)
{
    if (!e || e->n >= ERROR_DEPTH) return -1;
    va_list args;
    va_start(args, format);
    vsnprintf(e->cause[e->n], ERROR_TEXT, format, args);
    va_end(args);
    e->n++;
    return -1;
}

const char *error_text(const struct error *e, char *buf, int size)
{
    int used = 0;
    if (size > 0) buf[0] = '\0';
    for (int i = e->n - 1; i >= 0 && used < size; i--)
        used += snprintf(buf + used, (size_t)(size - used), "%s%s", e->cause[i], i ? ": " : "");
    return buf;
}
