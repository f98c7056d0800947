/* DVPP: how busy the engines for pictures and videos were.
 *
 * A line is a time, the engine (of which DVPP, where there are several; its type and number) and its counters: time and
 * frames since ever, utilisation. The report has by how much time and frames grew, and the last utilisation. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

static const char *const types[] = {"VDEC", "JPEGD", "PNGD", "JPEGE", "VPC", "VENC", "SCD"};

/* Fields of a line, behind that of the DVPP where there is one. */
enum { TYPE = 1, NUMBER, ALL_TIME, ALL_FRAME, ALL_UTILIZATION, N_FIELDS = 11 };

struct engine {
    uint32_t dvpp, type, number;
    double least_time, most_time, least_frame, most_frame;
    double utilization; /* %, of the last line */
};

struct dvpp {
    ARRAY(struct engine) engines; /* by DVPP, then type, then number, each in the order of its first line */
};

struct reader {
    struct dvpp *dvpp;
    bool has_ids;
    struct diag *diag;
};

static bool parse_u32(struct text_field f, uint32_t *value)
{
    uint64_t v;
    if (!text_u64(f, &v) || v > UINT32_MAX) return false;
    *value = (uint32_t)v;
    return true;
}

/* "12%" */
static bool parse_percent(struct text_field f, double *value)
{
    while (f.len && f.at[f.len - 1] == '%') f.len--;
    return text_f64(f, value);
}

static bool is_time(struct text_field f)
{
    return f.len && f.at[0] >= '0' && f.at[0] <= '9';
}

/* A line as an engine that was seen once. */
static bool parse(struct engine *e, const struct text_field *f, size_t n, bool has_ids)
{
    const struct text_field *g = has_ids ? f + 1 : f;
    *e = (struct engine){0};
    if (n != N_FIELDS + (size_t)has_ids || !is_time(f[0])) return false;
    if (has_ids && !parse_u32(f[1], &e->dvpp)) return false;
    if (!parse_u32(g[TYPE], &e->type) || !parse_u32(g[NUMBER], &e->number) || !text_f64(g[ALL_TIME], &e->least_time) ||
        !text_f64(g[ALL_FRAME], &e->least_frame) || !parse_percent(g[ALL_UTILIZATION], &e->utilization))
        return false;
    e->most_time = e->least_time;
    e->most_frame = e->least_frame;
    return true;
}

/* Where the engine is, or belongs: behind the last of the same DVPP and type, else of the same DVPP. */
static size_t place_of(const struct dvpp *d, const struct engine *e, bool *found)
{
    size_t behind_type = 0, behind_dvpp = 0;
    for (size_t i = 0; i < d->engines.n; i++) {
        const struct engine *x = &d->engines.at[i];
        if (x->dvpp != e->dvpp) continue;
        behind_dvpp = i + 1;
        if (x->type != e->type) continue;
        behind_type = i + 1;
        if (x->number != e->number) continue;
        *found = true;
        return i;
    }
    *found = false;
    return behind_type ? behind_type : behind_dvpp ? behind_dvpp : d->engines.n;
}

#define ENGINES_MAX 1024 /* far more than there are: what a damaged file can make of it stays bounded */

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[N_FIELDS + 1];
    struct engine e;
    size_t n = text_split(line, len, f, N_FIELDS + 1);
    if (!parse(&e, f, n, r->has_ids) || r->dvpp->engines.n == ENGINES_MAX) {
        sample_skip_line(r->diag, place, n);
        return;
    }
    bool found;
    size_t at = place_of(r->dvpp, &e, &found);
    if (!found) {
        array_add(&r->dvpp->engines);
        memmove(&r->dvpp->engines.at[at + 1], &r->dvpp->engines.at[at], (r->dvpp->engines.n - 1 - at) * sizeof e);
        r->dvpp->engines.at[at] = e;
        return;
    }
    struct engine *x = &r->dvpp->engines.at[at];
    if (e.least_time < x->least_time) x->least_time = e.least_time;
    if (e.most_time > x->most_time) x->most_time = e.most_time;
    if (e.least_frame < x->least_frame) x->least_frame = e.least_frame;
    if (e.most_frame > x->most_frame) x->most_frame = e.most_frame;
    x->utilization = e.utilization;
}

static void dvpp_free(void *data)
{
    struct dvpp *d = data;
    array_free(&d->engines);
    free(d);
}

static void *load(const struct metric_source *from)
{
    struct dvpp *d = mem_zalloc(1, sizeof *d);
    struct reader r = {d, from->dir->chip->dvpp_ids, from->diag};
    lines_each(prof_dir_files(from->dir, INPUT_DVPP), from->diag, from->progress, visit, &r);
    return d;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct dvpp *)data)->engines.n;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct dvpp *d = data;
    for (size_t i = 0; i < d->engines.n; i++) {
        const struct engine *e = &d->engines.at[i];
        report_row(t, dir);
        table_u64(t, e->dvpp);
        if (e->type < sizeof types / sizeof *types) table_text(t, types[e->type], strlen(types[e->type]));
        else table_none(t);
        table_u64(t, e->number);
        table_round(t, e->most_time - e->least_time);
        table_round(t, e->most_frame - e->least_frame);
        table_trim(t, e->utilization);
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_dvpp = {
    .name = "DVPP",
    .chips = SAMPLE_DVPP,
    METRIC_INPUTS(INPUT_DVPP),
    .load = load,
    .free = dvpp_free,
    .reports =
        (const struct report[]){{.stem = "dvpp",
                                 .about = "Engines for pictures and videos: time, frames and utilisation of "
                                          "each.",
                                 .columns = (const char *const[]){"Dvpp Id", "Engine Type", "Engine ID", "All Time(us)",
                                                                  "All Frame", "All Utilization(%)", NULL},
                                 .rows = report_rows,
                                 .fill = report_fill},
                                {.stem = NULL}},
};
