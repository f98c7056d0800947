/* Overlap Analysis: when a device was computing, when communicating, when it only communicated, and when it did
 * neither. */
#include "export/timeline/timeline.h"

static const char *const names[OVERLAP_KINDS] = {
    [OVERLAP_COMPUTE] = "Computing",
    [OVERLAP_COMMUNICATION] = "Communication",
    [OVERLAP_NOT_OVERLAPPED] = "Communication(Not Overlapped)",
    [OVERLAP_FREE] = "Free",
};

static bool has_sections(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++)
        for (int kind = 0; kind < OVERLAP_KINDS; kind++)
            if (m->devices[i].overlap[kind].n) return true;
    return false;
}

void overlap_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    if (!has_sections(m)) return;
    for (size_t i = 0; i < m->n_devices; i++) layer_process(t, layer, m->devices[i].dir);
    for (size_t i = 0; i < m->n_devices; i++)
        for (int kind = 0; kind < OVERLAP_KINDS; kind++)
            trace_thread(t, layer_pid(layer, m->devices[i].dir), kind, names[kind], kind);
    for (size_t i = 0; i < m->n_devices; i++) {
        uint32_t pid = layer_pid(layer, m->devices[i].dir);
        for (int kind = 0; kind < OVERLAP_KINDS; kind++)
            for (size_t j = 0; j < m->devices[i].overlap[kind].n; j++) {
                const struct section *s = &m->devices[i].overlap[kind].at[j];
                trace_begin(t);
                out_text(&t->out, names[kind]);
                trace_slice(t, pid, kind, s->start_ns, s->end_ns, NULL);
                trace_end(t);
            }
    }
}
