/* PROF directories are read side by side; what is kept of each are the facts of its analysis, not its model. */
#include "cluster/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "base/share.h"
#include "base/sort.h"

#define SHOWN_RANKS 8 /* of those that have nothing, in a sentence */

/* ---- windows ---- */

/* The databases are not trusted: any number may be in them. */
static int64_t ns_of(double us)
{
    double ns = us * 1000;
    return ns > -9e18 && ns < 9e18 ? llround(ns) : ns > 0 ? INT64_MAX : INT64_MIN;
}

static int by_model(const void *x, const void *y)
{
    const struct cluster_step *a = x, *b = y;
    if (a->model_id != b->model_id) return a->model_id < b->model_id ? -1 : 1;
    return a->iteration_id < b->iteration_id ? -1 : a->iteration_id > b->iteration_id;
}

/* The model with most iterations, the lowest one of several; steps[n] are sorted by model and iteration. */
static int64_t main_model(const struct cluster_step *steps, size_t n)
{
    int64_t model = steps[0].model_id;
    size_t most = 0;
    for (size_t i = 0, count = 0; i < n; i++) {
        bool same = i && steps[i].model_id == steps[i - 1].model_id;
        if (!same) count = 0;
        count += !same || steps[i].iteration_id != steps[i - 1].iteration_id;
        if (count <= most) continue;
        most = count;
        model = steps[i].model_id;
    }
    return model;
}

static const struct cluster_step *find_step(const struct cluster_device *d, int64_t model, int64_t iteration)
{
    for (size_t i = 0; i < d->steps.n; i++)
        if (d->steps.at[i].model_id == model && d->steps.at[i].iteration_id == iteration) return &d->steps.at[i];
    return NULL;
}

static bool take_window(struct asking *q, const struct cluster_device *d, struct rank_window *w, int *status)
{
    const struct npuprof_question *asked = q->question;
    struct cluster_step *sorted = mem_alloc(d->steps.n * sizeof *sorted);
    memcpy(sorted, d->steps.at, d->steps.n * sizeof *sorted);
    qsort(sorted, d->steps.n, sizeof *sorted, by_model);
    w->on = true;
    w->model_id = main_model(sorted, d->steps.n);
    free(sorted);
    const struct cluster_step *s = find_step(d, w->model_id, asked->iteration_id);
    if (!asked->has_iteration_id)
        *status = answer_fail(q, NPUPROF_FAILED,
                              "--iteration-id must be given, as the ranks ran iterations of a graph: model %lld",
                              (long long)w->model_id);
    else if (!s)
        *status = answer_fail(q, NPUPROF_OK, "rank %lld did not run iteration %lld of model %lld",
                              (long long)cluster_id(d), (long long)asked->iteration_id, (long long)w->model_id);
    if (!asked->has_iteration_id || !s) return false;
    w->first_ns = ns_of(s->iteration_end - s->iteration_time);
    w->last_ns = difference(ns_of(s->iteration_end), 1);
    return true;
}

bool rank_window(struct asking *q, const struct cluster_device *d, struct rank_window *w, int *status)
{
    *w = (struct rank_window){.first_ns = INT64_MIN, .last_ns = INT64_MAX};
    return !d->steps.n || take_window(q, d, w, status);
}

struct analysis_scope rank_scope(const struct rank_window *w, const struct prof_dir *dir)
{
    if (!w->on) return (struct analysis_scope){.first_ns = INT64_MIN, .last_ns = INT64_MAX, .by_name = true};
    return (struct analysis_scope){
        .first_ns = sum_of(w->first_ns, dir->clock.epoch_offset_ns),
        .last_ns = sum_of(w->last_ns, dir->clock.epoch_offset_ns),
        .by_name = true,
    };
}

/* ---- raw data ---- */

/* Ranks of one PROF directory. */
struct prof_ranks {
    size_t first, n; /* in reading.order */
};

struct reading {
    struct asking *q;
    struct ranks *r;
    unsigned rules;
    char *const *names;
    size_t n_names;
    const struct cluster_device **order; /* devices, those of one PROF directory together */
    ARRAY(struct prof_ranks) profs;
    struct share share;
};

static const struct prof_dir *find_dir(const struct session *s, const char *name, size_t *index)
{
    for (*index = 0; *index < s->n_devices; ++*index)
        if (!strcmp(s->devices[*index].name, name)) return &s->devices[*index];
    return NULL;
}

static void read_rank(struct reading *g, const struct model *m, const struct cluster_device *d, struct diag *diag)
{
    struct rank *rank = &g->r->at[d - g->q->cluster.devices.at];
    const char *name = strchr(d->dir, '/') + 1;
    size_t index;
    const struct prof_dir *dir = find_dir(m->session, name, &index);
    if (!dir) {
        rank->error = mem_printf("there is no %s any more", d->dir);
        return;
    }
    struct analysis_scope scope = rank_scope(&rank->window, dir);
    scope.names = (const char *const *)g->names;
    scope.n_names = g->n_names;
    rank->chip = dir->chip;
    rank->facts = analysis_new(g->rules);
    analysis_add_device(rank->facts, m, &m->devices[index], &scope, diag);
}

static void read_model(struct reading *g, const struct prof_ranks *p, struct session *s, unsigned threads,
                       struct diag *diag)
{
    static const enum input_id not_needed[] = {INPUT_TENSOR_INFO, INPUT_NODE_ATTR_INFO, INPUT_FFTS_PROFILE};
    struct model_options options = {.threads = threads, .only_communication = true};
    struct model m;
    for (size_t i = 0; i < sizeof not_needed / sizeof *not_needed; i++) session_leave_out(s, not_needed[i]);
    model_build(&m, s, &options, diag);
    for (size_t i = 0; i < p->n; i++) read_rank(g, &m, g->order[p->first + i], diag);
    model_free(&m);
}

static void read_prof(size_t item, void *context)
{
    struct reading *g = context;
    const struct prof_ranks *p = &g->profs.at[item];
    const char *dir = g->order[p->first]->dir;
    char *path = mem_printf("%s/%.*s", g->q->cluster.path, (int)(strchr(dir, '/') - dir), dir);
    unsigned threads = share_begin(&g->share);
    struct diag *diag = diag_new();
    struct error err = {0};
    uint64_t memory = 0;
    struct session *s = session_open(path, diag, &err);
    if (s) {
        memory = s->input_bytes;
        share_take_memory(&g->share, memory);
        read_model(g, p, s, threads, diag);
        session_close(s);
    } else {
        char text[ERROR_DEPTH * ERROR_TEXT];
        for (size_t i = 0; i < p->n; i++)
            g->r->at[g->order[p->first + i] - g->q->cluster.devices.at].error =
                mem_printf("%s", error_text(&err, text, sizeof text));
    }
    share_end(&g->share, threads, memory);
    diag_free(diag);
    free(path);
}

static size_t prof_length(const struct cluster_device *d)
{
    return (size_t)(strchr(d->dir, '/') - d->dir);
}

static int by_prof(const void *x, const void *y)
{
    const struct cluster_device *const *a = x, *const *b = y;
    int order = strcmp((*a)->dir, (*b)->dir);
    return order ? order : *a < *b ? -1 : *a > *b;
}

static void group_by_prof(struct reading *g)
{
    size_t n = g->q->cluster.devices.n;
    g->order = mem_alloc(n * sizeof *g->order);
    for (size_t i = 0; i < n; i++) g->order[i] = &g->q->cluster.devices.at[i];
    qsort(g->order, n, sizeof *g->order, by_prof);
    for (size_t i = 0, from = 0; i < n; i++) {
        size_t length = prof_length(g->order[i]);
        if (i + 1 < n && prof_length(g->order[i + 1]) == length &&
            !memcmp(g->order[i + 1]->dir, g->order[i]->dir, length))
            continue;
        array_push(&g->profs, ((struct prof_ranks){from, i + 1 - from}));
        from = i + 1;
    }
}

static void read_all(struct reading *g)
{
    group_by_prof(g);
    share_init(&g->share, g->q->threads, g->profs.n, g->profs.n, share_half_of_memory());
    jobs_each(share_at_once(&g->share), g->profs.n, read_prof, g);
    share_free(&g->share);
    array_free(&g->profs);
    free(g->order);
}

/* ---- all ranks ---- */

static bool find_windows(struct ranks *r, struct asking *q, int *status)
{
    for (size_t i = 0; i < r->n; i++) {
        struct rank *rank = &r->at[i];
        rank->id = cluster_id(&q->cluster.devices.at[i]);
        if (rank->id >= CLUSTER_MAX_RANKS) {
            *status =
                answer_fail(q, NPUPROF_OK, "rank %lld: ranks are below %d", (long long)rank->id, CLUSTER_MAX_RANKS);
            return false;
        }
        if (!rank_window(q, &q->cluster.devices.at[i], &rank->window, status)) return false;
        if (rank->window.on) r->model_id = rank->window.model_id;
    }
    return true;
}

/* Some may have nothing: what the others have is worth telling. */
static void say_who_has_nothing(const struct ranks *r, struct asking *q, size_t none)
{
    char *list = mem_printf("%s", "");
    size_t shown = 0;
    for (size_t i = 0; i < r->n && shown < SHOWN_RANKS; i++) {
        if (r->at[i].facts->operators.n) continue;
        char *longer = mem_printf("%s%s%lld", list, shown++ ? ", " : "", (long long)r->at[i].id);
        free(list);
        list = longer;
    }
    answer_note(q, "%zu of the %zu ranks communicated nothing there: %s%s", none, r->n, list, none > shown ? " …" : "");
    free(list);
}

static bool check(struct ranks *r, struct asking *q, int *status)
{
    size_t none = 0, without_master = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct rank *rank = &r->at[i];
        if (!rank->facts) {
            *status = answer_fail(q, NPUPROF_OK, "rank %lld: %s", (long long)rank->id, rank->error);
            return false;
        }
        none += !rank->facts->operators.n;
        without_master += analysis_without_master(rank->facts);
        if (r->chip == chip_unknown()) r->chip = rank->chip;
    }
    if (none == r->n) {
        *status = answer_fail(q, NPUPROF_OK, "no rank communicated anything there");
        return false;
    }
    if (none) say_who_has_nothing(r, q, none);
    if (without_master)
        answer_note(q,
                    "the times of %zu operators, counted on each rank, are left out: no task on a main stream tells "
                    "when they ran",
                    without_master);
    return true;
}

bool ranks_read(struct ranks *r, struct asking *q, unsigned rules, char *const *names, size_t n_names, int *status)
{
    size_t n = q->cluster.devices.n;
    struct reading g = {.q = q, .r = r, .rules = rules, .names = names, .n_names = n_names};
    *r = (struct ranks){.at = mem_zalloc(n, sizeof *r->at), .n = n, .model_id = MODEL_MARKED, .chip = chip_unknown()};
    if (!find_windows(r, q, status)) return false;
    read_all(&g);
    return check(r, q, status);
}

void ranks_free(struct ranks *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->at[i].facts) analysis_free(r->at[i].facts);
        free(r->at[i].error);
    }
    free(r->at);
    *r = (struct ranks){0};
}

/* ---- operators of all ranks ---- */

void rank_operators_find(struct rank_operators *o, const struct ranks *r, bool measured)
{
    struct strpool *names = strpool_new();
    struct map at = {0};
    ARRAY(struct sort_key) order = {0}; /* key: index in the list, index: in entries */
    *o = (struct rank_operators){0};
    for (size_t i = 0; i < r->n; i++) {
        const struct analysis *a = r->at[i].facts;
        for (size_t k = 0; k < a->operators.n; k++) {
            if (measured && !op_is_measured(&a->operators.at[k])) continue;
            const char *name = strpool_text(a->strings, a->operators.at[k].name);
            uint32_t fresh = (uint32_t)o->list.n, op = *map_put(&at, strpool_add_z(names, name), fresh, NULL);
            if (op == fresh) array_push(&o->list, ((struct rank_operator){.name = name}));
            o->list.at[op].n++;
            array_push(&order, ((struct sort_key){op, (uint32_t)o->entries.n}));
            array_push(&o->entries, ((struct rank_entry){(uint32_t)i, (uint32_t)k}));
        }
    }
    sort_keys(order.at, order.n);
    sort_permute(o->entries.at, sizeof *o->entries.at, order.at, order.n);
    for (size_t i = 1; i < o->list.n; i++) o->list.at[i].first = o->list.at[i - 1].first + o->list.at[i - 1].n;
    array_free(&order);
    map_free(&at);
    strpool_free(names);
}

void rank_operators_free(struct rank_operators *o)
{
    array_free(&o->list);
    array_free(&o->entries);
}
