#include "base/diag.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct diag {
    pthread_mutex_t lock;
    ARRAY(struct diag_entry) entries; /* few: one per file and reason */
};

struct diag *diag_new(void)
{
    struct diag *d = mem_zalloc(1, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    return d;
}

void diag_free(struct diag *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->entries.n; i++) {
        free((char *)d->entries.at[i].file);
        free((char *)d->entries.at[i].why);
    }
    array_free(&d->entries);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void add(struct diag *d, enum diag_level level, const char *file, uint64_t offset, uint64_t count,
                const char *format, va_list args)
{
    char why[512];
    vsnprintf(why, sizeof why, format, args);
    pthread_mutex_lock(&d->lock);
    struct diag_entry *e = NULL;
    for (size_t i = 0; i < d->entries.n && !e; i++) {
        struct diag_entry *x = &d->entries.at[i];
        if (!strcmp(x->why, why) && !strcmp(x->file, file)) e = x;
    }
    if (!e) {
        e = array_add(&d->entries);
        *e = (struct diag_entry){level, mem_strndup(file, strlen(file)), mem_strndup(why, strlen(why)), offset, 0};
    }
    e->count += count;
    if (offset < e->first_offset) e->first_offset = offset;
    if (level > e->level) e->level = level;
    pthread_mutex_unlock(&d->lock);
}

void diag_note(struct diag *d, enum diag_level level, const char *file, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(d, level, file, offset, 1, format, args);
    va_end(args);
}

void diag_count(struct diag *d, enum diag_level level, const char *file, uint64_t offset, uint64_t count,
                const char *format, ...)
{
    if (!count) return;
    va_list args;
    va_start(args, format);
    add(d, level, file, offset, count, format, args);
    va_end(args);
}

static int by_text(const void *x, const void *y)
{
    const struct diag_entry *a = x, *b = y;
    int c = strcmp(a->file, b->file);
    return c ? c : strcmp(a->why, b->why);
}

void diag_each(struct diag *d, void (*visit)(const struct diag_entry *, void *), void *context)
{
    pthread_mutex_lock(&d->lock);
    if (d->entries.n) qsort(d->entries.at, d->entries.n, sizeof *d->entries.at, by_text);
    for (size_t i = 0; i < d->entries.n; i++) visit(&d->entries.at[i], context);
    pthread_mutex_unlock(&d->lock);
}

unsigned diag_entries(struct diag *d, enum diag_level level)
{
    unsigned n = 0;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->entries.n; i++) n += d->entries.at[i].level >= level;
    pthread_mutex_unlock(&d->lock);
    return n;
}
