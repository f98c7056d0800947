/* The stretches are quantiles of a sample: every so manyth call and task, all of which are in order of their start. */
#include "export/timeline/slices.h"

#include <stdlib.h>

#include "base/sort.h"

#define STEM       "msprof"
#define SAMPLES    20000u
#define EVENT_SIZE 215u /* bytes of an average event */

/* A call is an event, a task one and two ends of an arrow. */
#define EVENTS_OF_TASK 3u

static uint64_t weight(const struct model *m)
{
    uint64_t events = m->host.apis.n;
    for (size_t i = 0; i < m->n_devices; i++)
        events += EVENTS_OF_TASK * m->devices[i].tasks.n + m->devices[i].comm_tasks.n;
    return events;
}

size_t slices_needed(const struct model *m, uint64_t bytes)
{
    uint64_t n = weight(m) * EVENT_SIZE / (bytes ? bytes : 1) + 1;
    return n < SLICES_MAX ? (size_t)n : SLICES_MAX;
}

typedef ARRAY(struct sort_key) sample_array;

static void sample(sample_array *samples, int64_t ns)
{
    array_push(samples, ((struct sort_key){(uint64_t)ns ^ 1ull << 63, 0}));
}

static void choose_stretches(struct slices *s, const struct model *m)
{
    sample_array samples = {0};
    size_t step = (size_t)(weight(m) / SAMPLES) + 1;
    for (size_t i = 0; i < m->host.apis.n; i += step) sample(&samples, m->host.apis.at[i].start_ns);
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t k = 0; k < d->tasks.n; k += step)
            for (unsigned e = 0; e < EVENTS_OF_TASK; e++) sample(&samples, d->tasks.at[k].start_ns);
        for (size_t k = 0; k < d->comm_tasks.n; k += step) sample(&samples, d->comm_tasks.at[k].start_ns);
    }
    sort_keys(samples.at, samples.n);
    for (size_t i = 1; i < s->n; i++)
        s->from_ns[i] = samples.n ? (int64_t)(samples.at[samples.n * i / s->n].key ^ 1ull << 63) : INT64_MAX;
    array_free(&samples);
}

int slices_open(struct slices *s, const struct export_target *t, size_t n, struct error *err)
{
    *s = (struct slices){.n = n};
    choose_stretches(s, t->model);
    for (size_t i = 0; i < n; i++) {
        char *path = export_path(t, STEM, (int)i, "json");
        int status = out_open(&s->outs[i], path, err);
        free(path);
        if (status) {
            while (i--) out_discard(&s->outs[i]);
            return -1;
        }
        out_char(&s->outs[i], '[');
    }
    return 0;
}

static void add_to(struct slices *s, size_t i, const char *event, size_t len)
{
    if (s->events[i]++) out_char(&s->outs[i], ',');
    out_bytes(&s->outs[i], event, len);
}

void slices_add(struct slices *s, int64_t time_ns, const char *event, size_t len)
{
    size_t low = 1, high = s->n; /* the last stretch that begins at or before the time */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->from_ns[mid] <= time_ns) low = mid + 1;
        else high = mid;
    }
    add_to(s, low - 1, event, len);
}

void slices_add_to_all(struct slices *s, const char *event, size_t len)
{
    for (size_t i = 0; i < s->n; i++) add_to(s, i, event, len);
}

int slices_close(struct slices *s, struct export_target *t, struct error *err)
{
    int status = 0;
    for (size_t i = 0; i < s->n; i++) {
        out_char(&s->outs[i], ']');
        uint64_t bytes = out_size(&s->outs[i]);
        char *path = export_path(t, STEM, (int)i, "json");
        if (out_commit(&s->outs[i], err)) status = -1;
        else export_wrote(t, path, bytes, s->events[i]);
        free(path);
    }
    return status;
}
