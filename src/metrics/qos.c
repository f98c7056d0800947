/* QoS: bandwidth of the streams of traffic that sample.json names (qosEvents).
 *
 * Chips with a file of their own (qos) count the whole chip. On the others samples come from stars_soc_profile, one per
 * die, and the first two numbers are of no named stream; the database of chips whose dies have no names of their own
 * takes them for the first two all the same, as the reference does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/stars_samples.h"

enum { STREAMS = 10, UNNAMED = 2 };

/* docs/formats/sampled-metrics.md, "QoS" */
enum { RECORD = 64, R_TIME = 16, R_BANDWIDTH = 24 };

#define DIE_NONE UINT32_MAX

struct sample {
    int64_t time_ns;
    uint32_t die;
    uint32_t mb_per_s[STREAMS]; /* in the order of the record */
};

struct qos {
    ARRAY(struct sample) samples; /* ascending time, then die */
    str_id names[STREAMS];        /* "QoS <event>" */
    unsigned n_names;
};

struct reader {
    struct qos *qos;
    const struct prof_dir *dir;
};

static void find_names(struct qos *qos, const struct metric_source *from, unsigned most)
{
    const char *at = sample_setting(from->dir, "qosEvents");
    while (*at && qos->n_names < most) {
        size_t len = strcspn(at, ",");
        char text[128];
        int n = snprintf(text, sizeof text, "QoS %.*s", (int)(len < 100 ? len : 100), at);
        qos->names[qos->n_names++] = strpool_add(from->strings, text, (size_t)n);
        at += len + (at[len] == ',');
    }
}

static void add_sample(struct reader *r, const uint8_t *bandwidths, int64_t time_ns, uint32_t die)
{
    struct sample s = {.time_ns = time_ns, .die = die};
    for (unsigned i = 0; i < STREAMS; i++) s.mb_per_s[i] = get_u32(bandwidths + 4 * i);
    array_push(&r->qos->samples, s);
}

static void visit_file(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    add_sample(r, p + R_BANDWIDTH, clock_device_ns(&r->dir->clock, get_u64(p + R_TIME)), DIE_NONE);
}

static void visit_sample(const uint8_t *p, void *context)
{
    struct reader *r = context;
    add_sample(r, p + R_BANDWIDTH, stars_time(r->dir, p), stars_upper_bits(p));
}

static uint64_t die_key(const void *sample)
{
    return ((const struct sample *)sample)->die;
}

static uint64_t time_key(const void *sample)
{
    return sample_time_key(((const struct sample *)sample)->time_ns);
}

static void sort_samples(struct qos *qos)
{
    sample_sort(qos->samples.at, qos->samples.n, sizeof *qos->samples.at, die_key);
    sample_sort(qos->samples.at, qos->samples.n, sizeof *qos->samples.at, time_key);
}

static void qos_free(void *data)
{
    struct qos *qos = data;
    array_free(&qos->samples);
    free(qos);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.qos), from->dir};
    bool own_file = from->dir->chip->samples & SAMPLE_QOS;
    find_names(r.qos, from, own_file ? STREAMS : STREAMS - UNNAMED);
    if (own_file)
        records_each(prof_dir_files(from->dir, INPUT_QOS), RECORD, NULL, from->diag, from->progress, visit_file, &r);
    else stars_samples_each(from, STARS_QOS, visit_sample, &r);
    sort_samples(r.qos);
    if (r.qos->samples.n && r.qos->n_names) return r.qos;
    qos_free(r.qos);
    return NULL;
}

/* Number of a named stream in a sample. */
static unsigned number_of(const struct sample *s, unsigned stream)
{
    return s->die == DIE_NONE ? stream : stream + UNNAMED;
}

static void put_series(struct trace *t, const struct sample *s, unsigned stream)
{
    uint32_t value = s->mb_per_s[number_of(s, stream)];
    char die[4 + FORMAT_U64 + 1] = "die ";
    if (s->die == DIE_NONE) {
        sample_series_u64(t, t->model->session->script_timeline ? "bandwidth(MB/s)" : "value", value);
        return;
    }
    *format_u64(die + 4, s->die) = '\0';
    sample_series_u64(t, die, value);
}

/* The first sample of a die at a time, NULL = none. */
static const struct sample *find(const struct qos *qos, int64_t time_ns, uint32_t die)
{
    size_t low = 0, high = qos->samples.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct sample *s = &qos->samples.at[mid];
        if (s->time_ns < time_ns || (s->time_ns == time_ns && s->die < die)) low = mid + 1;
        else high = mid;
    }
    const struct sample *s = low < qos->samples.n ? &qos->samples.at[low] : NULL;
    return s && s->time_ns == time_ns && s->die == die ? s : NULL;
}

/* The reference's native part takes samples of the dies of several devices with one time for one: the first device
 * shows the values of the last, and the golden data have it so. This is the sample whose values are shown for `s` of
 * the device at `position`; NULL when an earlier device shows that time. */
static const struct sample *shown_for(const struct model *m, size_t position, const struct sample *s)
{
    const struct sample *shown = s;
    if (s->die == DIE_NONE || m->session->script_timeline) return s;
    for (size_t d = 0; d < m->n_devices; d++) {
        const struct qos *other = d == position ? NULL : metric_data(m, m->devices[d].dir, &metric_qos);
        const struct sample *same = other ? find(other, s->time_ns, s->die) : NULL;
        if (same && d < position) return NULL;
        if (same) shown = same;
    }
    return shown;
}

/* Samples of one time are one event per stream, a series per die. */
static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct qos *qos = data;
    for (size_t i = 0, end; i < qos->samples.n; i = end) {
        const struct sample *s = &qos->samples.at[i];
        end = i + 1;
        while (s->die != DIE_NONE && end < qos->samples.n && qos->samples.at[end].time_ns == s->time_ns) end++;
        if (sample_too_early(dir, s->time_ns) || !shown_for(t->model, dir->position, s)) continue;
        for (unsigned stream = 0; stream < qos->n_names; stream++) {
            trace_begin(t);
            trace_text(t, qos->names[stream]);
            trace_counter(t, pid, 0, s->time_ns);
            for (size_t k = i; k < end; k++) {
                const struct sample *shown = shown_for(t->model, dir->position, &qos->samples.at[k]);
                if (shown) put_series(t, shown, stream);
            }
            trace_end(t);
        }
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct qos *qos = data;
    bool by_die = stars_by_die(dir);
    for (size_t i = 0; i < qos->samples.n; i++) {
        const struct sample *s = &qos->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        for (unsigned stream = 0; stream < qos->n_names; stream++) {
            db_int(t, dir->device_id);
            db_string(run, t, qos->names[stream]);
            db_int(t, (int64_t)s->mb_per_s[by_die ? number_of(s, stream) : stream] * (int64_t)BYTES_PER_MB);
            db_int(t, s->time_ns);
            db_int(t, by_die ? (int64_t)s->die : -1);
            db_row(t);
        }
    }
}

const struct metric metric_qos = {
    .name = "QoS",
    .chips = SAMPLE_QOS | SAMPLE_STARS,
    METRIC_INPUTS(INPUT_QOS, INPUT_STARS_SOC_PROFILE),
    .load = load,
    .free = qos_free,
    .layers = (const struct layer[]){{.key = "qos",
                                      .name = "QoS",
                                      .sort_index = 29,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"QOS",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"eventName", DB_NUMERIC},
                                                              {"bandwidth", DB_NUMERIC},
                                                              {"timestampNs", DB_NUMERIC},
                                                              {"dieId", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
