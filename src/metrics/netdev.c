/* Statistics of network devices: counters of the MAC, RoCE and NIC parts.
 *
 * A line is a time of the host and fifteen counters that only grow. What is shown is how much each grew since the line
 * before in time, nothing when it fell; for bytes also per second. */
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

#define COUNTERS 15

/* By counter: does a rate follow the difference? */
static const bool has_rate[COUNTERS] = {
    [2] = true,  /* mac_tx_total_oct */
    [3] = true,  /* mac_rx_total_oct */
    [13] = true, /* nic_tx_all_oct */
    [14] = true, /* nic_rx_all_oct */
};

struct sample {
    uint64_t ns; /* CLOCK_MONOTONIC_RAW of the host */
    uint64_t count[COUNTERS];
};

struct netdev {
    ARRAY(struct sample) samples; /* ascending time */
    const struct clock *clock;    /* of the host, where there is one */
};

struct reader {
    struct netdev *netdev;
    struct diag *diag;
};

static bool parse(struct sample *s, const struct text_field *f)
{
    if (!text_time(f[0], &s->ns) || s->ns > INT64_MAX) return false;
    for (int i = 0; i < COUNTERS; i++)
        if (!text_u64(f[1 + i], &s->count[i])) return false;
    return true;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[COUNTERS + 1];
    struct sample s;
    size_t n = text_split(line, len, f, COUNTERS + 1);
    if (n == COUNTERS + 1 && parse(&s, f)) array_push(&r->netdev->samples, s);
    else sample_skip_line(r->diag, place, n);
}

static uint64_t time_key(const void *sample)
{
    return ((const struct sample *)sample)->ns;
}

static void netdev_free(void *data)
{
    struct netdev *d = data;
    array_free(&d->samples);
    free(d);
}

static void *load(const struct metric_source *from)
{
    struct netdev *d = mem_zalloc(1, sizeof *d);
    struct reader r = {d, from->diag};
    const struct prof_dir *host = from->model->session->host;
    d->clock = host ? &host->clock : &from->dir->clock;
    lines_each(prof_dir_files(from->dir, INPUT_NETDEV_STATS), from->diag, from->progress, visit, &r);
    sample_sort(d->samples.at, d->samples.n, sizeof *d->samples.at, time_key);
    if (d->samples.n > 1) return d;
    netdev_free(d);
    return NULL;
}

static void put_row(struct db_table *t, const struct prof_dir *dir, int64_t time_ns, const struct sample *before,
                    const struct sample *s)
{
    double seconds = (double)(s->ns - before->ns) / 1e9;
    db_int(t, dir->device_id);
    db_int(t, time_ns);
    for (int i = 0; i < COUNTERS; i++) {
        uint64_t grown = s->count[i] > before->count[i] ? s->count[i] - before->count[i] : 0;
        db_u64(t, grown);
        if (has_rate[i]) db_real(t, (double)grown / seconds);
    }
    db_row(t);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct netdev *d = data;
    const struct sample *before = &d->samples.at[0];
    for (size_t i = 1; i < d->samples.n; i++) {
        const struct sample *s = &d->samples.at[i];
        int64_t time_ns = clock_raw_ns(d->clock, (int64_t)s->ns);
        if (s->ns == before->ns) continue;
        if (!sample_too_early(dir, time_ns)) put_row(t, dir, time_ns, before, s);
        before = s;
    }
}

const struct metric metric_netdev = {
    .name = "Network device statistics",
    .chips = SAMPLE_NETDEV,
    METRIC_INPUTS(INPUT_NETDEV_STATS),
    .load = load,
    .free = netdev_free,
    .tables =
        (const struct db_table_kind[]){
            {.definition =
                 {"NETDEV_STATS",
                  {{"deviceId", DB_INTEGER},       {"timestampNs", DB_INTEGER},    {"macTxPfcPkt", DB_INTEGER},
                   {"macRxPfcPkt", DB_INTEGER},    {"macTxByte", DB_INTEGER},      {"macTxBandwidth", DB_NUMERIC},
                   {"macRxByte", DB_INTEGER},      {"macRxBandwidth", DB_NUMERIC}, {"macTxBadByte", DB_INTEGER},
                   {"macRxBadByte", DB_INTEGER},   {"roceTxPkt", DB_INTEGER},      {"roceRxPkt", DB_INTEGER},
                   {"roceTxErrPkt", DB_INTEGER},   {"roceRxErrPkt", DB_INTEGER},   {"roceTxCnpPkt", DB_INTEGER},
                   {"roceRxCnpPkt", DB_INTEGER},   {"roceNewPktRty", DB_INTEGER},  {"nicTxByte", DB_INTEGER},
                   {"nicTxBandwidth", DB_NUMERIC}, {"nicRxByte", DB_INTEGER},      {"nicRxBandwidth", DB_NUMERIC}}},
             .fill = table_fill},
            {.fill = NULL}},
};
