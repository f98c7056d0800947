/* AI Core Freq: the clock of the AI cores of each device, a counter.
 *
 * The reference's scripts draw a line through it: the value is repeated every ms until the next one or the end of the
 * collection. That is done for an hour of each device; what does not fit into it has its ends only. */
#include "export/timeline/timeline.h"

#define REPEAT_NS INT64_C(1000000)
#define CLOSE_NS  INT64_C(1000) /* no repetition this close to the next value */
#define HOUR_NS   INT64_C(3600000000000)

static void point(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t mhz)
{
    trace_begin(t);
    out_literal(&t->out, "AI Core Freq");
    trace_counter(t, pid, 0, time_ns);
    trace_arg_u64(t, "MHz", mhz);
    trace_end(t);
}

/* The value of `from`, and its repetitions before `to_ns` if that is within *left ns. */
static void stretch(struct trace *t, uint32_t pid, const struct freq_point *from, int64_t to_ns, int64_t *left)
{
    int64_t start_ns = t->model->session->start_ns, span = trace_duration(from->time_ns, to_ns);
    if (from->time_ns >= start_ns) point(t, pid, from->time_ns, from->mhz);
    if (span <= REPEAT_NS || span > *left) return;
    *left -= span;
    for (int64_t ns = from->time_ns + REPEAT_NS; ns < to_ns - CLOSE_NS; ns += REPEAT_NS)
        if (ns >= start_ns) point(t, pid, ns, from->mhz);
}

/* The last value holds until the end of the collection; when that is not known, for a µs. */
static void script_points(struct trace *t, uint32_t pid, const struct device_model *d)
{
    const struct freq_point *points = d->data.recorded_freqs.at;
    size_t n = d->data.recorded_freqs.n;
    if (!n) return;
    const struct freq_point *last = &points[n - 1];
    int64_t end_ns = d->dir->meta.end_ns, left = HOUR_NS;
    if (!d->dir->meta.has_end) end_ns = last->time_ns < INT64_MAX - CLOSE_NS ? last->time_ns + CLOSE_NS : INT64_MAX;
    for (size_t i = 0; i < n; i++) stretch(t, pid, &points[i], i + 1 < n ? points[i + 1].time_ns : end_ns, &left);
    point(t, pid, end_ns, last->mhz);
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
