/* Fusion Task: the parts of fused tasks, by what they ran on. */
#include "export/timeline/timeline.h"

static const char *const unit_names[] = {
    [FUSION_CPU] = "CPU",      [FUSION_AICPU] = "AICPU",  [FUSION_AICORE] = "AICORE",
    [FUSION_CCU_DIE0] = "CCU", [FUSION_CCU_DIE1] = "CCU", [FUSION_UNKNOWN] = "UNKNOWN",
};

static void write_part(struct trace *t, uint32_t pid, const struct clock *clock, const struct fusion_part *p)
{
    trace_begin(t);
    out_literal(&t->out, "Fusion ");
    out_text(&t->out, unit_names[p->unit]);
    trace_slice(t, pid, 0, clock_task_ns(clock, p->start), clock_task_ns(clock, p->end), NULL);
    trace_arg_u64(t, "Task Id", p->task_id);
    trace_arg_u64(t, "Acc Id", p->acc_id);
    trace_arg_string(t, "Task Type", p->type);
    trace_arg_text(t, "Fusion Task Type", unit_names[p->unit]);
    if (p->unit == FUSION_CCU_DIE0 || p->unit == FUSION_CCU_DIE1) {
        trace_arg_u64(t, "Mission Id", p->mission_id);
        trace_arg_u64(t, "Ccu Die Id", p->unit == FUSION_CCU_DIE1);
    }
    trace_end(t);
}

void fusion_task_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        uint32_t pid = layer_pid(layer, d->dir);
        uint64_t before = t->events;
        for (size_t k = 0; k < d->data.fusions.n; k++) {
            const struct fusion_part *p = &d->data.fusions.at[k];
            if (clock_task_ns(&d->dir->clock, p->start) >= m->session->start_ns) write_part(t, pid, &d->dir->clock, p);
        }
        if (t->events == before) continue;
        trace_thread(t, pid, 0, "Fusion Task", 0);
        layer_process(t, layer, d->dir);
    }
}
