/* PCIe: bandwidth of posted, non-posted and completion packets in both directions, and the latency of non-posted ones.
 *
 * A record is a time and the minimum, maximum and average of seven values since the record before. Where the maximum of
 * posted sending is below its minimum, nothing was measured. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

enum { RECORD_SIZE = 96, TIME_NS = 0, VALUES = 12 };

enum value { TX_POST, TX_NONPOST, TX_CPL, TX_LATENCY, RX_POST, RX_NONPOST, RX_CPL, N_VALUES };
enum part { MIN, MAX, AVG, N_PARTS };

#define NOTHING_SEEN 0xFFFFFu /* a minimum */

struct sample {
    int64_t time_ns;
    uint32_t value[N_VALUES][N_PARTS]; /* B/µs; latency ns */
};

struct pcie {
    ARRAY(struct sample) samples; /* in the order of the file */
};

struct reader {
    struct pcie *pcie;
    const struct prof_dir *dir;
};

static bool is_measured(const struct sample *s)
{
    return s->value[TX_POST][MAX] >= s->value[TX_POST][MIN];
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    struct sample *s = array_add(&r->pcie->samples);
    s->time_ns = sample_time(r->dir, get_u64(p + TIME_NS));
    memcpy(s->value, p + VALUES, sizeof s->value);
}

static void pcie_free(void *data)
{
    struct pcie *p = data;
    array_free(&p->samples);
    free(p);
}

static void *load(const struct metric_source *from)
{
    struct pcie *p = mem_zalloc(1, sizeof *p);
    struct reader r = {p, from->dir};
    records_each(prof_dir_files(from->dir, INPUT_PCIE), RECORD_SIZE, NULL, from->diag, from->progress, visit, &r);
    return p;
}

static double mb_per_s(double bytes_per_us)
{
    return bytes_per_us * 1e6 / BYTES_PER_MB;
}

/* The counters of the timeline. */
static const struct counter {
    const char *name;
    enum value rx, tx;
} counters[] = {
    {"PCIe_cpl", RX_CPL, TX_CPL},
    {"PCIe_nonpost", RX_NONPOST, TX_NONPOST},
    {"PCIe_nonpost_latency", N_VALUES, TX_LATENCY},
    {"PCIe_post", RX_POST, TX_POST},
};

static double shown(const struct sample *s, enum value value)
{
    if (value == N_VALUES) return 0;
    return value == TX_LATENCY ? s->value[value][AVG] / 1e3 : mb_per_s(s->value[value][AVG]);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct pcie *p = data;
    for (size_t i = 0; i < p->samples.n; i++) {
        const struct sample *s = &p->samples.at[i];
        if (!is_measured(s) || sample_too_early(dir, s->time_ns)) continue;
        for (size_t k = 0; k < sizeof counters / sizeof *counters; k++) {
            trace_begin(t);
            out_text(&t->out, counters[k].name);
            trace_counter(t, pid, 0, s->time_ns);
            trace_arg_double(t, "Rx", shown(s, counters[k].rx));
            trace_arg_double(t, "Tx", shown(s, counters[k].tx));
            trace_end(t);
        }
    }
}

/* Name of a row of the report. */
static const char *const rows[N_VALUES] = {
    [TX_POST] = "Tx_p_avg(MB/s)",        [TX_NONPOST] = "Tx_np_avg(MB/s)", [TX_CPL] = "Tx_cpl_avg(MB/s)",
    [TX_LATENCY] = "Tx_latency_avg(us)", [RX_POST] = "Rx_p_avg(MB/s)",     [RX_NONPOST] = "Rx_np_avg(MB/s)",
    [RX_CPL] = "Rx_cpl_avg(MB/s)",
};

struct summary {
    uint64_t n;
    double value[N_VALUES][N_PARTS];
};

/* The latest sample, whatever it measured, or the average of those that measured something. */
static struct summary summary_of(const struct prof_dir *dir, const struct pcie *p)
{
    struct summary sum = {0};
    bool latest = dir->chip->pcie_latest;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < p->samples.n; i++) {
        const struct sample *s = &p->samples.at[i];
        if (latest ? s->time_ns < last : !is_measured(s)) continue;
        last = s->time_ns;
        sum.n = latest ? 1 : sum.n + 1;
        for (int v = 0; v < N_VALUES; v++)
            for (int k = 0; k < N_PARTS; k++) sum.value[v][k] = (latest ? 0 : sum.value[v][k]) + s->value[v][k];
    }
    for (int v = 0; v < N_VALUES; v++)
        for (int k = 0; k < N_PARTS; k++) sum.value[v][k] /= (double)(sum.n ? sum.n : 1);
    return sum;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    return summary_of(dir, data).n ? N_VALUES : 0;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    struct summary sum = summary_of(dir, data);
    for (int v = 0; sum.n && v < N_VALUES; v++) {
        report_row(t, dir);
        table_text(t, rows[v], strlen(rows[v]));
        for (int k = 0; k < N_PARTS; k++) {
            double value = k == MIN && sum.value[v][k] == NOTHING_SEEN ? 0 : sum.value[v][k];
            table_round(t, v == TX_LATENCY ? value / 1e3 : mb_per_s(value));
        }
        if (!report_row_end(t)) return;
    }
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct pcie *p = data;
    for (size_t i = 0; i < p->samples.n; i++) {
        const struct sample *s = &p->samples.at[i];
        if (!is_measured(s) || sample_too_early(dir, s->time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, s->time_ns);
        for (int v = 0; v < N_VALUES; v++)
            for (int k = 0; k < N_PARTS; k++) db_int(t, s->value[v][k] * (v == TX_LATENCY ? (int64_t)1 : 1000000));
        db_row(t);
    }
}

#define THREE(name)                                                                                                    \
    {name "Min", DB_NUMERIC}, {name "Max", DB_NUMERIC},                                                                \
    {                                                                                                                  \
        name "Avg", DB_NUMERIC                                                                                         \
    }

const struct metric metric_pcie = {
    .name = "PCIe",
    .chips = SAMPLE_PCIE,
    METRIC_INPUTS(INPUT_PCIE),
    .load = load,
    .free = pcie_free,
    .layers =
        (const struct layer[]){{.key = "pcie", .name = "PCIe", .sort_index = 23, .files = IN_MSPROF, .show = show},
                               {.key = NULL}},
    .reports = (const struct report[]){{.stem = "pcie",
                                        .about = "PCIe: bandwidth of posted (p), non-posted (np) and completion (cpl) "
                                                 "packets sent and\nreceived, and the latency of non-posted ones.",
                                        .columns = (const char *const[]){"Mode", "Min", "Max", "Avg", NULL},
                                        .rows = report_rows,
                                        .fill = report_fill},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"PCIE",
                                                             {{"deviceId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              THREE("txPost"),
                                                              THREE("txNonpost"),
                                                              THREE("txCpl"),
                                                              THREE("txNonpostLatency"),
                                                              THREE("rxPost"),
                                                              THREE("rxNonpost"),
                                                              THREE("rxCpl")}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
