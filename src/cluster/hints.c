#include "cluster/hints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "cluster/advice.h"

#define SLOW_PERCENT 20  /* so much more time than the average, or more; so much less bandwidth */
#define TOLD_LINES   100 /* nodes, links; others are counted */

/* ---- gathering ---- */

static struct hint_node node_of(const struct device_model *d, const struct session *s)
{
    struct hint_node node = {.name = mem_printf("%s/%s", s->name, d->dir->name)};
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->data.steps.n; i++) {
        const struct step *step = &d->data.steps.at[i];
        if (step->marked || step->model_id == MODEL_MARKED) continue;
        sum += (double)step->data_aug_ns;
        n++;
    }
    node.has_iterations = n > 0;
    node.data_ns = n ? sum / (double)n : 0;
    return node;
}

/* Copies from a rank to itself go over no link. */
static bool is_link(const struct link *l)
{
    return l->transport && l->src_rank != l->dst_rank && l->ns > 0 && l->bytes > 0;
}

static double gbs_of(const struct link *l)
{
    return as_mb(l->bytes) / as_ms(l->ns);
}

static void find_slow_links(struct hints *h, const link_list *links)
{
    struct {
        size_t n;
        double gbs;
    } kinds[TRANSPORTS] = {0};
    for (size_t i = 0; i < links->n; i++) {
        const struct link *l = &links->at[i];
        if (!is_link(l)) continue;
        kinds[transport_of(l)].n++;
        kinds[transport_of(l)].gbs += gbs_of(l);
    }
    for (size_t i = 0; i < links->n; i++) {
        const struct link *l = &links->at[i];
        if (!is_link(l)) continue;
        double average = kinds[transport_of(l)].gbs / (double)kinds[transport_of(l)].n;
        double below = (average - gbs_of(l)) / average * 100;
        if (below >= SLOW_PERCENT)
            array_push(&h->links, ((struct hint_link){transport_names[transport_of(l)], l->src_rank, l->dst_rank,
                                                      gbs_of(l), below, h->nodes.n - 1}));
    }
}

/* All that a device sent from one rank to another is one link. */
static void gather_links(struct hints *h, const struct model *m, const struct device_model *d)
{
    static const struct analysis_scope all = {.first_ns = INT64_MIN, .last_ns = INT64_MAX, .by_name = true};
    struct analysis *a = analysis_new(NPUPROF_COMMUNICATION_MATRIX);
    struct diag *said_elsewhere = diag_new();
    link_list links = {0};
    analysis_add_device(a, m, d, &all, said_elsewhere);
    links_merge(&links, a->links.at, a->links.n);
    find_slow_links(h, &links);
    array_free(&links);
    diag_free(said_elsewhere);
    analysis_free(a);
}

void hints_gather(struct hints *h, const struct model *m)
{
    for (size_t i = 0; i < m->n_devices; i++) {
        array_push(&h->nodes, node_of(&m->devices[i], m->session));
        gather_links(h, m, &m->devices[i]);
    }
}

void hints_append(struct hints *h, struct hints *from)
{
    for (size_t i = 0; i < from->links.n; i++) {
        from->links.at[i].node += h->nodes.n;
        array_push(&h->links, from->links.at[i]);
    }
    for (size_t i = 0; i < from->nodes.n; i++) array_push(&h->nodes, from->nodes.at[i]);
    from->nodes.n = 0;
    hints_free(from);
}

void hints_free(struct hints *h)
{
    for (size_t i = 0; i < h->nodes.n; i++) free(h->nodes.at[i].name);
    array_free(&h->nodes);
    array_free(&h->links);
}

/* ---- telling ---- */

static double rounded(double value)
{
    return nearbyint(value * 100) / 100;
}

/* A line of a list, unless it has enough of them; the text is taken. */
static void add_told(hint_lines *lines, size_t *told, char *text)
{
    if (++*told <= TOLD_LINES) array_push(lines, mem_printf("\t%zu) %s", *told, text));
    free(text);
}

static void end_list(hint_lines *lines, size_t told, const char *none)
{
    if (told > TOLD_LINES) array_push(lines, mem_printf("\t… and %zu more", told - TOLD_LINES));
    if (!told) array_push(lines, mem_printf("\t%s", none));
}

static double average_of_nodes(const struct hints *h)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < h->nodes.n; i++) {
        sum += h->nodes.at[i].data_ns;
        n += h->nodes.at[i].has_iterations;
    }
    return n ? rounded(sum / (double)n) : 0;
}

static void tell_nodes(const struct hints *h, hint_lines *lines)
{
    double average = average_of_nodes(h);
    size_t told = 0;
    array_push(lines, mem_printf("1. Nodes that wait long for the data of an iteration (more than %d %% above the "
                                 "average of the nodes):",
                                 SLOW_PERCENT));
    for (size_t i = 0; i < h->nodes.n && average > 0; i++) {
        const struct hint_node *node = &h->nodes.at[i];
        double above = rounded((node->data_ns - average) / average * 100);
        if (!node->has_iterations || above <= SLOW_PERCENT) continue;
        add_told(lines, &told, mem_printf("%s: %.2f ns on average, %.2f %% more", node->name, node->data_ns, above));
    }
    end_list(lines, told, average > 0 ? "none" : "N/A");
}

static void tell_links(const struct hints *h, hint_lines *lines)
{
    size_t told = 0;
    array_push(lines, mem_printf("2. Slow links (%d %% or more below the average of the links of their kind on the "
                                 "device):",
                                 SLOW_PERCENT));
    for (size_t i = 0; i < h->links.n; i++) {
        const struct hint_link *l = &h->links.at[i];
        add_told(lines, &told,
                 mem_printf("%s: %s from rank %u to rank %u: %.2f GB/s, %.2f %% less", h->nodes.at[l->node].name,
                            l->transport, l->src_rank, l->dst_rank, l->gbs, l->below));
    }
    end_list(lines, told, "none");
}

void hints_tell(const struct hints *h, hint_lines *lines)
{
    if (!h->nodes.n) return;
    array_push(lines, mem_printf("Cluster Tuning Report:"));
    tell_nodes(h, lines);
    tell_links(h, lines);
}
