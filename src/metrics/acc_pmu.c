/* Acc PMU: levels of bandwidth and of outstanding requests of the accelerators of a device. The timeline shows the
 * highest of all at each time. */
#include <stdlib.h>

#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/stars_samples.h"

/* docs/formats/sampled-metrics.md, "Acc PMU" */
enum { R_ACC = 18, R_LEVELS = 32 };

/* Levels in the order of the record, which is that of nothing else. */
enum { WRITE_BANDWIDTH, READ_BANDWIDTH, WRITE_OST, READ_OST, LEVELS };

struct sample {
    int64_t time_ns;
    uint32_t acc;
    uint64_t level[LEVELS];
};

struct acc_pmu {
    ARRAY(struct sample) samples; /* ascending time, then accelerator */
};

struct reader {
    struct acc_pmu *pmu;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, void *context)
{
    struct reader *r = context;
    struct sample s = {.time_ns = stars_time(r->dir, p), .acc = get_u16(p + R_ACC)};
    for (int i = 0; i < LEVELS; i++) s.level[i] = get_u64(p + R_LEVELS + 8 * i);
    array_push(&r->pmu->samples, s);
}

static uint64_t acc_key(const void *sample)
{
    return ((const struct sample *)sample)->acc;
}

static uint64_t time_key(const void *sample)
{
    return sample_time_key(((const struct sample *)sample)->time_ns);
}

static void sort_samples(struct acc_pmu *pmu)
{
    sample_sort(pmu->samples.at, pmu->samples.n, sizeof *pmu->samples.at, acc_key);
    sample_sort(pmu->samples.at, pmu->samples.n, sizeof *pmu->samples.at, time_key);
}

static void acc_pmu_free(void *data)
{
    struct acc_pmu *pmu = data;
    array_free(&pmu->samples);
    free(pmu);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.pmu), from->dir};
    stars_samples_each(from, STARS_ACC_PMU, visit, &r);
    sort_samples(r.pmu);
    if (r.pmu->samples.n) return r.pmu;
    acc_pmu_free(r.pmu);
    return NULL;
}

static const struct shown {
    const char *name;
    int level;
} shown[] = {{"read_bandwidth", READ_BANDWIDTH},
             {"read_ost", READ_OST},
             {"write_bandwidth", WRITE_BANDWIDTH},
             {"write_ost", WRITE_OST}};

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct acc_pmu *pmu = data;
    for (size_t i = 0, end; i < pmu->samples.n; i = end) {
        uint64_t highest[LEVELS] = {0};
        int64_t time_ns = pmu->samples.at[i].time_ns;
        for (end = i; end < pmu->samples.n && pmu->samples.at[end].time_ns == time_ns; end++)
            for (int k = 0; k < LEVELS; k++)
                if (pmu->samples.at[end].level[k] > highest[k]) highest[k] = pmu->samples.at[end].level[k];
        if (sample_too_early(dir, time_ns)) continue;
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            trace_begin(t);
            out_text(&t->out, shown[k].name);
            trace_counter(t, pid, 0, time_ns);
            trace_arg_u64(t, "value", highest[shown[k].level]);
            trace_end(t);
        }
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct acc_pmu *pmu = data;
    for (size_t i = 0; i < pmu->samples.n; i++) {
        const struct sample *s = &pmu->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, s->acc);
        db_u64(t, s->level[READ_BANDWIDTH]);
        db_u64(t, s->level[WRITE_BANDWIDTH]);
        db_u64(t, s->level[READ_OST]);
        db_u64(t, s->level[WRITE_OST]);
        db_int(t, s->time_ns);
        db_int(t, dir->device_id);
        db_row(t);
    }
}

const struct metric metric_acc_pmu = {
    .name = "Acc PMU",
    .chips = SAMPLE_STARS,
    METRIC_INPUTS(INPUT_STARS_SOC_PROFILE),
    .load = load,
    .free = acc_pmu_free,
    .layers = (const struct layer[]){{.key = "acc_pmu",
                                      .name = "Acc PMU",
                                      .sort_index = 19,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"ACC_PMU",
                                                             {{"accId", DB_INTEGER},
                                                              {"readBwLevel", DB_INTEGER},
                                                              {"writeBwLevel", DB_INTEGER},
                                                              {"readOstLevel", DB_INTEGER},
                                                              {"writeOstLevel", DB_INTEGER},
                                                              {"timestampNs", DB_NUMERIC},
                                                              {"deviceId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
