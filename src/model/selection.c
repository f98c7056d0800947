/* Windows come from the steps of a device: their begin and end by its own counter, as the task log has it too, so that
 * a task is in or out without any rounding. */
#include "model/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/model.h"
#include "model/parts.h"

/* --- what there is ------------------------------------------------------------------------------------------------ */

static int by_model(const void *x, const void *y)
{
    const struct seen_model *a = x, *b = y;
    if (a->marked != b->marked) return a->marked - b->marked;
    return (a->model_id > b->model_id) - (a->model_id < b->model_id);
}

typedef ARRAY(struct seen_model) seen_array;

static void see(seen_array *seen, struct map *places, const struct step *s)
{
    bool fresh;
    uint64_t key = (uint64_t)s->marked << 32 | s->model_id;
    uint32_t at = *map_put(places, key, (uint32_t)seen->n, &fresh);
    if (fresh) array_push(seen, ((struct seen_model){s->model_id, s->marked, s->iteration_id, s->iteration_id, 0}));
    struct seen_model *model = &seen->at[at];
    if (s->iteration_id < model->first) model->first = s->iteration_id;
    if (s->iteration_id > model->last) model->last = s->iteration_id;
    model->n++;
}

void host_models(struct map *models, const struct host_data *h)
{
    for (size_t i = 0; i < h->tasks.n; i++)
        if (h->tasks.at[i].op != NONE) map_put(models, h->ops.at[h->tasks.at[i].op].model_id, 1, NULL);
    if (!models->n) return;
    for (size_t i = 0; i < h->comm_ops.n; i++) map_put(models, h->comm_ops.at[i].model_id, 1, NULL);
}

/* Drop graphs that the host does not know, as long as it knows any. */
static void keep_known(seen_array *seen, const struct host_data *h)
{
    struct map known = {0};
    size_t kept = 0;
    host_models(&known, h);
    for (size_t i = 0; i < seen->n && known.n; i++)
        if (seen->at[i].marked || map_get(&known, seen->at[i].model_id, 0)) seen->at[kept++] = seen->at[i];
    if (known.n) seen->n = kept;
    map_free(&known);
}

struct seen_model *seen_models(const struct host_data *h, const struct device_data *d, size_t *n)
{
    seen_array seen = {0};
    struct map places = {0};
    for (size_t i = 0; i < d->steps.n; i++) see(&seen, &places, &d->steps.at[i]);
    map_free(&places);
    keep_known(&seen, h);
    if (seen.n) qsort(seen.at, seen.n, sizeof *seen.at, by_model);
    *n = seen.n;
    return seen.at;
}

/* Did the device run any graph? */
static bool ran_graphs(const struct device_data *d)
{
    for (size_t i = 0; i < d->steps.n; i++)
        if (!d->steps.at[i].marked && d->steps.at[i].model_id != MODEL_MARKED) return true;
    return false;
}

/* The model that an export of single iterations is about when none is named: the one with most iterations. */
static const struct seen_model *main_model(const struct seen_model *seen, size_t n)
{
    const struct seen_model *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (seen[i].marked) continue;
        if (seen[i].model_id == MODEL_MARKED) return &seen[i]; /* operators beside graphs */
        if (!best || seen[i].last >= best->last) best = &seen[i];
    }
    return best;
}

/* --- what is wrong ------------------------------------------------------------------------------------------------ */

/* "model 1 (iterations 1 to 4), marked steps, model id 4294967295 (1 to 6)" into buf. */
static const char *what_exists(const struct seen_model *seen, size_t n, char *buf, size_t size)
{
    size_t len = 0;
    snprintf(buf, size, "it has no iterations of a model whose operators are known");
    for (size_t i = 0; i < n && len < size; i++) {
        const struct seen_model *s = &seen[i];
        len += (size_t)snprintf(buf + len, size - len, "%smodel %" PRIu32 " (%s %" PRIu32 " to %" PRIu32 ")",
                                i ? ", " : "it has ", s->model_id, s->marked ? "marked steps" : "iterations", s->first,
                                s->last);
    }
    return buf;
}

static const struct seen_model *find_model(const struct seen_model *seen, size_t n, int64_t model_id)
{
    bool marked = model_id == MODEL_MARKED;
    for (size_t i = 0; i < n; i++)
        if (seen[i].model_id == model_id && seen[i].marked == marked) return &seen[i];
    return NULL;
}

static bool has_iterations(const struct seen_model *s, const struct selection *wanted)
{
    return s && wanted->first >= s->first && wanted->first <= s->last && wanted->count >= 1 &&
           wanted->count <= SELECTION_MAX && wanted->count - 1 <= s->last - wanted->first;
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

bool window_has_iteration(const struct window *w, uint32_t model_id, bool marked, uint32_t iteration_id)
{
    return !w->on || (!w->none && marked == w->marked && model_id == w->model_id && iteration_id >= w->first &&
                      iteration_id <= w->last);
}

bool window_has_task(const struct window *w, const struct device_task *t)
{
    return !w->on || (!w->none && t->start >= w->start && t->end <= w->end);
}

bool window_has_op(const struct window *w, uint32_t model_id, int32_t request_id)
{
    if (!w->on || w->marked) return !w->none;
    if (w->none || model_id != w->model_id) return false;
    return request_id <= 0 || ((uint32_t)request_id >= w->first && (uint32_t)request_id <= w->last);
}

uint32_t window_iteration_at(const struct window *w, int64_t ns)
{
    for (uint32_t i = w->first; i < w->last; i++)
        if (ns <= w->ends_ns[i - w->first]) return i;
    return w->last;
}

/* The end of the last step of the same kind that was over before the counter stood at `start`; 0 = none. Steps are in
 * order of their end. */
static uint64_t end_before(const struct device_data *d, bool marked, uint64_t start)
{
    uint64_t end = 0;
    for (size_t i = 0; i < d->steps.n && d->steps.at[i].end < start; i++)
        if (d->steps.at[i].marked == marked) end = d->steps.at[i].end;
    return end;
}

static void open_window(struct device_model *d, const struct seen_model *s, const struct selection *wanted)
{
    struct window *w = &d->window;
    const struct clock *clock = &d->dir->clock;
    *w = (struct window){
        .on = true,
        .marked = s->marked,
        .model_id = s->model_id,
        .first = (uint32_t)wanted->first,
        .last = (uint32_t)(wanted->first + wanted->count - 1),
        .start = UINT64_MAX,
    };
    uint64_t calls_from = UINT64_MAX;
    w->all_calls = !ran_graphs(&d->data);
    for (size_t i = 0; i < d->data.steps.n; i++) {
        const struct step *step = &d->data.steps.at[i];
        if (!window_has_iteration(w, step->model_id, step->marked, step->iteration_id)) continue;
        w->ends_ns[step->iteration_id - w->first] = clock_task_ns(clock, step->end);
        if (step->start < w->start) w->start = step->start;
        if (step->end > w->end) w->end = step->end;
        uint64_t before = end_before(&d->data, w->marked, step->start);
        if (before < calls_from) calls_from = before;
    }
    w->from_ns = w->first == 1 ? INT64_MIN : clock_task_ns(clock, w->start);
    w->to_ns = clock_task_ns(clock, w->end);
    w->calls_from_ns = calls_from ? clock_task_ns(clock, calls_from) : INT64_MIN;
}

static int64_t last_of(const struct selection *wanted)
{
    int64_t end;
    return __builtin_add_overflow(wanted->first, wanted->count, &end) ? INT64_MAX : end - 1;
}

/* The window of one device; false, with a word about it, when it did not see what was asked for. */
static bool find_window(struct model *m, struct device_model *d, const struct selection *wanted, struct diag *diag)
{
    char text[400];
    size_t n;
    struct seen_model *seen = seen_models(&m->host, &d->data, &n);
    const struct seen_model *found = find_model(seen, n, wanted->model_id);
    bool there = has_iterations(found, wanted);
    if (there) {
        open_window(d, found, wanted);
    } else {
        d->window = (struct window){.on = true, .none = true};
        what_exists(seen, n, text, sizeof text);
        if (!found)
            diag_note(diag, DIAG_ERROR, d->dir->name, DIAG_NO_OFFSET, "no iterations of model %" PRId64 ": %s",
                      wanted->model_id, text);
        else
            diag_note(diag, DIAG_ERROR, d->dir->name, DIAG_NO_OFFSET,
                      "no iterations %" PRId64 " to %" PRId64 " of model %" PRId64 ": %s", wanted->first,
                      last_of(wanted), wanted->model_id, text);
    }
    free(seen);
    return there;
}

/* The device can only be exported by iterations: take the first of its main model. */
static void default_window(struct model *m, struct device_model *d, struct diag *diag)
{
    size_t n;
    struct seen_model *seen = seen_models(&m->host, &d->data, &n);
    const struct seen_model *main = main_model(seen, n);
    if (main) {
        open_window(d, main, &(struct selection){main->model_id, main->first, 1});
        m->scope = MODEL_ITERATIONS;
        diag_note(diag, DIAG_INFO, d->dir->name, DIAG_NO_OFFSET,
                  "its driver or chip cannot tell the tasks of all iterations apart: iteration %" PRIu32
                  " of model %" PRIu32 " is exported; --model-id and --iteration-id choose another",
                  main->first, main->model_id);
    }
    free(seen);
}

void selection_find(struct model *m, const struct selection *wanted, struct diag *diag)
{
    bool some = false;
    m->scope = MODEL_WHOLE;
    if (!wanted) {
        for (size_t i = 0; i < m->n_devices && !m->session->all_export; i++)
            if (ran_graphs(&m->devices[i].data)) default_window(m, &m->devices[i], diag);
        return;
    }
    if (wanted->model_id == MODEL_MARKED && !m->session->all_export)
        diag_note(diag, DIAG_ERROR, "", DIAG_NO_OFFSET,
                  "marked steps cannot be exported singly: the driver or the chip of this collection does not number "
                  "tasks uniquely");
    else
        for (size_t i = 0; i < m->n_devices; i++) some |= find_window(m, &m->devices[i], wanted, diag);
    m->scope = some ? MODEL_ITERATIONS : MODEL_NOTHING;
}

/* Was a task launched for other iterations than those of the window? */
static bool launched_elsewhere(const struct model *m, const struct window *w, uint32_t host_task)
{
    if (host_task >= m->host.tasks.n) return false;
    const struct host_task *launch = &m->host.tasks.at[host_task];
    return !window_has_op(w, launch->model_id, launch->request_id);
}

void selection_limit_tasks(const struct model *m, const struct device_model *d, uint32_t *host_of)
{
    const struct window *w = &d->window;
    if (!w->on) return;
    for (size_t i = 0; i < d->data.tasks.n; i++)
        if (!window_has_task(w, &d->data.tasks.at[i]) || launched_elsewhere(m, w, host_of[i]))
            host_of[i] = HOST_LEFT_OUT;
}

bool selection_of_graph(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct window *w = &m->devices[i].window;
        if (w->on && !w->none && !w->marked) return true;
    }
    return false;
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

static bool call_is_in(const struct model *m, const struct api *a)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct window *w = &m->devices[i].window;
        if (!w->on || w->all_calls) return true;
        if (!w->none && a->start_ns <= w->to_ns && (a->start_ns >= w->calls_from_ns || a->end_ns >= w->calls_from_ns))
            return true;
    }
    return !m->n_devices;
}

void selection_limit_host(struct model *m)
{
    if (m->scope == MODEL_WHOLE) return;
    for (size_t i = 0; i < m->host.apis.n; i++)
        if (!call_is_in(m, &m->host.apis.at[i])) m->host.apis.at[i].flags |= API_OUTSIDE;
    host_list_threads(&m->host, true);
}
