/* The JSON files: one object of operators, in the spacing of Python's json module, numbers as Python writes them. What
 * never was touched is 0, sums are floating point numbers, as the tools that read these files know them. */
#include "base/json.h"
#include "analyze/parts.h"

static void float_member(struct out *o, const char *name, double value, bool touched)
{
    json_key(o, name, false);
    if (touched) json_number(o, value);
    else out_char(o, '0');
}

/* Millionths of what the member is in. */
static void sum_member(struct out *o, const char *name, int64_t value, bool touched)
{
    json_key(o, name, false);
    if (touched) json_millionths(o, value);
    else out_char(o, '0');
}

static void ms_member(struct out *o, const char *name, const struct sum *ns)
{
    sum_member(o, name, ns->value, ns->terms);
}

/* "<operator>@<group>": */
static void operator_key(struct out *o, const struct analysis *a, const struct op_facts *op, bool first)
{
    out_text(o, first ? "\"" : ", \"");
    out_json_chars(o, strpool_text(a->strings, op->name), strpool_length(a->strings, op->name));
    out_char(o, '@');
    out_json_chars(o, strpool_text(a->strings, op->group), strpool_length(a->strings, op->group));
    out_literal(o, "\": ");
}

/* ---- communication.json ---- */

static void put_times(struct out *o, const struct comm_times *t)
{
    int64_t transit = t->transit.value, busy = sum_of(transit, t->wait.value);
    int64_t with_synchronization = sum_of(transit, t->synchronization.value);
    out_literal(o, "\"Communication Time Info\": {\"Start Timestamp(us)\": ");
    if (t->start_ns) out_us_number(o, t->start_ns);
    else out_char(o, '0'); /* the total has none */
    ms_member(o, "Elapse Time(ms)", &t->elapsed);
    ms_member(o, "Transit Time(ms)", &t->transit);
    ms_member(o, "Wait Time(ms)", &t->wait);
    ms_member(o, "Synchronization Time(ms)", &t->synchronization);
    sum_member(o, "Idle Time(ms)", difference(t->elapsed.value, busy), t->elapsed.terms);
    float_member(o, "Wait Time Ratio", wait_ratio(t), busy != 0);
    float_member(o, "Synchronization Time Ratio", synchronization_ratio(t), with_synchronization != 0);
    out_char(o, '}');
}

static void put_sizes(struct out *o, const struct packet *packets, size_t n, enum traffic kind)
{
    bool first = true;
    json_key(o, "Size Distribution", false);
    out_char(o, '{');
    for (size_t i = 0; i < n; i++) {
        if (packets[i].kind != kind) continue;
        out_text(o, first ? "\"" : ", \"");
        json_millionths(o, packets[i].bytes);
        out_literal(o, "\": [");
        out_u64(o, packets[i].count);
        out_literal(o, ", ");
        json_millionths(o, packets[i].ns);
        out_char(o, ']');
        first = false;
    }
    out_literal(o, "}");
}

static void put_traffic(struct out *o, const struct op_facts *op, const struct packet *packets, enum traffic kind,
                        const double *nominal_gbs)
{
    struct traffic_sum t = traffic_shown(op, kind);
    json_key(o, traffic_names[kind], !kind);
    out_literal(o, "{\"Transit Size(MB)\": ");
    if (t.bytes.terms) json_millionths(o, t.bytes.value);
    else out_char(o, '0');
    ms_member(o, "Transit Time(ms)", &t.ns);
    double gbs = bandwidth_gbs(t.bytes.value, t.ns.value);
    float_member(o, "Bandwidth(GB/s)", gbs, t.ns.value);
    if (nominal_gbs) float_member(o, "Bandwidth(Utilization)", share_of(gbs, nominal_gbs[kind]), nominal_gbs[kind] > 0);
    float_member(o, "Large Packet Ratio", share_of((double)t.large, (double)t.bytes.terms),
                 kind != TRAFFIC_SDMA && t.bytes.terms);
    put_sizes(o, packets, op->n_packets, kind);
    out_char(o, '}');
}

void json_operator_members(struct out *o, const struct op_facts *op, const struct packet *packets,
                           const double *nominal_gbs)
{
    put_times(o, &op->times);
    out_literal(o, ", \"Communication Bandwidth Info\": {");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) put_traffic(o, op, packets, (enum traffic)kind, nominal_gbs);
    out_char(o, '}');
}

static void put_operator(struct out *o, const struct op_facts *op, const struct packet *packets)
{
    out_char(o, '{');
    json_operator_members(o, op, packets, NULL);
    out_char(o, '}');
}

int json_write_communication(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows,
                             struct error *err)
{
    struct out o;
    if (out_open(&o, path, err)) return -1;
    out_char(&o, '{');
    for (size_t i = 0; i < a->operators.n; i++) {
        const struct op_facts *op = &a->operators.at[i];
        operator_key(&o, a, op, !i);
        put_operator(&o, op, a->packets.at + op->first_packet);
    }
    struct op_facts total;
    packet_list packets = {0};
    analysis_total(a, &total, &packets);
    json_key(&o, "Total HCCL Operators", !a->operators.n);
    put_operator(&o, &total, packets.at);
    out_char(&o, '}');
    array_free(&packets);
    *bytes = out_size(&o);
    *rows = a->operators.n;
    return out_commit(&o, err);
}

/* ---- communication_matrix.json ---- */

static void put_link(struct out *o, const struct link *l, bool first)
{
    out_text(o, first ? "\"" : ", \"");
    out_u64(o, l->src_rank);
    out_char(o, '-');
    out_u64(o, l->dst_rank);
    out_literal(o, "\": {\"Transport Type\": ");
    if (l->transport) out_json_string(o, l->transport, strlen(l->transport));
    else out_literal(o, "null");
    sum_member(o, "Transit Size(MB)", l->bytes, true);
    sum_member(o, "Transit Time(ms)", l->ns, true);
    float_member(o, "Bandwidth(GB/s)", bandwidth_gbs(l->bytes, l->ns), l->ns);
    out_char(o, '}');
}

static void put_links(struct out *o, const struct link *links, size_t n)
{
    out_char(o, '{');
    for (size_t i = 0; i < n; i++) put_link(o, &links[i], !i);
    out_char(o, '}');
}

int json_write_matrix(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows, struct error *err)
{
    struct out o;
    if (out_open(&o, path, err)) return -1;
    link_list links = {0}, total = {0};
    analysis_links(a, &links);
    links_merge(&total, links.at, links.n);
    size_t from = 0;
    out_char(&o, '{');
    for (size_t i = 0; i < a->operators.n; i++) {
        size_t to = from;
        while (to < links.n && links.at[to].op == i) to++;
        operator_key(&o, a, &a->operators.at[i], !i);
        put_links(&o, links.at + from, to - from);
        from = to;
    }
    json_key(&o, "Total HCCL Operators", !a->operators.n);
    put_links(&o, total.at, total.n);
    out_char(&o, '}');
    array_free(&links);
    array_free(&total);
    *bytes = out_size(&o);
    *rows = a->operators.n;
    return out_commit(&o, err);
}
