/* What the files of the room share: the facts of an analysis. */
#ifndef ANALYZE_PARTS_H
#define ANALYZE_PARTS_H

#include "analyze/analyze.h"
#include "base/array.h"
#include "base/map.h"
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

/* ---- walk.c: what the tasks of a plane do ---------------------------------------------------------------------------
 */

enum comm_step_kind {
    STEP_COPY,  /* an SDMA engine copies */
    STEP_LOCAL, /* the same within the memory of the NPU */
    STEP_RDMA,  /* a whole RDMA transfer: payloads, and the tasks that close it */
    STEP_WAIT,  /* the operator waits for another rank */
};

struct comm_step {
    enum comm_step_kind kind;
    const struct comm_task *first;
    int64_t bytes, ns;
    enum traffic traffic;  /* of a transfer */
    const char *transport; /* of a transfer, as in struct link */
};

/* Tasks of one operator in one plane, in order of their start. */
struct plane {
    const struct comm_task *tasks;
    const struct sort_key *order; /* n indexes in tasks */
    size_t n;
    unsigned closing;                 /* tasks of an RDMA transfer behind its last payload, that payload counted */
    size_t at;                        /* the next task */
    str_id copy, reduce, notify_wait; /* names of tasks that mean something here */
};

/* Tasks that close an RDMA transfer of an operator of that name. */
unsigned plane_closing(const char *op_name);

/* The next step; false at the end. Tasks that are nothing of the kind are passed over. */
bool plane_next(struct plane *p, struct comm_step *s);

/* ---- sums.c: from operators to the whole ----------------------------------------------------------------------------
 */

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

/* ---- json.c, tables.c -----------------------------------------------------------------------------------------------
 */

/* Write one file; *rows counts operators, or rows. The database gets the tables of `rules`, the others are taken over.
 * Return 0, or -1 with *err set. */
int json_write_communication(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows,
                             struct error *err);
int json_write_matrix(const struct analysis *a, const char *path, uint64_t *bytes, uint64_t *rows, struct error *err);
int tables_write(const struct analysis *a, unsigned rules, const char *path, struct diag *diag, uint64_t *bytes,
                 uint64_t *rows, struct error *err);

#endif
