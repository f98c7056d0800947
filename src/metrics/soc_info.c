/* Stars Soc Info: bandwidth levels of the L2 buffer and of the mata, which joins the parts of the chip.
 *
 * The two levels are shown under each other's name, as in the reference: which is which in the record is not
 * documented, and whoever compares with older collections must find the same. */
#include <stdlib.h>

#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/stars_samples.h"

/* docs/formats/sampled-metrics.md, "Stars Soc Info" */
enum { R_LEVELS = 32, L2_BITS = 3, L2_MASK = 7, MATA_MASK = 255 };

struct sample {
    int64_t time_ns;
    uint32_t l2, mata;
};

struct soc_info {
    ARRAY(struct sample) samples; /* in the order of the records */
};

struct reader {
    struct soc_info *info;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, void *context)
{
    struct reader *r = context;
    uint32_t levels = get_u16(p + R_LEVELS);
    array_push(&r->info->samples,
               ((struct sample){stars_time(r->dir, p), levels & L2_MASK, levels >> L2_BITS & MATA_MASK}));
}

static void soc_info_free(void *data)
{
    struct soc_info *info = data;
    array_free(&info->samples);
    free(info);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.info), from->dir};
    stars_samples_each(from, STARS_INTER_SOC, visit, &r);
    if (r.info->samples.n) return r.info;
    soc_info_free(r.info);
    return NULL;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct soc_info *info = data;
    for (size_t i = 0; i < info->samples.n; i++) {
        const struct sample *s = &info->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "L2 Buffer Bw Level");
        trace_counter(t, pid, 0, s->time_ns);
        trace_arg_u64(t, "L2 Buffer Bw Level", s->l2);
        trace_end(t);
        trace_begin(t);
        out_literal(&t->out, "Mata Bw Level");
        trace_counter(t, pid, 0, s->time_ns);
        trace_arg_u64(t, "Mata Bw Level", s->mata);
        trace_end(t);
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct soc_info *info = data;
    for (size_t i = 0; i < info->samples.n; i++) {
        const struct sample *s = &info->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, s->l2);
        db_int(t, s->mata);
        db_int(t, s->time_ns);
        db_int(t, dir->device_id);
        db_row(t);
    }
}

const struct metric metric_soc_info = {
    .name = "Stars Soc Info",
    .chips = SAMPLE_STARS,
    METRIC_INPUTS(INPUT_STARS_SOC_PROFILE),
    .load = load,
    .free = soc_info_free,
    .layers = (const struct layer[]){{.key = "stars_soc",
                                      .name = "Stars Soc Info",
                                      .sort_index = 25,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"SOC_BANDWIDTH_LEVEL",
                                                             {{"l2BufferBwLevel", DB_INTEGER},
                                                              {"mataBwLevel", DB_INTEGER},
                                                              {"timestampNs", DB_NUMERIC},
                                                              {"deviceId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
