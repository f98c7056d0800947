/* query: what the directories of a collection are about, straight from the raw data, and the devices of a cluster, from
 * its databases.
 *
 * Models and iterations come from the steps of each device; of the host only its operators are read, which tell what
 * models it knows. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "npuprof.h"
#include "session/metadata.h"
#include "session/session.h"

#define LONGEST 5 /* iterations whose rank by time is among the first so many */

struct npuprof_query {
    ARRAY(struct npuprof_query_row) rows;
    ARRAY(char *) texts; /* what they point to */
    char *error;
};

static const char *keep(struct npuprof_query *q, char *text)
{
    array_push(&q->texts, text);
    return text;
}

void npuprof_query_free(struct npuprof_query *q)
{
    if (!q) return;
    for (size_t i = 0; i < q->texts.n; i++) free(q->texts.at[i]);
    array_free(&q->texts);
    array_free(&q->rows);
    free(q->error);
    free(q);
}

size_t npuprof_query_rows(const struct npuprof_query *q, const struct npuprof_query_row **rows)
{
    *rows = q->rows.at;
    return q->rows.n;
}

const char *npuprof_query_error(const struct npuprof_query *q)
{
    return q->error;
}

/* --- models ------------------------------------------------------------------------------------------------------- */

/* Iterations of a model, longest first; equally long ones in the order in which they are known. */
struct timed {
    double duration;
    size_t place;
    uint32_t id;
};

typedef ARRAY(struct timed) timed_array;

static int by_duration(const void *x, const void *y)
{
    const struct timed *a = x, *b = y;
    if (a->duration != b->duration) return a->duration > b->duration ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* "5,1,3,4,2,7": the ids whose rank is at most LONGEST; equally long ones share a rank. Frees *all. */
static char *longest(timed_array *all)
{
    if (all->n) qsort(all->at, all->n, sizeof *all->at, by_duration);
    char *text = NULL;
    size_t size, rank = 1;
    FILE *f = open_memstream(&text, &size);
    if (!f) abort();
    for (size_t i = 0; i < all->n; i++) {
        if (i && all->at[i].duration != all->at[i - 1].duration) rank = i + 1;
        if (rank > LONGEST) break;
        fprintf(f, "%s%u", i ? "," : "", all->at[i].id);
    }
    fclose(f);
    array_free(all);
    return text;
}

static char *longest_of(const struct device_data *d, const struct seen_model *model)
{
    timed_array all = {0};
    for (size_t i = 0; i < d->steps.n; i++) {
        const struct step *s = &d->steps.at[i];
        if (s->model_id == model->model_id && s->marked == model->marked)
            array_push(&all, ((struct timed){(double)(s->end - s->start), i, s->iteration_id}));
    }
    return longest(&all);
}

static void add_models(struct npuprof_query *q, const struct npuprof_query_row *row, const struct host_data *h,
                       const struct device_data *d)
{
    size_t n;
    struct seen_model *seen = seen_models(h, d, &n);
    for (size_t i = 0; i < n; i++) {
        if (!seen[i].marked && seen[i].model_id == MODEL_MARKED) continue;
        struct npuprof_query_row one = *row;
        one.has_model = 1;
        one.model_id = seen[i].model_id;
        one.iterations = seen[i].last;
        one.longest = keep(q, longest_of(d, &seen[i]));
        array_push(&q->rows, one);
    }
    free(seen);
}

/* --- directories -------------------------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static struct npuprof_query_row row_of(struct npuprof_query *q, const struct prof_dir *dir)
{
    const char *device = keep(q, meta_text(dir->meta.info, "devices", ""));
    const char *time = keep(q, mem_printf("%s", dir->meta.start_date));
    return (struct npuprof_query_row){
        .job = keep(q, meta_text(dir->meta.info, "jobInfo", "N/A")),
        .device = dir->is_host && !*device ? ""
                  : is_number(device)      ? device
                                           : "N/A",
        .dir = keep(q, mem_printf("%s", dir->name)),
        .time = *time ? time : "N/A",
        .rank = dir->meta.rank_id,
    };
}

/* Was it imported as a part of a cluster? */
static bool is_of_cluster(const struct session *s)
{
    struct error err = {0};
    char *parent = mem_printf("%s/..", s->path);
    bool yes = cluster_find(parent, &err) == CLUSTER_THERE;
    free(parent);
    return yes;
}

/* Was the collection imported or exported before, by this or the reference tool? Only then its models are told. */
static bool is_imported(const struct session *s)
{
    static const char *const left[] = {"mindstudio_profiler_output", "mindstudio_profiler_log", "msprof_"};
    bool found = false;
    DIR *d = opendir(s->path);
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        for (size_t i = 0; i < sizeof left / sizeof *left; i++) found |= !strncmp(e->d_name, left[i], strlen(left[i]));
    if (d) closedir(d);
    return found || is_of_cluster(s);
}

static void add_session(struct npuprof_query *q, const struct session *s, const char *only)
{
    struct diag *diag = diag_new();
    struct strpool *strings = strpool_new();
    struct host_data host = {0};
    bool imported = is_imported(s), expanded = host_streams_expanded(s, diag);
    if (imported) host_load(&host, s, strings, 1, diag, NULL);
    for (size_t i = 0; i < s->n_devices; i++) {
        const struct prof_dir *dir = &s->devices[i];
        if (only && strcmp(only, dir->name) != 0) continue;
        struct npuprof_query_row row = row_of(q, dir);
        struct device_data data = {0};
        size_t before = q->rows.n;
        if (imported) device_load_steps(&data, s, dir, expanded, diag);
        add_models(q, &row, &host, &data);
        if (q->rows.n == before) array_push(&q->rows, row);
        device_free(&data);
    }
    if (s->host && (!only || !strcmp(only, s->host->name))) array_push(&q->rows, row_of(q, s->host));
    host_free(&host);
    strpool_free(strings);
    diag_free(diag);
}

/* By (job, time); equal rows stay in the order of directories and models. */
static int by_job_and_time(const void *x, const void *y)
{
    const struct npuprof_query_row *a = *(const struct npuprof_query_row *const *)x;
    const struct npuprof_query_row *b = *(const struct npuprof_query_row *const *)y;
    int order = strcmp(a->job, b->job);
    if (!order) order = strcmp(a->time, b->time);
    return order ? order : (a > b) - (a < b);
}

static void sort_rows(struct npuprof_query *q)
{
    size_t n = q->rows.n;
    const struct npuprof_query_row **order = mem_alloc(n * sizeof *order);
    struct npuprof_query_row *sorted = mem_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) order[i] = &q->rows.at[i];
    if (n) qsort(order, n, sizeof *order, by_job_and_time);
    for (size_t i = 0; i < n; i++) sorted[i] = *order[i];
    if (n) memcpy(q->rows.at, sorted, n * sizeof *sorted);
    free(order);
    free(sorted);
}

static int fail(struct npuprof_query *q, int status, const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    q->error = mem_printf("%s", error_text(err, text, sizeof text));
    return status;
}

/* `path` is a PROF directory; NULL `only` = all of it. */
static int query_prof(struct npuprof_query *q, const char *path, const char *only)
{
    struct error err = {0};
    struct diag *diag = diag_new();
    struct session *s = session_open(path, diag, &err);
    diag_free(diag);
    if (!s) return fail(q, NPUPROF_BAD_PATH, &err);
    add_session(q, s, only);
    session_close(s);
    sort_rows(q);
    return NPUPROF_OK;
}

/* The PROF directory that `dir` is the host or a device of, and the name there; NULL when it is none. */
static char *parent_of(const char *dir, char **name)
{
    char *full = realpath(dir, NULL), *slash = full ? strrchr(full, '/') : NULL;
    if (slash && slash != full) {
        *name = mem_printf("%s", slash + 1);
        *slash = '\0';
        bool is_side = !strcmp(*name, "host") || !strncmp(*name, "device_", 7);
        if (is_side && session_is_prof(full)) return full;
        free(*name);
    }
    free(full);
    return NULL;
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

static int by_model_and_place(const void *x, const void *y)
{
    const struct cluster_step *a = *(const struct cluster_step *const *)x;
    const struct cluster_step *b = *(const struct cluster_step *const *)y;
    if (a->model_id != b->model_id) return a->model_id < b->model_id ? -1 : 1;
    return (a > b) - (a < b);
}

/* A row of every model that the host of the device knows operators of. */
static void add_cluster_models(struct npuprof_query *q, const struct npuprof_query_row *row,
                               const struct cluster_device *d)
{
    size_t n = d->steps.n;
    const struct cluster_step **order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = &d->steps.at[i];
    if (n) qsort(order, n, sizeof *order, by_model_and_place);
    for (size_t i = 0, end; i < n; i = end) {
        timed_array all = {0};
        bool known = false;
        for (end = i; end < n && order[end]->model_id == order[i]->model_id; end++) {
            known |= order[end]->known;
            array_push(&all, ((struct timed){order[end]->iteration_time, end, (uint32_t)order[end]->iteration_id}));
        }
        struct npuprof_query_row one = *row;
        one.has_model = 1;
        one.model_id = (uint32_t)order[i]->model_id;
        one.iterations = (uint32_t)all.n;
        one.longest = keep(q, longest(&all));
        if (known) array_push(&q->rows, one);
    }
    free(order);
}

static void add_cluster_device(struct npuprof_query *q, const struct cluster_device *d)
{
    struct npuprof_query_row row = {
        .job = keep(q, mem_printf("%s", d->job)),
        .device = keep(q, mem_printf("%lld", (long long)d->device_id)),
        .dir = keep(q, mem_printf("%s", d->dir)),
        .time = keep(q, mem_printf("%s", d->time)),
        .rank = d->rank_id,
    };
    size_t before = q->rows.n;
    add_cluster_models(q, &row, d);
    if (q->rows.n == before) array_push(&q->rows, row);
}

static int query_cluster(struct npuprof_query *q, const char *dir)
{
    struct cluster c;
    struct error err = {0};
    int failed = cluster_open(&c, dir, &err) || cluster_read_steps(&c, &err);
    for (size_t i = 0; i < c.devices.n && !failed; i++) add_cluster_device(q, &c.devices.at[i]);
    cluster_free(&c);
    if (!failed) {
        sort_rows(q);
        return NPUPROF_OK;
    }
    return fail(q, NPUPROF_NO_CLUSTER_DB, &err);
}

int npuprof_query(const char *dir, struct npuprof_query **query, int *is_parent)
{
    struct npuprof_query *q = *query = mem_zalloc(1, sizeof *q);
    struct error err = {0};
    char *name, *prof = parent_of(dir, &name), **paths;
    size_t n;
    int status;
    *is_parent = 0;
    if (prof) {
        status = query_prof(q, prof, name);
        free(name);
        free(prof);
        return status;
    }
    if (session_discover(dir, &paths, &n, &err)) return fail(q, NPUPROF_BAD_PATH, &err);
    enum cluster_found found = session_is_prof(dir) ? CLUSTER_NONE : cluster_find(dir, &err);
    *is_parent = found == CLUSTER_NONE && !session_is_prof(dir);
    status = found == CLUSTER_THERE    ? query_cluster(q, dir)
             : found == CLUSTER_BROKEN ? fail(q, NPUPROF_NO_CLUSTER_DB, &err)
             : *is_parent              ? NPUPROF_OK
                                       : query_prof(q, paths[0], NULL);
    for (size_t i = 0; i < n; i++) free(paths[i]);
    free(paths);
    return status;
}
