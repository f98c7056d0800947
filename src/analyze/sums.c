/* From operators to the whole: totals, links of several devices, and the numbers that the outputs show. */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/parts.h"
#include "base/sort.h"

const char *const traffic_names[TRAFFIC_KINDS] = {
    [TRAFFIC_RDMA] = "RDMA", [TRAFFIC_HCCS] = "HCCS", [TRAFFIC_PCIE] = "PCIE",
    [TRAFFIC_SDMA] = "SDMA", [TRAFFIC_SIO] = "SIO",
};

struct analysis *analysis_new(unsigned rules)
{
    struct analysis *a = mem_zalloc(1, sizeof *a);
    a->rules = rules;
    a->strings = strpool_new();
    return a;
}

void analysis_free(struct analysis *a)
{
    strpool_free(a->strings);
    array_free(&a->operators);
    map_free(&a->operator_of);
    array_free(&a->packets);
    array_free(&a->links);
    free(a);
}

bool analysis_all_before(const struct analysis *a)
{
    return a->some_ran_before && !a->operators.n;
}

size_t analysis_without_master(const struct analysis *a)
{
    return a->without_master;
}

/* ---- totals ---- */

static void merge_traffic(struct traffic_sum *t, const struct traffic_sum *more)
{
    sum_merge(&t->bytes, &more->bytes);
    sum_merge(&t->ns, &more->ns);
    t->large += more->large;
}

static void merge_operator(struct op_facts *total, const struct op_facts *op)
{
    sum_merge(&total->times.elapsed, &op->times.elapsed);
    sum_merge(&total->times.transit, &op->times.transit);
    sum_merge(&total->times.wait, &op->times.wait);
    sum_merge(&total->times.synchronization, &op->times.synchronization);
    for (int i = 0; i < TRAFFIC_KINDS; i++) merge_traffic(&total->traffic[i], &op->traffic[i]);
}

void analysis_total(const struct analysis *a, struct op_facts *total, packet_list *packets)
{
    struct map at[TRAFFIC_KINDS] = {0};
    *total = (struct op_facts){0};
    for (size_t i = 0; i < a->operators.n; i++) {
        const struct op_facts *op = &a->operators.at[i];
        merge_operator(total, op);
        for (const struct packet *p = a->packets.at + op->first_packet, *end = p + op->n_packets; p < end; p++) {
            if (p->kind == TRAFFIC_SDMA) continue; /* shown for single operators only */
            bool fresh;
            uint32_t to = *map_put(&at[p->kind], (uint64_t)p->bytes, (uint32_t)packets->n, &fresh);
            if (fresh) array_push(packets, ((struct packet){.bytes = p->bytes, .kind = p->kind}));
            packets->at[to].count += p->count;
            packets->at[to].ns = sum_of(packets->at[to].ns, p->ns);
        }
    }
    total->n_packets = (uint32_t)packets->n;
    for (int i = 0; i < TRAFFIC_KINDS; i++) map_free(&at[i]);
}

struct traffic_sum traffic_shown(const struct op_facts *op, enum traffic kind)
{
    struct traffic_sum t = op->traffic[kind];
    for (int i = 0; kind == TRAFFIC_SDMA && i < TRAFFIC_KINDS; i++)
        if (i != TRAFFIC_SDMA && i != TRAFFIC_RDMA) merge_traffic(&t, &op->traffic[i]);
    return t;
}

/* ---- links ---- */

void links_merge(link_list *list, const struct link *links, size_t n)
{
    struct map at = {0};
    for (size_t i = 0; i < n; i++) {
        const struct link *from = &links[i];
        bool fresh;
        uint32_t to = *map_put(&at, (uint64_t)from->src_rank << 32 | from->dst_rank, (uint32_t)list->n, &fresh);
        if (fresh) {
            array_push(list, *from);
            continue;
        }
        struct link *l = &list->at[to];
        l->bytes = sum_of(l->bytes, from->bytes);
        l->ns = sum_of(l->ns, from->ns);
        l->transfers += from->transfers;
        l->large += from->large;
        l->transport = from->transport;
    }
    map_free(&at);
}

void analysis_links(const struct analysis *a, link_list *by_operator)
{
    size_t n = a->links.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){a->links.at[i].op, (uint32_t)i};
    sort_keys(order, n);
    struct link *sorted = mem_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = a->links.at[order[i].index];
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && sorted[i + 1].op == sorted[i].op) continue;
        links_merge(by_operator, sorted + from, i + 1 - from);
        from = i + 1;
    }
    free(sorted);
    free(order);
}

/* ---- numbers ---- */

/* To four decimals, to even where two are equally near. */
static double round_4(double value)
{
    char text[400];
    snprintf(text, sizeof text, "%.4f", value);
    return strtod(text, NULL);
}

double bandwidth_gbs(int64_t bytes, int64_t ns)
{
    return ns ? round_4(as_mb(bytes) / as_ms(ns)) : 0;
}

double share_of(double part, double whole)
{
    return whole != 0 ? round_4(part / whole) : 0;
}

double wait_ratio(const struct comm_times *t)
{
    return share_of(as_ms(t->wait.value), as_ms(sum_of(t->transit.value, t->wait.value)));
}

double synchronization_ratio(const struct comm_times *t)
{
    return share_of(as_ms(t->synchronization.value), as_ms(sum_of(t->transit.value, t->synchronization.value)));
}
