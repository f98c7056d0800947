/* The registry of tables, and the export that walks it. The tables of sampled metrics stand in metrics/. */
#include "export/db/tables.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "metrics/metric.h"

const struct db_table_kind *const db_tables[] = {
    /* what was collected, and what numbers mean */
    &table_meta_data,
    &table_session_time_info,
    &table_host_info,
    &table_npu_info,
    &table_rank_device_map,
    &table_enum_api_type,
    &table_enum_module,
    &table_enum_hccl_data_type,
    &table_enum_hccl_link_type,
    &table_enum_hccl_transport_type,
    &table_enum_hccl_rdma_type,
    &table_enum_mstx_event_type,
    &table_enum_memcpy_operation,
    &table_enum_overlap_analysis_type,
    /* tasks and operators */
    &table_task,
    &table_compute_task_info,
    &table_communication_schedule_task_info,
    &table_memcpy_info,
    &table_overlap_analysis,
    /* communication */
    &table_communication_op,
    &table_communication_task_info,
    /* host */
    &table_cann_api,
    /* counters */
    &table_task_pmu_info,
    &table_aicore_freq,
    /* all texts used above: must be the last */
    &table_string_ids,
};
const size_t db_n_tables = sizeof db_tables / sizeof *db_tables;

/* "msprof_" 14 digits ".db" */
static bool is_database_name(const char *name)
{
    if (strncmp(name, "msprof_", 7)) return false;
    for (int i = 7; i < 21; i++)
        if (!isdigit((unsigned char)name[i])) return false;
    return !strcmp(name + 21, ".db");
}

/* Exactly one database stays in a PROF directory: viewers take two for a cluster. */
static void remove_older(const char *dir, const char *keep, struct diag *diag)
{
    DIR *d = opendir(dir);
    if (!d) return;
    for (const struct dirent *e; (e = readdir(d));) {
        if (!is_database_name(e->d_name) || !strcmp(e->d_name, keep)) continue;
        char *path = mem_printf("%s/%s", dir, e->d_name);
        if (unlink(path) == 0) db_remove_leftovers(path);
        else if (errno != EISDIR)
            diag_note(diag, DIAG_WARNING, e->d_name, DIAG_NO_OFFSET, "older database cannot be removed: %s",
                      strerror(errno));
        free(path);
    }
    closedir(d);
}

/* Two programs that export the same PROF directory must not remove each other's database. Where directories cannot be
 * locked (-1) they may. */
static int lock_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    while (flock(fd, LOCK_EX))
        if (errno != EINTR) break;
    return fd;
}

static void write_metrics(struct db_run *run, struct db_file *f)
{
    const struct prof_dir *dir;
    for (size_t i = 0; i < n_metrics; i++)
        for (const struct db_table_kind *kind = metrics[i]->tables; kind && kind->fill; kind++) {
            struct db_table *table = db_table_begin(f, &kind->definition);
            for (size_t d = 0; (dir = metric_dir(run->model, d)); d++) {
                const void *data = metric_data(run->model, dir, metrics[i]);
                if (data) kind->fill(run, table, dir, data);
            }
            db_table_end(table);
        }
}

static void write_tables(struct db_file *f, const struct export_target *t)
{
    struct db_run run = {.model = t->model, .diag = t->diag};
    ids_start(&run.ids, t->model->strings);
    for (size_t i = 0; i < db_n_tables; i++) {
        if (db_tables[i] == &table_string_ids) write_metrics(&run, f);
        struct db_table *table = db_table_begin(f, &db_tables[i]->definition);
        db_tables[i]->write(&run, table);
        db_table_end(table);
    }
    ids_free(&run.ids);
}

int db_export(struct export_target *t, struct error *err)
{
    const char *dir = t->model->session->path;
    char *name = mem_printf("msprof_%s.db", t->stamp), *path = mem_printf("%s/%s", dir, name);
    struct db_file *f = db_file_open(path, DB_PAGE_SIZE, t->progress, err);
    int failed = -1;
    if (f) {
        uint64_t bytes, rows;
        write_tables(f, t);
        int lock = lock_dir(dir);
        failed = db_file_commit(f, &bytes, &rows, err);
        if (!failed) {
            remove_older(dir, name, t->diag);
            export_wrote(t, path, bytes, rows);
        }
        if (lock >= 0) close(lock);
    }
    free(path);
    free(name);
    return failed;
}
