/* Network usage of the host, from samples of /proc/net/dev.
 *
 *     time <ns>
 *       eth0: <bytes received> … <bytes sent> …
 *
 * Only the cards whose speed info.json tells count. Between two samples the rates of all counters (received, sent, per
 * card) are averaged; the usage is that average against the speed of a card. A counter that fell was reset: its card is
 * left out of that interval. */
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"
#include "metrics/usage.h"

#define BYTES_PER_MBIT 125000.0

/* Fields of a card's line; the first is the name with a colon. */
enum { F_RECEIVED = 1, F_SENT = 9, F_ALL = 12 };

struct card {
    const char *name; /* in info.json */
    double mbit;
    uint64_t received, sent; /* of the sample being read */
    uint64_t last_received, last_sent;
    bool seen, last_seen;
};

struct sample {
    int64_t start_ns;
    double percent;
    double kb_per_s; /* over all cards, both directions */
};

struct host_network {
    double total_kb;              /* KB/s that all cards together can carry */
    ARRAY(struct sample) samples; /* ascending */
};

struct reader {
    struct host_network *network;
    const struct prof_dir *dir;
    ARRAY(struct card) cards;
    const struct input_file *file;
    uint64_t time_ns, last_time_ns;
    bool in_sample, has_last;
};

static void find_cards(struct reader *r)
{
    size_t i;
    const json_t *card;
    json_array_foreach(json_object_get(r->dir->meta.info, "netCard"), i, card)
    {
        const char *name = json_string_value(json_object_get(card, "netCardName"));
        const json_t *speed = json_object_get(card, "speed");
        if (!name || !json_is_number(speed) || !(json_number_value(speed) > 0)) continue;
        array_push(&r->cards, ((struct card){.name = name, .mbit = json_number_value(speed)}));
        r->network->total_kb += json_number_value(speed) * BYTES_PER_MBIT / BYTES_PER_KB;
    }
}

/* The sample is complete: compare it with the one before, and make it that. */
static void end_sample(struct reader *r)
{
    if (!r->in_sample) return;
    double bytes = 0, speed = 0;
    unsigned counters = 0;
    for (size_t i = 0; i < r->cards.n; i++) {
        struct card *c = &r->cards.at[i];
        if (r->has_last && c->seen && c->last_seen && c->received >= c->last_received && c->sent >= c->last_sent) {
            bytes += (double)(c->received - c->last_received) + (double)(c->sent - c->last_sent);
            counters++;
        }
        if (c->seen) speed = c->mbit * BYTES_PER_MBIT;
        c->last_received = c->received;
        c->last_sent = c->sent;
        c->last_seen = c->seen;
        c->seen = false;
    }
    double seconds = (double)r->time_ns / 1e9 - (double)r->last_time_ns / 1e9;
    if (counters && r->time_ns > r->last_time_ns) {
        double average = bytes / counters / seconds;
        array_push(&r->network->samples,
                   ((struct sample){usage_time(r->dir, r->last_time_ns), usage_round(average * 100 / speed),
                                    average * counters / BYTES_PER_KB}));
    }
    r->last_time_ns = r->time_ns;
    r->has_last = true;
    r->in_sample = false;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct text_field f[F_ALL];
    uint64_t ns;
    if (r->file != place->file) { /* each file is sampled on its own */
        end_sample(r);
        r->has_last = false;
        r->file = place->file;
    }
    size_t n = text_split(line, len, f, F_ALL);
    if (n == 2 && text_is(f[0], "time") && text_u64(f[1], &ns)) {
        end_sample(r);
        r->time_ns = ns;
        r->in_sample = true;
    }
    if (n < F_ALL || !r->in_sample || f[0].len < 2) return;
    f[0].len--; /* the colon */
    for (size_t i = 0; i < r->cards.n; i++) {
        struct card *c = &r->cards.at[i];
        if (text_is(f[0], c->name) && text_u64(f[F_RECEIVED], &c->received) && text_u64(f[F_SENT], &c->sent))
            c->seen = true;
    }
}

static void host_network_free(void *data)
{
    struct host_network *network = data;
    array_free(&network->samples);
    free(network);
}

static void *load(const struct metric_source *from)
{
    struct host_network *network = mem_zalloc(1, sizeof *network);
    struct reader r = {.network = network, .dir = from->dir};
    find_cards(&r);
    lines_each(prof_dir_files(from->dir, INPUT_HOST_NETWORK), from->diag, from->progress, visit, &r);
    end_sample(&r);
    array_free(&r.cards);
    return network;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct host_network *network = data;
    for (size_t i = 0; i < network->samples.n; i++) {
        const struct sample *s = &network->samples.at[i];
        if (!sample_too_early(dir, s->start_ns)) usage_counter(t, pid, "Network Usage", s->start_ns, s->percent);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct host_network *)data)->samples.n ? 1 : 0;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct host_network *network = data;
    size_t n = network->samples.n;
    if (!n) return;
    double *values = mem_alloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = network->samples.at[i].kb_per_s;
    report_row(t, dir);
    table_shortest(t, network->total_kb);
    usage_cells(t, usage_peak(values, n), false);
    report_row_end(t);
    free(values);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct host_network *network = data;
    for (size_t i = 0; i < network->samples.n; i++) {
        const struct sample *s = &network->samples.at[i];
        if (sample_too_early(dir, s->start_ns)) continue;
        db_int(t, s->start_ns);
        db_real(t, s->percent);
        db_real(t, s->kb_per_s * BYTES_PER_KB);
        db_row(t);
    }
}

const struct metric metric_host_network = {
    .name = "host network usage",
    METRIC_INPUTS(INPUT_HOST_NETWORK),
    .load = load,
    .free = host_network_free,
    .layers = (const struct layer[]){{.key = "network_usage",
                                      .name = "Network Usage",
                                      .sort_index = 11,
                                      .script_index = 11,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "host_network_usage",
             .about = "Network of the host: what its cards can carry, the most that they did, and what a\n"
                      "machine for this job should reach.",
             .columns =
                 (const char *const[]){"Netcard Speed(KB/s)", "Peak Used Speed(KB/s)", "Recommend Speed(KB/s)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
    .tables =
        (const struct db_table_kind[]){
            {.definition = {"HOST_NETWORK_USAGE",
                            {{"timestampNs", DB_NUMERIC}, {"usage", DB_NUMERIC}, {"speed", DB_NUMERIC}}},
             .fill = table_fill},
            {.fill = NULL}},
};
