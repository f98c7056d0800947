/* SIO: what went through the links between the dies of a chip, by kind of traffic and direction.
 *
 * A sample holds the bytes moved since the sample before it of the same die. A rate needs the time between the two: the
 * first sample of a die has none, nor has one that is not later. */
#include <stdlib.h>

#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/stars_samples.h"

/* Traffic, in the order of the outputs. */
static const char *const kinds[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx", "req_tx", "rsp_tx", "snp_tx", "dat_tx"};
enum { KINDS = sizeof kinds / sizeof *kinds, PER_DIRECTION = KINDS / 2, MAX_DIES = 4 };

/* docs/formats/sampled-metrics.md, "SIO": offsets of the two groups of counters, and of the die. */
enum { R_DIE = 18, R_RX = 32, R_TX = 48, R_DIE_BYTE = 1, R_BY_DIE_RX = 28, R_BY_DIE_TX = 48 };

struct sample {
    int64_t time_ns;
    uint32_t die;
    uint32_t bytes[KINDS];
    int64_t interval_ns; /* 0 = none */
};

struct sio {
    ARRAY(struct sample) samples; /* ascending time, then die; those with an interval */
};

struct reader {
    struct sio *sio;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, void *context)
{
    struct reader *r = context;
    bool by_die = stars_by_die(r->dir);
    struct sample s = {.time_ns = stars_time(r->dir, p), .die = by_die ? p[R_DIE_BYTE] >> 2 : get_u16(p + R_DIE)};
    if (!stars_die_name(r->dir, s.die)) return;
    for (int i = 0; i < PER_DIRECTION; i++) {
        s.bytes[i] = get_u32(p + (by_die ? R_BY_DIE_RX : R_RX) + 4 * i);
        s.bytes[PER_DIRECTION + i] = get_u32(p + (by_die ? R_BY_DIE_TX : R_TX) + 4 * i);
    }
    array_push(&r->sio->samples, s);
}

static uint64_t die_key(const void *sample)
{
    return ((const struct sample *)sample)->die;
}

static uint64_t time_key(const void *sample)
{
    return sample_time_key(((const struct sample *)sample)->time_ns);
}

static void sort_samples(struct sio *sio)
{
    sample_sort(sio->samples.at, sio->samples.n, sizeof *sio->samples.at, die_key);
    sample_sort(sio->samples.at, sio->samples.n, sizeof *sio->samples.at, time_key);
}

static void find_intervals(struct sio *sio)
{
    int64_t last[MAX_DIES];
    bool seen[MAX_DIES] = {false};
    size_t kept = 0;
    for (size_t i = 0; i < sio->samples.n; i++) {
        struct sample s = sio->samples.at[i];
        bool later = seen[s.die] && s.time_ns > last[s.die];
        s.interval_ns = later ? span_ns(last[s.die], s.time_ns) : 0;
        if (later || !seen[s.die]) last[s.die] = s.time_ns;
        seen[s.die] = true;
        if (later) sio->samples.at[kept++] = s;
    }
    sio->samples.n = kept;
}

static void sio_free(void *data)
{
    struct sio *sio = data;
    array_free(&sio->samples);
    free(sio);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.sio), from->dir};
    stars_samples_each(from, STARS_SIO, visit, &r);
    sort_samples(r.sio);
    find_intervals(r.sio);
    if (r.sio->samples.n) return r.sio;
    sio_free(r.sio);
    return NULL;
}

static double mb_per_s(const struct sample *s, int kind)
{
    return (double)s->bytes[kind] * (1e9 / BYTES_PER_MB) / (double)s->interval_ns;
}

/* A sample of some device. */
struct shown {
    const struct prof_dir *dir;
    const struct sample *sample;
};

typedef ARRAY(struct shown) shown_samples;

/* The events of one time: a series per die, in the process of the first device. Of samples of the same die the last
 * counts. */
static void put_time(struct trace *t, const struct layer *layer, const struct shown *all, size_t n)
{
    const struct sample *of_die[MAX_DIES] = {NULL};
    for (size_t i = 0; i < n; i++) of_die[all[i].sample->die] = all[i].sample;
    for (int kind = 0; kind < KINDS; kind++) {
        trace_begin(t);
        out_text(&t->out, kinds[kind]);
        trace_counter(t, layer_pid(layer, all->dir), 0, all->sample->time_ns);
        for (uint32_t die = 0; die < MAX_DIES; die++)
            if (of_die[die]) sample_series(t, stars_die_name(all->dir, die), mb_per_s(of_die[die], kind));
        trace_end(t);
    }
}

static void add_samples(shown_samples *out, const struct prof_dir *dir, const struct sio *sio)
{
    for (size_t i = 0; i < sio->samples.n; i++)
        if (!sample_too_early(dir, sio->samples.at[i].time_ns))
            array_push(out, ((struct shown){dir, &sio->samples.at[i]}));
}

static uint64_t shown_time_key(const void *shown)
{
    return time_key(((const struct shown *)shown)->sample);
}

/* Sorts them. */
static void put_samples(struct trace *t, const struct layer *layer, const shown_samples *all)
{
    sample_sort(all->at, all->n, sizeof *all->at, shown_time_key);
    for (size_t i = 0, end; i < all->n; i = end) {
        for (end = i + 1; end < all->n && all->at[end].sample->time_ns == all->at[i].sample->time_ns;) end++;
        put_time(t, layer, all->at + i, end - i);
    }
}

/* The reference's native part takes samples of several devices with one time for one: the first device shows the values
 * of the last. The golden data have it so. */
static void write_layer(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    shown_samples all = {0};
    bool any = false;
    for (size_t d = 0; d < m->n_devices; d++) {
        const struct sio *sio = metric_data(m, m->devices[d].dir, &metric_sio);
        if (!sio) continue;
        any = true;
        add_samples(&all, m->devices[d].dir, sio);
        if (!m->session->script_timeline) continue;
        uint64_t before = t->events;
        put_samples(t, layer, &all);
        if (!t->limited || t->events > before) layer_process(t, layer, m->devices[d].dir);
        all.n = 0;
    }
    for (size_t d = 0; any && !m->session->script_timeline && d < m->n_devices; d++)
        layer_process(t, layer, m->devices[d].dir);
    put_samples(t, layer, &all);
    array_free(&all);
}

static bool has(const struct model *m, const struct prof_dir *dir)
{
    return metric_data(m, dir, &metric_sio);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct sio *sio = data;
    for (size_t i = 0; i < sio->samples.n; i++) {
        const struct sample *s = &sio->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, dir->device_id);
        db_string_z(run, t, stars_die_name(dir, s->die));
        db_int(t, s->time_ns);
        for (int kind = 0; kind < KINDS; kind++) db_real(t, mb_per_s(s, kind) * BYTES_PER_MB);
        db_row(t);
    }
}

const struct metric metric_sio = {
    .name = "SIO",
    .chips = SAMPLE_STARS,
    METRIC_INPUTS(INPUT_STARS_SOC_PROFILE),
    .load = load,
    .free = sio_free,
    .layers =
        (const struct layer[]){
            {.key = "sio", .name = "SIO", .sort_index = 28, .files = IN_MSPROF, .write = write_layer, .has = has},
            {.key = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"SIO",
                                                             {{"deviceId", DB_NUMERIC},
                                                              {"name", DB_NUMERIC},
                                                              {"timestampNs", DB_NUMERIC},
                                                              {"rxReq", DB_NUMERIC},
                                                              {"rxRsp", DB_NUMERIC},
                                                              {"rxSnp", DB_NUMERIC},
                                                              {"rxDat", DB_NUMERIC},
                                                              {"txReq", DB_NUMERIC},
                                                              {"txRsp", DB_NUMERIC},
                                                              {"txSnp", DB_NUMERIC},
                                                              {"txDat", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
