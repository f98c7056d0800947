/* Every task of a thread is classified by the calls around it:
 *
 *     around it                                 it is
 *     a call of level node, and runs operators  a kernel of the operators which that launch reported
 *     a call of level communication in a node   a sub-task of the communication operator (it may be a kernel, too)
 *     anything else                             a task without operator, unless its kernel's name stands for one
 *
 * Tasks come out children before parents, as the calls end. */
#include "host/walk.h"

#include <string.h>

#include "base/sort.h"
#include "host/launches.h"
#include "host/names.h"

#define MAX_CONTEXTS 65536u /* of one task: context ids of devices have 16 bits */

/* A communication sub-task of a call, as every task of the call has it. */
struct comm_sub {
    uint32_t context_id; /* CONTEXT_NONE: the task itself */
    uint32_t info;       /* index in host.comm_infos */
};

struct comm_call {
    uint32_t first, n; /* in walk.subs */
    bool has_contexts;
};

struct walk {
    const struct walk_context *c;
    struct thread_tasks *out;
    struct tree tree;
    uint32_t root;
    size_t budget; /* sub-tasks that may still be made: data that claims absurdly many is cut */

    /* the thread's records */
    const struct track *tracks;
    size_t n_tracks;
    struct launch_records launch_records;
    size_t n_basics, n_attrs, n_tensors, n_contexts;
    const struct comm_op_info *comm_op_infos;
    size_t n_comm_op_infos;
    const struct contexts *comm_contexts;
    const struct comm_record *comms;
    size_t n_comm_contexts, n_comms;
    const struct fusion *fusions;
    size_t n_fusions;
    uint32_t *comm_next[2]; /* by enum comm_list */
    uint32_t *fusion_next;

    struct launches launches;
    ARRAY(struct comm_sub) subs;
    ARRAY(struct comm_call) comm_calls;
};

/* A task on its way through classification. */
struct leaf {
    const struct track *track;
    const struct node *node; /* the innermost call around it */
    uint32_t model_id;
    int32_t request_id;
};

static const struct api *api_of(const struct walk *w, uint32_t node)
{
    return &w->tree.apis[w->tree.nodes.at[node].api];
}

/* Connection id of a call; the thread itself has one, too. */
static uint32_t connection_of(const struct walk *w, uint32_t node)
{
    uint32_t api = w->tree.nodes.at[node].api;
    return api == NONE ? w->root : api + 1;
}

/* ---- records to calls ---------------------------------------------------------------------------------------------
 */

/* Take the thread's part of `array` and attach it to calls. */
#define TAKE(array, to, count)                                                                                         \
    do {                                                                                                               \
        size_t first_, end_;                                                                                           \
        records_of_thread((array).at, sizeof *(array).at, (array).n, thread_id, &first_, &end_);                       \
        (to) = (array).at + first_;                                                                                    \
        (count) = end_ - first_;                                                                                       \
    } while (0)

static void take_records(struct walk *w, uint32_t thread_id)
{
    const struct records *r = w->c->records;
    struct launch_records *l = &w->launch_records;
    TAKE(r->tracks, w->tracks, w->n_tracks);
    TAKE(r->basics, l->basics, w->n_basics);
    TAKE(r->attrs, l->attrs, w->n_attrs);
    TAKE(r->tensors, l->tensors, w->n_tensors);
    TAKE(r->node_contexts, l->contexts, w->n_contexts);
    TAKE(r->comm_ops, w->comm_op_infos, w->n_comm_op_infos);
    TAKE(r->comm_contexts, w->comm_contexts, w->n_comm_contexts);
    TAKE(r->comms, w->comms, w->n_comms);
    TAKE(r->fusions, w->fusions, w->n_fusions);
    l->context_ids = r->context_ids.at;
    w->budget = 1024 + 256 * (w->n_tracks + w->n_contexts + w->n_comm_contexts) + 4 * w->n_comms;
}

static uint32_t *attach(struct walk *w, struct holder *holders, size_t n_holders, const void *records, size_t size,
                        size_t n, int list)
{
    uint32_t *next = mem_alloc(n * sizeof *next);
    bool inner = holders == w->tree.launches.at && list == LAUNCH_BASIC;
    w->out->stray_records += tree_attach(&w->tree, holders, n_holders, records, size, n, list, inner, next);
    return next;
}

#define ATTACH(holders, records, count, list)                                                                          \
    attach(w, (holders).at, (holders).n, records, sizeof *(records), count, list)

static void attach_records(struct walk *w)
{
    struct tree *t = &w->tree;
    struct launch_records *l = &w->launch_records;
    l->next[LAUNCH_BASIC] = ATTACH(t->launches, l->basics, w->n_basics, LAUNCH_BASIC);
    l->next[LAUNCH_ATTR] = ATTACH(t->launches, l->attrs, w->n_attrs, LAUNCH_ATTR);
    l->next[LAUNCH_TENSORS] = ATTACH(t->launches, l->tensors, w->n_tensors, LAUNCH_TENSORS);
    l->next[LAUNCH_CONTEXTS] = ATTACH(t->launches, l->contexts, w->n_contexts, LAUNCH_CONTEXTS);
    l->next[LAUNCH_COMM_OP] = ATTACH(t->launches, w->comm_op_infos, w->n_comm_op_infos, LAUNCH_COMM_OP);
    w->comm_next[COMM_CONTEXTS] = ATTACH(t->comms, w->comm_contexts, w->n_comm_contexts, COMM_CONTEXTS);
    w->comm_next[COMM_INFO] = ATTACH(t->comms, w->comms, w->n_comms, COMM_INFO);
    w->fusion_next = ATTACH(t->models, w->fusions, w->n_fusions, MODEL_FUSION);
}

static void list_fusions(struct walk *w)
{
    for (size_t i = 0; i < w->tree.models.n; i++) {
        const struct holder *model = &w->tree.models.at[i];
        uint32_t last = model->last[MODEL_FUSION];
        for (uint32_t f = last == NONE ? NONE : w->fusion_next[last]; f != NONE;
             f = f == last ? NONE : w->fusion_next[f]) {
            struct fusion_op op = w->fusions[f].op;
            op.model_id = api_model_id(w->c->strings, api_of(w, model->node));
            array_push(&w->out->fusion_ops, op);
        }
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------------------
 */

static void add_task(struct walk *w, const struct leaf *l, uint32_t context_id, uint32_t connection, uint32_t op)
{
    const struct track *t = l->track;
    array_push(&w->out->tasks, ((struct host_task){
                                   .time = t->time,
                                   .thread_id = t->thread_id,
                                   .stream_id = t->stream_id,
                                   .task_id = t->task_id,
                                   .context_id = context_id,
                                   .batch_id = t->batch_id,
                                   .model_id = l->model_id,
                                   .request_id = l->request_id,
                                   .connection = connection,
                                   .type = t->type,
                                   .kernel_name = t->kernel_name,
                                   .op = op,
                                   .device_id = t->device_id,
                               }));
}

/* May one more sub-task be made? */
static bool spend(struct walk *w)
{
    if (!w->budget) {
        w->out->bad_ranges++;
        return false;
    }
    w->budget--;
    return true;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------
 */

/* The operator `d` (NULL: the launch reported none) of a kernel; `comm` is the communication call around it, or NULL.
 * Returns its number, NONE when nothing is known of it. */
static uint32_t kernel_op(struct walk *w, const struct leaf *l, const struct description *d, const struct api *launch,
                          const struct api *comm)
{
    const struct track *t = l->track;
    const struct launch_records *r = &w->launch_records;
    struct op o;
    if (w->c->level0) {
        op_begin(&o, comm ? comm->item : d ? d->name : launch->item, l->model_id);
        op_set_track(&o, t, false);
        return op_intern(&w->out->ops, &o);
    }
    const struct basic *b = d && d->basic != NONE ? &r->basics[d->basic] : NULL;
    if (!b && !comm) return NONE;

    uint32_t ge_type = b ? b->ge_type : 0;
    if (comm && t->traits & TASK_IS_AICPU) ge_type = GE_HCCL_AI_CPU;
    else if (comm && t->traits & TASK_IS_AICORE) ge_type = GE_COMMUNICATION;
    else if (!comm && t->traits & TASK_IS_AICPU && ge_type == GE_COMMUNICATION) ge_type = GE_AI_CPU;

    op_begin(&o, comm ? comm->item : b->name, l->model_id);
    o.task_type = op_ge_type(&w->c->words, ge_type);
    if (b) op_set_basic(&o, &w->c->words, b->type, b->hf32, b->dynamic, b->blocks);
    else op_set_basic(&o, &w->c->words, w->c->words.zero, false, false, 0);
    if (d && d->tensors != NONE) op_set_tensors(&o, &w->c->records->tensor_texts.at[r->tensors[d->tensors].signature]);
    if (d && d->attr != NONE) o.attr = r->attrs[d->attr].text;
    op_set_track(&o, t, true);
    return op_intern(&w->out->ops, &o);
}

/* A task that runs the operators of a launch: one row per sub-task, and one for the task as a whole. */
static void kernel(struct walk *w, const struct leaf *l, struct holder *call, const struct api *comm)
{
    if (call->cache == NONE) call->cache = launch_build(&w->launches, &w->launch_records, call);
    const struct launch *k = &w->launches.launches.at[call->cache];
    const struct description *descriptions = w->launches.descriptions.at;
    const struct api *launch = api_of(w, call->node);
    uint32_t connection = connection_of(w, call->node), whole = k->last;
    if (l->track->traits & TASK_HAS_CONTEXTS && k->n_contexts) {
        for (uint32_t i = 0; i < k->n_contexts && spend(w); i++) {
            const struct launch_context *c = &w->launches.contexts.at[k->first_context + i];
            add_task(w, l, c->context_id, connection, kernel_op(w, l, &descriptions[c->description], launch, comm));
        }
        whole = k->whole;
    }
    uint32_t op = NONE;
    if (whole != NONE) op = kernel_op(w, l, &descriptions[whole], launch, comm);
    else if (!k->has_contexts) op = kernel_op(w, l, NULL, launch, comm);
    add_task(w, l, CONTEXT_NONE, connection, op);
}

/* ---- tasks without launch -----------------------------------------------------------------------------------------
 */

/* The operator of a task that has none of a launch: of the captured graph that replays it, or its kernel's name. */
static uint32_t nameless_op(struct walk *w, const struct track *t)
{
    if (!(t->traits & TASK_NAMES_OPERATOR)) return NONE;
    const struct captured_op *k = capture_op(w->c->capture, w->c->records, t);
    if (!k && t->kernel_name == STR_NA) return NONE;
    const struct op_words *words = &w->c->words;
    struct op o;
    op_begin(&o, k ? k->name : t->kernel_name, k ? k->model_id : MODEL_NONE);
    if (w->c->level0) {
        op_set_track(&o, t, false);
        return op_intern(&w->out->ops, &o);
    }
    if (k) {
        op_set_basic(&o, words, k->type, k->hf32, k->dynamic, k->blocks);
        op_set_tensors(&o, &k->tensors);
        o.task_type = op_ge_type(words, k->ge_type);
        o.attr = k->attr;
    } else {
        o.type = t->kernel_name;
        o.task_type = op_ge_type(words, t->ge_type);
    }
    op_set_track(&o, t, true);
    return op_intern(&w->out->ops, &o);
}

static void other_task(struct walk *w, const struct leaf *l)
{
    bool mix = w->c->contexts && l->track->traits & TASK_IS_MIX;
    add_task(w, l, mix ? 0 : CONTEXT_NONE, connection_of(w, (uint32_t)(l->node - w->tree.nodes.at)),
             nameless_op(w, l->track));
}

/* ---- communication ------------------------------------------------------------------------------------------------
 */

/* The sub-tasks of a call that stand for contexts: the ranges that it reported, filled with what is known of each. */
static void range_subs(struct walk *w, const struct holder *call, struct comm_call *k)
{
    struct map place_of = {0};
    const uint32_t *next = w->comm_next[COMM_CONTEXTS], *ids = w->launch_records.context_ids;
    uint32_t last = call->last[COMM_CONTEXTS];
    for (uint32_t i = next[last];; i = next[i]) {
        const struct contexts *c = &w->comm_contexts[i];
        uint32_t from = c->count == 2 ? ids[c->first] : 1, to = c->count == 2 ? ids[c->first + 1] : 0;
        if (from > to || to - from >= MAX_CONTEXTS) w->out->bad_ranges++;
        else
            for (uint64_t id = from; id <= to && spend(w); id++) {
                bool is_new;
                map_put(&place_of, id, (uint32_t)w->subs.n, &is_new);
                if (is_new) array_push(&w->subs, ((struct comm_sub){(uint32_t)id, 0}));
            }
        if (i == last) break;
    }
    last = call->last[COMM_INFO];
    for (uint32_t i = last == NONE ? NONE : w->comm_next[COMM_INFO][last]; i != NONE;
         i = i == last ? NONE : w->comm_next[COMM_INFO][i]) {
        uint32_t info = w->comms[i].info;
        uint32_t at = map_get(&place_of, w->c->host->comm_infos.at[info].context_id, NONE);
        if (at != NONE) w->subs.at[at].info = info;
    }
    map_free(&place_of);
    k->has_contexts = true;
}

/* What is known of a call whose tasks have no contexts. Of several pieces of information the last one of each context
 * id counts, and all of them are of the task itself. */
static void info_subs(struct walk *w, const struct holder *call)
{
    uint32_t last = call->last[COMM_INFO];
    if (last == NONE) {
        array_push(&w->subs, ((struct comm_sub){CONTEXT_NONE, 0}));
        return;
    }
    const uint32_t *next = w->comm_next[COMM_INFO];
    if (next[last] == last) {
        array_push(&w->subs, ((struct comm_sub){CONTEXT_NONE, w->comms[last].info}));
        return;
    }
    struct map place_of = {0};
    for (uint32_t i = next[last];; i = next[i]) {
        uint32_t info = w->comms[i].info;
        bool is_new;
        uint32_t at = *map_put(&place_of, w->c->host->comm_infos.at[info].context_id, (uint32_t)w->subs.n, &is_new);
        if (is_new) array_push(&w->subs, ((struct comm_sub){CONTEXT_NONE, info}));
        else w->subs.at[at].info = info;
        if (i == last) break;
    }
    map_free(&place_of);
}

static const struct comm_call *comm_call(struct walk *w, struct holder *call)
{
    if (call->cache == NONE) {
        struct comm_call k = {.first = (uint32_t)w->subs.n};
        if (call->last[COMM_CONTEXTS] != NONE) range_subs(w, call, &k);
        else info_subs(w, call);
        k.n = (uint32_t)w->subs.n - k.first;
        call->cache = (uint32_t)w->comm_calls.n;
        array_push(&w->comm_calls, k);
    }
    return &w->comm_calls.at[call->cache];
}

/* The first record of a list. */
static uint32_t first_record(const struct holder *call, int list, const uint32_t *next)
{
    return call->last[list] == NONE ? NONE : next[call->last[list]];
}

static void comm_operator(struct walk *w, const struct leaf *l, struct holder *call)
{
    if (call->has_comm_op) return;
    call->has_comm_op = true;
    const struct launch_records *r = &w->launch_records;
    const struct api *a = api_of(w, call->node);
    struct host_comm_op o = {
        .begin = a->begin,
        .end = a->end,
        .thread_id = a->thread_id,
        .model_id = l->model_id,
        .request_id = l->request_id,
        .connection = connection_of(w, call->node),
        .kfc_connection = call->last_launch == NONE ? NONE : call->last_launch + 1,
        .name = a->item,
        .op_type = STR_NA,
        .state = STR_NA,
        .alg_type = STR_NA,
        .group = STR_NA,
        .relay = -1,
        .retry = -1,
        .data_type = COMM_NA,
        .count = -1,
        .device_id = l->track->device_id,
    };
    uint32_t basic = first_record(call, LAUNCH_BASIC, r->next[LAUNCH_BASIC]);
    if (basic != NONE) {
        o.op_type = r->basics[basic].type;
        o.state = r->basics[basic].dynamic ? w->c->words.is_dynamic : w->c->words.is_static;
    }
    uint32_t info = first_record(call, LAUNCH_COMM_OP, r->next[LAUNCH_COMM_OP]);
    if (info != NONE) {
        const struct comm_op_info *i = &w->comm_op_infos[info];
        o.relay = i->relay;
        o.retry = i->retry;
        o.data_type = comm_number(i->data_type);
        o.alg_type = i->algorithm;
        o.count = (int64_t)i->count;
        o.group = i->group;
        o.group_key = i->group_key;
    }
    array_push(&w->out->comm_ops, o);
}

/* A task of a communication call; a kernel has its rows of tasks already. */
static void comm_task(struct walk *w, const struct leaf *l, struct holder *launch, struct holder *comm, bool is_kernel)
{
    comm_operator(w, l, launch);
    const struct track *t = l->track;
    const struct comm_call *k = comm_call(w, comm);
    uint32_t connection = connection_of(w, launch->node);
    for (uint32_t i = 0; i < k->n && (i == 0 || spend(w)); i++) {
        const struct comm_sub *s = &w->subs.at[k->first + i];
        array_push(&w->out->comm_tasks, ((struct host_comm_task){
                                            .time = t->time,
                                            .thread_id = t->thread_id,
                                            .stream_id = t->stream_id,
                                            .task_id = t->task_id,
                                            .context_id = s->context_id,
                                            .batch_id = t->batch_id,
                                            .model_id = l->model_id,
                                            .request_id = l->request_id,
                                            .connection = connection,
                                            .info = s->info,
                                            .device_id = t->device_id,
                                            .is_master = api_of(w, comm->node)->name == w->c->names.master,
                                        }));
        if (!is_kernel && k->has_contexts) add_task(w, l, s->context_id, connection, NONE);
    }
    if (!is_kernel) add_task(w, l, CONTEXT_NONE, connection, NONE);
}

/* ---- classification -----------------------------------------------------------------------------------------------
 */

static bool runs_operators(const struct walk *w, const struct track *t, const struct holder *launch, bool in_comm)
{
    if (!launch) return false;
    const struct api *a = api_of(w, launch->node);
    if (a->name == w->c->names.step_info || !strncmp(strpool_text(w->c->strings, a->item), "Lccl", 4)) return false;
    return t->traits & TASK_IS_OPERATOR || (t->traits & TASK_IS_GRAPH && !in_comm);
}

static void classify(struct walk *w, const struct track *t, uint32_t node)
{
    const struct node *n = &w->tree.nodes.at[node];
    struct leaf l = {.track = t, .node = n, .request_id = -1};
    if (n->model != NONE) {
        const struct api *model = api_of(w, w->tree.models.at[n->model].node);
        l.model_id = api_model_id(w->c->strings, model);
        l.request_id = (int32_t)model->request_id;
    } else {
        l.model_id = capture_model(w->c->capture, t);
    }
    struct holder *launch = n->launch == NONE ? NULL : &w->tree.launches.at[n->launch];
    struct holder *comm = n->comm == NONE ? NULL : &w->tree.comms.at[n->comm];
    bool is_kernel = runs_operators(w, t, launch, comm != NULL);
    if (is_kernel) kernel(w, &l, launch, comm ? api_of(w, comm->node) : NULL);
    if (comm && launch) comm_task(w, &l, launch, comm, is_kernel);
    else if (comm) w->out->stray_tasks++;
    else if (!is_kernel) other_task(w, &l);
}

/* Tasks in the order in which their calls end, by time within a call. */
static void walk_tasks(struct walk *w)
{
    size_t n = w->n_tracks;
    uint32_t *owner = mem_alloc(n * sizeof *owner);
    struct sort_key *order = mem_alloc(n * sizeof *order);
    tree_place(&w->tree, w->tracks, n, owner);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){w->tree.nodes.at[owner[i]].rank, (uint32_t)i};
    sort_keys(order, n);
    array_reserve(&w->out->tasks, n);
    for (size_t i = 0; i < n; i++) classify(w, &w->tracks[order[i].index], owner[order[i].index]);
    free(order);
    free(owner);
}

static void walk_free(struct walk *w)
{
    for (int i = 0; i < HOLDER_LISTS; i++) free(w->launch_records.next[i]);
    free(w->comm_next[COMM_CONTEXTS]);
    free(w->comm_next[COMM_INFO]);
    free(w->fusion_next);
    launches_free(&w->launches);
    array_free(&w->subs);
    array_free(&w->comm_calls);
    tree_free(&w->tree);
}

void walk_thread(struct thread_tasks *out, const struct walk_context *c, uint32_t thread_id, uint32_t root,
                 const uint32_t *calls, size_t n)
{
    struct walk w = {.c = c, .out = out, .root = root};
    tree_build(&w.tree, c->host->apis.at, calls, n);
    take_records(&w, thread_id);
    attach_records(&w);
    list_fusions(&w);
    walk_tasks(&w);
    walk_free(&w);
}
