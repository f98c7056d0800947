/* Communication of all ranks in an iteration: what its operators spent time on, and what went over which link.
 *
 *     raw data of each rank ──▶ struct ranks ──▶ operators by name ──▶ communication_….json: ranks of each, their total
 *                                                                 ──▶ matrix_….json: links of all ranks together
 *
 * What the numbers mean for the one who runs the job: advice.c. */
#include <stdlib.h>
#include <string.h>

#include "cluster/advice.h"
#include "cluster/ranks.h"

#define TOTAL "Total HCCL Operators"

enum { CRITICAL_COMMUNICATION = 9, CRITICAL_MATRIX = 10 };

/* An own text as a member, which is freed. */
static void advice_member(struct out *o, const char *name, char *text)
{
    json_text_member(o, name, text);
    free(text);
}

/* ---- communication ---- */

struct report {
    const struct ranks *r;
    struct rank_operators operators;
    double by_traffic[TRAFFIC_KINDS], by_transport[TRANSPORTS]; /* nominal, GB/s */
};

static void put_rank(const struct report *p, struct out *o, const struct rank *rank, const struct op_facts *op,
                     const struct packet *packets, bool first)
{
    out_text(o, first ? "\"" : ", \"");
    out_i64(o, rank->id);
    out_literal(o, "\": {");
    json_operator_members(o, op, packets, p->by_traffic);
    advice_member(o, "Slow Link Suggestion", advise_links(op, p->by_traffic));
    out_char(o, '}');
}

static void put_operator(const struct report *p, struct out *o, const struct rank_operator *op)
{
    struct waits waits = {0};
    out_char(o, '{');
    for (size_t i = 0; i < op->n; i++) {
        const struct rank_entry *e = &p->operators.entries.at[op->first + i];
        const struct rank *rank = &p->r->at[e->rank];
        const struct op_facts *facts = &rank->facts->operators.at[e->op];
        put_rank(p, o, rank, facts, rank->facts->packets.at + facts->first_packet, !i);
        waits_add(&waits, rank->id, &facts->times);
    }
    advice_member(o, "Slow Rank Suggestion", advise_rank(&waits));
    out_char(o, '}');
}

static bool has_times(const struct analysis *a)
{
    for (size_t i = 0; i < a->operators.n; i++)
        if (op_is_measured(&a->operators.at[i])) return true;
    return false;
}

/* Returns what is to be made of it, free() it. */
static char *put_totals(const struct report *p, struct out *o)
{
    struct waits waits = {0};
    out_char(o, '{');
    for (size_t i = 0; i < p->r->n; i++) {
        const struct rank *rank = &p->r->at[i];
        struct op_facts total;
        packet_list packets = {0};
        if (!has_times(rank->facts)) continue;
        analysis_total(rank->facts, &total, &packets);
        put_rank(p, o, rank, &total, packets.at, !waits.ranks);
        waits_add(&waits, rank->id, &total.times);
        array_free(&packets);
    }
    char *advice = advise_rank(&waits);
    json_text_member(o, "Slow Rank Suggestion", advice);
    out_char(o, '}');
    return advice;
}

static char *put_communication(const struct report *p, struct out *o)
{
    out_char(o, '{');
    for (size_t i = 0; i < p->operators.list.n; i++) {
        json_any_key(o, p->operators.list.at[i].name, !i);
        put_operator(p, o, &p->operators.list.at[i]);
    }
    json_key(o, TOTAL, !p->operators.list.n);
    char *advice = put_totals(p, o);
    out_char(o, '}');
    return advice;
}

/* ---- the matrix ---- */

static void put_link(const struct report *p, struct out *o, const struct link *l, bool first)
{
    int transport = transport_of(l);
    double gbs = bandwidth_gbs(l->bytes, l->ns), nominal = transport < 0 ? 0 : p->by_transport[transport];
    char rank[16];
    if (!first) out_literal(o, ", ");
    out_char(o, '{');
    json_key(o, "Src Rank", true);
    snprintf(rank, sizeof rank, "%u", l->src_rank);
    json_text(o, rank);
    snprintf(rank, sizeof rank, "%u", l->dst_rank);
    json_text_member(o, "Dst Rank", rank);
    json_int_member(o, "Transport Type", transport);
    json_key(o, "Transit Size(MB)", false);
    json_millionths(o, l->bytes);
    json_key(o, "Transit Time(ms)", false);
    json_millionths(o, l->ns);
    if (l->ns) json_number_member(o, "Bandwidth(GB/s)", gbs);
    else json_int_member(o, "Bandwidth(GB/s)", 0);
    if (nominal > 0) json_number_member(o, "Bandwidth(Utilization)", share_of(gbs, nominal));
    else json_int_member(o, "Bandwidth(Utilization)", 0);
    json_number_member(o, "Large Packet Ratio", share_of((double)l->large, (double)l->transfers));
    out_char(o, '}');
}

/* A member that is a list of texts, which are freed. */
static void put_lines(struct out *o, const char *name, char **lines, size_t n)
{
    json_key(o, name, false);
    out_char(o, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) out_literal(o, ", ");
        json_text(o, lines[i]);
        free(lines[i]);
    }
    out_char(o, ']');
}

static void put_advice(const struct report *p, struct out *o, const struct link_kind kinds[TRANSPORTS])
{
    char *ratio = advise_time_ratio(kinds), *lines[ADVICE_LINES];
    json_text_member(o, "Time Ratio", ratio);
    out_literal(o, ", \"Matrix Suggestion\": [");
    for (int i = 0; i < TRANSPORTS && *ratio; i++) {
        char *about = advise_kind((enum transport)i);
        double nominal = p->by_transport[i];
        out_text(o, i ? ", {" : "{");
        json_key(o, "Transport Type Info", true);
        json_text(o, about);
        put_lines(o, "Average Info", lines, advise_average(&kinds[i], (enum transport)i, nominal, lines));
        put_lines(o, "Slowest Link Info", lines, advise_slowest(&kinds[i], (enum transport)i, nominal, lines));
        out_char(o, '}');
        free(about);
    }
    out_char(o, ']');
    free(ratio);
}

static void put_links(const struct report *p, struct out *o, const char *name, const link_list *links,
                      struct link_kind kinds[TRANSPORTS])
{
    out_literal(o, "{\"op_name\": ");
    json_text(o, name);
    out_literal(o, ", \"link_info\": [");
    for (size_t i = 0; i < links->n; i++) put_link(p, o, &links->at[i], !i);
    out_char(o, ']');
    link_kinds(kinds, links->at, links->n);
    put_advice(p, o, kinds);
    out_char(o, '}');
}

/* Links of a rank: those of operator i from first[i] to first[i + 1]. */
struct rank_links {
    link_list links;
    size_t *first;
};

static struct rank_links *sort_links(const struct ranks *r)
{
    struct rank_links *sorted = mem_zalloc(r->n, sizeof *sorted);
    for (size_t i = 0; i < r->n; i++) {
        const struct analysis *a = r->at[i].facts;
        struct rank_links *s = &sorted[i];
        analysis_links(a, &s->links);
        s->first = mem_zalloc(a->operators.n + 1, sizeof *s->first);
        for (size_t k = 0; k < s->links.n; k++) s->first[s->links.at[k].op + 1]++;
        for (size_t k = 0; k < a->operators.n; k++) s->first[k + 1] += s->first[k];
    }
    return sorted;
}

static void free_links(struct rank_links *sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        array_free(&sorted[i].links);
        free(sorted[i].first);
    }
    free(sorted);
}

/* The links of all ranks that have the operator. */
static void links_of(const struct report *p, const struct rank_links *sorted, const struct rank_operator *op,
                     link_list *links)
{
    link_list all = {0};
    for (size_t i = 0; i < op->n; i++) {
        const struct rank_entry *e = &p->operators.entries.at[op->first + i];
        const struct rank_links *s = &sorted[e->rank];
        for (size_t k = s->first[e->op]; k < s->first[e->op + 1]; k++) array_push(&all, s->links.at[k]);
    }
    links_merge(links, all.at, all.n);
    array_free(&all);
}

/* kinds: of all operators together. Their slowest links point into *total. */
static void put_matrix(const struct report *p, struct out *o, struct link_kind kinds[TRANSPORTS], link_list *total)
{
    struct rank_links *sorted = sort_links(p->r);
    link_list every = {0};
    out_char(o, '[');
    for (size_t i = 0; i < p->operators.list.n; i++) {
        const struct rank_operator *op = &p->operators.list.at[i];
        link_list links = {0};
        links_of(p, sorted, op, &links);
        put_links(p, o, op->name, &links, kinds);
        out_literal(o, ", ");
        for (size_t k = 0; k < links.n; k++) array_push(&every, links.at[k]);
        array_free(&links);
    }
    links_merge(total, every.at, every.n);
    put_links(p, o, TOTAL, total, kinds);
    out_char(o, ']');
    array_free(&every);
    free_links(sorted, p->r->n);
}

/* ---- answers ---- */

/* What is to be made of the whole is said, too, to the one who did not ask for the files themselves. */
struct wanted {
    bool critical; /* only operators on the critical path */
    bool advice;
    unsigned rules;
};

static void note_text(struct asking *q, char *text)
{
    if (*text) answer_note(q, "%s", text);
    free(text);
}

static void note_kind(struct asking *q, const struct report *p, const struct link_kind *k, enum transport kind)
{
    char *lines[2 * ADVICE_LINES];
    size_t n = advise_average(k, kind, p->by_transport[kind], lines);
    n += advise_slowest(k, kind, p->by_transport[kind], lines + n);
    for (size_t i = 0; i < n; i++) note_text(q, mem_printf("%s: %s", transport_names[kind], lines[i]));
    for (size_t i = 0; i < n; i++) free(lines[i]);
}

static int write_communication(struct asking *q, const struct report *p, const struct wanted *w, const char *name)
{
    struct out o;
    int status = answer_begin(q, &o, name);
    if (status) return status;
    char *advice = put_communication(p, &o);
    if (w->advice) answer_note(q, "%s", advice);
    free(advice);
    return answer_end(q, &o, name);
}

static int write_matrix(struct asking *q, const struct report *p, const struct wanted *w, const char *name)
{
    struct out o;
    int status = answer_begin(q, &o, name);
    if (status) return status;
    struct link_kind kinds[TRANSPORTS];
    link_list total = {0};
    put_matrix(p, &o, kinds, &total);
    if (w->advice) note_text(q, advise_time_ratio(kinds));
    for (int i = 0; i < TRANSPORTS && w->advice; i++) note_kind(q, p, &kinds[i], (enum transport)i);
    array_free(&total);
    return answer_end(q, &o, name);
}

/* The model in its name is the one whose iteration it is about. */
static char *name_of(const struct asking *q, const struct ranks *r, const struct wanted *w, const char *stem)
{
    const struct npuprof_question *asked = q->question;
    return mem_printf("%s%s_%lld_%lld_%lld.json", stem, w->critical ? "_cpa" : "", (long long)asked->id,
                      (long long)r->model_id, (long long)(asked->has_iteration_id ? asked->iteration_id : -1));
}

static int write_rule(struct asking *q, const struct ranks *r, const struct wanted *w, enum npuprof_rule rule)
{
    bool times = rule == NPUPROF_COMMUNICATION;
    struct report p = {.r = r};
    char *name = name_of(q, r, w, times ? "communication" : "matrix");
    int status;
    nominal_by_traffic(r->chip, p.by_traffic);
    nominal_by_transport(r->chip, p.by_transport);
    rank_operators_find(&p.operators, r, times);
    if (!p.operators.list.n)
        status = answer_fail(q, NPUPROF_OK, "no rank has an operator of which it can be told when it ran");
    else status = times ? write_communication(q, &p, w, name) : write_matrix(q, &p, w, name);
    rank_operators_free(&p.operators);
    free(name);
    return status;
}

static int answer_rules(struct asking *q, const struct wanted *w, char **names, size_t n_names)
{
    struct ranks r;
    int status = NPUPROF_OK;
    if (ranks_read(&r, q, w->rules, n_names ? names : NULL, n_names, &status)) {
        if (w->rules & NPUPROF_COMMUNICATION) status = write_rule(q, &r, w, NPUPROF_COMMUNICATION);
        if (!status && (w->rules & NPUPROF_COMMUNICATION_MATRIX))
            status = write_rule(q, &r, w, NPUPROF_COMMUNICATION_MATRIX);
    }
    ranks_free(&r);
    return status;
}

static int answer_critical(struct asking *q, const struct wanted *w)
{
    char *names[CRITICAL_OPERATORS];
    int status = answer_check_ids(q);
    if (status) return status;
    if ((status = answer_read_steps(q))) return status;
    size_t n = critical_operators(q, names, &status);
    if (n) status = answer_rules(q, w, names, n);
    for (size_t i = 0; i < n; i++) free(names[i]);
    return status;
}

/* Communication is always told of all ranks. */
static int answer_all(struct asking *q, const struct wanted *w)
{
    const struct npuprof_question *asked = q->question;
    struct npuprof_question of_all = *asked;
    of_all.id = -1;
    of_all.has_id = 1;
    q->question = &of_all;
    if (!asked->has_id || asked->id != -1) answer_note(q, "--id taken as -1: communication is told of all ranks");
    int status = answer_check_ids(q);
    if (!status) status = answer_read_steps(q);
    if (!status) status = answer_rules(q, w, NULL, 0);
    q->question = asked;
    return status;
}

int answer_communication(struct asking *q)
{
    bool critical = q->question->data_type == CRITICAL_COMMUNICATION;
    struct wanted w = {.critical = critical, .rules = NPUPROF_COMMUNICATION};
    return critical ? answer_critical(q, &w) : answer_all(q, &w);
}

int answer_matrix(struct asking *q)
{
    bool critical = q->question->data_type == CRITICAL_MATRIX;
    struct wanted w = {.critical = critical, .rules = NPUPROF_COMMUNICATION_MATRIX};
    return critical ? answer_critical(q, &w) : answer_all(q, &w);
}

int answer_tuning(struct asking *q)
{
    struct wanted w = {.advice = true, .rules = NPUPROF_COMMUNICATION | NPUPROF_COMMUNICATION_MATRIX};
    int status = answer_read_steps(q);
    return status ? status : answer_rules(q, &w, NULL, 0);
}
