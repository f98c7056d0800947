/* How busy AI Cores and AI Vector Cores were, from counters that were sampled in turns, not per task.
 *
 *     0  u8 mode (0 = nothing follows)   8  u64 counters[8 or 10]   then  u64 cycles, u64 time, u8 counters used, u8
 * core
 *
 * A sample says what a core did since the one before. Over time that is a share of the clock; the sums of a core are a
 * row of counters (device/pmu.h) with the columns of the metric group. Cube and vector cores are apart: they may count
 * different events and have different clocks. */
#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/round.h"
#include "device/pmu.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

enum { AT_MODE, AT_COUNTERS = 8 };

/* Behind the counters. */
enum { AFTER_CYCLES = 0, AFTER_TIME = 8, AFTER_USED = 16, AFTER_CORE = 17, AFTER_ALL = 24 };

#define CORES   256
#define US_OF_S 1e6

struct sample {
    int64_t time_ns;
    uint64_t cycles;
    int64_t since_ns; /* since the sample of the core before; 0 = the first */
    double since_s;   /* the same as the reference's scripts have it, 1 for the first */
    uint32_t number;  /* of the core: 0, 1, … */
    uint8_t core;
};

/* Cores of one kind. */
struct cores {
    ARRAY(struct sample) samples; /* in the order of the files, without those at the time of the one before */
    struct pmu pmu;               /* a row per core, ascending */
    uint8_t core[CORES];          /* of a row */
};

struct core_usage {
    struct cores kinds[2]; /* cube, vector */
};

struct reader {
    struct cores *kinds[2]; /* of core ids up to last_cube, and behind; the same where a file is of one kind */
    const struct prof_dir *dir;
    const struct input_file *ended; /* the file that says that nothing follows */
    struct {
        int64_t time_ns;
        double time_s;
        uint32_t samples;
        uint32_t side; /* + 1 */
    } last[2][CORES];
};

static bool is_sampled(const char *mode)
{
    return !strcmp(mode, "sample-based");
}

static bool vectors_sampled(const struct prof_dir *dir)
{
    const char *mode = sample_setting(dir, "aiv_profiling_mode");
    return is_sampled(*mode ? mode : dir->meta.ai_core_mode);
}

static bool on(const struct prof_dir *dir)
{
    return dir->chip->core_samples && (is_sampled(dir->meta.ai_core_mode) || vectors_sampled(dir));
}

static size_t counter_bytes(const struct chip *chip)
{
    return chip->pmu_counters * sizeof(uint64_t);
}

static int64_t stamp(const struct prof_dir *dir, uint64_t count)
{
    bool counted = dir->chip->core_samples == CORE_SAMPLES_COUNTED;
    return counted ? clock_device_ns(&dir->clock, count) : sample_time(dir, count);
}

/* Seconds since the host was started. */
static double uptime_s(const struct prof_dir *dir, int64_t time_ns)
{
    return (double)(int64_t)((uint64_t)time_ns - (uint64_t)dir->clock.epoch_offset_ns) / 1e9;
}

static int64_t time_between(int64_t from, int64_t to)
{
    int64_t ns;
    return __builtin_sub_overflow(to, from, &ns) ? INT64_MAX : ns;
}

/* What the core has done altogether. */
static void count(struct cores *c, uint32_t *side, const uint8_t *record, unsigned counters, const uint8_t *after)
{
    if (!*side) {
        array_push(&c->pmu.sides, (struct pmu_side){0});
        *side = (uint32_t)c->pmu.sides.n;
    }
    struct pmu_side *sum = &c->pmu.sides.at[*side - 1];
    sum->cycles += get_u64(after + AFTER_CYCLES);
    for (unsigned i = 0; i < counters && i < after[AFTER_USED] && i < PMU_MAX_EVENTS; i++)
        sum->counter[i] += get_u64(record + AT_COUNTERS + i * sizeof(uint64_t));
}

static void visit(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    const struct chip *chip = r->dir->chip;
    if (!record[AT_MODE]) r->ended = place->file;
    if (r->ended == place->file) return;
    const uint8_t *after = record + AT_COUNTERS + counter_bytes(chip);
    uint8_t core = after[AFTER_CORE];
    bool vector = core > chip->last_cube_core;
    struct cores *c = r->kinds[vector];
    if (!c) return;
    struct sample s = {.time_ns = stamp(r->dir, get_u64(after + AFTER_TIME)),
                       .cycles = get_u64(after + AFTER_CYCLES),
                       .since_s = 1,
                       .number = r->last[vector][core].samples,
                       .core = core};
    count(c, &r->last[vector][core].side, record, chip->pmu_counters, after);
    double time_s = uptime_s(r->dir, s.time_ns);
    if (s.number) {
        s.since_ns = time_between(r->last[vector][core].time_ns, s.time_ns);
        s.since_s = time_s - r->last[vector][core].time_s;
        if (!s.since_ns) return;
    }
    array_push(&c->samples, s);
    r->last[vector][core].time_ns = s.time_ns;
    r->last[vector][core].time_s = time_s;
    r->last[vector][core].samples++;
}

/* Rows by ascending core, now that all sums are there. */
static void make_rows(struct cores *c, const struct reader *r)
{
    for (unsigned core = 0; core < CORES; core++)
        for (unsigned i = 0; i < 2; i++) {
            uint32_t side = r->kinds[i] == c ? r->last[i][core].side : 0;
            if (!side) continue;
            c->core[c->pmu.rows.n] = (uint8_t)core;
            array_push(&c->pmu.rows, ((struct pmu_row){.aic = side - 1, .aiv = UINT32_MAX}));
        }
}

static void load_file(struct cores *cube, struct cores *vector, enum input_id id, const struct metric_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, id);
    struct reader *r = mem_zalloc(1, sizeof *r);
    r->kinds[0] = cube;
    r->kinds[1] = vector;
    r->dir = from->dir;
    size_t size = AT_COUNTERS + counter_bytes(from->dir->chip) + AFTER_ALL;
    records_each(files, size, NULL, from->diag, from->progress, visit, r);
    if (cube) make_rows(cube, r);
    if (vector && vector != cube) make_rows(vector, r);
    free(r);
}

static void set_up(struct cores *c, const struct metric_source *from, bool vector)
{
    if (!c->pmu.rows.n) return;
    const char *why = pmu_set_up_sampled(&c->pmu, &from->dir->meta, from->dir->chip, vector);
    if (why)
        diag_note(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, "samples of %s: %s",
                  vector ? "AI Vector Cores" : "AI Cores", why);
    for (size_t i = 0; i < c->pmu.sides.n; i++) {
        struct pmu_side *s = &c->pmu.sides.at[i];
        s->total_us = c->pmu.aic_mhz > 0 ? (double)s->cycles / c->pmu.aic_mhz : 0;
    }
}

static void usage_free(void *data)
{
    struct core_usage *u = data;
    for (unsigned i = 0; i < 2; i++) {
        array_free(&u->kinds[i].samples);
        pmu_free(&u->kinds[i].pmu);
    }
    free(u);
}

static void *load(const struct metric_source *from)
{
    struct core_usage *u = mem_zalloc(1, sizeof *u);
    struct cores *cube = &u->kinds[0], *vector = &u->kinds[1];
    if (from->dir->chip->core_samples != CORE_SAMPLES_APART) {
        load_file(cube, vector, INPUT_FFTS_PROFILE, from);
    } else {
        if (is_sampled(from->dir->meta.ai_core_mode)) load_file(cube, cube, INPUT_AICORE, from);
        if (vectors_sampled(from->dir)) load_file(vector, vector, INPUT_AI_VECTOR_CORE, from);
    }
    for (unsigned i = 0; i < 2; i++) set_up(&u->kinds[i], from, i);
    if (cube->samples.n || vector->samples.n) return u;
    usage_free(u);
    return NULL;
}

/* --- timeline ------------------------------------------------------------------------------------------------------
 */

static bool shows(const void *data)
{
    return ((const struct core_usage *)data)->kinds[0].samples.n > 0;
}

static double percent(const struct prof_dir *dir, const struct sample *s)
{
    double hz = dir->meta.aic_mhz * 1e6;
    return hz > 0 ? (double)s->cycles * 100 / (hz * s->since_s) : 0;
}

/* The time that the reference's scripts show: whole microseconds since the host was started. */
static int64_t shown_time(const struct prof_dir *dir, const struct sample *s)
{
    double us = rint(uptime_s(dir, s->time_ns) * US_OF_S);
    if (!(fabs(us) < 9e15)) return s->time_ns;
    return (int64_t)((uint64_t)((int64_t)us * 1000) + (uint64_t)dir->clock.epoch_offset_ns);
}

static void put_percent(struct trace *t, uint32_t pid, int64_t time_ns, double value)
{
    char text[64];
    trace_counter(t, pid, 0, time_ns);
    snprintf(text, sizeof text, "%.6f", fabs(value) < 1e40 ? value : 0);
    trace_arg_text(t, "Utilization(%)", text);
    trace_end(t);
}

/* The mean of the first, second … samples of all cores, as long as every core has one. */
static void show_average(struct trace *t, uint32_t pid, const struct prof_dir *dir, const struct cores *c)
{
    size_t n_cores = c->pmu.rows.n, n = c->samples.n;
    struct round {
        double sum;
        size_t cores;
        int64_t time_ns;
    } *rounds = mem_zalloc(n, sizeof *rounds);
    for (size_t i = 0; i < n; i++) {
        const struct sample *s = &c->samples.at[i];
        struct round *round = &rounds[s->number];
        round->sum += percent(dir, s);
        round->cores++;
        int64_t time_ns = shown_time(dir, s);
        if (round->cores == 1 || time_ns > round->time_ns) round->time_ns = time_ns;
    }
    for (size_t i = 0; i < n && rounds[i].cores == n_cores; i++) {
        if (sample_too_early(dir, rounds[i].time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "Average");
        put_percent(t, pid, rounds[i].time_ns, rounds[i].sum / (double)n_cores);
    }
    free(rounds);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct cores *c = &((const struct core_usage *)data)->kinds[0];
    for (size_t i = 0; i < c->samples.n; i++) {
        const struct sample *s = &c->samples.at[i];
        int64_t time_ns = shown_time(dir, s);
        if (sample_too_early(dir, time_ns)) continue;
        trace_begin(t);
        out_literal(&t->out, "Core ");
        out_u64(&t->out, s->core);
        put_percent(t, pid, time_ns, percent(dir, s));
    }
    show_average(t, pid, dir, c);
}

/* --- summary -------------------------------------------------------------------------------------------------------
 */

static double shown(double value)
{
    return isfinite(value) ? round_decimals(value, 1000) : 0;
}

static double average(const struct pmu *p, size_t column)
{
    double sum = 0;
    for (size_t row = 0; row < p->rows.n; row++) sum += shown(pmu_value(p, row, column));
    return shown(sum / (double)p->rows.n);
}

static double average_memory_bound(const struct pmu *p)
{
    double mac = average(p, p->mac), vec = average(p, p->vec), most = mac > vec ? mac : vec;
    return most > 0 ? average(p, p->mte2) / most : 0;
}

/* A row of a core, or the one of all (row behind the last). */
static void put_row(struct table *t, const struct cores *c, size_t row)
{
    const struct pmu *p = &c->pmu;
    bool all = row == p->rows.n;
    char name[4 + FORMAT_U64 + 1] = "Core";
    if (!all) *format_u64(name + 4, c->core[row]) = '\0';
    const char *text = all ? "Average" : name;
    table_text(t, text, strlen(text));
    for (size_t i = 0; i < p->columns.n; i++) {
        const struct pmu_column *column = &p->columns.at[i];
        if (!column->in_summary) continue;
        if (column->not_there) table_na(t, 1);
        else table_round(t, all ? average(p, i) : shown(pmu_value(p, row, i)));
    }
    if (pmu_has_memory_bound(p)) table_round(t, shown(all ? average_memory_bound(p) : pmu_memory_bound(p, row)));
}

/* Names of the columns; free() each but the first two, and the array. */
static const char **name_columns(const struct pmu *p, size_t *n)
{
    const char **names = mem_alloc((p->columns.n + 3) * sizeof *names);
    *n = 0;
    names[(*n)++] = "Device_id";
    names[(*n)++] = "Core ID";
    for (size_t i = 0; i < p->columns.n; i++) {
        const struct pmu_column *c = &p->columns.at[i];
        size_t length = strlen(c->name), extra = strlen("_extra");
        if (!c->in_summary) continue;
        if (length > extra && !strcmp(c->name + length - extra, "_extra")) length -= extra;
        names[(*n)++] = mem_printf("%.*s%s", (int)length, c->name, c->kind == PMU_BANDWIDTH ? "(GB/s)" : "");
    }
    if (pmu_has_memory_bound(p)) names[(*n)++] = mem_printf("memory_bound");
    return names;
}

static const struct cores *cores_of(const struct model *m, const struct prof_dir *dir, unsigned kind)
{
    const struct core_usage *u = metric_data(m, dir, &metric_core_usage);
    return u && u->kinds[kind].pmu.columns.n ? &u->kinds[kind] : NULL;
}

/* The columns are those of the first device that has any; a device with others cannot be in the same table. */
static int write_report(struct export_target *target, const char *stem, unsigned kind, struct error *err)
{
    const struct model *m = target->model;
    const struct prof_dir *dir;
    const struct cores *first = NULL, *c;
    uint64_t rows = 0;
    for (size_t d = 0; (dir = metric_dir(m, d)); d++) {
        if (!(c = cores_of(m, dir, kind))) continue;
        if (!first) first = c;
        if (pmu_same_columns(&first->pmu, &c->pmu)) rows += c->pmu.rows.n + 1;
    }
    if (!first) return 0;
    size_t n;
    const char **names = name_columns(&first->pmu, &n);
    struct table t;
    int status = table_open(&t, target, stem, names, n, rows, err);
    bool go_on = !status;
    for (size_t d = 0; go_on && (dir = metric_dir(m, d)); d++) {
        if (!(c = cores_of(m, dir, kind)) || !pmu_same_columns(&first->pmu, &c->pmu)) continue;
        for (size_t row = 0; go_on && row <= c->pmu.rows.n; row++) {
            report_row(&t, dir);
            put_row(&t, c, row);
            go_on = report_row_end(&t);
        }
    }
    if (!status) status = table_close(&t);
    for (size_t i = 2; i < n; i++) free((char *)names[i]);
    free(names);
    return status;
}

static int write_cube(struct export_target *target, struct error *err)
{
    return write_report(target, "ai_core_utilization", 0, err);
}

static int write_vector(struct export_target *target, struct error *err)
{
    return write_report(target, "ai_vector_core_utilization", 1, err);
}

/* --- database ------------------------------------------------------------------------------------------------------
 */

static const char *const kind_names[] = {"AIC", "AIV"};

static void fill_timeline(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct core_usage *u = data;
    double mhz = dir->meta.aic_mhz;
    for (unsigned kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < u->kinds[kind].samples.n; i++) {
            const struct sample *s = &u->kinds[kind].samples.at[i];
            if (sample_too_early(dir, s->time_ns)) continue;
            double ns = s->number ? (double)s->since_ns : 1;
            db_int(t, dir->device_id);
            db_int(t, s->time_ns);
            db_u64(t, s->cycles);
            db_real(t, mhz > 0 ? (double)s->cycles * 1000 / (mhz * ns) * 100 : 0);
            db_real(t, mhz);
            db_int(t, s->core);
            db_string_z(run, t, kind_names[kind]);
            db_row(t);
        }
}

/* The unit that a column of the database has: that of the reference, whose total_time would be ms but is us. */
static double unit(const struct pmu_column *c)
{
    return c->kind == PMU_TOTAL_TIME ? 1e6 : c->kind == PMU_BANDWIDTH ? 1073741824.0 : 1;
}

static void put_core(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const struct cores *c,
                     size_t row, unsigned kind)
{
    for (size_t i = 0; i < c->pmu.columns.n; i++) {
        const struct pmu_column *column = &c->pmu.columns.at[i];
        size_t length = strlen(column->name), extra = strlen("_extra");
        if (length > extra && !strcmp(column->name + length - extra, "_extra")) length -= extra;
        db_int(t, dir->device_id);
        db_string(run, t, strpool_add(run->ids.strings, column->name, length));
        db_real(t, pmu_value(&c->pmu, row, i) * unit(column));
        db_int(t, c->core[row]);
        db_string_z(run, t, kind_names[kind]);
        db_row(t);
    }
}

static void fill_summary(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct core_usage *u = data;
    for (unsigned kind = 0; kind < 2; kind++)
        for (size_t row = 0; row < u->kinds[kind].pmu.rows.n; row++) put_core(run, t, dir, &u->kinds[kind], row, kind);
}

const struct metric metric_core_usage = {
    .name = "AI Core utilisation (sample-based)",
    METRIC_INPUTS(INPUT_AICORE, INPUT_AI_VECTOR_CORE, INPUT_FFTS_PROFILE),
    .on = on,
    .load = load,
    .free = usage_free,
    .layers = (const struct layer[]){{.key = "ai_core_utilization",
                                      .name = "AI Core Utilization",
                                      .sort_index = 36,
                                      .script_index = NEXT_INDEX,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .shows = shows},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "ai_core_utilization",
             .about = "What the counters of AI Cores say about how they were used, per core "
                      "and on average,\nfrom samples.",
             .write = write_cube},
            {.stem = "ai_vector_core_utilization", .about = "The same of AI Vector Cores.", .write = write_vector},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"SAMPLE_PMU_TIMELINE",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"totalCycle", DB_INTEGER},
                                                              {"usage", DB_NUMERIC},
                                                              {"freq", DB_NUMERIC},
                                                              {"coreId", DB_INTEGER},
                                                              {"coreType", DB_INTEGER}}},
                                              .fill = fill_timeline},
                                             {.definition = {"SAMPLE_PMU_SUMMARY",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"metric", DB_INTEGER},
                                                              {"value", DB_NUMERIC},
                                                              {"coreId", DB_INTEGER},
                                                              {"coreType", DB_INTEGER}}},
                                              .fill = fill_summary},
                                             {.fill = NULL}},
};
