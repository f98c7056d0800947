/* A temporary directory for one test program, and files in it. Included once per program, after cmocka.h. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"

static char scratch[64];

/* For cmocka: a fresh directory before each test, gone after it. */
static int scratch_make(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/npuprof-unit-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int scratch_drop(void **state)
{
    (void)state;
    return nftw(scratch, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Write a file below the scratch directory; its directories are made. */
static void scratch_bytes(const char *name, const void *data, size_t size)
{
    char *path = mem_printf("%s/%s", scratch, name);
    for (char *p = path + strlen(scratch) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(path, 0750);
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    free(path);
}

static inline void scratch_text(const char *name, const char *text)
{
    scratch_bytes(name, text, strlen(text));
}

static void scratch_find(const struct diag_entry *e, void *context)
{
    const char **wanted = context;
    if (!strcmp(e->file, wanted[0]) && strstr(e->why, wanted[1])) wanted[2] = "found";
}

/* Is there a note on that file with that text in it? */
static inline int noted(struct diag *d, const char *file, const char *text)
{
    const char *wanted[3] = {file, text, NULL};
    diag_each(d, scratch_find, wanted);
    return wanted[2] != NULL;
}

#endif
