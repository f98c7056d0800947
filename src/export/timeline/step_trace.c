/* The iterations (steps) of the models, on threads of their own in the Ascend Hardware process, one per model. */
#include "export/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_TID 70000u /* above any stream; plus the model id */

/* How the steps of one device are shown. The reference's scripts number the threads by model from the process id on,
 * and write some arguments differently. */
struct view {
    struct trace *t;
    const struct device_model *d;
    uint32_t pid;
    bool scripts;
    bool plain;             /* the file of all iterations beside a timeline of some */
    ARRAY(uint32_t) models; /* that are shown, ascending by thread */
};

/* Marked steps, and iterations that belong to no model either, go by the same ids. */
static bool shows(const struct view *v, uint32_t model_id, uint32_t iteration_id)
{
    const struct window *w = &v->d->window;
    return v->plain || window_has_iteration(w, model_id, w->marked, iteration_id);
}

static int32_t usual_tid(uint32_t model_id)
{
    return (int32_t)(FIRST_TID + model_id);
}

static int32_t model_tid(const struct view *v, uint32_t model_id)
{
    if (!v->scripts) return usual_tid(model_id);
    size_t low = 0, high = v->models.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (v->models.at[mid] < model_id) low = mid + 1;
        else high = mid;
    }
    return (int32_t)(v->d->dir->meta.pid + FIRST_TID + (uint32_t)low);
}

/* a + b and a - b for times that a damaged record may have made absurd. */
static int64_t later(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Value of an open arg: a time, "N/A" when the point was not seen. */
static void point(struct trace *t, int64_t ns)
{
    out_char(&t->out, '"');
    if (ns) out_us(&t->out, ns);
    else out_literal(&t->out, "N/A");
    out_char(&t->out, '"');
}

static void numbered(struct trace *t, const char *what, uint32_t number)
{
    trace_begin(t);
    out_text(&t->out, what);
    out_u64(&t->out, number);
}

static void iteration(const struct view *v, const struct step *s)
{
    struct trace *t = v->t;
    numbered(t, "Iteration ", s->iteration_id);
    trace_slice(t, v->pid, model_tid(v, s->model_id), earlier(s->iteration_end_ns, s->iteration_time_ns),
                s->iteration_end_ns, "Iteration Time");
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_key(t, "FP Start");
    point(t, s->fp_start_ns);
    trace_key(t, "BP End");
    point(t, s->bp_end_ns);
    trace_arg_time(t, "Iteration End", s->iteration_end_ns);
    trace_key(t, "Iteration Time(us)");
    out_us_number(&t->out, s->iteration_time_ns);
    trace_end(t);
}

static void forward_backward(const struct view *v, const struct step *s)
{
    struct trace *t = v->t;
    numbered(t, "FP_BP Time ", s->iteration_id);
    trace_slice(t, v->pid, model_tid(v, s->model_id), s->fp_start_ns, later(s->fp_start_ns, s->fp_bp_ns), "FP_BP Time");
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_arg_time(t, "FP Start", s->fp_start_ns);
    trace_arg_time(t, "BP End", s->bp_end_ns);
    trace_key(t, "FP_BP Time(us)");
    out_us_number(&t->out, s->fp_bp_ns);
    trace_end(t);
}

static void refresh(const struct view *v, const struct step *s)
{
    struct trace *t = v->t;
    numbered(t, "Iteration Refresh ", s->iteration_id);
    trace_slice(t, v->pid, model_tid(v, s->model_id), s->bp_end_ns, later(s->bp_end_ns, s->refresh_ns),
                "Iteration Refresh");
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_arg_time(t, "BP End", s->bp_end_ns);
    trace_arg_time(t, "Iteration End", s->iteration_end_ns);
    trace_key(t, "Iteration Refresh(us)");
    out_us_number(&t->out, s->refresh_ns);
    trace_end(t);
}

/* Where a data augmentation ends (phase t) or starts (s): points tied together per model. Args follow. */
static void data_aug(const struct view *v, int32_t tid, char phase, uint32_t number, int64_t time_ns)
{
    struct trace *t = v->t;
    numbered(t, "Data_aug Bound ", number);
    trace_at(t, time_ns);
    out_literal(&t->out, "\",\"pid\":");
    out_u64(&t->out, v->pid);
    out_literal(&t->out, ",\"tid\":");
    out_i64(&t->out, tid);
    out_literal(&t->out, ",\"ph\":\"");
    out_char(&t->out, phase);
    out_literal(&t->out, "\",\"cat\":\"Data_aug Bound\",\"id\":\"Data_aug Bound ");
    out_u64(&t->out, v->scripts ? v->d->dir->meta.pid : v->pid);
    out_char(&t->out, '_');
    out_i64(&t->out, tid);
    out_literal(&t->out, "\",\"ts\":\"");
    out_us(&t->out, time_ns);
    out_literal(&t->out, "\",\"args\":{");
}

static void data_aug_bounds(const struct view *v, const struct step *s)
{
    struct trace *t = v->t;
    int32_t tid = model_tid(v, s->model_id);
    data_aug(v, tid, 't', s->iteration_id - 1, s->fp_start_ns);
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_end(t);
    data_aug(v, tid, 's', s->iteration_id, later(s->bp_end_ns, (v->scripts ? s->refresh_ns : s->data_aug_ns) / 2));
    trace_key(t, "Data_aug Bound(us)");
    out_us_number(&t->out, s->data_aug_ns);
    trace_end(t);
}

static void step(const struct view *v, const struct step *s)
{
    if (!shows(v, s->model_id, s->iteration_id)) return;
    iteration(v, s);
    if (!s->fp_start_ns || !s->bp_end_ns) return;
    forward_backward(v, s);
    refresh(v, s);
    data_aug_bounds(v, s);
}

static int by_thread(const void *a, const void *b)
{
    int32_t x = usual_tid(*(const uint32_t *)a), y = usual_tid(*(const uint32_t *)b);
    return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void list_models(struct view *v)
{
    const struct device_data *d = &v->d->data;
    for (size_t i = 0; i < d->steps.n; i++) {
        const struct step *s = &d->steps.at[i];
        bool repeated = v->models.n && v->models.at[v->models.n - 1] == s->model_id;
        if (!repeated && shows(v, s->model_id, s->iteration_id)) array_push(&v->models, s->model_id);
    }
    size_t kept = 0;
    if (v->models.n) qsort(v->models.at, v->models.n, sizeof *v->models.at, v->scripts ? by_id : by_thread);
    for (size_t i = 0; i < v->models.n; i++)
        if (!kept || v->models.at[i] != v->models.at[kept - 1]) v->models.at[kept++] = v->models.at[i];
    v->models.n = kept;
}

static void name_models(const struct view *v)
{
    for (size_t i = 0; i < v->models.n; i++) {
        char name[64];
        uint32_t id = v->models.at[i];
        int64_t position = v->scripts ? (int64_t)FIRST_TID + id : usual_tid(id);
        snprintf(name, sizeof name, v->plain ? "Model ID:%u" : "Step Trace(Model ID:%u)", id);
        trace_thread(v->t, v->pid, model_tid(v, id), name, position);
    }
}

/* Value of an arg of a reduction: its time, which only the scripts write in µs as everywhere else. */
static void reduce_point(const struct view *v, const char *what, uint64_t k, int64_t ns)
{
    struct trace *t = v->t;
    out_literal(&t->out, ",\"");
    out_text(&t->out, what);
    out_u64(&t->out, k);
    out_literal(&t->out, "\":");
    if (v->scripts || !ns) {
        point(t, ns);
        return;
    }
    out_char(&t->out, '"');
    out_i64(&t->out, ns);
    out_char(&t->out, '"');
}

static void reduce(const struct view *v, const struct step_reduce *r, uint64_t k)
{
    struct trace *t = v->t;
    numbered(t, "Reduce_", r->iteration_id);
    out_char(&t->out, '_');
    out_u64(&t->out, k);
    trace_slice(t, v->pid, model_tid(v, r->model_id), r->start_ns, later(r->start_ns, r->duration_ns), "Reduce");
    trace_arg_u64(t, "Iteration ID", r->iteration_id);
    reduce_point(v, "Reduce End ", k, r->end_ns);
    reduce_point(v, "Reduce Start ", k, r->start_ns);
    trace_end(t);
}

/* The reductions of a device. They are numbered from *k on over all devices; by the scripts, in each iteration from 0.
 */
static void reduces(const struct view *v, uint64_t *k)
{
    const struct step_reduce *before = NULL;
    for (size_t i = 0; i < v->d->data.reduces.n; i++) {
        const struct step_reduce *r = &v->d->data.reduces.at[i];
        if (v->scripts && (!before || before->iteration_id != r->iteration_id || before->model_id != r->model_id))
            *k = 0;
        before = r;
        if (shows(v, r->model_id, r->iteration_id)) reduce(v, r, *k);
        ++*k;
    }
}

static void get_next(const struct view *v, const struct step_get_next *g)
{
    struct trace *t = v->t;
    if (!g->start_ns || !g->end_ns || !shows(v, g->model_id, g->iteration_id)) return;
    trace_begin(t);
    out_literal(&t->out, "GetNext");
    trace_slice(t, v->pid, model_tid(v, g->model_id), g->start_ns, g->end_ns, "GetNext Time");
    trace_arg_time(t, "GetNext Start", g->start_ns);
    trace_arg_time(t, "GetNext End", g->end_ns);
    trace_key(t, "GetNext Time(us)");
    out_us_number(&t->out, trace_duration(g->start_ns, g->end_ns));
    trace_end(t);
}

static void write_views(struct view *views, size_t n, const struct layer *layer)
{
    uint64_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const struct device_data *d = &views[i].d->data;
        list_models(&views[i]);
        for (size_t j = 0; j < d->steps.n; j++) step(&views[i], &d->steps.at[j]);
    }
    for (size_t i = 0; i < n; i++) {
        if (!views[i].models.n) continue;
        if (views[i].plain) trace_process_name(views[i].t, views[i].pid, layer->name);
        else layer_process(views[i].t, layer, views[i].d->dir);
    }
    for (size_t i = 0; i < n; i++) name_models(&views[i]);
    for (size_t i = 0; i < n; i++) reduces(&views[i], &k);
    for (size_t i = 0; i < n; i++) {
        const struct device_data *d = &views[i].d->data;
        for (size_t j = 0; j < d->get_nexts.n; j++) get_next(&views[i], &d->get_nexts.at[j]);
    }
    for (size_t i = 0; i < n; i++) array_free(&views[i].models);
}

static void write_devices(struct trace *t, const struct layer *layer, bool plain)
{
    const struct model *m = t->model;
    struct view *views = mem_zalloc(m->n_devices, sizeof *views);
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        views[i] = (struct view){
            .t = t,
            .d = d,
            .pid = plain ? d->dir->meta.pid : layer_pid(layer, d->dir),
            .scripts = m->session->script_timeline,
            .plain = plain,
        };
    }
    write_views(views, m->n_devices, layer);
    free(views);
}

/* The timeline; and the file of the steps, unless the timeline is about some of them. */
void step_trace_write(struct trace *t, const struct layer *layer)
{
    if (t->file == FILE_MSPROF || t->model->scope == MODEL_WHOLE) write_devices(t, layer, false);
}

/* All steps, in a process of their own, beside a timeline of some of them. */
void step_trace_plain_write(struct trace *t, const struct layer *layer)
{
    if (t->model->scope != MODEL_WHOLE) write_devices(t, layer, true);
}
