/* Questions about a cluster: who answers which, and what answers have in common. */
#include "cluster/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"

#define FOLDER "query"
#define REMARK 2 /* npuprof_answer_line.failed of what is only worth knowing */

struct npuprof_answer {
    ARRAY(struct npuprof_answer_line) lines;
    ARRAY(char *) texts; /* what they point to */
};

void npuprof_answer_free(struct npuprof_answer *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->texts.n; i++) free(a->texts.at[i]);
    array_free(&a->texts);
    array_free(&a->lines);
    free(a);
}

size_t npuprof_answer_lines(const struct npuprof_answer *a, const struct npuprof_answer_line **lines)
{
    *lines = a->lines.at;
    return a->lines.n;
}

/* The texts are the answer's from now on. */
static void add_line(struct npuprof_answer *a, int failed, char *info, char *data)
{
    array_push(&a->texts, info);
    array_push(&a->texts, data);
    array_push(&a->lines, ((struct npuprof_answer_line){failed, info, data}));
}

int answer_fail(struct asking *q, int status, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    add_line(q->answer, true, text, mem_printf("%s", ""));
    return status;
}

void answer_note(struct asking *q, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    add_line(q->answer, REMARK, text, mem_printf("%s", ""));
}

static int fail_with(struct asking *q, int status, const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    return answer_fail(q, status, "%s", error_text(err, text, sizeof text));
}

/* ---- files ---- */

int answer_begin(struct asking *q, struct out *o, const char *name)
{
    struct error err = {0};
    char *folder = mem_printf("%s/" FOLDER, q->cluster.path), *path = mem_printf("%s/%s", folder, name);
    bool made;
    bool failed = export_make_dir(folder, &made, &err) || out_open(o, path, &err);
    free(folder);
    free(path);
    return failed ? fail_with(q, NPUPROF_FAILED, &err) : NPUPROF_OK;
}

int answer_end(struct asking *q, struct out *o, const char *name)
{
    struct error err = {0};
    if (out_commit(o, &err)) return fail_with(q, NPUPROF_FAILED, &err);
    add_line(q->answer, false, mem_printf("%s", ""), mem_printf("%s/" FOLDER "/%s", q->cluster.path, name));
    return NPUPROF_OK;
}

char *answer_name(const struct asking *q, const char *stem)
{
    const struct npuprof_question *asked = q->question;
    return mem_printf("%s_%lld_%lld_%lld.json", stem, (long long)(asked->has_id ? asked->id : -1),
                      (long long)(asked->has_model_id ? asked->model_id : -1),
                      (long long)(asked->has_iteration_id ? asked->iteration_id : -1));
}

/* ---- questions ---- */

int answer_check_ids(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    if (!asked->has_id || asked->id < -1)
        return answer_fail(q, NPUPROF_FAILED, "--id must be given: a rank, a device where there are no ranks, or -1");
    if (!asked->has_model_id || asked->model_id < 0)
        return answer_fail(q, NPUPROF_FAILED, "--model-id must be given: 0 or above");
    if (asked->has_iteration_id && asked->iteration_id < 1)
        return answer_fail(q, NPUPROF_FAILED, "--iteration-id must be 1 or above");
    return NPUPROF_OK;
}

int answer_read_steps(struct asking *q)
{
    struct error err = {0};
    return cluster_read_steps(&q->cluster, &err) ? fail_with(q, NPUPROF_NO_CLUSTER_DB, &err) : NPUPROF_OK;
}

struct session *answer_session(struct asking *q, const struct cluster_device *d, const struct prof_dir **dir)
{
    struct error err = {0};
    const char *slash = strchr(d->dir, '/');
    char *path = mem_printf("%s/%.*s", q->cluster.path, (int)(slash - d->dir), d->dir);
    struct session *s = session_open(path, q->diag, &err);
    *dir = NULL;
    for (size_t i = 0; s && i < s->n_devices; i++)
        if (!strcmp(s->devices[i].name, slash + 1)) *dir = &s->devices[i];
    if (!s) fail_with(q, NPUPROF_OK, &err);
    else if (!*dir) answer_fail(q, NPUPROF_OK, "there is no %s in %s any more", slash + 1, path);
    if (s && !*dir) session_close(s), s = NULL;
    free(path);
    return s;
}

/* Do the devices of the PROF directories below make a cluster: ranks that differ, or several devices that do? */
static bool is_cluster(const struct asking *q, char **paths, size_t n)
{
    struct cluster found = {.path = mem_printf("%s", q->cluster.path)};
    struct error err = {0};
    for (size_t i = 0; i < n; i++) {
        struct session *s = session_open(paths[i], q->diag, &err);
        for (size_t k = 0; s && k < s->n_devices; k++)
            array_push(&found.devices, ((struct cluster_device){.device_id = s->devices[k].device_id,
                                                                .rank_id = s->devices[k].meta.rank_id}));
        if (s) session_close(s);
    }
    bool ranked = found.devices.n && found.devices.at[0].rank_id >= 0;
    bool yes = !cluster_check(&found, &err) && (ranked || found.devices.n > 1);
    cluster_free(&found);
    return yes;
}

static int answer_is_cluster(struct asking *q)
{
    char **paths;
    size_t n;
    struct error err = {0};
    if (session_discover(q->cluster.path, &paths, &n, &err)) return fail_with(q, NPUPROF_BAD_PATH, &err);
    bool yes = !session_is_prof(q->cluster.path) && is_cluster(q, paths, n);
    for (size_t i = 0; i < n; i++) free(paths[i]);
    free(paths);
    add_line(q->answer, false, mem_printf("%s", ""), mem_printf("%d", yes));
    return NPUPROF_OK;
}

static int (*const kinds[])(struct asking *q) = {
    answer_is_cluster,      answer_steps,         answer_operations,    answer_queues,
    answer_parallel_advice, answer_parallel,      answer_communication, answer_matrix,
    answer_host_usage,      answer_communication, answer_matrix,
};

/* Questions but that whether it is a cluster are about one that was imported. */
static int open_cluster(struct asking *q)
{
    struct error err = {0};
    char *path = q->cluster.path;
    int failed = cluster_open(&q->cluster, path, &err);
    free(path);
    return failed ? fail_with(q, NPUPROF_NO_CLUSTER, &err) : NPUPROF_OK;
}

static int answer_kind(struct asking *q)
{
    int type = q->question->data_type;
    if (type < 0 || (size_t)type >= sizeof kinds / sizeof *kinds)
        return answer_fail(q, NPUPROF_FAILED, "there is no --data-type %d: 0 to 10", type);
    int status = type ? open_cluster(q) : NPUPROF_OK;
    return status ? status : kinds[type](q);
}

static int tune(struct asking *q)
{
    int status = open_cluster(q);
    return status ? status : answer_tuning(q);
}

static int ask(const char *dir, const struct npuprof_question *question, int (*answer)(struct asking *q),
               struct npuprof_answer **out)
{
    *out = mem_zalloc(1, sizeof **out);
    struct asking q = {.question = question,
                       .answer = *out,
                       .threads = question->jobs ? question->jobs : jobs_cores(),
                       .diag = diag_new()};
    char *path = realpath(dir, NULL);
    int status;
    if (path) {
        q.cluster.path = mem_printf("%s", path);
        status = answer(&q);
    } else {
        status = answer_fail(&q, NPUPROF_BAD_PATH, "cannot open %s: %s", dir, strerror(errno));
    }
    cluster_free(&q.cluster);
    free(path);
    diag_free(q.diag);
    return status;
}

int npuprof_ask(const char *dir, const struct npuprof_question *question, struct npuprof_answer **answer)
{
    return ask(dir, question, answer_kind, answer);
}

int cluster_tune(const char *dir, int64_t iteration_id, unsigned threads, struct npuprof_answer **answer)
{
    struct npuprof_question question = {
        .has_id = 1, .has_iteration_id = 1, .id = -1, .iteration_id = iteration_id, .jobs = threads};
    return ask(dir, &question, tune, answer);
}
