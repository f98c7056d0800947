/* What to make of the numbers: when ranks wait, when links are slow. Shares are 0 … 1, in texts with two decimals.
 * Texts are the caller's, free() them. */
#ifndef CLUSTER_ADVICE_H
#define CLUSTER_ADVICE_H

#include "analyze/facts.h"
#include "session/chips.h"

/* Kinds of links as the links of a matrix have them, by the number of their "Transport Type". */
enum transport { TRANSPORT_HCCS, TRANSPORT_PCIE, TRANSPORT_RDMA, TRANSPORT_LOCAL, TRANSPORT_SIO, TRANSPORTS };

extern const char *const transport_names[TRANSPORTS];

/* The number of link.transport; -1 = none of them. */
int transport_of(const struct link *l);

/* What links of a chip can do, GB/s; 0 = not known. */
void nominal_by_traffic(const struct chip *chip, double gbs[TRAFFIC_KINDS]);
void nominal_by_transport(const struct chip *chip, double gbs[TRANSPORTS]);

/* ---- ranks that wait ---- */

/* The ranks of an operator that wait most and least; of several the first. */
struct waits {
    int64_t most_rank, least_rank;
    double most, least;     /* shares of waiting */
    double synchronization; /* of most_rank */
    size_t ranks;
};

void waits_add(struct waits *w, int64_t rank, const struct comm_times *t);

/* "Slow Rank Suggestion" */
char *advise_rank(const struct waits *w);

/* ---- links ---- */

/* "Slow Link Suggestion" of an operator on a rank. */
char *advise_links(const struct op_facts *op, const double nominal_gbs[TRAFFIC_KINDS]);

/* The links of an operator, kind by kind. Bandwidths are those of links, not of bytes. */
struct link_kind {
    size_t n;
    double ms, gbs, large; /* sums: of times, bandwidths, shares of large transfers */
    const struct link *slowest;
    double slowest_gbs;
};

void link_kinds(struct link_kind kinds[TRANSPORTS], const struct link *links, size_t n);

/* "Time Ratio" of all kinds; empty when no time was spent. */
char *advise_time_ratio(const struct link_kind kinds[TRANSPORTS]);

enum { ADVICE_LINES = 4 };

/* "Transport Type Info", "Average Info" and "Slowest Link Info" of a kind. Lists have up to ADVICE_LINES texts, the
 * number of which is returned. */
char *advise_kind(enum transport kind);
size_t advise_average(const struct link_kind *k, enum transport kind, double nominal_gbs, char *lines[ADVICE_LINES]);
size_t advise_slowest(const struct link_kind *k, enum transport kind, double nominal_gbs, char *lines[ADVICE_LINES]);

#endif
