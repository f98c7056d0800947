/* From the communication tasks of a device to facts about its operators.
 *
 *     tasks, by start ──▶ (operator, plane), each in order of appearance ──▶ steps of each plane (walk.c)
 *                                                                      master plane:  times
 *                                                                      all planes:    packets, traffic; links
 *
 * One stable sort brings the tasks of an operator together; the rest is a walk. */
#include <stdlib.h>
#include <string.h>

#include "analyze/parts.h"
#include "base/sort.h"

/* From this size on (bytes, exclusive) a transfer uses its link well; of SDMA nobody says. */
static const int64_t large_from[TRAFFIC_KINDS] = {
    [TRAFFIC_RDMA] = 500000,    [TRAFFIC_HCCS] = 32000000, [TRAFFIC_PCIE] = 32000000,
    [TRAFFIC_SDMA] = INT64_MAX, [TRAFFIC_SIO] = 32000000,
};

/* A device that is being added. */
struct device_work {
    struct analysis *a;
    const struct model *m;
    const struct device_model *d;
    const struct analysis_scope *scope;
    struct map names;   /* of the scope, in the strings of the model */
    struct plane plane; /* what all planes have in common */
};

/* An operator of the device while its planes are walked. */
struct operator_work {
    struct op_facts found;
    struct map packet_of[TRAFFIC_KINDS]; /* bytes -> index in packets */
    link_list links;                     /* a transfer each */
    uint32_t op;                         /* index in operators */
    int32_t master_plane;
    bool has_master, measured; /* times and traffic are wanted, and there is a master plane to measure */
};

/* ---- operators ---- */

/* The decimal key of the group, which is what the key of an operator, "<name>_<group>_<device>", has behind the name.
 */
static str_id group_of(const struct device_work *w, const struct comm_task *t)
{
    const char *key = model_text(w->m, t->op_key), *end = strrchr(key, '_');
    size_t from = strpool_length(w->m->strings, t->op_name) + 1;
    if (!end || (size_t)(end - key) < from) return STR_NA;
    return strpool_add(w->a->strings, key + from, (size_t)(end - key) - from);
}

static uint32_t operator_of(struct device_work *w, const struct comm_task *t)
{
    struct analysis *a = w->a;
    const char *text = model_text(w->m, t->op_name);
    str_id name = strpool_add_z(a->strings, text), group = w->scope->by_name ? STR_EMPTY : group_of(w, t);
    bool fresh;
    uint32_t op = *map_put(&a->operator_of, (uint64_t)name << 32 | group, (uint32_t)a->operators.n, &fresh);
    if (fresh) array_push(&a->operators, ((struct op_facts){.name = name, .group = group}));
    return op;
}

/* ---- steps ---- */

static void add_packet(struct device_work *w, struct operator_work *o, const struct comm_step *s)
{
    struct traffic_sum *t = &o->found.traffic[s->traffic];
    sum_add(&t->bytes, s->bytes);
    sum_add(&t->ns, s->ns);
    t->large += s->bytes > large_from[s->traffic];

    packet_list *packets = &w->a->packets;
    bool fresh;
    uint32_t at = *map_put(&o->packet_of[s->traffic], (uint64_t)s->bytes, (uint32_t)packets->n, &fresh);
    if (fresh) array_push(packets, ((struct packet){.bytes = s->bytes, .kind = (uint8_t)s->traffic}));
    packets->at[at].count++;
    packets->at[at].ns = sum_of(packets->at[at].ns, s->ns);
}

static void add_time(struct operator_work *o, const struct comm_step *s)
{
    struct comm_times *t = &o->found.times;
    if (s->kind == STEP_WAIT) {
        sum_add(&t->wait, s->ns);
        if (!t->transit.terms) sum_add(&t->synchronization, s->ns);
    } else {
        sum_add(&t->transit, s->ns);
    }
}

/* Over links of other kinds anything is large. */
static bool is_large(const struct comm_step *s)
{
    return s->bytes > (s->transport && s->kind != STEP_LOCAL ? large_from[s->traffic] : 0);
}

static void add_link(struct operator_work *o, const struct comm_step *s)
{
    uint32_t src = s->first->src_rank, dst = s->first->dst_rank;
    if (src == UINT32_MAX) return;
    array_push(&o->links, ((struct link){
                              .bytes = s->bytes,
                              .ns = s->ns,
                              .transfers = 1,
                              .large = is_large(s),
                              .transport = s->transport,
                              .op = o->op,
                              .src_rank = src,
                              .dst_rank = dst == UINT32_MAX ? src : dst,
                          }));
}

static void walk_plane(struct device_work *w, struct operator_work *o, const struct sort_key *order, size_t n)
{
    struct plane p = w->plane;
    struct comm_step s;
    p.order = order;
    p.n = n;
    p.closing = plane_closing(strpool_text(w->a->strings, o->found.name));
    bool times = o->measured && p.tasks[order->index].plane_id == o->master_plane;
    while (plane_next(&p, &s)) {
        if (times && s.kind != STEP_LOCAL) add_time(o, &s);
        if (o->measured && (s.kind == STEP_COPY || s.kind == STEP_RDMA)) add_packet(w, o, &s);
        if ((w->a->rules & NPUPROF_COMMUNICATION_MATRIX) && s.kind != STEP_WAIT) add_link(o, &s);
    }
}

/* ---- one operator of the device: order[n], by plane ---- */

/* Tasks that the host launched come before what the AI CPU made of them. */
static uint64_t rank_of(const struct comm_task *t, uint32_t index)
{
    return (uint64_t)(t->source != COMM_LAUNCHED) << 32 | index;
}

/* The plane of the first master task is the one whose times count. */
static void find_master_plane(const struct device_work *w, struct operator_work *o, const struct sort_key *order,
                              size_t n)
{
    uint64_t first = UINT64_MAX;
    o->found.times.start_ns = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct comm_task *t = &w->d->comm_tasks.at[order[i].index];
        if (!t->is_master) continue;
        if (t->start_ns < o->found.times.start_ns) o->found.times.start_ns = t->start_ns;
        if (rank_of(t, order[i].index) > first) continue;
        first = rank_of(t, order[i].index);
        o->master_plane = t->plane_id;
        o->has_master = true;
    }
}

static void measure_elapsed(const struct device_work *w, struct operator_work *o, const struct sort_key *order,
                            size_t n)
{
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        const struct comm_task *t = &w->d->comm_tasks.at[order[i].index];
        if (t->plane_id != o->master_plane) continue;
        if (t->start_ns < start) start = t->start_ns;
        if (t->end_ns > end) end = t->end_ns;
    }
    sum_add(&o->found.times.elapsed, difference(end, start));
}

static void add_operator(struct device_work *w, const struct sort_key *order, size_t n)
{
    struct analysis *a = w->a;
    struct operator_work o = {.op = operator_of(w, &w->d->comm_tasks.at[order->index])};
    o.found = (struct op_facts){.name = a->operators.at[o.op].name,
                                .group = a->operators.at[o.op].group,
                                .first_packet = (uint32_t)a->packets.n};
    find_master_plane(w, &o, order, n);
    if ((a->rules & NPUPROF_COMMUNICATION) && !o.has_master) a->without_master++;
    o.measured = (a->rules & NPUPROF_COMMUNICATION) && o.has_master;
    if (o.measured) measure_elapsed(w, &o, order, n);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && order[i + 1].key == order[i].key) continue;
        walk_plane(w, &o, order + from, i + 1 - from);
        from = i + 1;
    }
    o.found.n_packets = (uint32_t)a->packets.n - o.found.first_packet;
    if (o.measured) a->operators.at[o.op] = o.found;
    links_merge(&a->links, o.links.at, o.links.n);
    for (int i = 0; i < TRAFFIC_KINDS; i++) map_free(&o.packet_of[i]);
    array_free(&o.links);
}

/* ---- devices ---- */

static bool in_scope(const struct device_work *w, const struct comm_task *t)
{
    const struct analysis_scope *scope = w->scope;
    return t->start_ns >= scope->first_ns && t->start_ns <= scope->last_ns &&
           (!scope->names || map_get(&w->names, t->op_name, 0));
}

/* Bring the tasks of each operator and plane together: key = operator << 32 | plane, both numbered as they appear. */
static struct sort_key *sort_tasks(const struct device_work *w, size_t *n)
{
    const struct device_model *d = w->d;
    struct map operators = {0}, planes = {0};
    struct sort_key *order = mem_alloc(d->comm_tasks.n * sizeof *order);
    *n = 0;
    for (size_t i = 0; i < d->comm_tasks.n; i++)
        if (in_scope(w, &d->comm_tasks.at[i]))
            order[(*n)++] = (struct sort_key){rank_of(&d->comm_tasks.at[i], 0), (uint32_t)i};
    sort_keys(order, *n);
    for (size_t i = 0; i < *n; i++) {
        const struct comm_task *t = &d->comm_tasks.at[order[i].index];
        str_id key = w->scope->by_name ? t->op_name : t->op_key;
        uint64_t op = *map_put(&operators, key, (uint32_t)operators.n, NULL);
        uint64_t plane = *map_put(&planes, op << 32 | (uint32_t)t->plane_id, (uint32_t)planes.n, NULL);
        order[i].key = op << 32 | plane;
    }
    sort_keys(order, *n);
    map_free(&operators);
    map_free(&planes);
    return order;
}

void analysis_add_device(struct analysis *a, const struct model *m, const struct device_model *d,
                         const struct analysis_scope *scope, struct diag *diag)
{
    struct device_work w = {.a = a,
                            .m = m,
                            .d = d,
                            .scope = scope,
                            .plane = {.tasks = d->comm_tasks.at,
                                      .copy = strpool_add_z(m->strings, "Memcpy"),
                                      .reduce = strpool_add_z(m->strings, "Reduce_Inline"),
                                      .notify_wait = strpool_add_z(m->strings, "Notify_Wait")}};
    for (size_t i = 0; i < scope->n_names; i++) map_put(&w.names, strpool_add_z(m->strings, scope->names[i]), 1, NULL);
    size_t n, before = a->without_master;
    struct sort_key *order = sort_tasks(&w, &n);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && order[i + 1].key >> 32 == order[i].key >> 32) continue;
        add_operator(&w, order + from, i + 1 - from);
        from = i + 1;
    }
    free(order);
    map_free(&w.names);
    diag_count(diag, DIAG_WARNING, d->dir->name, DIAG_NO_OFFSET, a->without_master - before,
               "communication operators that have no task on a master plane: when they ran cannot be told");
}

static int by_name_descending(const void *x, const void *y)
{
    const struct device_model *const *a = x, *const *b = y;
    return strcmp((*b)->dir->name, (*a)->dir->name);
}

void analysis_add(struct analysis *a, const struct model *m, struct diag *diag)
{
    static const struct analysis_scope all = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};
    const struct device_model **order = mem_alloc(m->n_devices * sizeof *order);
    for (size_t i = 0; i < m->n_devices; i++) order[i] = &m->devices[i];
    qsort(order, m->n_devices, sizeof *order, by_name_descending);
    size_t n = 0, before = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        analysis_add_device(a, m, order[i], &all, diag);
        n += order[i]->comm_tasks.n;
        before += order[i]->comm_tasks_before;
    }
    free(order);
    a->some_ran_before |= before > 0;
    if (n) return;
    diag_note(diag, DIAG_WARNING, "", DIAG_NO_OFFSET,
              before ? "all communication ran before the collection: nothing to analyze"
                     : "no communication: nothing to analyze");
}
