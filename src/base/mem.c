#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die_out_of_memory(size_t bytes)
{
    fprintf(stderr, "npuprof: out of memory (%zu bytes asked for)\n", bytes);
    _Exit(1);
}

void *mem_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) die_out_of_memory(bytes);
    return p;
}

void *mem_zalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p) die_out_of_memory(n * size);
    return p;
}

void *mem_resize(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) die_out_of_memory(SIZE_MAX);
    void *p = realloc(old, bytes ? bytes : 1);
    if (!p) die_out_of_memory(bytes);
    return p;
}

char *mem_strndup(const char *text, size_t len)
{
    char *p = mem_alloc(len + 1);
    memcpy(p, text, len);
    p[len] = '\0';
    return p;
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) die_out_of_memory(0);
    return text;
}
