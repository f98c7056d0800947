/* Events are put together in the output buffer from constant pieces and numbers; nothing is allocated per event. As the
 * CANN layer alone has several million events, the two things that cost are kept cheap: an event checks the room of the
 * buffer once per run of pieces, and a text of the string pool is searched for characters to escape only the first time
 * that it is written. */
#include "export/timeline/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/timeline/slices.h"

#define PROGRESS_STEP 65536u /* events, a power of two */
#define HOST_ID       31u    /* what a process id has in the place of the device id */

enum escaping { ESCAPING_UNKNOWN, ESCAPING_NONE, ESCAPING_NEEDED };

/* Append constant text at p, which has the room. */
#define PUT(p, text) (memcpy((p), (text), sizeof(text) - 1), (p) + sizeof(text) - 1)

/* Room for the fixed part of any event: the constant pieces, and up to seven numbers. */
#define FIXED_ROOM 512

int trace_open(struct trace *t, const struct model *m, const char *path, struct progress *progress, struct error *err)
{
    *t = (struct trace){.model = m, .progress = progress};
    if (out_open(&t->out, path, err)) return -1;
    t->escaping = mem_zalloc(strpool_count(m->strings), 1);
    out_char(&t->out, '[');
    return 0;
}

int trace_close(struct trace *t, uint64_t *bytes, struct error *err)
{
    out_char(&t->out, ']');
    *bytes = out_size(&t->out);
    progress_add(t->progress, t->events % PROGRESS_STEP);
    free(t->escaping);
    t->escaping = NULL;
    return out_commit(&t->out, err);
}

uint32_t trace_pid(const struct prof_dir *dir, unsigned sort_index)
{
    return dir->meta.pid << 10 | sort_index << 5 | (dir->is_host ? HOST_ID : dir->device_id);
}

int trace_open_sliced(struct trace *t, const struct model *m, const char *path, struct slices *slices,
                      struct progress *progress, struct error *err)
{
    if (trace_open(t, m, path, progress, err)) return -1;
    t->slices = slices;
    return 0;
}

void trace_close_sliced(struct trace *t)
{
    progress_add(t->progress, t->events % PROGRESS_STEP);
    free(t->escaping);
    out_discard(&t->out);
}

/* The longest event that can be taken back. */
#define EVENT_ROOM (OUT_BUFFER / 2)

void trace_at(struct trace *t, int64_t time_ns)
{
    t->timed = true;
    t->time_ns = time_ns;
}

/* Leave the open event out if it is of a device whose window does not show it. */
static void limit(struct trace *t, uint32_t pid, int64_t start_ns, int64_t end_ns)
{
    trace_at(t, start_ns);
    if (!t->limited || (pid & HOST_ID) == HOST_ID) return;
    for (size_t i = 0; i < t->model->n_devices; i++) {
        const struct device_model *d = &t->model->devices[i];
        if ((d->device_id & HOST_ID) == (pid & HOST_ID)) t->left_out = !window_shows(&d->window, start_ns, end_ns);
    }
}

/* Move the event of `size` bytes that has just ended to where it belongs. */
static void move_event(struct trace *t, size_t size)
{
    const char *event = t->out.at - size;
    if (*event == ',') event++, size--;
    if (t->timed) slices_add(t->slices, t->time_ns, event, size);
    else slices_add_to_all(t->slices, event, size);
}

/* Take the event back that has just ended, if it is to be left out, or to be elsewhere. */
static void end_event(struct trace *t)
{
    uint64_t size = out_size(&t->out) - t->event_at;
    t->shown += t->timed && !t->left_out;
    if (!(t->left_out || t->slices) || size > (uint64_t)(t->out.at - t->out.buffer)) return;
    if (t->left_out) t->events--;
    else move_event(t, (size_t)size);
    t->out.at -= size;
}

void trace_begin(struct trace *t)
{
    if (t->limited || t->slices) {
        out_room(&t->out, EVENT_ROOM);
        t->event_at = out_size(&t->out);
        t->left_out = t->timed = false;
    }
    if (t->events++) out_char(&t->out, ',');
    if (t->events % PROGRESS_STEP == 0) progress_add(t->progress, PROGRESS_STEP);
    out_literal(&t->out, "{\"name\":\"");
    t->has_args = false;
}

static bool needs_escaping(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') return true;
    }
    return false;
}

void trace_text(struct trace *t, str_id id)
{
    const char *text = strpool_text(t->model->strings, id);
    size_t n = strpool_length(t->model->strings, id);
    if (t->escaping[id] == ESCAPING_UNKNOWN)
        t->escaping[id] = needs_escaping(text, n) ? ESCAPING_NEEDED : ESCAPING_NONE;
    if (t->escaping[id] == ESCAPING_NONE) out_bytes(&t->out, text, n);
    else out_json_chars(&t->out, text, n);
}

static char *put_place(char *p, uint32_t pid, int32_t tid)
{
    p = PUT(p, "\",\"pid\":");
    p = format_u64(p, pid);
    p = PUT(p, ",\"tid\":");
    return format_i64(p, tid);
}

static char *put_time(char *p, int64_t time_ns)
{
    p = PUT(p, ",\"ts\":\"");
    p = format_us(p, time_ns);
    return PUT(p, "\"");
}

int64_t trace_duration(int64_t start_ns, int64_t end_ns)
{
    if (end_ns <= start_ns) return 0;
    uint64_t d = (uint64_t)end_ns - (uint64_t)start_ns;
    return d > INT64_MAX ? INT64_MAX : (int64_t)d;
}

void trace_slice(struct trace *t, uint32_t pid, int32_t tid, int64_t start_ns, int64_t end_ns, const char *category)
{
    limit(t, pid, start_ns, end_ns);
    char *p = put_place(out_room(&t->out, FIXED_ROOM), pid, tid);
    p = put_time(p, start_ns);
    p = PUT(p, ",\"dur\":");
    p = format_us_number(p, trace_duration(start_ns, end_ns));
    p = PUT(p, ",\"ph\":\"X\"");
    t->out.at = p;
    if (category) {
        out_literal(&t->out, ",\"cat\":\"");
        out_text(&t->out, category);
        out_char(&t->out, '"');
    }
    out_literal(&t->out, ",\"args\":{");
}

void trace_counter(struct trace *t, uint32_t pid, int32_t tid, int64_t time_ns)
{
    limit(t, pid, time_ns, time_ns);
    char *p = put_place(out_room(&t->out, FIXED_ROOM), pid, tid);
    p = put_time(p, time_ns);
    t->out.at = PUT(p, ",\"ph\":\"C\",\"args\":{");
}

void trace_end(struct trace *t)
{
    out_literal(&t->out, "}}");
    if (t->limited || t->slices) end_event(t);
}

void trace_connection(struct trace *t, uint32_t connection)
{
    trace_key(t, "connection_id");
    if (connection) out_u64(&t->out, connection);
    else if (t->model->session->script_timeline) out_literal(&t->out, "-1");
    else out_u64(&t->out, UINT64_MAX);
}

#define ARROW_DIGITS 40 /* of a number of 128 bits, and one to spare */

/* Everything of a flow event that both ends have. */
static void flow(struct trace *t, char phase, const char *id, size_t n, const struct trace_point *at)
{
    trace_begin(t);
    char *p = out_room(&t->out, FIXED_ROOM);
    p = PUT(p, "HostToDevice");
    p = (char *)memcpy(p, id, n) + n;
    p = put_place(p, at->pid, at->tid);
    p = PUT(p, ",\"ph\":\"");
    *p++ = phase;
    p = PUT(p, "\",\"cat\":\"HostToDevice\",\"id\":\"");
    p = (char *)memcpy(p, id, n) + n;
    *p++ = '"';
    t->out.at = put_time(p, at->time_ns);
    if (phase == 's') {
        trace_at(t, at->time_ns);
        out_char(&t->out, '}');
    } else {
        limit(t, at->pid, at->time_ns, at->time_ns);
        out_literal(&t->out, ",\"bp\":\"e\"}");
    }
    if (t->limited || t->slices) end_event(t);
}

/* The id is the connection in the upper half of 64 bits. */
static void flow_of(struct trace *t, char phase, uint32_t pid, int32_t tid, uint32_t connection, int64_t time_ns)
{
    char id[FORMAT_U64];
    size_t n = (size_t)(format_u64(id, (uint64_t)connection << 32) - id);
    flow(t, phase, id, n, &(struct trace_point){pid, tid, time_ns});
}

void trace_flow_start(struct trace *t, uint32_t pid, int32_t tid, uint32_t connection, int64_t time_ns)
{
    flow_of(t, 's', pid, tid, connection, time_ns);
}

void trace_flow_end(struct trace *t, uint32_t pid, int32_t tid, uint32_t connection, int64_t time_ns)
{
    flow_of(t, 'f', pid, tid, connection, time_ns);
}

void trace_arrow(struct trace *t, trace_arrow_id id, const struct trace_point *from, const struct trace_point *to)
{
    char digits[ARROW_DIGITS];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + (unsigned)(id % 10));
    while (id /= 10);
    if (from) flow(t, 's', digits + at, sizeof digits - at, from);
    flow(t, 'f', digits + at, sizeof digits - at, to);
}

#define MARK_BASE 4000000001u /* what the reference's native part adds to a mark's id */

void trace_mark_flow(struct trace *t, bool start, uint32_t pid, int32_t tid, uint64_t mark_id, int64_t time_ns)
{
    bool script = t->model->session->script_timeline;
    char id[FORMAT_U64];
    size_t n = (size_t)(format_u64(id, script ? mark_id : mark_id + MARK_BASE) - id);
    trace_begin(t);
    char *p = out_room(&t->out, FIXED_ROOM);
    p = PUT(p, "MsTx_");
    p = (char *)memcpy(p, id, n) + n;
    p = put_place(p, pid, tid);
    p = start ? PUT(p, ",\"ph\":\"s\",\"cat\":\"MsTx\",\"id\":\"") : PUT(p, ",\"ph\":\"f\",\"cat\":\"MsTx\",\"id\":\"");
    p = (char *)memcpy(p, id, n) + n;
    *p++ = '"';
    t->out.at = put_time(p, time_ns);
    limit(t, pid, time_ns, time_ns);
    if (!start || script) out_literal(&t->out, ",\"bp\":\"e\"");
    out_char(&t->out, '}');
    if (t->limited || t->slices) end_event(t);
}

/* A metadata event up to its only arg, whose value follows. */
static void metadata(struct trace *t, const char *kind, uint32_t pid, int32_t tid, const char *arg)
{
    trace_begin(t);
    out_text(&t->out, kind);
    t->out.at = put_place(out_room(&t->out, FIXED_ROOM), pid, tid);
    out_literal(&t->out, ",\"ph\":\"M\",\"args\":{\"");
    out_text(&t->out, arg);
    out_literal(&t->out, "\":");
}

void trace_process_name(struct trace *t, uint32_t pid, const char *name)
{
    metadata(t, "process_name", pid, 0, "name");
    out_json_string(&t->out, name, strlen(name));
    trace_end(t);
}

void trace_labelled_process(struct trace *t, uint32_t pid, const char *name, const char *label, unsigned sort_index)
{
    trace_process_name(t, pid, name);
    metadata(t, "process_labels", pid, 0, "labels");
    out_json_string(&t->out, label, strlen(label));
    trace_end(t);
    metadata(t, "process_sort_index", pid, 0, "sort_index");
    out_u64(&t->out, sort_index);
    trace_end(t);
}

void trace_process(struct trace *t, uint32_t pid, const char *name, unsigned sort_index)
{
    char label[16];
    uint32_t device = pid & HOST_ID;
    if (device == HOST_ID) snprintf(label, sizeof label, "CPU");
    else snprintf(label, sizeof label, "NPU %u", device);
    trace_labelled_process(t, pid, name, label, sort_index);
}

void trace_thread_name(struct trace *t, uint32_t pid, int32_t tid, const char *name)
{
    metadata(t, "thread_name", pid, tid, "name");
    out_json_string(&t->out, name, strlen(name));
    trace_end(t);
}

void trace_thread(struct trace *t, uint32_t pid, int32_t tid, const char *name, int64_t sort_index)
{
    trace_thread_name(t, pid, tid, name);
    metadata(t, "thread_sort_index", pid, tid, "sort_index");
    out_i64(&t->out, sort_index);
    trace_end(t);
}
