/* The databases of a cluster: who its devices are, what their iterations took, and how they work in parallel.
 *
 * Tables of iterations are one per device, "ClusterStepTrace_<id>". The files are written as wholes. */
#include "cluster/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/db/writer.h"

#define FOLDER        "sqlite"
#define RANK_FILE     "cluster_rank.db"
#define STEP_FILE     "cluster_step_trace.db"
#define PARALLEL_FILE "cluster_parallel.db"

/* ---- tables ---- */

static const struct db_definition rank_table = {
    .name = "ClusterRank",
    .columns = {{"job_info", DB_TEXT},
                {"device_id", DB_INTEGER},
                {"collection_time", DB_TEXT},
                {"rank_id", DB_INTEGER},
                {"dir_name", DB_TEXT}},
    .keep_empty = true,
};

static const struct db_definition step_table = {
    .columns = {{"device_id", DB_INTEGER},
                {"model_id", DB_INTEGER},
                {"iteration_id", DB_INTEGER},
                {"fp_start", DB_REAL},
                {"bp_end", DB_REAL},
                {"iteration_end", DB_REAL},
                {"iteration_time", DB_REAL},
                {"fp_bp_time", DB_REAL},
                {"grad_refresh_bound", DB_REAL},
                {"data_aug_bound", DB_REAL},
                {"ge_tag", DB_INTEGER}},
    .keep_empty = true,
};

static const struct db_definition reduce_table = {
    .columns = {{"device_id", DB_INTEGER},
                {"model_id", DB_INTEGER},
                {"index_id", DB_INTEGER},
                {"iteration_end", DB_INTEGER},
                {"all_reduce_start", DB_INTEGER},
                {"all_reduce_end", DB_INTEGER}},
    .keep_empty = true,
};

#define PARALLEL_COLUMNS                                                                                               \
    {"rank_id", DB_INTEGER}, {"device_id", DB_INTEGER}, {"model_id", DB_INTEGER}, {"iteration_id", DB_INTEGER},        \
        {"step_time", DB_REAL}, {"computation_time", DB_REAL}, {"pure_communication_time", DB_REAL},                   \
    {                                                                                                                  \
        "communication_time", DB_REAL                                                                                  \
    }

/* By enum parallel_mode. */
static const struct db_definition parallel_tables[] = {
    [PARALLEL_DATA] = {.name = "ClusterDataParallel",
                       .columns = {PARALLEL_COLUMNS,
                                   {"interval_of_communication_time", DB_REAL},
                                   {"hccl_op_num", DB_INTEGER}}},
    [PARALLEL_MODEL] = {.name = "ClusterModelParallel", .columns = {PARALLEL_COLUMNS}},
    [PARALLEL_PIPELINE] = {.name = "ClusterPipelineParallel",
                           .columns = {PARALLEL_COLUMNS,
                                       {"pure_communication_time_only_revice", DB_REAL}, /* as consumers know it */
                                       {"pure_communication_time_except_revice", DB_REAL}}},
};

static const struct db_definition strategy_table = {
    .name = "ClusterParallelStrategy",
    .columns = {{"ai_frame_type", DB_TEXT},
                {"stage_num", DB_INTEGER},
                {"rankId", DB_INTEGER},
                {"stageId", DB_INTEGER},
                {"parallelType", DB_TEXT},
                {"stageDevices", DB_TEXT},
                {"parallel_mode", DB_TEXT}},
};

static const char *const mode_names[] = {
    [PARALLEL_STAND_ALONE] = "stand_alone",
    [PARALLEL_DATA] = "data_parallel",
    [PARALLEL_MODEL] = "model_parallel",
    [PARALLEL_PIPELINE] = "pipeline_parallel",
};

/* ---- writing ---- */

static void put_text(struct db_table *t, const char *text)
{
    if (text) db_text(t, text, strlen(text));
    else db_null(t);
}

static void put_optional(struct db_table *t, bool there, int64_t value)
{
    if (there) db_int(t, value);
    else db_null(t);
}

static void put_real(struct db_table *t, bool there, double value)
{
    if (there) db_real(t, value);
    else db_null(t);
}

static void write_ranks(struct db_file *f, const struct cluster *c)
{
    struct db_table *t = db_table_begin(f, &rank_table);
    for (size_t i = 0; i < c->devices.n; i++) {
        const struct cluster_device *d = &c->devices.at[i];
        put_text(t, d->job);
        db_int(t, d->device_id);
        put_text(t, d->time);
        db_int(t, d->rank_id);
        put_text(t, d->dir);
        db_row(t);
    }
    db_table_end(t);
}

static void write_device_steps(struct db_file *f, const struct cluster_device *d)
{
    struct db_definition definition = step_table;
    char *name = mem_printf("ClusterStepTrace_%lld", (long long)cluster_id(d));
    definition.name = name;
    struct db_table *t = db_table_begin(f, &definition);
    for (size_t i = 0; i < d->steps.n; i++) {
        const struct cluster_step *s = &d->steps.at[i];
        db_int(t, s->device_id);
        db_int(t, s->model_id);
        db_int(t, s->iteration_id);
        db_real(t, s->fp_start);
        db_real(t, s->bp_end);
        db_real(t, s->iteration_end);
        db_real(t, s->iteration_time);
        db_real(t, s->fp_bp_time);
        db_real(t, s->refresh);
        db_real(t, s->data_aug);
        db_int(t, s->known);
        db_row(t);
    }
    db_table_end(t);
    free(name);
}

static void write_device_reduces(struct db_file *f, const struct cluster_device *d)
{
    struct db_definition definition = reduce_table;
    char *name = mem_printf("AllReduce_%lld", (long long)cluster_id(d));
    definition.name = name;
    struct db_table *t = db_table_begin(f, &definition);
    for (size_t i = 0; i < d->reduces.n; i++) {
        const struct cluster_reduce *r = &d->reduces.at[i];
        db_int(t, r->device_id);
        db_int(t, r->model_id);
        db_int(t, r->iteration_id);
        db_real(t, r->iteration_end);
        db_real(t, r->start);
        db_real(t, r->end);
        db_row(t);
    }
    db_table_end(t);
    free(name);
}

/* Tables of those devices that saw iterations of graphs. */
static void write_steps(struct db_file *f, const struct cluster *c)
{
    for (size_t i = 0; i < c->devices.n; i++)
        if (c->devices.at[i].steps.n) write_device_steps(f, &c->devices.at[i]);
    for (size_t i = 0; i < c->devices.n; i++)
        if (c->devices.at[i].steps.n) write_device_reduces(f, &c->devices.at[i]);
}

static void put_parallel(struct db_table *t, const struct cluster_device *d, enum parallel_mode mode)
{
    for (size_t i = 0; i < d->parallel.n; i++) {
        const struct parallel_iteration *p = &d->parallel.at[i];
        put_optional(t, d->rank_id >= 0, d->rank_id);
        db_int(t, d->device_id);
        db_int(t, p->model_id);
        db_int(t, p->iteration_id);
        put_real(t, p->has_step, p->step);
        put_real(t, p->has_step, p->computation);
        db_real(t, p->pure);
        db_real(t, p->communication);
        if (mode == PARALLEL_DATA) {
            db_real(t, p->interval);
            db_int(t, (int64_t)p->operators);
        } else if (mode == PARALLEL_PIPELINE) {
            db_real(t, p->pure_receive);
            db_real(t, p->pure_rest);
        }
        db_row(t);
    }
}

/* The mode of all is that of the first device. */
static enum parallel_mode mode_of(const struct cluster *c)
{
    return c->devices.n ? c->devices.at[0].strategy.mode : PARALLEL_NONE;
}

static bool has_parallel(const struct cluster *c)
{
    if (mode_of(c) < PARALLEL_DATA) return false;
    for (size_t i = 0; i < c->devices.n; i++)
        if (c->devices.at[i].parallel.n) return true;
    return false;
}

static void write_parallel(struct db_file *f, const struct cluster *c)
{
    enum parallel_mode mode = mode_of(c);
    struct db_table *t = db_table_begin(f, &parallel_tables[mode]);
    for (size_t i = 0; i < c->devices.n; i++) put_parallel(t, &c->devices.at[i], mode);
    db_table_end(t);
    t = db_table_begin(f, &strategy_table);
    for (size_t i = 0; i < c->devices.n; i++) {
        const struct parallel_strategy *s = &c->devices.at[i].strategy;
        if (s->mode == PARALLEL_NONE) continue;
        put_text(t, s->framework);
        put_optional(t, s->has_stages, s->stages);
        put_optional(t, s->has_rank, s->rank);
        put_optional(t, s->has_stage, s->stage);
        put_text(t, s->type);
        put_text(t, s->devices);
        put_text(t, mode_names[s->mode]);
        db_row(t);
    }
    db_table_end(t);
}

static const struct database {
    const char *name;
    bool (*wanted)(const struct cluster *c); /* NULL = always */
    void (*write)(struct db_file *f, const struct cluster *c);
} databases[] = {
    {RANK_FILE, NULL, write_ranks},
    {STEP_FILE, NULL, write_steps},
    {PARALLEL_FILE, has_parallel, write_parallel},
};

/* In the order of ids as texts, like the reference tool has them: 0, 1, 10, 2. */
static int by_rank_text(const void *x, const void *y)
{
    const struct cluster_device *a = x, *b = y;
    char ta[24], tb[24];
    snprintf(ta, sizeof ta, "%lld", (long long)a->rank_id);
    snprintf(tb, sizeof tb, "%lld", (long long)b->rank_id);
    int order = strcmp(ta, tb);
    return order ? order : strcmp(a->dir, b->dir);
}

static int write_database(const struct database *b, const struct cluster *c, struct written_list *written,
                          struct error *err)
{
    struct written_file file = {.path = mem_printf(FOLDER "/%s", b->name)};
    char *path = mem_printf("%s/%s", c->path, file.path);
    int status = -1;
    struct db_file *f = NULL;
    if (b->wanted && !b->wanted(c)) {
        status = unlink(path) && errno != ENOENT ? error_set(err, "cannot remove %s: %s", path, strerror(errno)) : 0;
    } else if ((f = db_file_open(path, DB_PAGE_SIZE, NULL, err))) {
        b->write(f, c);
        status = db_file_commit(f, &file.bytes, &file.rows, err);
    }
    if (f && !status) array_push(&written->files, file);
    else free(file.path);
    free(path);
    return status;
}

int cluster_write(struct cluster *c, struct written_list *written, struct error *err)
{
    char *folder = mem_printf("%s/" FOLDER, c->path);
    bool made;
    int failed = export_make_dir(folder, &made, err);
    free(folder);
    if (c->devices.n) qsort(c->devices.at, c->devices.n, sizeof *c->devices.at, by_rank_text);
    for (size_t i = 0; !failed && i < sizeof databases / sizeof *databases; i++)
        failed = write_database(&databases[i], c, written, err);
    return failed;
}

/* ---- reading ---- */

typedef ARRAY(char *) name_array;

sqlite3 *store_open(const char *dir, const char *name, struct error *err)
{
    struct stat st;
    sqlite3 *db = NULL;
    char *path = mem_printf("%s/" FOLDER "/%s", dir, name);
    if (!lstat(path, &st)) {
        if (!S_ISREG(st.st_mode)) {
            error_set(err, "%s is no file", path);
        } else if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) ||
                   sqlite3_exec(db, "PRAGMA trusted_schema = OFF; SELECT count(*) FROM sqlite_master", NULL, NULL,
                                NULL)) {
            error_set(err, "cannot read %s: %s", path, sqlite3_errmsg(db));
            sqlite3_close(db);
            db = NULL;
        }
    }
    free(path);
    return db;
}

bool store_has_table(sqlite3 *db, const char *name)
{
    sqlite3_stmt *q = NULL;
    bool found =
        !sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", -1, &q, NULL) &&
        !sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC) && sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    return found;
}

enum cluster_found cluster_find(const char *path, struct error *err)
{
    struct error broken = {0};
    sqlite3 *rank = store_open(path, RANK_FILE, &broken), *step = store_open(path, STEP_FILE, &broken);
    bool any = rank || step || broken.n, both = rank && step;
    const char *missing = rank ? STEP_FILE : RANK_FILE;
    sqlite3_close(rank);
    sqlite3_close(step);
    if (both) return CLUSTER_THERE;
    if (!any) return CLUSTER_NONE;
    if (broken.n) *err = broken;
    else error_set(err, "there is no " FOLDER "/%s in %s: run 'npuprof import --cluster' on it", missing, path);
    return CLUSTER_BROKEN;
}

/* "<PROF>/<device>", nothing that leads elsewhere. */
static bool is_device_dir(const char *dir)
{
    const char *slash = strchr(dir, '/');
    return slash && slash != dir && slash[1] && !strchr(slash + 1, '/') && strncmp(dir, "..", 2) &&
           strncmp(slash + 1, "..", 2) && *dir != '.';
}

static char *column_text(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return mem_printf("%s", text ? text : "N/A");
}

/* Ranks may be "N/A". */
static int64_t column_id(sqlite3_stmt *q, int column)
{
    int64_t id = sqlite3_column_type(q, column) == SQLITE_INTEGER ? sqlite3_column_int64(q, column) : -1;
    return id < 0 ? -1 : id;
}

static int by_id(const void *x, const void *y)
{
    int64_t a = cluster_id(x), b = cluster_id(y);
    return a < b ? -1 : a > b;
}

static int read_ranks(struct cluster *c, sqlite3 *db, struct error *err)
{
    sqlite3_stmt *q = NULL;
    bool elsewhere = false;
    int failed = 0, status = sqlite3_prepare_v2(db,
                                                "SELECT job_info, device_id, collection_time, rank_id, dir_name "
                                                "FROM ClusterRank ORDER BY rowid",
                                                -1, &q, NULL);
    while (!status && (status = sqlite3_step(q)) == SQLITE_ROW) {
        struct cluster_device d = {
            .job = column_text(q, 0),
            .device_id = column_id(q, 1),
            .time = column_text(q, 2),
            .rank_id = column_id(q, 3),
            .dir = column_text(q, 4),
        };
        array_push(&c->devices, d);
        elsewhere |= !is_device_dir(d.dir);
        status = SQLITE_OK;
    }
    if (status != SQLITE_DONE) failed = error_set(err, "%s", sqlite3_errmsg(db));
    else if (elsewhere) failed = error_set(err, "it has devices that are not of PROF directories beside it");
    else if (!c->devices.n) failed = error_set(err, "it has no devices");
    sqlite3_finalize(q);
    return failed ? error_wrap(err, "%s/" FOLDER "/" RANK_FILE " cannot be used", c->path) : 0;
}

int cluster_open(struct cluster *c, const char *path, struct error *err)
{
    *c = (struct cluster){.path = mem_printf("%s", path)};
    struct error broken = {0};
    sqlite3 *db = store_open(path, RANK_FILE, &broken);
    int failed = -1;
    if (db && store_has_table(db, rank_table.name)) failed = read_ranks(c, db, err);
    else if (broken.n) *err = broken;
    else error_set(err, "no " FOLDER "/" RANK_FILE " in %s: run 'npuprof import --cluster' on it first", path);
    sqlite3_close(db);
    if (c->devices.n) qsort(c->devices.at, c->devices.n, sizeof *c->devices.at, by_id);
    return failed;
}

struct cluster_device *cluster_device(struct cluster *c, int64_t id)
{
    for (size_t i = 0; i < c->devices.n; i++)
        if (cluster_id(&c->devices.at[i]) == id) return &c->devices.at[i];
    return NULL;
}

static int read_steps(struct cluster_device *d, sqlite3 *db, const char *table, struct error *err)
{
    char *sql = mem_printf("SELECT device_id, model_id, iteration_id, fp_start, bp_end, iteration_end, iteration_time, "
                           "fp_bp_time, grad_refresh_bound, data_aug_bound, ge_tag FROM %s ORDER BY rowid",
                           table);
    sqlite3_stmt *q = NULL;
    int status = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    while (!status && (status = sqlite3_step(q)) == SQLITE_ROW) {
        array_push(&d->steps, ((struct cluster_step){
                                  .device_id = sqlite3_column_int64(q, 0),
                                  .model_id = sqlite3_column_int64(q, 1),
                                  .iteration_id = sqlite3_column_int64(q, 2),
                                  .fp_start = sqlite3_column_double(q, 3),
                                  .bp_end = sqlite3_column_double(q, 4),
                                  .iteration_end = sqlite3_column_double(q, 5),
                                  .iteration_time = sqlite3_column_double(q, 6),
                                  .fp_bp_time = sqlite3_column_double(q, 7),
                                  .refresh = sqlite3_column_double(q, 8),
                                  .data_aug = sqlite3_column_double(q, 9),
                                  .known = sqlite3_column_int64(q, 10) == 1,
                              }));
        status = SQLITE_OK;
    }
    int failed = status == SQLITE_DONE ? 0 : error_set(err, "%s: %s", table, sqlite3_errmsg(db));
    sqlite3_finalize(q);
    free(sql);
    return failed;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

/* The names of all real tables, sorted. Views are none: they could ask for any amount of work. */
static int read_names(name_array *names, sqlite3 *db, struct error *err)
{
    sqlite3_stmt *q = NULL;
    int status = sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &q, NULL);
    while (!status && (status = sqlite3_step(q)) == SQLITE_ROW) {
        array_push(names, column_text(q, 0));
        status = SQLITE_OK;
    }
    int failed = status == SQLITE_DONE ? 0 : error_set(err, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(q);
    if (names->n) qsort(names->at, names->n, sizeof *names->at, by_name);
    return failed;
}

static int read_all_steps(struct cluster *c, sqlite3 *db, struct error *err)
{
    name_array names = {0};
    int failed = read_names(&names, db, err);
    for (size_t i = 0; i < c->devices.n && !failed; i++) {
        struct cluster_device *d = &c->devices.at[i];
        char *table = mem_printf("ClusterStepTrace_%lld", (long long)cluster_id(d));
        d->steps.n = 0;
        if (names.n && bsearch(&table, names.at, names.n, sizeof *names.at, by_name))
            failed = read_steps(d, db, table, err);
        free(table);
    }
    for (size_t i = 0; i < names.n; i++) free(names.at[i]);
    array_free(&names);
    return failed;
}

int cluster_read_steps(struct cluster *c, struct error *err)
{
    struct error broken = {0};
    sqlite3 *db = store_open(c->path, STEP_FILE, &broken);
    int failed = 0;
    if (broken.n) *err = broken, failed = -1;
    else if (db) failed = read_all_steps(c, db, err);
    sqlite3_close(db);
    return failed ? error_wrap(err, "%s/" FOLDER "/" STEP_FILE " cannot be used", c->path) : 0;
}
