/* From host/data to what was launched.
 *
 *     dictionaries ─▶ records of every kind, each sorted by (thread, time) ─▶ per thread: call tree, records and tasks
 *     attached, walk ─▶ rows of all threads, in ascending thread id ─▶ memory copies ─▶ API times become epoch ns
 *
 * Kinds are decoded side by side, threads are walked side by side; every step frees what the next one does not need. */
#include "host/host.h"

#include <string.h>

#include "base/jobs.h"
#include "base/sort.h"
#include "decode/host_records.h"
#include "decode/records.h"
#include "host/apis.h"
#include "host/capture.h"
#include "host/copies.h"
#include "host/walk.h"

/* ---- stream ids ---------------------------------------------------------------------------------------------------
 */

struct expansion {
    bool seen, on;
};

static void visit_expansion(const uint8_t *record, const struct record_place *place, void *context)
{
    struct expansion *e = context;
    struct expand_stream_record r;
    (void)place;
    if (e->seen) return;
    memcpy(&r, record, sizeof r);
    *e = (struct expansion){true, r.expanded == 1};
}

bool host_streams_expanded(const struct session *s, struct diag *diag)
{
    struct expansion e = {0};
    records_each(prof_dir_files(s->host, INPUT_EXPAND_STREAM_SPEC), sizeof(struct expand_stream_record),
                 record_valid_host, diag, NULL, visit_expansion, &e);
    return e.on;
}

/* ---- threads ------------------------------------------------------------------------------------------------------
 */

struct thread {
    uint32_t id;
    size_t first_call, n_calls; /* in threads.calls */
    struct thread_tasks out;
};

struct threads {
    ARRAY(struct thread) threads; /* ascending id */
    struct map index;             /* id -> index */
    uint32_t *calls;              /* indices of APIs, by thread */
    const struct walk_context *walk;
    uint32_t n_apis;
};

static void add_thread(struct threads *t, uint32_t id)
{
    bool is_new;
    map_put(&t->index, id, 0, &is_new);
    if (is_new) array_push(&t->threads, ((struct thread){.id = id}));
}

static void sort_threads(struct threads *t)
{
    size_t n = t->threads.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){t->threads.at[i].id, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(t->threads.at, sizeof *t->threads.at, order, n);
    for (size_t i = 0; i < n; i++) *map_put(&t->index, t->threads.at[i].id, 0, NULL) = (uint32_t)i;
    free(order);
}

/* Find the threads that have calls for the tree or tasks, and give each its calls. */
static void split_threads(struct threads *t, const struct host_data *h, const struct records *r)
{
    uint32_t last = 0;
    for (size_t i = 0; i < h->apis.n; i++) {
        const struct api *a = &h->apis.at[i];
        if (!tree_uses_level(a->level) || (t->threads.n && a->thread_id == last)) continue;
        add_thread(t, last = a->thread_id);
    }
    for (size_t i = 0; i < r->tracks.n; i++)
        if (!i || r->tracks.at[i].thread_id != r->tracks.at[i - 1].thread_id) add_thread(t, r->tracks.at[i].thread_id);
    sort_threads(t);

    for (size_t i = 0; i < h->apis.n; i++)
        if (tree_uses_level(h->apis.at[i].level))
            t->threads.at[map_get(&t->index, h->apis.at[i].thread_id, 0)].n_calls++;
    size_t total = 0;
    for (size_t i = 0; i < t->threads.n; i++) {
        t->threads.at[i].first_call = total;
        total += t->threads.at[i].n_calls;
        t->threads.at[i].n_calls = 0;
    }
    t->calls = mem_alloc(total * sizeof *t->calls);
    for (size_t i = 0; i < h->apis.n; i++) {
        if (!tree_uses_level(h->apis.at[i].level)) continue;
        struct thread *k = &t->threads.at[map_get(&t->index, h->apis.at[i].thread_id, 0)];
        t->calls[k->first_call + k->n_calls++] = (uint32_t)i;
    }
}

/* The thread itself is numbered behind all APIs. */
static void walk_item(size_t item, void *context)
{
    struct threads *t = context;
    struct thread *k = &t->threads.at[item];
    walk_thread(&k->out, t->walk, k->id, t->n_apis + 1 + (uint32_t)item, t->calls + k->first_call, k->n_calls);
}

/* ---- putting the threads together ---------------------------------------------------------------------------------
 */

#define APPEND(to, from)                                                                                               \
    do {                                                                                                               \
        memcpy((to).at + (to).n, (from).at, (from).n * sizeof *(from).at);                                             \
        (to).n += (from).n;                                                                                            \
        array_free(&(from));                                                                                           \
    } while (0)

#define RESERVE_ALL(to, t, field)                                                                                      \
    do {                                                                                                               \
        size_t total_ = 0;                                                                                             \
        for (size_t i_ = 0; i_ < (t)->threads.n; i_++) total_ += (t)->threads.at[i_].out.field.n;                      \
        array_reserve(&(to), total_);                                                                                  \
    } while (0)

/* Number the operators of a thread among all operators. */
static void add_ops(struct intern *all, struct thread_tasks *out)
{
    uint32_t *number = mem_alloc(out->ops.items.n * sizeof *number);
    for (uint32_t i = 0; i < out->ops.items.n; i++) {
        struct op o;
        memcpy(&o, intern_at(&out->ops, i), sizeof o);
        number[i] = op_intern(all, &o);
    }
    for (size_t i = 0; i < out->tasks.n; i++)
        if (out->tasks.at[i].op != NONE) out->tasks.at[i].op = number[out->tasks.at[i].op];
    intern_free(&out->ops);
    free(number);
}

static void join_threads(struct host_data *h, struct threads *t, struct strpool *strings, struct diag *diag)
{
    struct intern ops = {0};
    size_t stray_records = 0, stray_tasks = 0, bad_ranges = 0;
    RESERVE_ALL(h->tasks, t, tasks);
    RESERVE_ALL(h->comm_tasks, t, comm_tasks);
    RESERVE_ALL(h->comm_ops, t, comm_ops);
    RESERVE_ALL(h->fusion_ops, t, fusion_ops);
    for (size_t i = 0; i < t->threads.n; i++) {
        struct thread_tasks *out = &t->threads.at[i].out;
        add_ops(&ops, out);
        if (out->tasks.n) APPEND(h->tasks, out->tasks);
        if (out->comm_tasks.n) APPEND(h->comm_tasks, out->comm_tasks);
        if (out->comm_ops.n) APPEND(h->comm_ops, out->comm_ops);
        if (out->fusion_ops.n) APPEND(h->fusion_ops, out->fusion_ops);
        array_free(&out->tasks); /* reserved, but without rows */
        stray_records += out->stray_records;
        stray_tasks += out->stray_tasks;
        bad_ranges += out->bad_ranges;
    }
    array_reserve(&h->ops, ops.items.n);
    h->ops.n = ops.items.n;
    if (h->ops.n) memcpy(h->ops.at, ops.bytes.at, ops.bytes.n);
    intern_free(&ops);
    op_set_flags(h->ops.at, h->ops.n, strings);

    diag_count(diag, DIAG_INFO, "host/data", DIAG_NO_OFFSET, stray_records,
               "operator and communication records outside any call that they could belong to");
    diag_count(diag, DIAG_WARNING, "host/data", DIAG_NO_OFFSET, stray_tasks,
               "tasks of a communication call outside any operator call: the host side is not known");
    diag_count(diag, DIAG_WARNING, "host/data", DIAG_NO_OFFSET, bad_ranges, "context ranges that cannot be right");
}

static void walk_threads(struct host_data *h, const struct records *r, const struct capture *capture,
                         const struct api_names *names, unsigned threads)
{
    struct walk_context walk = {
        .records = r,
        .host = h,
        .capture = capture,
        .strings = r->strings,
        .names = *names,
        .words = op_words(r->strings),
        .level0 = r->session->host->meta.level0,
        .contexts = r->chip->context_ids,
    };
    struct threads t = {.walk = &walk, .n_apis = (uint32_t)h->apis.n};
    split_threads(&t, h, r);
    jobs_each(threads, t.threads.n, walk_item, &t);
    free(t.calls);
    join_threads(h, &t, r->strings, r->diag);
    map_free(&t.index);
    array_free(&t.threads);
}

/* ---- everything ---------------------------------------------------------------------------------------------------
 */

void host_load(struct host_data *h, const struct session *s, struct strpool *strings, unsigned threads,
               struct diag *diag, struct progress *progress)
{
    *h = (struct host_data){0};
    if (!s->host) return;
    struct dictionary dictionary;
    struct capture capture;
    struct api_names names = api_names(strings);
    dictionary_load(&dictionary, s->host, strings, threads, diag, progress);
    struct records r = {
        .session = s,
        .chip = s->host->chip,
        .dictionary = &dictionary,
        .strings = strings,
        .diag = diag,
        .progress = progress,
        .host = h,
    };
    records_load(&r, threads);
    h->hash_texts = dictionary.hashes;
    dictionary.hashes = (struct map){0};
    dictionary_free(&dictionary);
    capture_build(&capture, &r);
    walk_threads(h, &r, &capture, &names, threads);
    capture_free(&capture);
    copies_assign(h, r.copies.at, r.copies.n, strpool_add_z(strings, "MEMCPY_ASYNC"));
    records_free(&r);
    apis_finish(h, s, &names, threads);
}

void host_free(struct host_data *h)
{
    array_free(&h->apis);
    array_free(&h->threads);
    array_free(&h->ops);
    array_free(&h->tasks);
    array_free(&h->comm_infos);
    array_free(&h->comm_tasks);
    array_free(&h->comm_ops);
    array_free(&h->memcpys);
    array_free(&h->fusion_ops);
    array_free(&h->model_names);
    array_free(&h->kfc_streams);
    array_free(&h->mc2_groups);
    map_free(&h->logical_streams);
    map_free(&h->hash_texts);
}

str_id host_text(const struct host_data *h, struct strpool *strings, uint64_t hash)
{
    str_id text = map_get(&h->hash_texts, hash, NONE);
    return text != NONE ? text : strpool_add_u64(strings, hash);
}
