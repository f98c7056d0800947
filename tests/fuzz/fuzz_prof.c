/* libFuzzer entry: one file of the sample PROF directory has the fuzzer's bytes as content, the rest is as collected;
 * all of it is exported. The first byte of the input chooses the file. docs/testing.md says how to build and run it.
 *
 * The sample is copied once to a scratch directory; each run writes the chosen file, exports, puts the file back and
 * removes the outputs. */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npuprof.h"

#define MAX_FILES 256

struct sample_file {
    char *path;
    char *bytes;
    size_t size;
};

static struct sample_file files[MAX_FILES];
static size_t n_files;
static char scratch[PATH_MAX];
static size_t source_length;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) fail(path);
}

static int copy_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    char to[PATH_MAX];
    snprintf(to, sizeof to, "%s%s", scratch, path + source_length);
    if (type == FTW_D) return mkdir(to, 0700);
    const char *end = strrchr(path, '.');
    if (type != FTW_F || (end && !strcmp(end, ".done")) || n_files == MAX_FILES) return 0;
    struct sample_file *file = &files[n_files++];
    *file = (struct sample_file){strdup(to), malloc((size_t)st->st_size + 1), (size_t)st->st_size};
    FILE *f = fopen(path, "rb");
    if (!f || fread(file->bytes, 1, file->size, f) != file->size || fclose(f)) fail(path);
    write_file(to, file->bytes, file->size);
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int remove_database(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type == FTW_F && ftw->level == 1 && !strncmp(path + ftw->base, "msprof_", 7)) remove(path);
    return 0;
}

static void remove_scratch(void)
{
    nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *base = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/PROF_fuzz_XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(scratch)) fail(scratch);
    rmdir(scratch); /* made again as a copy of the sample's root */
    source_length = strlen(FUZZ_SAMPLE);
    if (nftw(FUZZ_SAMPLE, copy_entry, 16, FTW_PHYS) || !n_files) fail(FUZZ_SAMPLE);
    atexit(remove_scratch);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    const struct sample_file *file = &files[data[0] % n_files];
    write_file(file->path, data + 1, size - 1);
    struct npuprof_options options;
    npuprof_options_init(&options);
    options.jobs = 1;
    struct npuprof_report *report;
    npuprof_export(scratch, &options, &report);
    npuprof_report_free(report);
    write_file(file->path, file->bytes, file->size);
    char outputs[PATH_MAX + 64];
    snprintf(outputs, sizeof outputs, "%s/mindstudio_profiler_output", scratch);
    nftw(outputs, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    nftw(scratch, remove_database, 16, FTW_PHYS);
    return 0;
}
