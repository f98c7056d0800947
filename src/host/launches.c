/* A launch usually reports one operator: one record of each kind, the last one counts. An FFTS+ graph may report
 * several; then the name tells which records are of one operator, and each keeps its own sub-tasks. The record of the
 * graph itself (task type FFTS_PLUS) is no operator. */
#include "host/launches.h"

#include "host/names.h"

/* The record after i in a circular list. */
#define EACH_RECORD(i, next, last)                                                                                     \
    for (uint32_t i = (last) == NONE ? NONE : (next)[last]; i != NONE; i = i == (last) ? NONE : (next)[i])

static const struct description nothing = {STR_EMPTY, NONE, NONE, NONE, NONE};

/* Is there more than one operator, going by the names of those that are no graph? */
static bool several(const struct launch_records *r, const struct holder *call)
{
    const uint32_t *next = r->next[LAUNCH_BASIC];
    uint32_t first = NONE;
    EACH_RECORD(i, next, call->last[LAUNCH_BASIC])
    {
        if (r->basics[i].ge_type == GE_FFTS_PLUS) continue;
        if (first == NONE) first = i;
        else if (r->basics[i].name != r->basics[first].name) return true;
    }
    return false;
}

/* Everything that the launch reported is of one operator. */
static void describe_one(struct launches *l, struct launch *k, const struct launch_records *r,
                         const struct holder *call)
{
    struct description d = {STR_EMPTY, NONE, call->last[LAUNCH_ATTR], call->last[LAUNCH_TENSORS],
                            call->last[LAUNCH_CONTEXTS]};
    EACH_RECORD(i, r->next[LAUNCH_BASIC], call->last[LAUNCH_BASIC])
    if (r->basics[i].ge_type != GE_FFTS_PLUS) d.basic = i;
    if (call->last[LAUNCH_BASIC] != NONE) {
        if (d.basic == NONE) return; /* only the graph */
        d.name = r->basics[d.basic].name;
    } else if (d.attr != NONE) {
        d.name = r->attrs[d.attr].name;
    } else if (d.tensors != NONE) {
        d.name = r->tensors[d.tensors].name;
    } else if (d.contexts != NONE) {
        d.name = r->contexts[d.contexts].name;
    } else {
        return;
    }
    k->last = (uint32_t)l->descriptions.n;
    array_push(&l->descriptions, d);
}

/* One operator per name of a basic record. */
static void describe_several(struct launches *l, struct launch *k, const struct launch_records *r,
                             const struct holder *call)
{
    struct map by_name = {0};
    EACH_RECORD(i, r->next[LAUNCH_BASIC], call->last[LAUNCH_BASIC])
    {
        const struct basic *b = &r->basics[i];
        if (b->ge_type == GE_FFTS_PLUS) continue;
        bool is_new;
        uint32_t at = *map_put(&by_name, b->name, (uint32_t)l->descriptions.n, &is_new);
        if (is_new) array_push(&l->descriptions, nothing);
        l->descriptions.at[at].name = b->name;
        l->descriptions.at[at].basic = i;
        k->last = at;
    }
    EACH_RECORD(i, r->next[LAUNCH_ATTR], call->last[LAUNCH_ATTR])
    {
        uint32_t at = map_get(&by_name, r->attrs[i].name, NONE);
        if (at != NONE) l->descriptions.at[at].attr = i;
    }
    EACH_RECORD(i, r->next[LAUNCH_TENSORS], call->last[LAUNCH_TENSORS])
    {
        uint32_t at = map_get(&by_name, r->tensors[i].name, NONE);
        if (at != NONE) l->descriptions.at[at].tensors = i;
    }
    EACH_RECORD(i, r->next[LAUNCH_CONTEXTS], call->last[LAUNCH_CONTEXTS])
    {
        uint32_t at = map_get(&by_name, r->contexts[i].name, NONE);
        if (at != NONE) l->descriptions.at[at].contexts = i;
    }
    map_free(&by_name);
}

/* The sub-tasks of descriptions first … end; one that two operators claim is of the later one. */
static void list_contexts(struct launches *l, struct launch *k, const struct launch_records *r, size_t first)
{
    struct map place_of = {0};
    for (size_t d = first; d < l->descriptions.n; d++) {
        const struct description *desc = &l->descriptions.at[d];
        const struct contexts *c = desc->contexts == NONE ? NULL : &r->contexts[desc->contexts];
        if (!c || !c->count) {
            k->whole = (uint32_t)d;
            continue;
        }
        bool single = c->count == 1 && d == first && d + 1 == l->descriptions.n;
        for (uint32_t i = 0; i < c->count; i++) {
            uint32_t id = r->context_ids[c->first + i], at = (uint32_t)l->contexts.n;
            bool is_new = true;
            if (!single) at = *map_put(&place_of, id, at, &is_new);
            if (is_new) array_push(&l->contexts, ((struct launch_context){id, (uint32_t)d}));
            else l->contexts.at[at].description = (uint32_t)d;
        }
    }
    map_free(&place_of);
    k->n_contexts = (uint32_t)l->contexts.n - k->first_context;
}

uint32_t launch_build(struct launches *l, const struct launch_records *r, const struct holder *call)
{
    struct launch k = {
        .first_context = (uint32_t)l->contexts.n,
        .whole = NONE,
        .last = NONE,
        .has_contexts = call->last[LAUNCH_CONTEXTS] != NONE,
    };
    size_t first = l->descriptions.n;
    if (several(r, call)) describe_several(l, &k, r, call);
    else describe_one(l, &k, r, call);
    list_contexts(l, &k, r, first);
    array_push(&l->launches, k);
    return (uint32_t)l->launches.n - 1;
}

void launches_free(struct launches *l)
{
    array_free(&l->descriptions);
    array_free(&l->contexts);
    array_free(&l->launches);
}
