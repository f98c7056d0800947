/* The timeline files. Each is one JSON array of trace events: the layers that belong to it, one after the other, each
 * writing its events in one go. */
#include "export/timeline/timeline.h"

#include <stdlib.h>

#include "export/export.h"

#define IN(file) (1u << FILE_##file)

/* Every layer, in the order of the files. */
static const struct layer layers[] = {
    {"ascend", "Ascend Hardware", 14, IN(MSPROF), ascend_hardware_write},
    {"cann", "CANN", 7, IN(MSPROF), cann_write},
    {"communication", "Communication", 16, IN(MSPROF), communication_write},
    {"overlap_analyse", "Overlap Analysis", 31, IN(MSPROF), overlap_write},
    {"step_trace", "Ascend Hardware", 14, IN(MSPROF) | IN(STEP_TRACE), step_trace_write},
    {"freq", "AI Core Freq", 15, IN(MSPROF), aicore_freq_write},
};

static bool has_steps(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.steps.n) return true;
    return false;
}

/* Is there anything that a timeline can be about? What there is may still show nothing: that is an empty array. */
static bool has_data(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_data *d = &m->devices[i].data;
        if (d->has_tasks || d->freqs.n || d->reduces.n || d->get_nexts.n) return true;
    }
    return m->host.has_apis || m->host.tasks.n || has_steps(m);
}

static const struct {
    const char *stem;
    bool (*wanted)(const struct model *m);
} files[FILE_COUNT] = {
    [FILE_MSPROF] = {"msprof", has_data},
    [FILE_STEP_TRACE] = {"step_trace", has_steps},
};

static int write_file(struct export_target *target, enum timeline_file file, const char *path, struct error *err)
{
    struct trace t;
    if (trace_open(&t, target->model, path, target->progress, err)) return -1;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (layers[i].files & 1u << file) layers[i].write(&t, &layers[i]);
    uint64_t events = t.events, bytes;
    if (trace_close(&t, &bytes, err)) return -1;
    export_wrote(target, path, bytes, events);
    return 0;
}

int timeline_export(struct export_target *target, struct error *err)
{
    int status = 0;
    for (enum timeline_file file = 0; file < FILE_COUNT; file++) {
        if (!files[file].wanted(target->model)) continue;
        char *path = export_path(target, files[file].stem, -1, "json");
        if (write_file(target, file, path, err)) status = -1;
        free(path);
    }
    return status;
}
