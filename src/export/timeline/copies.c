/* Copies that the scheduler made, on the streams of the Ascend Hardware process. Only the timelines of the reference's
 * scripts show them. */
#include "export/timeline/timeline.h"

static void copy(struct trace *t, uint32_t pid, const struct device_copy *c)
{
    trace_begin(t);
    out_literal(&t->out, "MemcopyAsync");
    trace_slice(t, pid, (int32_t)c->stream_id, c->start_ns, c->end_ns, NULL);
    trace_arg_text(t, "Task Type", "other");
    trace_arg_u64(t, "Stream Id", c->stream_id);
    trace_arg_u64(t, "Task Id", c->task_id);
    trace_arg_time(t, "Receive Time", c->receive_ns);
    trace_arg_time(t, "Start Time", c->start_ns);
    trace_arg_time(t, "End Time", c->end_ns);
    trace_end(t);
}

void copies_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    if (!m->session->script_timeline) return;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        bool shown = false;
        for (size_t k = 0; k < d->data.copies.n; k++) {
            if (d->data.copies.at[k].end_ns < m->session->start_ns) continue;
            copy(t, layer_pid(layer, d->dir), &d->data.copies.at[k]);
            shown = true;
        }
        if (shown) layer_process(t, layer, d->dir);
    }
}
