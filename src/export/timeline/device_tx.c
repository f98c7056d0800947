/* Marks of the user as devices met them: part of Ascend Hardware, on the threads of their streams; an arrow comes from
 * the mark of the host. */
#include <stdlib.h>

#include "base/sort.h"
#include "export/timeline/timeline.h"
#include "metrics/msproftx.h"

static void put_mark(struct trace *t, uint32_t pid, const struct device_mark *m, str_id name)
{
    trace_begin(t);
    trace_text(t, name);
    trace_slice(t, pid, (int32_t)m->stream_id, m->start_ns, m->end_ns, NULL);
    trace_arg_u64(t, "Physic Stream Id", m->stream_id);
    trace_arg_u64(t, "Task Id", m->task_id);
    trace_end(t);
    trace_mark_flow(t, false, pid, (int32_t)m->stream_id, m->index, m->start_ns);
}

/* keys[n]: a stream each. */
static void name_streams(struct trace *t, uint32_t pid, struct sort_key *keys, size_t n)
{
    sort_keys(keys, n);
    for (size_t i = 0; i < n; i++) {
        char name[7 + FORMAT_U64 + 1] = "Stream ";
        if (i && keys[i].key == keys[i - 1].key) continue;
        *format_u64(name + 7, keys[i].key) = '\0';
        trace_thread(t, pid, (int32_t)keys[i].key, name, (int64_t)keys[i].key);
    }
}

/* A mark that the host does not know has no name; the reference's native part then repeats that of the mark before, and
 * the golden data have it so. */
void device_tx_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    str_id name = STR_NA;
    bool whole = m->session->script_timeline && t->file == FILE_MSPROF_TX;
    for (size_t d = 0; d < m->n_devices; d++) {
        const struct device_model *device = &m->devices[d];
        uint32_t pid = layer_pid(layer, device->dir);
        struct sort_key *streams = mem_alloc(device->data.marks.n * sizeof *streams);
        size_t n = 0;
        for (size_t i = 0; i < device->data.marks.n; i++) {
            const struct device_mark *mark = &device->data.marks.at[i];
            if (!whole && mark->start_ns < m->session->start_ns) continue;
            name = mark_message(m, mark->index, m->session->script_timeline ? STR_NA : name);
            put_mark(t, pid, mark, name);
            streams[n++] = (struct sort_key){mark->stream_id, 0};
        }
        if (n) {
            layer_process(t, layer, device->dir);
            name_streams(t, pid, streams, n);
        }
        free(streams);
    }
}
