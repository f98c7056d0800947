/* The timeline files. Each is one JSON array of trace events: the layers that belong to it, one after the other, each
 * writing its events in one go; first those below, then the tracks of the metrics. */
#include "export/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/timeline/reports.h"
#include "export/timeline/slices.h"
#include "metrics/all.h"

/* Every layer but the metrics', in the order of the files. */
static const struct layer own_layers[] = {
    {"ascend", "Ascend Hardware", 14, IN_MSPROF, ascend_hardware_write, .script_index = 14},
    {"cann", "CANN", CANN_INDEX, IN_MSPROF, cann_write, .script_index = CANN_INDEX},
    {"communication", "Communication", 16, IN_MSPROF, communication_write, .script_index = 17},
    {"overlap_analyse", "Overlap Analysis", 31, IN_MSPROF, overlap_write, .has = overlap_has},
    {"ascend", "Ascend Hardware", 14, IN_MSPROF, copies_write, .script_index = 14},
    {"step_trace", "Ascend Hardware", 14, IN_MSPROF | IN_STEP_TRACE, step_trace_write, .script_index = 14,
     .any_time = true},
    {"step_trace", "Step Trace", 0, IN_STEP_TRACE, step_trace_plain_write, .any_time = true},
    {"freq", "AI Core Freq", 15, IN_MSPROF, aicore_freq_write, .script_index = 15},
    {"device_tx", "Ascend Hardware", 14, IN_MSPROF | IN_MSPROF_TX, device_tx_write, .script_index = 14},
    {"block_detail", "Block Detail", 34, IN_MSPROF, block_detail_write, .script_index = NEXT_INDEX},
    {"fusion_task", "Fusion Task", 35, IN_MSPROF, fusion_task_write, .script_index = NEXT_INDEX},
};

#define N_OWN_LAYERS (sizeof own_layers / sizeof *own_layers)

const struct layer *timeline_own_layers(size_t *n)
{
    *n = N_OWN_LAYERS;
    return own_layers;
}

/* The layers of an export. */
struct layers {
    ARRAY(struct layer) list;
    unsigned *numbers; /* per layer a row by directory; NULL = every layer has its usual position */
};

static const void *track_data(const struct layer *layer, const struct model *m, const struct prof_dir *dir)
{
    return metric_data(m, dir, layer->metric);
}

/* Is the process of a track there in a script timeline, whatever is left to show? */
static bool track_has(const struct layer *layer, const struct model *m, const struct prof_dir *dir)
{
    const void *data = track_data(layer, m, dir);
    return data && (!layer->shows || layer->shows(data));
}

/* Does anything of a track fall into the iterations that are exported? `probe` is written to in vain. */
static bool track_shows(const struct layer *layer, struct trace *probe, const struct prof_dir *dir)
{
    const void *data = track_data(layer, probe->model, dir);
    uint64_t before = probe->shown;
    if (data && layer->show) layer->show(probe, trace_pid(dir, 0), dir, data);
    return probe->shown > before;
}

/* `probe` is NULL unless the export is about some iterations. */
static bool layer_has(const struct layer *layer, const struct model *m, struct trace *probe, const struct prof_dir *dir)
{
    if (!layer->metric) return layer->has && layer->has(m, dir);
    return track_has(layer, m, dir) && (!probe || dir->is_host || track_shows(layer, probe, dir));
}

/* Write what one directory has for a track; true when there was something. */
static bool show_directory(struct trace *t, const struct layer *layer, const struct prof_dir *dir)
{
    const void *data = track_data(layer, t->model, dir);
    uint64_t before = t->events;
    if (data) layer->show(t, layer_pid(layer, dir), dir, data);
    return t->events > before;
}

/* The track of a metric: what was loaded from each directory, and the names of the processes. */
static void track_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    const struct prof_dir *dir;
    bool scripted = m->session->script_timeline, some = false;
    for (size_t i = 0; (dir = metric_dir(m, i)); i++) {
        bool shown = show_directory(t, layer, dir);
        some |= shown;
        bool has = layer->script_index == NEXT_INDEX && scripted ? layer->numbers[dir->position] != NEXT_INDEX
                                                                 : track_has(layer, m, dir);
        bool named = scripted ? has : shown && layer->process == PROCESS_SHOWN;
        if (named) layer_process(t, layer, dir);
    }
    if (!some || scripted || layer->process != PROCESS_ALL_DEVICES) return;
    for (size_t i = 0; i < m->session->n_devices; i++) layer_process(t, layer, metric_dir(m, i));
}

/* How many positions a layer takes in a script timeline, in a directory. */
static unsigned layer_positions(const struct layer *layer, const struct model *m, struct trace *probe,
                                const struct prof_dir *dir)
{
    if (!layer->processes) return layer_has(layer, m, probe, dir);
    const void *data = track_data(layer, m, dir);
    return data ? layer->processes(data) : 0;
}

#define SCRIPT_FIRST_INDEX 20u

/* Positions in a timeline of the reference's scripts: processes that have no fixed one are numbered as they appear, the
 * metrics' before all others, the last device first. */
static void number_layers(struct layers *l, const struct model *m, struct trace *probe)
{
    size_t n = l->list.n, n_dirs = m->session->n_devices + 1;
    unsigned next = SCRIPT_FIRST_INDEX;
    l->numbers = mem_zalloc(n * n_dirs, sizeof *l->numbers);
    for (size_t d = n_dirs; d--;) {
        const struct prof_dir *dir = metric_dir(m, d);
        for (size_t k = 0; k < n; k++) {
            size_t i = (k + N_OWN_LAYERS) % n;
            struct layer *layer = &l->list.at[i];
            layer->numbers = l->numbers + i * n_dirs;
            unsigned positions = dir ? layer_positions(layer, m, probe, dir) : 0;
            if (layer->script_index != NEXT_INDEX) {
                l->numbers[i * n_dirs + d] = layer->script_index;
            } else if (positions) {
                l->numbers[i * n_dirs + d] = next;
                next += positions;
            }
        }
    }
}

static bool has_steps(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++)
        if (m->devices[i].data.steps.n) return true;
    return false;
}

static bool has_tracks(const struct model *m)
{
    const struct prof_dir *dir;
    for (size_t i = 0; (dir = metric_dir(m, i)); i++)
        for (size_t k = 0; k < n_metrics; k++)
            if (metrics[k]->layers && metric_data(m, dir, metrics[k])) return true;
    return false;
}

/* Is there anything that a timeline can be about? What there is may still show nothing: that is an empty array. */
static bool has_data(const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_data *d = &m->devices[i].data;
        if (d->has_tasks || d->fusions.n || d->freqs.n || d->recorded_freqs.n || d->reduces.n || d->get_nexts.n)
            return true;
    }
    return m->host.has_apis || m->host.tasks.n || has_steps(m) || has_tracks(m);
}

static bool has_marks(const struct model *m)
{
    return metric_data(m, m->session->host, &metric_msproftx);
}

static const struct {
    const char *stem;
    bool (*wanted)(const struct model *m);
} files[FILE_COUNT] = {
    [FILE_MSPROF] = {"msprof", has_data},
    [FILE_STEP_TRACE] = {"step_trace", has_steps},
    [FILE_MSPROF_TX] = {"msprof_tx", has_marks},
};

bool timeline_has_file(const char *stem)
{
    for (size_t i = 0; i < FILE_COUNT; i++)
        if (!strcmp(files[i].stem, stem)) return true;
    return false;
}

static int layers_start(struct layers *l, const struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    for (size_t i = 0; i < N_OWN_LAYERS; i++) array_push(&l->list, own_layers[i]);
    for (size_t i = 0; i < n_metrics; i++)
        for (const struct layer *track = metrics[i]->layers; track && track->key; track++) {
            struct layer *layer = array_add(&l->list);
            *layer = *track;
            layer->metric = metrics[i];
            if (layer->show) layer->write = track_write;
        }
    if (!m->session->script_timeline) return 0;
    if (m->scope == MODEL_WHOLE) {
        number_layers(l, m, NULL);
        return 0;
    }
    struct trace probe;
    char *path = export_path(target, files[FILE_MSPROF].stem, -1, "json");
    int status = trace_open(&probe, m, path, NULL, err);
    free(path);
    if (status) return -1;
    probe.limited = true;
    number_layers(l, m, &probe);
    trace_close_sliced(&probe);
    return 0;
}

static void layers_free(struct layers *l)
{
    array_free(&l->list);
    free(l->numbers);
}

bool timeline_has_layer(const char *key)
{
    for (size_t i = 0; i < N_OWN_LAYERS; i++)
        if (!strcmp(own_layers[i].key, key)) return true;
    for (size_t i = 0; i < n_metrics; i++)
        for (const struct layer *track = metrics[i]->layers; track && track->key; track++)
            if (!strcmp(track->key, key)) return true;
    return false;
}

static void write_layers(struct trace *t, const struct export_target *target, const struct layers *layers,
                         enum timeline_file file)
{
    const struct reports *reports = target->model->session->script_timeline ? NULL : target->reports;
    t->file = file;
    for (size_t i = 0; i < layers->list.n; i++) {
        const struct layer *layer = &layers->list.at[i];
        if (!(layer->files & 1u << file) || !reports_want(reports, layer->key)) continue;
        t->limited = target->model->scope != MODEL_WHOLE && !layer->any_time;
        layer->write(t, layer);
    }
}

static int write_file(struct export_target *target, const struct layers *layers, enum timeline_file file,
                      const char *path, struct error *err)
{
    struct trace t;
    if (trace_open(&t, target->model, path, target->progress, err)) return -1;
    write_layers(&t, target, layers, file);
    uint64_t events = t.events, bytes;
    if (trace_close(&t, &bytes, err)) return -1;
    export_wrote(target, path, bytes, events);
    return 0;
}

/* The timeline in n files. */
static int write_slices(struct export_target *target, const struct layers *layers, size_t n, const char *path,
                        struct error *err)
{
    struct trace t;
    struct slices *slices = mem_alloc(sizeof *slices);
    int status = slices_open(slices, target, n, err);
    if (!status) {
        bool open = !trace_open_sliced(&t, target->model, path, slices, target->progress, err);
        if (open) {
            write_layers(&t, target, layers, FILE_MSPROF);
            trace_close_sliced(&t);
        }
        status = slices_close(slices, target, err) || !open ? -1 : 0;
    }
    free(slices);
    return status;
}

int timeline_export(struct export_target *target, struct error *err)
{
    int status = 0;
    struct layers layers = {0};
    if (target->reports && target->reports->switches && target->model->session->script_timeline)
        diag_note(target->diag, DIAG_WARNING, "", DIAG_NO_OFFSET,
                  "the selection of reports is not used: timelines of this chip or kind of collection are whole");
    bool started = !layers_start(&layers, target, err);
    if (!started) status = -1;
    for (enum timeline_file file = 0; file < FILE_COUNT && started; file++) {
        if (!files[file].wanted(target->model)) continue;
        char *path = export_path(target, files[file].stem, -1, "json");
        size_t n = file == FILE_MSPROF && target->slice_bytes ? slices_needed(target->model, target->slice_bytes) : 1;
        if (n > 1 ? write_slices(target, &layers, n, path, err) : write_file(target, &layers, file, path, err))
            status = -1;
        free(path);
    }
    layers_free(&layers);
    return status;
}
