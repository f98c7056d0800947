/* What an analysis knows: facts about operators and links, for those that write them down.
 *
 *     analysis_add_device ──▶ struct analysis: operators with their packets, links ──▶ analysis_total, analysis_links
 */
#ifndef ANALYZE_FACTS_H
#define ANALYZE_FACTS_H

#include "analyze/analyze.h"
#include "base/array.h"
#include "base/map.h"
#include "base/out.h"
#include "base/strpool.h"

/* Kinds of links that bandwidth is told apart by, in the order of the outputs. */
enum traffic { TRAFFIC_RDMA, TRAFFIC_HCCS, TRAFFIC_PCIE, TRAFFIC_SDMA, TRAFFIC_SIO, TRAFFIC_KINDS };

extern const char *const traffic_names[TRAFFIC_KINDS];

/* A sum with the number of its terms: what never was touched is written as 0, not as 0.0. */
struct sum {
    int64_t value; /* ns or bytes; stays at the largest number instead of overflowing */
    uint64_t terms;
};

/* How an operator spent its time, by the tasks of its master plane. */
struct comm_times {
    int64_t start_ns; /* epoch */
    struct sum elapsed, transit, wait;
    struct sum synchronization; /* the part of `wait` before anything was transferred */
};

/* What an operator transferred over one kind of link. */
struct traffic_sum {
    struct sum bytes, ns;
    uint64_t large; /* transfers above the size from which a link is well used */
};

/* Transfers of one size over one kind of link. */
struct packet {
    int64_t bytes, ns;
    uint64_t count;
    uint8_t kind; /* enum traffic */
};

struct op_facts {
    str_id name, group; /* group: its decimal key, "N/A" */
    struct comm_times times;
    struct traffic_sum traffic[TRAFFIC_KINDS]; /* TRAFFIC_SDMA: only its own */
    uint32_t first_packet, n_packets;          /* in packets: each (kind, bytes) once, in order of appearance */
};

/* What an operator transferred from one rank to another. */
struct link {
    int64_t bytes, ns;
    uint64_t transfers;    /* how many */
    uint64_t large;        /* of them, large enough to use the link well; all that are not empty where nobody says */
    const char *transport; /* of the last transfer: "HCCS", "LOCAL" …; NULL = none of them. Static */
    uint32_t op;           /* in operators */
    uint32_t src_rank, dst_rank;
};

typedef ARRAY(struct packet) packet_list;
typedef ARRAY(struct link) link_list;

struct analysis {
    unsigned rules;
    struct strpool *strings;
    ARRAY(struct op_facts) operators; /* order of appearance */
    struct map operator_of;           /* name << 32 | group -> index */
    packet_list packets;
    link_list links; /* in order of appearance; of one operator and pair of ranks there is one per device */
    size_t without_master;
    bool some_ran_before; /* the collection */
};

/* Saturating arithmetic. */
static inline int64_t sum_of(int64_t a, int64_t b)
{
    int64_t s;
    return __builtin_add_overflow(a, b, &s) ? (a < 0 ? INT64_MIN : INT64_MAX) : s;
}

static inline int64_t difference(int64_t a, int64_t b)
{
    int64_t d;
    return __builtin_sub_overflow(a, b, &d) ? (a < 0 ? INT64_MIN : INT64_MAX) : d;
}

static inline void sum_add(struct sum *s, int64_t term)
{
    s->value = sum_of(s->value, term);
    s->terms++;
}

/* Add a sum to another. */
static inline void sum_merge(struct sum *s, const struct sum *more)
{
    s->value = sum_of(s->value, more->value);
    s->terms += more->terms;
}

/* Which tasks of a device are analyzed, and what makes them one operator. */
struct analysis_scope {
    int64_t first_ns, last_ns; /* those that start from first to last, that included; epoch */
    const char *const *names;  /* [n_names], of operators; NULL = all */
    size_t n_names;
    bool by_name; /* operators of one name are one, whatever group they are of; they have no group then */
};

/* Add the operators of one device, as analysis_add does. */
void analysis_add_device(struct analysis *a, const struct model *m, const struct device_model *d,
                         const struct analysis_scope *scope, struct diag *diag);

/* Could its times be measured? */
static inline bool op_is_measured(const struct op_facts *op)
{
    return op->times.elapsed.terms > 0;
}

/* What all operators together have. Its packets are in *packets. */
void analysis_total(const struct analysis *a, struct op_facts *total, packet_list *packets);

/* Add links[n] to `list`, those of the same ranks as one. */
void links_merge(link_list *list, const struct link *links, size_t n);

/* All links, one per operator and pair of ranks, by operator. */
void analysis_links(const struct analysis *a, link_list *by_operator);

/* Traffic as the outputs show it: TRAFFIC_SDMA with what went over the links of other kinds. */
struct traffic_sum traffic_shown(const struct op_facts *op, enum traffic kind);

/* Numbers of the outputs: GB/s and shares, rounded to four decimals; 0 when there is nothing to divide by. */
double bandwidth_gbs(int64_t bytes, int64_t ns);
double share_of(double part, double whole);

static inline double as_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static inline double as_mb(int64_t bytes)
{
    return (double)bytes / 1e6;
}

/* Shares of the time spent waiting, and waiting before anything was transferred; 0 when no time was spent. */
double wait_ratio(const struct comm_times *t);
double synchronization_ratio(const struct comm_times *t);

/* ---- json.c: pieces of JSON -----------------------------------------------------------------------------------------
 */

/* The members of an operator: "Communication Time Info": {…}, "Communication Bandwidth Info": {…}. nominal_gbs: what
 * each kind of link can do, by enum traffic, 0 = not known: then there is a "Bandwidth(Utilization)", too; NULL = there
 * is none. */
void json_operator_members(struct out *o, const struct op_facts *op, const struct packet *packets,
                           const double *nominal_gbs);

#endif
