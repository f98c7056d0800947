/* One pass over the calls by begin, with a stack of those that are open:
 *
 *     acl    |-----------------------------|      |---|
 *     node      |---------| |----------|
 *     comm        |--| |--|
 *
 * A call that ends after the open one closes it. Nesting alone makes a parent, whatever the levels. Everything is
 * iterative: how deep calls nest is up to the data. */
#include "host/tree.h"

#include <string.h>

/* Calls of these levels make the tree. Calls of one level do not overlap, except for nodes, which nest. */
static const struct {
    uint16_t level;
    bool nests;
} tree_levels[] = {
    {LEVEL_ACL, false},
    {LEVEL_MODEL, false},
    {LEVEL_NODE, true},
    {LEVEL_COMMUNICATION, false},
};

#define TREE_LEVELS (sizeof tree_levels / sizeof *tree_levels)

bool tree_uses_level(uint16_t level)
{
    for (size_t i = 0; i < TREE_LEVELS; i++)
        if (tree_levels[i].level == level) return true;
    return false;
}

/* ---- building --------------------------------------------------------------------------------------------------- */

struct span {
    uint64_t begin, end;
};

/* Damaged calls are left out: without duration, or overlapping the one of the same level before. */
static bool accept(struct span last[TREE_LEVELS], const struct api *a)
{
    if (a->begin == a->end) return false;
    for (size_t i = 0; i < TREE_LEVELS; i++) {
        if (tree_levels[i].level != a->level) continue;
        if (tree_levels[i].nests) return true;
        if (a->begin <= last[i].end && a->end >= last[i].begin) return false;
        last[i] = (struct span){a->begin, a->end};
        return true;
    }
    return false;
}

static struct holder new_holder(uint32_t node)
{
    struct holder h = {.node = node, .last_launch = NONE, .cache = NONE};
    for (int i = 0; i < HOLDER_LISTS; i++) h.last[i] = NONE;
    return h;
}

static void close_node(struct tree *t, uint32_t node, uint32_t *next_rank)
{
    t->nodes.at[node].after = (uint32_t)t->nodes.n;
    t->nodes.at[node].rank = (*next_rank)++;
}

static void open_node(struct tree *t, uint32_t api, uint32_t parent)
{
    const struct node *up = &t->nodes.at[parent];
    uint32_t self = (uint32_t)t->nodes.n;
    struct node n = {.api = api, .parent = parent, .model = up->model, .launch = up->launch, .comm = up->comm};
    switch (t->apis[api].level) {
    case LEVEL_MODEL:
        n.model = (uint32_t)t->models.n;
        array_push(&t->models, new_holder(self));
        break;
    case LEVEL_COMMUNICATION:
        n.comm = (uint32_t)t->comms.n;
        array_push(&t->comms, new_holder(self));
        break;
    case LEVEL_NODE:
        if (up->api != NONE && t->apis[up->api].level == LEVEL_NODE) t->launches.at[up->launch].last_launch = api;
        n.launch = (uint32_t)t->launches.n;
        array_push(&t->launches, new_holder(self));
        break;
    default: break;
    }
    array_push(&t->nodes, n);
}

void tree_build(struct tree *t, const struct api *apis, const uint32_t *calls, size_t n)
{
    struct span last[TREE_LEVELS] = {0};
    uint32_t next_rank = 0, top = 0;
    *t = (struct tree){.apis = apis};
    array_push(&t->nodes, ((struct node){NONE, NONE, 0, 0, NONE, NONE, NONE}));
    for (size_t i = 0; i < n; i++) {
        const struct api *a = &apis[calls[i]];
        if (!accept(last, a)) continue;
        while (top && a->end > apis[t->nodes.at[top].api].end) {
            close_node(t, top, &next_rank);
            top = t->nodes.at[top].parent;
        }
        open_node(t, calls[i], top);
        top = (uint32_t)t->nodes.n - 1;
    }
    for (;; top = t->nodes.at[top].parent) {
        close_node(t, top, &next_rank);
        if (!top) break;
    }
}

void tree_free(struct tree *t)
{
    array_free(&t->nodes);
    array_free(&t->launches);
    array_free(&t->comms);
    array_free(&t->models);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

static struct span span_of(const struct tree *t, uint32_t node)
{
    if (!node) return (struct span){0, UINT64_MAX};
    const struct api *a = &t->apis[t->nodes.at[node].api];
    return (struct span){a->begin, a->end};
}

/* A call on the way down: `child` is its next child to look at. */
struct visit {
    uint32_t node, child;
};

/* Down and up the tree along the tasks. Subtrees that end before the next task are passed over. */
void tree_place(const struct tree *t, const struct track *tracks, size_t n, uint32_t *owner)
{
    ARRAY(struct visit) path = {0};
    size_t i = 0;
    while (i < n && !tracks[i].time) owner[i++] = 0;
    array_push(&path, ((struct visit){0, 1}));
    while (path.n) {
        struct visit *v = &path.at[path.n - 1];
        if (i < n && v->child < t->nodes.at[v->node].after) {
            uint32_t child = v->child;
            struct span c = span_of(t, child);
            while (i < n && tracks[i].time <= c.begin) owner[i++] = v->node;
            v->child = t->nodes.at[child].after;
            if (i < n && tracks[i].time <= c.end) array_push(&path, ((struct visit){child, child + 1}));
            continue;
        }
        uint64_t end = span_of(t, v->node).end;
        while (i < n && tracks[i].time <= end) owner[i++] = v->node;
        path.n--;
    }
    array_free(&path);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static uint64_t time_at(const void *records, size_t size, size_t i)
{
    uint64_t time;
    memcpy(&time, (const char *)records + i * size, sizeof time);
    return time;
}

static void append(struct holder *h, int list, uint32_t record, uint32_t *next)
{
    uint32_t last = h->last[list];
    if (last == NONE) {
        next[record] = record;
    } else {
        next[record] = next[last];
        next[last] = record;
    }
    h->last[list] = record;
}

size_t tree_attach(const struct tree *t, struct holder *holders, size_t n_holders, const void *records, size_t size,
                   size_t n, int list, bool inner, uint32_t *next)
{
    size_t i = 0, deeper = 0, dropped = 0;
    for (size_t r = 0; r < n; r++) {
        uint64_t time = time_at(records, size, r);
        next[r] = NONE;
        while (i < n_holders && span_of(t, holders[i].node).end < time) i++;
        if (i == n_holders || time < span_of(t, holders[i].node).begin) {
            dropped++;
            continue;
        }
        size_t target = i;
        if (inner) { /* calls inside that ended do not come back: times ascend */
            if (deeper <= i) deeper = i + 1;
            while (deeper < n_holders && span_of(t, holders[deeper].node).end < time &&
                   span_of(t, holders[deeper].node).begin <= time)
                deeper++;
            if (deeper < n_holders && span_of(t, holders[deeper].node).begin <= time) target = deeper;
        }
        append(&holders[target], list, (uint32_t)r, next);
    }
    return dropped;
}
