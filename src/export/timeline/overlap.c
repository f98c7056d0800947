/* Overlap Analysis: when a device was computing, when communicating, when it only communicated, and when it did
 * neither. */
#include "export/timeline/timeline.h"

static const char *const names[OVERLAP_KINDS] = {
    [OVERLAP_COMPUTE] = "Computing",
    [OVERLAP_COMMUNICATION] = "Communication",
    [OVERLAP_NOT_OVERLAPPED] = "Communication(Not Overlapped)",
    [OVERLAP_FREE] = "Free",
};

static bool has_sections(const struct device_model *d)
{
    for (int kind = 0; kind < OVERLAP_KINDS; kind++)
        if (d->overlap[kind].n) return true;
    return false;
}

static void name_thread(struct trace *t, uint32_t pid, int kind)
{
    if (t->model->session->script_timeline) trace_thread_name(t, pid, kind, names[kind]);
    else trace_thread(t, pid, kind, names[kind], kind);
}

bool overlap_has(const struct model *m, const struct prof_dir *dir)
{
    if (dir->is_host) return false;
    const struct device_model *d = &m->devices[dir->position];
    return d->overlap[OVERLAP_COMPUTE].n || d->overlap[OVERLAP_COMMUNICATION].n;
}

/* Is the device in the layer at all? In a script timeline those that neither computed nor communicated are not. */
static bool shown(const struct model *m, size_t device)
{
    return m->session->script_timeline ? overlap_has(m, m->devices[device].dir) : has_sections(&m->devices[device]);
}

void overlap_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    for (size_t i = 0; i < m->n_devices; i++)
        if (shown(m, i)) layer_process(t, layer, m->devices[i].dir);
    for (size_t i = 0; i < m->n_devices; i++)
        for (int kind = 0; kind < OVERLAP_KINDS && shown(m, i); kind++)
            name_thread(t, layer_pid(layer, m->devices[i].dir), kind);
    for (size_t i = 0; i < m->n_devices; i++) {
        if (!shown(m, i)) continue;
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
