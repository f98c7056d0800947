/* The iterations (steps) of the models, on threads of their own in the Ascend Hardware process, one per model. */
#include "export/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_TID 70000u /* above any stream; plus the model id */

static int32_t model_tid(uint32_t model_id)
{
    return (int32_t)(FIRST_TID + model_id);
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

static void iteration(struct trace *t, uint32_t pid, const struct step *s)
{
    numbered(t, "Iteration ", s->iteration_id);
    trace_slice(t, pid, model_tid(s->model_id), earlier(s->iteration_end_ns, s->iteration_time_ns), s->iteration_end_ns,
                "Iteration Time");
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

static void forward_backward(struct trace *t, uint32_t pid, const struct step *s)
{
    numbered(t, "FP_BP Time ", s->iteration_id);
    trace_slice(t, pid, model_tid(s->model_id), s->fp_start_ns, later(s->fp_start_ns, s->fp_bp_ns), "FP_BP Time");
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_arg_time(t, "FP Start", s->fp_start_ns);
    trace_arg_time(t, "BP End", s->bp_end_ns);
    trace_key(t, "FP_BP Time(us)");
    out_us_number(&t->out, s->fp_bp_ns);
    trace_end(t);
}

static void refresh(struct trace *t, uint32_t pid, const struct step *s)
{
    numbered(t, "Iteration Refresh ", s->iteration_id);
    trace_slice(t, pid, model_tid(s->model_id), s->bp_end_ns, later(s->bp_end_ns, s->refresh_ns), "Iteration Refresh");
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_arg_time(t, "BP End", s->bp_end_ns);
    trace_arg_time(t, "Iteration End", s->iteration_end_ns);
    trace_key(t, "Iteration Refresh(us)");
    out_us_number(&t->out, s->refresh_ns);
    trace_end(t);
}

/* Where a data augmentation ends (phase t) or starts (s): points tied together per model. Args follow. */
static void data_aug(struct trace *t, uint32_t pid, int32_t tid, char phase, uint32_t number, int64_t time_ns)
{
    numbered(t, "Data_aug Bound ", number);
    out_literal(&t->out, "\",\"pid\":");
    out_u64(&t->out, pid);
    out_literal(&t->out, ",\"tid\":");
    out_i64(&t->out, tid);
    out_literal(&t->out, ",\"ph\":\"");
    out_char(&t->out, phase);
    out_literal(&t->out, "\",\"cat\":\"Data_aug Bound\",\"id\":\"Data_aug Bound ");
    out_u64(&t->out, pid);
    out_char(&t->out, '_');
    out_i64(&t->out, tid);
    out_literal(&t->out, "\",\"ts\":\"");
    out_us(&t->out, time_ns);
    out_literal(&t->out, "\",\"args\":{");
}

static void data_aug_bounds(struct trace *t, uint32_t pid, const struct step *s)
{
    int32_t tid = model_tid(s->model_id);
    data_aug(t, pid, tid, 't', s->iteration_id - 1, s->fp_start_ns);
    trace_arg_u64(t, "Iteration ID", s->iteration_id);
    trace_end(t);
    data_aug(t, pid, tid, 's', s->iteration_id, later(s->bp_end_ns, s->data_aug_ns / 2));
    trace_key(t, "Data_aug Bound(us)");
    out_us_number(&t->out, s->data_aug_ns);
    trace_end(t);
}

static void step(struct trace *t, uint32_t pid, const struct step *s)
{
    iteration(t, pid, s);
    if (!s->fp_start_ns || !s->bp_end_ns) return;
    forward_backward(t, pid, s);
    refresh(t, pid, s);
    data_aug_bounds(t, pid, s);
}

static int by_thread(const void *a, const void *b)
{
    int32_t x = model_tid(*(const uint32_t *)a), y = model_tid(*(const uint32_t *)b);
    return (x > y) - (x < y);
}

static void name_models(struct trace *t, uint32_t pid, const struct device_data *d)
{
    ARRAY(uint32_t) models = {0};
    for (size_t i = 0; i < d->steps.n; i++)
        if (!models.n || models.at[models.n - 1] != d->steps.at[i].model_id)
            array_push(&models, d->steps.at[i].model_id);
    if (models.n) qsort(models.at, models.n, sizeof *models.at, by_thread);
    for (size_t i = 0; i < models.n; i++) {
        if (i && models.at[i] == models.at[i - 1]) continue;
        char name[64];
        snprintf(name, sizeof name, "Step Trace(Model ID:%u)", models.at[i]);
        trace_thread(t, pid, model_tid(models.at[i]), name, model_tid(models.at[i]));
    }
    array_free(&models);
}

/* `k` runs on over all reduces; the times are ns, unlike everywhere else. */
static void reduce(struct trace *t, uint32_t pid, const struct step_reduce *r, uint64_t k)
{
    numbered(t, "Reduce_", r->iteration_id);
    out_char(&t->out, '_');
    out_u64(&t->out, k);
    trace_slice(t, pid, model_tid(r->model_id), r->start_ns, later(r->start_ns, r->duration_ns), "Reduce");
    trace_arg_u64(t, "Iteration ID", r->iteration_id);
    out_literal(&t->out, ",\"Reduce End ");
    out_u64(&t->out, k);
    out_literal(&t->out, "\":\"");
    if (r->end_ns) out_i64(&t->out, r->end_ns);
    else out_literal(&t->out, "N/A");
    out_literal(&t->out, "\",\"Reduce Start ");
    out_u64(&t->out, k);
    out_literal(&t->out, "\":\"");
    out_i64(&t->out, r->start_ns);
    out_char(&t->out, '"');
    trace_end(t);
}

static void get_next(struct trace *t, uint32_t pid, const struct step_get_next *g)
{
    if (!g->start_ns || !g->end_ns) return;
    trace_begin(t);
    out_literal(&t->out, "GetNext");
    trace_slice(t, pid, model_tid(g->model_id), g->start_ns, g->end_ns, "GetNext Time");
    trace_arg_time(t, "GetNext Start", g->start_ns);
    trace_arg_time(t, "GetNext End", g->end_ns);
    trace_key(t, "GetNext Time(us)");
    out_us_number(&t->out, trace_duration(g->start_ns, g->end_ns));
    trace_end(t);
}

void step_trace_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    uint64_t k = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t j = 0; j < d->data.steps.n; j++) step(t, layer_pid(layer, d->dir), &d->data.steps.at[j]);
    }
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.steps.n) layer_process(t, layer, m->devices[i].dir);
    for (size_t i = 0; i < m->n_devices; i++) name_models(t, layer_pid(layer, m->devices[i].dir), &m->devices[i].data);
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t j = 0; j < d->data.reduces.n; j++) reduce(t, layer_pid(layer, d->dir), &d->data.reduces.at[j], k++);
    }
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t j = 0; j < d->data.get_nexts.n; j++)
            get_next(t, layer_pid(layer, d->dir), &d->data.get_nexts.at[j]);
    }
}
