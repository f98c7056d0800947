/* Where the results go: the directory `analyze` and its files, each a row of a table. */
#include "analyze/analyze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/parts.h"

static const struct json_file {
    enum npuprof_rule rule;
    const char *name;
    int (*write)(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows, struct error *err);
} json_files[] = {
    {NPUPROF_COMMUNICATION, "communication.json", json_write_communication},
    {NPUPROF_COMMUNICATION_MATRIX, "communication_matrix.json", json_write_matrix},
};

#define N_JSON_FILES (sizeof json_files / sizeof *json_files)

/* A link is refused: data made by somebody else must not make us write elsewhere. */
static int make_dir(const char *path, struct error *err)
{
    struct stat st;
    if (!mkdir(path, 0750)) return 0;
    if (errno != EEXIST) return error_set(err, "cannot create the directory %s: %s", path, strerror(errno));
    if (lstat(path, &st) || !S_ISDIR(st.st_mode)) return error_set(err, "%s is in the way: not a directory", path);
    return 0;
}

static bool has_times(const struct analysis *a)
{
    for (size_t i = 0; i < a->operators.n; i++)
        if (a->operators.at[i].timed) return true;
    return false;
}

static int write_file(const struct analysis *a, const struct json_file *f, const char *dir,
                      struct written_list *written, struct diag *diag, struct error *err)
{
    struct written_file w = {.path = mem_printf("analyze/%s", f ? f->name : "communication_analyzer.db")};
    char *path = mem_printf("%s/%s", dir, w.path);
    int failed = f ? f->write(a, path, &w.bytes, &w.rows, err) : tables_write(a, path, diag, &w.bytes, &w.rows, err);
    if (failed) free(w.path);
    else array_push(&written->files, w);
    free(path);
    return failed;
}

int analysis_write(const struct analysis *a, const char *dir, bool json, struct written_list *written,
                   struct diag *diag, struct error *err)
{
    unsigned rules = a->rules;
    if (!has_times(a)) rules &= ~(unsigned)NPUPROF_COMMUNICATION;
    if (!a->operators.n || !rules) return 0;
    char *path = mem_printf("%s/analyze", dir);
    int failed = make_dir(path, err);
    free(path);
    if (failed) return -1;
    for (size_t i = 0; json && i < N_JSON_FILES; i++)
        if (rules & json_files[i].rule) failed |= write_file(a, &json_files[i], dir, written, diag, err);
    failed |= write_file(a, NULL, dir, written, diag, err);
    return failed;
}
