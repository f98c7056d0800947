/* Lines of repeated values. */
#include "export/timeline/held.h"

#define REPEAT_NS INT64_C(1000000)
#define CLOSE_NS  INT64_C(1000) /* no repetition this close to the next value */
#define HOUR_NS   INT64_C(3600000000000)

struct line {
    struct trace *t;
    uint32_t pid;
    void (*put)(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t value);
    int64_t left_ns; /* of the hour */
};

/* A value and its repetitions before `to_ns`. */
static void stretch(struct line *l, const struct held_value *from, int64_t to_ns)
{
    int64_t start_ns = l->t->model->session->start_ns, span = trace_duration(from->time_ns, to_ns);
    if (from->time_ns >= start_ns) l->put(l->t, l->pid, from->time_ns, from->value);
    if (span <= REPEAT_NS || span > l->left_ns) return;
    l->left_ns -= span;
    for (int64_t after = REPEAT_NS; after < span - CLOSE_NS; after += REPEAT_NS) /* no overflow near the end of time */
        if (from->time_ns + after >= start_ns) l->put(l->t, l->pid, from->time_ns + after, from->value);
}

void held_line(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct held_value *values, size_t n,
               void (*put)(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t value))
{
    if (!n) return;
    struct line l = {t, pid, put, HOUR_NS};
    const struct held_value *last = &values[n - 1];
    int64_t end_ns = dir->meta.end_ns;
    if (!dir->meta.has_end) end_ns = last->time_ns < INT64_MAX - CLOSE_NS ? last->time_ns + CLOSE_NS : INT64_MAX;
    for (size_t i = 0; i < n; i++) stretch(&l, &values[i], i + 1 < n ? values[i + 1].time_ns : end_ns);
    put(t, pid, end_ns, last->value);
}
