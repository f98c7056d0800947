/* NIC and RoCE: traffic, errors and losses of network ports. The files are the same but for their names.
 *
 * A line is a time, the bandwidth of the port in Mb/s, and six values for each direction: packets and bytes per second,
 * and packets, bytes, errors and losses since ever; then perhaps which port it is (else 0) and a type.
 *
 * Quirks of the reference that are kept, because outputs are compared with its own: in the report the time of a row is
 * the length of the sampling, shown as if it were a time, and its rates are per nanosecond of it; of RoCE only the last
 * slice is shown. */
#include "base/map.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

#define BYTES_PER_MIBIT (BYTES_PER_MB / 8)

enum { PACKET_RATE, BYTE_RATE, PACKETS, BYTES, ERRORS, DROPPED, N_VALUES };
enum direction { RX, TX, N_DIRECTIONS };

#define FIELDS_LEAST (2 + N_VALUES * N_DIRECTIONS) /* + port, + type */

struct sample {
    uint64_t ns;      /* of the device */
    double bandwidth; /* Mb/s */
    double value[N_DIRECTIONS][N_VALUES];
    uint32_t port;
};

/* What tells the two metrics apart. */
struct kind {
    enum input_id input;
    bool idle_shown; /* samples without bandwidth are in the timeline */
    bool last_slice; /* what earlier slices hold is not shown */
};

static const struct kind nic = {INPUT_NIC, false, false}, roce = {INPUT_ROCE, true, true};

struct ports {
    const struct kind *kind;
    ARRAY(struct sample) samples; /* in the order of the file */
};

struct reader {
    struct ports *ports;
    const struct input_file *file; /* of the last line */
    struct diag *diag;
};

static bool parse(struct sample *s, const struct text_field *f, size_t n)
{
    uint64_t port = 0;
    if (n < FIELDS_LEAST || !text_time(f[0], &s->ns) || !text_f64(f[1], &s->bandwidth)) return false;
    for (int i = 0; i < N_DIRECTIONS * N_VALUES; i++)
        if (!text_f64(f[2 + i], &s->value[i / N_VALUES][i % N_VALUES])) return false;
    if (n > FIELDS_LEAST && (!text_u64(f[FIELDS_LEAST], &port) || port > UINT32_MAX)) return false;
    s->port = (uint32_t)port;
    return true;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[FIELDS_LEAST + 2];
    struct sample s;
    if (r->file != place->file && r->ports->kind->last_slice) r->ports->samples.n = 0;
    r->file = place->file;
    size_t n = text_split(line, len, f, FIELDS_LEAST + 2);
    if (n <= FIELDS_LEAST + 2 && parse(&s, f, n)) array_push(&r->ports->samples, s);
    else sample_skip_line(r->diag, place, n);
}

static void ports_free(void *data)
{
    struct ports *p = data;
    array_free(&p->samples);
    free(p);
}

static void *load(const struct metric_source *from, const struct kind *kind)
{
    struct ports *p = mem_zalloc(1, sizeof *p);
    struct reader r = {.ports = p, .diag = from->diag};
    p->kind = kind;
    lines_each(prof_dir_files(from->dir, kind->input), from->diag, from->progress, visit, &r);
    return p;
}

static void *load_nic(const struct metric_source *from)
{
    return load(from, &nic);
}

static void *load_roce(const struct metric_source *from)
{
    return load(from, &roce);
}

static double ratio(double part, double whole)
{
    return whole != 0 ? part / whole : 0;
}

#define SHOW(t, s, direction, word)                                                                                    \
    (trace_arg_double(t, word " Bandwidth Efficiency",                                                                 \
                      sample_round(ratio((s)->value[direction][BYTE_RATE], (s)->bandwidth * BYTES_PER_MIBIT))),        \
     trace_arg_double(t, word " Packets", (s)->value[direction][PACKET_RATE]),                                         \
     trace_arg_double(t, word " Error Rate", ratio((s)->value[direction][ERRORS], (s)->value[direction][PACKETS])),    \
     trace_arg_double(t, word " Dropped Rate", ratio((s)->value[direction][DROPPED], (s)->value[direction][PACKETS])))

static void show_direction(struct trace *t, uint32_t pid, const struct sample *s, int64_t time_ns,
                           enum direction direction)
{
    trace_begin(t);
    out_literal(&t->out, "Port ");
    out_u64(&t->out, s->port);
    out_text(&t->out, direction == RX ? "/Rx" : "/Tx");
    trace_counter(t, pid, 0, time_ns);
    if (direction == RX) SHOW(t, s, RX, "Rx");
    else SHOW(t, s, TX, "Tx");
    trace_end(t);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct ports *p = data;
    for (size_t i = 0; i < p->samples.n; i++) {
        const struct sample *s = &p->samples.at[i];
        int64_t time_ns = sample_time(dir, s->ns);
        if (sample_too_early(dir, time_ns) || (s->bandwidth < 1 && !p->kind->idle_shown)) continue;
        show_direction(t, pid, s, time_ns, RX);
        show_direction(t, pid, s, time_ns, TX);
    }
}

/* --- report: a row per port ------------------------------------------------------------------------------------ */

struct port {
    uint32_t number;
    uint64_t n;                                     /* samples */
    uint64_t first_ns, last_ns;                     /* of the sampling */
    double bandwidth;                               /* of the last sample */
    double least[N_DIRECTIONS], most[N_DIRECTIONS]; /* bytes */
    double sum[N_DIRECTIONS][N_VALUES];
};

typedef ARRAY(struct port) port_array;

static struct port *port_of(port_array *all, struct map *places, const struct sample *s)
{
    bool first;
    uint32_t at = *map_put(places, s->port, (uint32_t)all->n, &first);
    if (!first) return &all->at[at];
    struct port *p = array_add(all);
    *p = (struct port){.number = s->port, .first_ns = s->ns, .last_ns = s->ns};
    for (int d = 0; d < N_DIRECTIONS; d++) p->least[d] = p->most[d] = s->value[d][BYTES];
    return p;
}

static int by_number(const void *x, const void *y)
{
    const struct port *a = x, *b = y;
    return a->number < b->number ? -1 : a->number > b->number;
}

static port_array ports_of(const struct ports *ports)
{
    port_array all = {0};
    struct map places = {0};
    for (size_t i = 0; i < ports->samples.n; i++) {
        const struct sample *s = &ports->samples.at[i];
        struct port *p = port_of(&all, &places, s);
        p->n++;
        p->bandwidth = s->bandwidth;
        if (s->ns < p->first_ns) p->first_ns = s->ns;
        if (s->ns > p->last_ns) p->last_ns = s->ns;
        for (int d = 0; d < N_DIRECTIONS; d++) {
            if (s->value[d][BYTES] < p->least[d]) p->least[d] = s->value[d][BYTES];
            if (s->value[d][BYTES] > p->most[d]) p->most[d] = s->value[d][BYTES];
            for (int v = 0; v < N_VALUES; v++) p->sum[d][v] += s->value[d][v];
        }
    }
    map_free(&places);
    if (all.n) qsort(all.at, all.n, sizeof *all.at, by_number);
    return all;
}

/* One sample: its own rates. */
static void put_single(struct table *t, const struct port *p)
{
    for (int d = 0; d < N_DIRECTIONS; d++) {
        table_round(t, 0);
        table_round(t, p->sum[d][PACKET_RATE]);
        table_round(t, ratio(p->sum[d][ERRORS], p->sum[d][PACKETS]));
        table_round(t, ratio(p->sum[d][DROPPED], p->sum[d][PACKETS]));
    }
}

/* Several samples: over the length of the sampling in ns, and errors over the sum of packet rates, in percent. What is
 * averaged how is as the reference has it: receive errors over all ports. */
static void put_span(struct table *t, const struct port *p, double rx_errors, double ns)
{
    double errors[N_DIRECTIONS] = {rx_errors, p->sum[TX][ERRORS] / (double)p->n};
    double dropped[N_DIRECTIONS] = {p->sum[RX][DROPPED] / (double)p->n, p->sum[TX][DROPPED]};
    for (int d = 0; d < N_DIRECTIONS; d++) {
        double packets = p->sum[d][PACKET_RATE];
        table_round(t, ratio(p->most[d] - p->least[d], ns * p->bandwidth * BYTES_PER_MIBIT));
        table_round(t, packets / ns);
        table_round(t, sample_round(ratio(errors[d], packets)) * 100);
        table_round(t, sample_round(ratio(dropped[d], packets)) * 100);
    }
}

static void put_zeros(struct table *t)
{
    for (int i = 0; i < 4 * N_DIRECTIONS; i++) table_round(t, 0);
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    port_array all = ports_of(data);
    uint64_t rows = all.n;
    array_free(&all);
    return rows;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct ports *ports = data;
    port_array all = ports_of(ports);
    double rx_errors = 0;
    for (size_t i = 0; i < all.n; i++) rx_errors += all.at[i].sum[RX][ERRORS] / (double)ports->samples.n;
    for (size_t i = 0; i < all.n; i++) {
        const struct port *p = &all.at[i];
        uint64_t ns = p->last_ns - p->first_ns;
        report_row(t, dir);
        table_time(t, clock_raw_ns(&dir->clock, ns > INT64_MAX ? INT64_MAX : (int64_t)ns));
        table_round(t, p->bandwidth);
        if (p->n == 1) put_single(t, p);
        else if (ns) put_span(t, p, rx_errors, (double)ns);
        else put_zeros(t);
        table_u64(t, p->number);
        if (!report_row_end(t)) break;
    }
    array_free(&all);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct ports *p = data;
    for (size_t i = 0; i < p->samples.n; i++) {
        const struct sample *s = &p->samples.at[i];
        int64_t time_ns = sample_time(dir, s->ns);
        if (sample_too_early(dir, time_ns)) continue;
        db_int(t, dir->device_id);
        db_int(t, time_ns);
        db_int(t, sample_bytes_per_s(s->bandwidth));
        for (int d = 0; d < N_DIRECTIONS; d++)
            for (int v = 0; v < N_VALUES; v++) db_real(t, s->value[d][v]);
        db_int(t, s->port);
        db_row(t);
    }
}

static const char *const columns[] = {
    "Timestamp(us)",
    "Bandwidth(MB/s)",
    "Rx Bandwidth efficiency(%)",
    "rxPacket/s",
    "rxError rate(%)",
    "rxDropped rate(%)",
    "Tx Bandwidth efficiency(%)",
    "txPacket/s",
    "txError rate(%)",
    "txDropped rate(%)",
    "funcId",
    NULL,
};

#define DIRECTION(d)                                                                                                   \
    {d "PacketRate", DB_NUMERIC}, {d "ByteRate", DB_NUMERIC}, {d "Packets", DB_INTEGER}, {d "Bytes", DB_INTEGER},      \
        {d "Errors", DB_INTEGER},                                                                                      \
    {                                                                                                                  \
        d "Dropped", DB_INTEGER                                                                                        \
    }

#define PORT_METRIC(title, layer_key, index, table_name, words)                                                        \
    .free = ports_free,                                                                                                \
    .layers = (const struct layer[]){{.key = layer_key,                                                                \
                                      .name = title,                                                                   \
                                      .sort_index = index,                                                             \
                                      .files = IN_MSPROF,                                                              \
                                      .show = show,                                                                    \
                                      .process = PROCESS_ALL_DEVICES},                                                 \
                                     {.key = NULL}},                                                                   \
    .reports = (const struct report[]){{.stem = layer_key,                                                             \
                                        .about = words ": traffic, errors and lost packets of each port.",             \
                                        .columns = columns,                                                            \
                                        .rows = report_rows,                                                           \
                                        .fill = report_fill},                                                          \
                                       {.stem = NULL}},                                                                \
    .tables = (const struct db_table_kind[])                                                                           \
    {                                                                                                                  \
        {.definition = {table_name,                                                                                    \
                        {{"deviceId", DB_INTEGER},                                                                     \
                         {"timestampNs", DB_INTEGER},                                                                  \
                         {"bandwidth", DB_INTEGER},                                                                    \
                         DIRECTION("rx"),                                                                              \
                         DIRECTION("tx"),                                                                              \
                         {"funcId", DB_INTEGER}}},                                                                     \
         .fill = table_fill},                                                                                          \
        {                                                                                                              \
            .fill = NULL                                                                                               \
        }                                                                                                              \
    }

const struct metric metric_nic = {
    .name = "NIC",
    .chips = SAMPLE_NIC,
    METRIC_INPUTS(INPUT_NIC),
    .load = load_nic,
    PORT_METRIC("NIC", "nic", 21, "NIC", "Network"),
};

const struct metric metric_roce = {
    .name = "RoCE",
    .chips = SAMPLE_ROCE,
    METRIC_INPUTS(INPUT_ROCE),
    .load = load_roce,
    PORT_METRIC("RoCE", "roce", 22, "ROCE", "RDMA network"),
};
