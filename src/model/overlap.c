/* Overlap analysis: when the device computed, communicated, communicated without computing, or did neither.
 *
 * Each kind is a list of disjoint sections in ascending order; union and difference are merges of two such lists. */
#include "base/sort.h"
#include "model/parts.h"

typedef ARRAY(struct section) sections;

/* Sort intervals by start and merge those that overlap or touch. */
static void merge_sections(struct section *s, size_t *n)
{
    struct sort_key *order = mem_alloc(*n * sizeof *order);
    for (size_t i = 0; i < *n; i++) order[i] = (struct sort_key){(uint64_t)s[i].start_ns ^ 1ull << 63, (uint32_t)i};
    sort_keys(order, *n);
    sort_permute(s, sizeof *s, order, *n);
    free(order);
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++) {
        if (kept && s[i].start_ns <= s[kept - 1].end_ns) {
            if (s[i].end_ns > s[kept - 1].end_ns) s[kept - 1].end_ns = s[i].end_ns;
        } else {
            s[kept++] = s[i];
        }
    }
    *n = kept;
}

/* out = the parts of a that no section of b covers; both merged. */
static void subtract(sections *out, const struct section *a, size_t n_a, const struct section *b, size_t n_b)
{
    for (size_t i = 0, j = 0; i < n_a; i++) {
        int64_t at = a[i].start_ns;
        while (j < n_b && b[j].end_ns <= at) j++;
        for (size_t k = j; k < n_b && b[k].start_ns < a[i].end_ns; k++) {
            if (b[k].start_ns > at) array_push(out, ((struct section){at, b[k].start_ns}));
            if (b[k].end_ns > at) at = b[k].end_ns;
        }
        if (at < a[i].end_ns) array_push(out, ((struct section){at, a[i].end_ns}));
    }
}

/* Communication that nothing computes beside. As in the reference the last section of computation only counts against
 * the first communication that it meets: what begins while it goes on counts as not overlapped. */
static void not_overlapped(sections *out, const sections *communication, const sections *compute)
{
    size_t n = communication->n;
    if (compute->n) {
        const struct section *last = &compute->at[compute->n - 1];
        for (n = 0; n < communication->n && communication->at[n].end_ns <= last->start_ns;) n++;
        if (n < communication->n) n++;
    }
    subtract(out, communication->at, n, compute->at, compute->n);
    for (; n < communication->n; n++) array_push(out, communication->at[n]);
}

static bool is_compute(const struct model *m, const struct task *t)
{
    if (t->op == NONE || m->host.ops.at[t->op].flags & (OP_AICPU_KERNEL | OP_AIV_KERNEL)) return false;
    return !model_is_kfc_stream(m, t->stream_id);
}

static bool stretches(const struct model *m, const struct task *t, const struct well_known *known)
{
    if (t->host_task == NONE) return true;
    str_id type = m->host.tasks.at[t->host_task].type;
    for (size_t i = 0; i < sizeof known->kernel_types / sizeof *known->kernel_types; i++)
        if (type == known->kernel_types[i]) return false;
    return true;
}

static void stretch(struct section *whole, int64_t start_ns, int64_t end_ns)
{
    if (start_ns < whole->start_ns) whole->start_ns = start_ns;
    if (end_ns > whole->end_ns) whole->end_ns = end_ns;
}

/* The reference's scripts show an operator that took no time at all. */
static bool keeps(const struct model *m, const struct section *s, enum overlap_kind kind)
{
    return s->end_ns > s->start_ns ||
           (kind == OVERLAP_COMPUTE && m->session->script_timeline && s->end_ns == s->start_ns);
}

static void move(const struct model *m, sections *from, struct device_model *d, enum overlap_kind kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < from->n; i++)
        if (keeps(m, &from->at[i], kind)) from->at[kept++] = from->at[i];
    from->n = kept;
    d->overlap[kind].at = from->at;
    d->overlap[kind].n = from->n;
    d->overlap[kind].room = from->room;
}

void overlap_build(const struct model *m, struct device_model *d, const struct well_known *known)
{
    if (!d->has_tasks) return;
    sections compute = {0}, communication = {0}, alone = {0}, busy = {0}, idle = {0};
    struct section whole = {INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *t = &d->tasks.at[i];
        if (is_compute(m, t)) array_push(&compute, ((struct section){t->start_ns, t->end_ns}));
        if (stretches(m, t, known)) stretch(&whole, t->start_ns, t->end_ns);
    }
    for (size_t i = 0; i < d->comm_ops.n; i++)
        array_push(&communication, ((struct section){d->comm_ops.at[i].start_ns, d->comm_ops.at[i].end_ns}));
    merge_sections(compute.at, &compute.n);
    merge_sections(communication.at, &communication.n);

    not_overlapped(&alone, &communication, &compute);
    array_reserve(&busy, compute.n + communication.n);
    for (size_t i = 0; i < compute.n; i++) array_push(&busy, compute.at[i]);
    for (size_t i = 0; i < communication.n; i++) array_push(&busy, communication.at[i]);
    merge_sections(busy.at, &busy.n);
    if (busy.n) stretch(&whole, busy.at[0].start_ns, busy.at[busy.n - 1].end_ns);
    if (whole.end_ns > whole.start_ns) subtract(&idle, &whole, 1, busy.at, busy.n);

    array_free(&busy);
    move(m, &compute, d, OVERLAP_COMPUTE);
    move(m, &communication, d, OVERLAP_COMMUNICATION);
    move(m, &alone, d, OVERLAP_NOT_OVERLAPPED);
    move(m, &idle, d, OVERLAP_FREE);
}
