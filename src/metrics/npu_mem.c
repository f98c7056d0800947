/* NPU memory: how much of its memories a device, and the profiled program, used.
 *
 * A record is a time, whose memory it is (event), and the bytes used of both kinds of memory. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* info.json version 1.0, and 2.0 */
enum { V1_TIME_US = 0, V1_EVENT = 4, V2_EVENT = 4, V2_TIME_US = 8, DDR = 16, HBM = 24 };

enum { EVENT_APP, EVENT_DEVICE, N_EVENTS };

static const struct {
    const char *name, *db_name;
} events[N_EVENTS] = {[EVENT_APP] = {"APP", "app"}, [EVENT_DEVICE] = {"Device", "device"}};

struct sample {
    int64_t time_ns;
    uint64_t ddr, hbm; /* bytes */
    uint32_t event;
};

struct npu_mem {
    ARRAY(struct sample) samples; /* in the order of the files */
    bool scripted;                /* session.script_summary */
};

struct reader {
    struct npu_mem *mem;
    const struct prof_dir *dir;
    bool v2;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint64_t us = r->v2 ? get_u64(p + V2_TIME_US) : get_u32(p + V1_TIME_US);
    array_push(&r->mem->samples, ((struct sample){.time_ns = sample_stored_time(r->dir, us),
                                                  .ddr = get_u64(p + DDR),
                                                  .hbm = get_u64(p + HBM),
                                                  .event = get_u32(p + (r->v2 ? V2_EVENT : V1_EVENT))}));
}

static uint64_t total(const struct sample *s)
{
    uint64_t sum;
    return __builtin_add_overflow(s->ddr, s->hbm, &sum) ? UINT64_MAX : sum;
}

static void npu_mem_free(void *data)
{
    struct npu_mem *m = data;
    array_free(&m->samples);
    free(m);
}

static void *load(const struct metric_source *from)
{
    static const enum input_id inputs[] = {INPUT_NPU_MEM, INPUT_NPU_MEM_APP};
    struct npu_mem *m = mem_zalloc(1, sizeof *m);
    m->scripted = from->model->session->script_summary;
    struct reader r = {m, from->dir, sample_layout_2(from->dir)};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        records_each(prof_dir_files(from->dir, inputs[i]), input_kind(inputs[i])->record_size, NULL, from->diag,
                     from->progress, visit, &r);
    if (m->samples.n) return m;
    npu_mem_free(m);
    return NULL;
}

static void counter(struct trace *t, uint32_t pid, const struct sample *s, const char *what, uint64_t bytes)
{
    trace_begin(t);
    out_text(&t->out, events[s->event].name);
    out_text(&t->out, what);
    trace_counter(t, pid, 0, s->time_ns);
    trace_arg_double(t, "KB", (double)bytes / BYTES_PER_KB);
    trace_end(t);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct npu_mem *m = data;
    for (size_t i = 0; i < m->samples.n; i++) {
        const struct sample *s = &m->samples.at[i];
        if (s->event >= N_EVENTS || sample_too_early(dir, s->time_ns)) continue;
        counter(t, pid, s, "/DDR", s->ddr);
        counter(t, pid, s, "/HBM", s->hbm);
        counter(t, pid, s, "/Memory", total(s));
    }
}

/* The reference's scripts write KB with decimals and leave nothing out, its native part writes whole ones of samples
 * within the collection. */
static bool is_row(const struct npu_mem *m, const struct prof_dir *dir, const struct sample *s)
{
    return m->scripted || !sample_too_early(dir, s->time_ns);
}

static void put_kb(struct table *t, const struct npu_mem *m, uint64_t bytes)
{
    if (m->scripted) table_round(t, (double)bytes / BYTES_PER_KB);
    else table_u64(t, bytes / 1024);
}

static void put_event(struct table *t, const struct npu_mem *m, uint32_t event)
{
    if (event < N_EVENTS) table_text(t, events[event].name, strlen(events[event].name));
    else if (m->scripted) table_none(t);
    else table_text(t, "Unknown", 7);
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    const struct npu_mem *m = data;
    uint64_t rows = 0;
    for (size_t i = 0; i < m->samples.n; i++) rows += is_row(m, dir, &m->samples.at[i]);
    return rows;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct npu_mem *m = data;
    for (size_t i = 0; i < m->samples.n; i++) {
        const struct sample *s = &m->samples.at[i];
        if (!is_row(m, dir, s)) continue;
        report_row(t, dir);
        put_event(t, m, s->event);
        put_kb(t, m, s->ddr);
        put_kb(t, m, s->hbm);
        put_kb(t, m, total(s));
        table_time(t, s->time_ns);
        if (!report_row_end(t)) return;
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct npu_mem *m = data;
    for (size_t i = 0; i < m->samples.n; i++) {
        const struct sample *s = &m->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        if (s->event < N_EVENTS) db_string_z(run, t, events[s->event].db_name);
        else db_int(t, s->event);
        db_u64(t, s->ddr);
        db_u64(t, s->hbm);
        db_int(t, s->time_ns);
        db_int(t, dir->device_id);
        db_row(t);
    }
}

const struct metric metric_npu_mem = {
    .name = "NPU memory",
    .chips = SAMPLE_NPU_MEM,
    METRIC_INPUTS(INPUT_NPU_MEM, INPUT_NPU_MEM_APP),
    .load = load,
    .free = npu_mem_free,
    .layers = (const struct layer[]){{.key = "npu_mem",
                                      .name = "NPU MEM",
                                      .sort_index = 17,
                                      .files = IN_MSPROF,
                                      .show = show,
                                      .process = PROCESS_ALL_DEVICES},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "npu_mem",
                                        .about = "Memory in use: of the device, and of the profiled program (APP), "
                                                 "over time.",
                                        .columns = (const char *const[]){"event", "ddr(KB)", "hbm(KB)", "memory(KB)",
                                                                         "timestamp(us)", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"NPU_MEM",
                                                             {{"type", DB_INTEGER},
                                                              {"ddr", DB_NUMERIC},
                                                              {"hbm", DB_NUMERIC},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"deviceId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
