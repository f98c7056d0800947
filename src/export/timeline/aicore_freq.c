/* AI Core Freq: the clock of the AI cores of each device, a counter. */
#include "export/timeline/timeline.h"

void aicore_freq_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t j = 0; j < d->data.freqs.n; j++) {
            const struct freq_point *p = &d->data.freqs.at[j];
            trace_begin(t);
            out_literal(&t->out, "AI Core Freq");
            if (p->die != WHOLE_CHIP) out_literal(&t->out, " Die "), out_u64(&t->out, (uint64_t)p->die);
            trace_counter(t, layer_pid(layer, d->dir), 0, p->time_ns);
            trace_arg_u64(t, "MHz", p->mhz);
            trace_end(t);
        }
    }
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.freqs.n) layer_process(t, layer, m->devices[i].dir);
}
