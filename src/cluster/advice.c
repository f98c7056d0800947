#include "cluster/advice.h"

#include <stdlib.h>
#include <string.h>

#define WAITS_MUCH     0.2  /* a rank, above this share of its communication */
#define WELL_USED      0.8  /* a link, from this share of its bandwidth on; transfers, when so many are large */
#define DOMINATED_FROM 0.25 /* one kind of link dominates another that took less than this share of its time */

const char *const transport_names[TRANSPORTS] = {
    [TRANSPORT_HCCS] = "HCCS",   [TRANSPORT_PCIE] = "PCIE", [TRANSPORT_RDMA] = "RDMA",
    [TRANSPORT_LOCAL] = "LOCAL", [TRANSPORT_SIO] = "SIO",
};

int transport_of(const struct link *l)
{
    for (int i = 0; l->transport && i < TRANSPORTS; i++)
        if (!strcmp(l->transport, transport_names[i])) return i;
    return -1;
}

void nominal_by_traffic(const struct chip *chip, double gbs[TRAFFIC_KINDS])
{
    for (int i = 0; i < TRAFFIC_KINDS; i++) gbs[i] = 0;
    gbs[TRAFFIC_RDMA] = chip->rdma_gbs;
    gbs[TRAFFIC_HCCS] = chip->hccs_gbs;
    gbs[TRAFFIC_PCIE] = chip->pcie_gbs;
}

void nominal_by_transport(const struct chip *chip, double gbs[TRANSPORTS])
{
    for (int i = 0; i < TRANSPORTS; i++) gbs[i] = 0;
    gbs[TRANSPORT_RDMA] = chip->rdma_gbs;
    gbs[TRANSPORT_HCCS] = chip->hccs_gbs;
    gbs[TRANSPORT_PCIE] = chip->pcie_gbs;
}

/* ---- ranks that wait ---- */

void waits_add(struct waits *w, int64_t rank, const struct comm_times *t)
{
    double share = wait_ratio(t);
    bool first = !w->ranks++;
    if (first || share > w->most) {
        w->most = share;
        w->most_rank = rank;
        w->synchronization = synchronization_ratio(t);
    }
    if (first || share < w->least) {
        w->least = share;
        w->least_rank = rank;
    }
}

char *advise_rank(const struct waits *w)
{
    if (w->most <= WAITS_MUCH) return mem_printf("The ranks keep step: none waits for long.");
    char *most = mem_printf("Rank %lld waits longest, for a share of %.2f of its communication.",
                            (long long)w->most_rank, w->most);
    char *text;
    if (w->synchronization <= WAITS_MUCH)
        text = mem_printf("%s Transfers are already under way by then: the links between the ranks may not be equally "
                          "fast.",
                          most);
    else if (w->least_rank == w->most_rank)
        text = mem_printf("%s It does so before anything is transferred, for ranks that come late.", most);
    else
        text = mem_printf("%s It does so before anything is transferred. Rank %lld, which waits least, comes late: it "
                          "probably computes for longer.",
                          most, (long long)w->least_rank);
    free(most);
    return text;
}

/* ---- links ---- */

/* What is wrong with a kind of link; NULL = nothing. */
static char *complain(const char *kind, double used, double large)
{
    static const struct {
        const char *kind, *look_at;
    } causes[] = {
        {"RDMA", "the configuration of the switches"},
        {"HCCS", "the configuration of HCCS"},
        {"PCIE", "whether transfers between NPUs get in each other's way on the PCIe bus"},
    };
    if (used >= WELL_USED) return NULL;
    if (large < WELL_USED)
        return mem_printf("%s reaches a share of %.2f of its bandwidth: too many transfers are small, only a share of "
                          "%.2f is large.",
                          kind, used, large);
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (!strcmp(causes[i].kind, kind))
            return mem_printf("%s reaches a share of %.2f of its bandwidth: check %s.", kind, used, causes[i].look_at);
    return NULL;
}

/* Add a sentence, which is freed. */
static char *add_sentence(char *text, char *sentence)
{
    if (!sentence) return text;
    char *both = mem_printf("%s%s%s", text, *text ? " " : "", sentence);
    free(text);
    free(sentence);
    return both;
}

static char *judge_traffic(const struct op_facts *op, enum traffic kind, double nominal_gbs)
{
    const struct traffic_sum *t = &op->traffic[kind];
    const char *name = traffic_names[kind];
    if (t->bytes.value <= 0) return NULL;
    if (nominal_gbs <= 0) return mem_printf("It is not known how fast %s of this chip can be.", name);
    return complain(name, share_of(bandwidth_gbs(t->bytes.value, t->ns.value), nominal_gbs),
                    share_of((double)t->large, (double)t->bytes.terms));
}

char *advise_links(const struct op_facts *op, const double nominal_gbs[TRAFFIC_KINDS])
{
    static const enum traffic of_sdma[] = {TRAFFIC_HCCS, TRAFFIC_PCIE};
    struct traffic_sum by_sdma = traffic_shown(op, TRAFFIC_SDMA);
    double sdma = as_ms(by_sdma.ns.value), rdma = as_ms(op->traffic[TRAFFIC_RDMA].ns.value);
    bool mostly_sdma = sdma * DOMINATED_FROM > rdma, mostly_rdma = rdma * DOMINATED_FROM > sdma;
    char *text = mem_printf("%s", mostly_sdma   ? "SDMA takes most of the time."
                                  : mostly_rdma ? "RDMA takes most of the time."
                                                : "");
    char *wrong = mem_printf("%s", "");
    if (!mostly_sdma) wrong = add_sentence(wrong, judge_traffic(op, TRAFFIC_RDMA, nominal_gbs[TRAFFIC_RDMA]));
    for (size_t i = 0; i < sizeof of_sdma / sizeof *of_sdma && !mostly_rdma; i++)
        wrong = add_sentence(wrong, judge_traffic(op, of_sdma[i], nominal_gbs[of_sdma[i]]));
    if (!*wrong) wrong = add_sentence(wrong, mem_printf("The links are used well."));
    return add_sentence(text, wrong);
}

/* ---- links of a matrix ---- */

void link_kinds(struct link_kind kinds[TRANSPORTS], const struct link *links, size_t n)
{
    for (int i = 0; i < TRANSPORTS; i++) kinds[i] = (struct link_kind){0};
    for (size_t i = 0; i < n; i++) {
        const struct link *l = &links[i];
        int kind = transport_of(l);
        if (kind < 0) continue;
        struct link_kind *k = &kinds[kind];
        double gbs = bandwidth_gbs(l->bytes, l->ns);
        k->ms += as_ms(l->ns);
        k->gbs += gbs;
        k->large += share_of((double)l->large, (double)l->transfers);
        if (!k->n++ || gbs <= k->slowest_gbs) {
            k->slowest = l;
            k->slowest_gbs = gbs;
        }
    }
}

char *advise_time_ratio(const struct link_kind kinds[TRANSPORTS])
{
    double all = 0;
    for (int i = 0; i < TRANSPORTS; i++) all += kinds[i].ms;
    if (all == 0) return mem_printf("%s", "");
    return mem_printf("Shares of the transfer time: HCCS %.2f, PCIE %.2f, RDMA %.2f.", kinds[TRANSPORT_HCCS].ms / all,
                      kinds[TRANSPORT_PCIE].ms / all, kinds[TRANSPORT_RDMA].ms / all);
}

char *advise_kind(enum transport kind)
{
    return mem_printf("%s: what its links did, and what to do about it", transport_names[kind]);
}

static char *judge_links(enum transport kind, double used, bool known, double large)
{
    const char *name = transport_names[kind];
    char *wrong = known ? complain(name, used, large)
                        : mem_printf("none, it is not known how fast %s of this chip can be.", name);
    char *text = wrong ? mem_printf("Suggestion: %s", wrong) : mem_printf("Suggestion: none, %s is used well.", name);
    free(wrong);
    return text;
}

size_t advise_average(const struct link_kind *k, enum transport kind, double nominal_gbs, char *lines[ADVICE_LINES])
{
    if (!k->n) return 0;
    double n = (double)k->n;
    lines[0] = mem_printf("Transfers took %.2f ms together.", k->ms);
    lines[1] = nominal_gbs > 0 ? mem_printf("Links reached %.2f GB/s on average, of %.2f GB/s that they can.",
                                            k->gbs / n, nominal_gbs)
                               : mem_printf("Links reached %.2f GB/s on average.", k->gbs / n);
    lines[2] = mem_printf("On average a share of %.2f of the transfers was large.", k->large / n);
    lines[3] = judge_links(kind, k->gbs / n / nominal_gbs, nominal_gbs > 0, k->large / n);
    return 4;
}

size_t advise_slowest(const struct link_kind *k, enum transport kind, double nominal_gbs, char *lines[ADVICE_LINES])
{
    const struct link *l = k->slowest;
    if (!k->n || !l->bytes || k->slowest_gbs > k->gbs / (double)k->n * WELL_USED) return 0;
    double large = share_of((double)l->large, (double)l->transfers);
    double used = share_of(k->slowest_gbs, nominal_gbs);
    char *of_nominal = nominal_gbs > 0 ? mem_printf(", a share of %.2f of what it can", used) : mem_printf("%s", "");
    lines[0] = mem_printf("Slowest is the link from rank %u to rank %u: %.2f MB in %.2f ms, which is %.2f GB/s%s; a "
                          "share of %.2f of its transfers was large.",
                          l->src_rank, l->dst_rank, as_mb(l->bytes), as_ms(l->ns), k->slowest_gbs, of_nominal, large);
    lines[1] = judge_links(kind, used, nominal_gbs > 0, large);
    free(of_nominal);
    return 2;
}
