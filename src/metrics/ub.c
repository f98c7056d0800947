/* UB: what went through the ports of the unified bus (Ascend 950).
 *
 * A record is one look at one port; of its fifteen numbers the rates of the bus's own DMA are shown.
 * docs/formats/sampled-metrics.md has the layout. */
#include <stdio.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

#define UB_RECORD 128u

enum { AT_PORT = 4, AT_TIME_US = 8, AT_RX = 16, AT_TX = 24 };

struct sample {
    int64_t time_ns;
    uint64_t rx, tx; /* MB/s */
    uint16_t port;
};

struct ub {
    ARRAY(struct sample) samples; /* in the order of the records */
};

struct reader {
    struct ub *ub;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    array_push(&r->ub->samples, ((struct sample){
                                    .time_ns = sample_time(r->dir, sample_device_ns(r->dir, get_u64(p + AT_TIME_US))),
                                    .rx = get_u64(p + AT_RX),
                                    .tx = get_u64(p + AT_TX),
                                    .port = get_u16(p + AT_PORT),
                                }));
}

static void ub_free(void *data)
{
    struct ub *u = data;
    array_free(&u->samples);
    free(u);
}

static void *load(const struct metric_source *from)
{
    struct ub *u = mem_zalloc(1, sizeof *u);
    struct reader r = {u, from->dir};
    records_each(prof_dir_files(from->dir, INPUT_UB), UB_RECORD, NULL, from->diag, from->progress, visit, &r);
    return u;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    (void)dir;
    const struct ub *u = data;
    for (size_t i = 0; i < u->samples.n; i++) {
        const struct sample *s = &u->samples.at[i];
        char name[16];
        snprintf(name, sizeof name, "UB Port%03u", s->port);
        trace_begin(t);
        out_text(&t->out, name);
        trace_counter(t, pid, 0, s->time_ns);
        trace_arg_double(t, "bandwidth_tx(MB/s)", (double)s->tx);
        trace_arg_double(t, "bandwidth_rx(MB/s)", (double)s->rx);
        trace_end(t);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct ub *)data)->samples.n;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct ub *u = data;
    for (size_t i = 0; i < u->samples.n; i++) {
        const struct sample *s = &u->samples.at[i];
        report_row(t, dir);
        table_u64(t, s->port);
        table_time(t, s->time_ns);
        table_u64(t, s->rx);
        table_u64(t, s->tx);
        if (!report_row_end(t)) return;
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct ub *u = data;
    for (size_t i = 0; i < u->samples.n; i++) {
        const struct sample *s = &u->samples.at[i];
        db_int(t, dir->device_id);
        db_int(t, s->port);
        db_int(t, s->time_ns);
        db_u64(t, s->rx);
        db_u64(t, s->tx);
        db_row(t);
    }
}

const struct metric metric_ub = {
    .name = "UB",
    .chips = SAMPLE_UB,
    METRIC_INPUTS(INPUT_UB),
    .load = load,
    .free = ub_free,
    .layers = (const struct layer[]){{.key = "ub", .name = "Ub", .sort_index = 33, .files = IN_MSPROF, .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){{.stem = "ub",
                                 .about = "Unified bus: rates of receiving and sending, per port and time.",
                                 .columns = (const char *const[]){"PortId", "TimeStamp", "UBRxPortBandWidth(MB/s)",
                                                                  "UBTxPortBandWidth(MB/s)", NULL},
                                 .rows = report_rows,
                                 .fill = report_fill},
                                {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"UB",
                                                             {{"deviceId", DB_NUMERIC},
                                                              {"portId", DB_NUMERIC},
                                                              {"timestampNs", DB_NUMERIC},
                                                              {"rxUdmaBind", DB_NUMERIC},
                                                              {"txUdmaBind", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
