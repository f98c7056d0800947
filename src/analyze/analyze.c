/* Where the results go: the directory `analyze` and its files, each a row of a table. */
#include "analyze/analyze.h"

#include <stdlib.h>

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

struct writing {
    const struct analysis *a;
    unsigned rules;
    const char *dir;
    struct written_list *written;
    struct diag *diag;
    struct error *err;
};

/* A JSON file; f = NULL: the database. */
static int write_file(struct writing *w, const struct json_file *f)
{
    struct written_file file = {.path = mem_printf("analyze/%s", f ? f->name : "communication_analyzer.db")};
    char *path = mem_printf("%s/%s", w->dir, file.path);
    int failed = f ? f->write(w->a, path, &file.bytes, &file.rows, w->err)
                   : tables_write(w->a, w->rules, path, w->diag, &file.bytes, &file.rows, w->err);
    if (failed) free(file.path);
    else array_push(&w->written->files, file);
    free(path);
    return failed;
}

static int write_files(struct writing *w, bool json)
{
    char *path = mem_printf("%s/analyze", w->dir);
    bool made;
    int failed = export_make_dir(path, &made, w->err);
    free(path);
    if (failed) return -1;
    for (size_t i = 0; json && i < N_JSON_FILES; i++)
        if (w->rules & json_files[i].rule) failed |= write_file(w, &json_files[i]);
    return write_file(w, NULL) | failed;
}

int analysis_write(const struct analysis *a, const char *dir, bool json, struct written_list *written,
                   struct diag *diag, struct error *err)
{
    struct writing w = {a, a->rules, dir, written, diag, err};
    if (!a->operators.n) return 0;
    if (a->without_master) w.rules &= ~(unsigned)NPUPROF_COMMUNICATION;
    int failed = w.rules ? write_files(&w, json) : 0;
    if (!a->without_master || failed) return failed;
    return error_set(err,
                     "times and bandwidths not written: no task on a master plane tells when %zu of the operators ran, "
                     "and totals without them would be wrong",
                     a->without_master);
}
