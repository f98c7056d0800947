/* AI Core Freq: the clock of the AI cores of each device, a counter; the reference's scripts draw a line through it. */
#include <stdlib.h>

#include "export/timeline/held.h"
#include "export/timeline/timeline.h"

static void point(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t mhz)
{
    trace_begin(t);
    out_literal(&t->out, "AI Core Freq");
    trace_counter(t, pid, 0, time_ns);
    trace_arg_u64(t, "MHz", mhz);
    trace_end(t);
}

static void script_points(struct trace *t, uint32_t pid, const struct device_model *d)
{
    const struct freq_point *points = d->data.recorded_freqs.at;
    size_t n = d->data.recorded_freqs.n;
    struct held_value *values = mem_alloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (struct held_value){points[i].time_ns, points[i].mhz};
    held_line(t, pid, d->dir, values, n, point);
    free(values);
}

/* The process is there even if none of it is shown. */
static void script_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        script_points(t, layer_pid(layer, d->dir), d);
        if (d->data.recorded_freqs.n) layer_process(t, layer, d->dir);
    }
}

void aicore_freq_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    if (m->session->script_timeline) {
        script_write(t, layer);
        return;
    }
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t j = 0; j < d->data.freqs.n; j++) {
            const struct freq_point *p = &d->data.freqs.at[j];
            trace_begin(t);
            out_literal(&t->out, "AI Core Freq");
            if (p->of_die) out_literal(&t->out, " Die "), out_u64(&t->out, p->of_die - 1u);
            trace_counter(t, layer_pid(layer, d->dir), 0, p->time_ns);
            trace_arg_u64(t, "MHz", p->mhz);
            trace_end(t);
        }
    }
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.freqs.n) layer_process(t, layer, m->devices[i].dir);
}
