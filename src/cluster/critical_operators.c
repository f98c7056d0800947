/* Which operators of communication an iteration of a rank waits for: those that run alone for long, on its critical
 * path. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cluster/critical_path.h"
#include "cluster/ranks.h"

#define NO_TYPE UINT32_MAX /* in lanes: communication */

/* The operators of a rank. */
struct path_work {
    const struct model *m;
    const struct device_model *d;
    struct analysis_scope scope;
    ARRAY(struct path_event) events; /* computation, then communication by appearance */
    ARRAY(str_id) names;             /* of communication */
    size_t n_computed;
};

static bool in_scope(const struct path_work *w, int64_t start_ns)
{
    return start_ns >= w->scope.first_ns && start_ns <= w->scope.last_ns;
}

/* What takes no time is on no path. */
static bool computes(const struct path_work *w, const struct task *t)
{
    static const unsigned no_computation = OP_AICPU_KERNEL | OP_AIV_KERNEL | OP_NOT_COMPUTE_TYPE;
    return t->op != NONE && !(w->m->host.ops.at[t->op].flags & no_computation) &&
           !model_is_kfc_stream(w->m, t->stream_id) && t->end_ns > t->start_ns && in_scope(w, t->start_ns);
}

static void add_computation(struct path_work *w)
{
    for (size_t i = 0; i < w->d->tasks.n; i++) {
        const struct task *t = &w->d->tasks.at[i];
        if (!computes(w, t)) continue;
        uint64_t type = w->m->host.ops.at[t->op].task_type;
        array_push(&w->events, ((struct path_event){t->start_ns, t->end_ns, (uint64_t)t->stream_id << 32 | type}));
    }
    w->n_computed = w->events.n;
}

/* An operator lasts as long as its tasks on main streams. */
static void add_communication(struct path_work *w)
{
    struct map at = {0};
    for (size_t i = 0; i < w->d->comm_tasks.n; i++) {
        const struct comm_task *t = &w->d->comm_tasks.at[i];
        if (!t->is_master || !in_scope(w, t->start_ns) || t->end_ns <= t->start_ns) continue;
        bool fresh;
        uint32_t op = *map_put(&at, t->op_name, (uint32_t)w->names.n, &fresh);
        if (fresh) {
            array_push(&w->names, t->op_name);
            array_push(&w->events,
                       ((struct path_event){t->start_ns, t->end_ns, (uint64_t)t->stream_id << 32 | NO_TYPE}));
            continue;
        }
        struct path_event *e = &w->events.at[w->n_computed + op];
        if (t->start_ns < e->start_ns) e->start_ns = t->start_ns;
        if (t->end_ns > e->end_ns) e->end_ns = t->end_ns;
    }
    map_free(&at);
}

static bool sends_or_receives(const char *name)
{
    static const char *const words[] = {"Receive", "Send", "send", "receive"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

/* A candidate: communication on the path. */
struct candidate {
    uint64_t serial_ns;
    int64_t start_ns;
    const char *name;
};

/* Longest first; of equal ones what began first. */
static int by_serial(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
    if (a->serial_ns != b->serial_ns) return a->serial_ns > b->serial_ns ? -1 : 1;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

static size_t choose(const struct path_work *w, char *names[CRITICAL_OPERATORS])
{
    bool *on_path = mem_alloc(w->events.n * sizeof *on_path);
    uint64_t *serial_ns = mem_alloc(w->events.n * sizeof *serial_ns);
    struct candidate *found = mem_alloc(w->names.n * sizeof *found);
    size_t n = 0;
    critical_path(w->events.at, w->events.n, on_path);
    serial_times(w->events.at, w->events.n, serial_ns);
    for (size_t i = w->n_computed; i < w->events.n; i++) {
        const char *name = model_text(w->m, w->names.at[i - w->n_computed]);
        if (on_path[i] && !sends_or_receives(name))
            found[n++] = (struct candidate){serial_ns[i], w->events.at[i].start_ns, name};
    }
    if (n) qsort(found, n, sizeof *found, by_serial);
    if (n > CRITICAL_OPERATORS) n = CRITICAL_OPERATORS;
    for (size_t i = 0; i < n; i++) names[i] = mem_printf("%s", found[i].name);
    free(found);
    free(serial_ns);
    free(on_path);
    return n;
}

/* Nothing of the raw data says so: a question about an iteration that had none of it. */
static size_t find_in_model(struct asking *q, struct path_work *w, char *names[CRITICAL_OPERATORS], int *status)
{
    size_t n = 0;
    add_computation(w);
    add_communication(w);
    if (!w->names.n) *status = answer_fail(q, NPUPROF_OK, "the rank communicated nothing there");
    else if (!w->n_computed) *status = answer_fail(q, NPUPROF_OK, "the rank computed nothing there");
    else if (!(n = choose(w, names)))
        *status = answer_fail(q, NPUPROF_OK, "no communication but sending and receiving is on the critical path");
    array_free(&w->events);
    array_free(&w->names);
    return n;
}

/* A collection that cannot be joined as a whole can be joined by iterations. */
static void build(struct model *m, struct asking *q, struct session *s, const struct rank_window *window)
{
    struct model_options options = {.threads = q->threads};
    struct selection selection = {window->model_id, q->question->iteration_id, 1};
    if (window->on && !s->all_export) {
        options.selection = &selection;
        s->script_tasks = s->script_timeline = s->script_summary = true;
    }
    model_build(m, s, &options, q->diag);
}

static size_t find_on_device(struct asking *q, struct cluster_device *d, char *names[CRITICAL_OPERATORS], int *status)
{
    struct rank_window window;
    const struct prof_dir *dir;
    struct model m;
    if (!rank_window(q, d, &window, status)) return 0;
    struct session *s = answer_session(q, d, &dir);
    if (!s) return 0;
    build(&m, q, s, &window);
    struct path_work w = {.m = &m, .d = &m.devices[dir - s->devices], .scope = rank_scope(&window, dir)};
    size_t n = find_in_model(q, &w, names, status);
    model_free(&m);
    session_close(s);
    return n;
}

size_t critical_operators(struct asking *q, char *names[CRITICAL_OPERATORS], int *status)
{
    int64_t id = q->question->id;
    struct cluster_device *d = id == -1 ? &q->cluster.devices.at[0] : cluster_device(&q->cluster, id);
    if (d) return find_on_device(q, d, names, status);
    *status = answer_fail(q, NPUPROF_FAILED, "--id %lld: the cluster has no such rank", (long long)id);
    return 0;
}
