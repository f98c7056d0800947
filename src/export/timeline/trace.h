/* Writing trace events (Chrome trace format): what the layers of the timeline are written with.
 *
 *     trace_begin(t);                                     {"name":"
 *     trace_text(t, task->name);                          the name, in as many pieces as wanted
 *     trace_slice(t, pid, tid, start_ns, end_ns, NULL);   ","pid":…,"tid":…,"ts":"…","dur":…,"ph":"X","args":{
 *     trace_key(t, "Task Id");                            "Task Id":
 *     out_u64(&t->out, task->task_id);
 *     trace_end(t);                                       }}
 *
 * Times are epoch ns; a file shows them as µs with three decimals, as text: a number would lose the last digits. */
#ifndef TIMELINE_TRACE_H
#define TIMELINE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "base/progress.h"
#include "model/model.h"

struct slices;

/* A file of trace events while it is written. */
struct trace {
    struct out out;
    const struct model *model;
    struct progress *progress; /* may be NULL */
    unsigned file;             /* enum timeline_file */
    uint64_t events;           /* events begun */
    bool has_args;             /* the open event has an arg already */
    uint8_t *escaping;         /* per string id: enum escaping */

    /* When the export is about some iterations: events of devices outside their windows are left out. */
    bool limited;      /* as long as this is set */
    bool left_out;     /* the open event */
    uint64_t shown;    /* events with a time that were not */
    uint64_t event_at; /* byte of the file at which it begins */

    /* When the timeline is cut into files: events are put together in `out`, and moved from there. */
    struct slices *slices; /* NULL = it is one file */
    bool timed;            /* the open event has a time */
    int64_t time_ns;
};

/* Start the file `path`. Returns 0, or -1 with *err set (nothing to release then). */
int trace_open(struct trace *t, const struct model *m, const char *path, struct progress *progress, struct error *err);

/* The same for a timeline that is cut into files, which the caller has opened and closes. `path` is of a file that is
 * not going to be there. Ended by trace_close_sliced. */
int trace_open_sliced(struct trace *t, const struct model *m, const char *path, struct slices *slices,
                      struct progress *progress, struct error *err);
void trace_close_sliced(struct trace *t);

/* Finish the file and release *t; *bytes is its size. Returns 0, or -1 with *err set and no file left. */
int trace_close(struct trace *t, uint64_t *bytes, struct error *err);

/* Process id of a layer: (P << 10) | (sort index << 5) | D in 32 bits, with P the pid of the directory's process and D
 * the device id, 31 for the host. */
uint32_t trace_pid(const struct prof_dir *dir, unsigned sort_index);

/* From start to end, 0 when the end is before the start; no overflow, whatever a damaged clock made of the times. */
int64_t trace_duration(int64_t start_ns, int64_t end_ns);

/* Begin an event: its name follows. */
void trace_begin(struct trace *t);

/* Text of a string id inside a JSON string, escaped. */
void trace_text(struct trace *t, str_id id);

/* A whole string with quotes. */
static inline void trace_string(struct trace *t, str_id id)
{
    out_char(&t->out, '"');
    trace_text(t, id);
    out_char(&t->out, '"');
}

/* The time of an event that none of the functions below gives one. */
void trace_at(struct trace *t, int64_t time_ns);

/* After the name: a slice (something that took time). category may be NULL, else it needs no escaping. Args
 * follow. */
void trace_slice(struct trace *t, uint32_t pid, int32_t tid, int64_t start_ns, int64_t end_ns, const char *category);

/* After the name: the value of a counter at a time. Args (the series) follow. */
void trace_counter(struct trace *t, uint32_t pid, int32_t tid, int64_t time_ns);

/* Key of the next arg, a literal that needs no escaping; the value follows. */
#define trace_key(t, key)                                                                                              \
    ((t)->has_args ? out_literal(&(t)->out, ",\"" key "\":")                                                           \
                   : ((t)->has_args = true, out_literal(&(t)->out, "\"" key "\":")))

/* Id of the call that launched something, 0 = none: -1, in 64 bits without sign but in the reference's scripts. */
void trace_connection(struct trace *t, uint32_t connection);

/* A number, and a string, as arg. */
#define trace_arg_u64(t, key, value)   (trace_key(t, key), out_u64(&(t)->out, (value)))
#define trace_arg_string(t, key, text) (trace_key(t, key), trace_string((t), (text)))

/* A text of the program, which needs no escaping, as arg. */
#define trace_arg_text(t, key, text)                                                                                   \
    (trace_key(t, key), out_char(&(t)->out, '"'), out_text(&(t)->out, (text)), out_char(&(t)->out, '"'))

/* A time as arg: text in µs. */
#define trace_arg_time(t, key, ns)                                                                                     \
    (trace_key(t, key), out_char(&(t)->out, '"'), out_us(&(t)->out, (ns)), out_char(&(t)->out, '"'))

/* End an event with args. */
void trace_end(struct trace *t);

/* Both ends of an arrow from a host call to what it launched: events of their own, bound to the slice of (pid, tid) at
 * that time. */
void trace_flow_start(struct trace *t, uint32_t pid, int32_t tid, uint32_t connection, int64_t time_ns);
void trace_flow_end(struct trace *t, uint32_t pid, int32_t tid, uint32_t connection, int64_t time_ns);

/* Where an end of an arrow is. */
struct trace_point {
    uint32_t pid;
    int32_t tid;
    int64_t time_ns;
};

/* Both ends of an arrow in a timeline of the reference's scripts, where ids are made of up to five numbers. `from` may
 * be NULL: only the end is there. */
__extension__ typedef unsigned __int128 trace_arrow_id;
void trace_arrow(struct trace *t, trace_arrow_id id, const struct trace_point *from, const struct trace_point *to);

/* Name, label and position of a process. */
void trace_labelled_process(struct trace *t, uint32_t pid, const char *name, const char *label, unsigned sort_index);

/* Both ends of an arrow from a mark of the host (start) to the same mark on a device. */
void trace_mark_flow(struct trace *t, bool start, uint32_t pid, int32_t tid, uint64_t mark_id, int64_t time_ns);

/* The same with the label that its pid tells: "NPU 0", "CPU". */
void trace_process(struct trace *t, uint32_t pid, const char *name, unsigned sort_index);

/* Name of a thread whose position does not matter. */
void trace_thread_name(struct trace *t, uint32_t pid, int32_t tid, const char *name);

/* Only the name of a process. */
void trace_process_name(struct trace *t, uint32_t pid, const char *name);

/* Name and position of a thread: threads are sorted by sort_index. */
void trace_thread(struct trace *t, uint32_t pid, int32_t tid, const char *name, int64_t sort_index);

#endif
