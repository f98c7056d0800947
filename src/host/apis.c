/* api_event: a call is one record, or two events (begin, end) with the same level, type, thread, request and item,
 * paired in file order. All calls together are sorted by (begin, level descending, file order); the place in that order
 * is the call's identity from then on (connection id = index + 1). */
#include "host/apis.h"

#include <string.h>

#include "base/jobs.h"
#include "base/map.h"
#include "base/sort.h"
#include "decode/host_records.h"
#include "decode/records.h"

#define CONVERT_BLOCK 65536u /* calls per piece of work */

struct api_names api_names(struct strpool *strings)
{
    return (struct api_names){
        .step_info = strpool_add_z(strings, "step_info"),
        .model_load = strpool_add_z(strings, "ModelLoad"),
        .master = strpool_add_z(strings, "master"),
        .record_event = strpool_add_z(strings, "aclrtRecordEvent"),
        .wait_event = strpool_add_z(strings, "aclrtStreamWaitEvent"),
    };
}

/* ---- decoding --------------------------------------------------------------------------------------------------- */

/* What two events must share to be a pair. */
struct event_key {
    uint64_t item;
    uint32_t type, thread_id, request_id;
    uint32_t level;
};
static_assert(sizeof(struct event_key) == 24, "interned by its bytes: no padding");

#define NO_EVENT UINT64_MAX

struct open_event {
    uint64_t begin; /* NO_EVENT: none waits */
    struct record_place place;
};

struct api_load {
    struct records *r;
    struct api_names names;
    str_id zero;
    struct intern events;             /* struct event_key */
    ARRAY(struct open_event) waiting; /* by number of the key */
};

static str_id item_text(const struct api_load *l, const struct api_event_record *a, str_id name)
{
    if (!a->item) return l->zero;
    if (a->level == LEVEL_MODEL || (a->level == LEVEL_NODE && name == l->names.step_info))
        return strpool_add_u64(l->r->strings, a->item);
    return dictionary_text(l->r->dictionary, a->item);
}

static void add_api(struct api_load *l, const struct api_event_record *a)
{
    str_id name = dictionary_type(l->r->dictionary, a->level, a->type);
    array_push(&l->r->host->apis, ((struct api){
                                      .begin = a->begin,
                                      .end = a->end,
                                      .thread_id = a->thread_id,
                                      .request_id = a->request_id,
                                      .name = name,
                                      .item = item_text(l, a, name),
                                      .level = a->level,
                                      .acl_tag = a->level == LEVEL_ACL ? (uint16_t)(a->type >> 16) : 0,
                                  }));
}

static void visit_api(const uint8_t *record, const struct record_place *place, void *context)
{
    struct api_load *l = context;
    struct api_event_record a;
    memcpy(&a, record, sizeof a);
    if (a.end != RECORD_EVENT_END) {
        add_api(l, &a);
        return;
    }
    struct event_key key = {a.item, a.type, a.thread_id, a.request_id, a.level};
    bool is_new;
    uint32_t number = intern_put(&l->events, &key, sizeof key, &is_new);
    if (is_new) array_push(&l->waiting, ((struct open_event){.begin = NO_EVENT}));
    struct open_event *first = &l->waiting.at[number];
    if (first->begin == NO_EVENT) {
        *first = (struct open_event){a.begin, *place};
        return;
    }
    a.end = a.begin;
    a.begin = first->begin;
    first->begin = NO_EVENT;
    add_api(l, &a);
}

static void sort_apis(struct api *apis, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){apis[i].begin, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t begin = order[i].key;
        for (end = i; end < n && order[end].key == begin;) end++;
        if (end == i + 1) continue;
        for (size_t k = i; k < end; k++) order[k].key = (uint64_t)(UINT16_MAX - apis[order[k].index].level);
        sort_keys(order + i, end - i);
    }
    sort_permute(apis, sizeof *apis, order, n);
    free(order);
}

void apis_load(struct records *r)
{
    struct api_load l = {.r = r, .names = api_names(r->strings), .zero = strpool_add_z(r->strings, "0")};
    struct host_data *h = r->host;
    const struct input_files *files = prof_dir_files(r->session->host, INPUT_API_EVENT);
    array_reserve(&h->apis, records_count(files, sizeof(struct api_event_record)));
    records_each(files, sizeof(struct api_event_record), record_valid_host, r->diag, r->progress, visit_api, &l);
    for (size_t i = 0; i < l.waiting.n; i++)
        if (l.waiting.at[i].begin != NO_EVENT)
            diag_note(r->diag, DIAG_WARNING, l.waiting.at[i].place.file->shown, l.waiting.at[i].place.offset,
                      "events that have no counterpart");
    intern_free(&l.events);
    array_free(&l.waiting);
    array_trim(&h->apis);
    h->has_apis = h->apis.n > 0;
    sort_apis(h->apis.at, h->apis.n);
}

uint32_t api_model_id(const struct strpool *strings, const struct api *a)
{
    return (uint32_t)strtoull(strpool_text(strings, a->item), NULL, 10);
}

/* ---- finishing -------------------------------------------------------------------------------------------------- */

struct finish {
    struct host_data *h;
    const struct session *s;
    const struct api_names *names;
};

/* Times to epoch ns; begin 0 stays what it is: not a time, and not shown. */
static void convert_block(size_t item, void *context)
{
    const struct finish *f = context;
    const struct clock *clock = &f->s->host->clock;
    size_t end = (item + 1) * CONVERT_BLOCK;
    if (end > f->h->apis.n) end = f->h->apis.n;
    for (size_t i = item * CONVERT_BLOCK; i < end; i++) {
        struct api *a = &f->h->apis.at[i];
        if (a->begin) a->flags |= API_EXPORTED | API_TIMED;
        if (a->level == LEVEL_NODE) a->flags |= API_FLOW_START;
        if (a->level == LEVEL_ACL && (a->name == f->names->record_event || a->name == f->names->wait_event))
            a->flags |= API_FLOW_START | API_EVENT_SYNC;
        uint64_t begin = a->begin, finish = a->end;
        a->start_ns = clock_host_ns(clock, begin);
        a->end_ns = clock_host_ns(clock, finish);
        int64_t ns = (int64_t)((uint64_t)a->end_ns - (uint64_t)a->start_ns); /* no overflow, however damaged */
        a->rest_ps = clock_host_rest_ps(clock, begin, finish, ns);
    }
}

static bool is_model_load(const struct finish *f, const struct api *a)
{
    return a->level == LEVEL_MODEL && a->name == f->names->model_load;
}

/* Calls that ended before the collection began are not shown, unless they lie inside a ModelLoad of their thread: its
 * operators are reported once, but run later. The calls are ascending by start, so a ModelLoad around a call came
 * before it, and of those that did the one that ends last decides. */
static void hide_early(const struct finish *f)
{
    struct map last_load = {0}; /* thread -> ModelLoad that ends last */
    const struct api *apis = f->h->apis.at;
    size_t n = f->h->apis.n, ahead = 0;
    for (size_t i = 0; i < n; i++) {
        struct api *a = &f->h->apis.at[i];
        for (; ahead < n && (ahead <= i || apis[ahead].start_ns == a->start_ns); ahead++) {
            if (!is_model_load(f, &apis[ahead])) continue;
            uint32_t *last = map_put(&last_load, apis[ahead].thread_id, (uint32_t)ahead, NULL);
            if (apis[*last].end_ns < apis[ahead].end_ns) *last = (uint32_t)ahead;
        }
        if (a->start_ns >= f->s->start_ns) continue;
        uint32_t load = map_get(&last_load, a->thread_id, NONE);
        if (load == NONE || apis[load].end_ns < a->start_ns) a->flags |= API_STRADDLES;
        if (a->end_ns >= f->s->start_ns) continue;
        if (load == NONE || apis[load].end_ns < a->end_ns) a->flags &= (uint8_t)~API_EXPORTED;
    }
    map_free(&last_load);
}

void host_list_threads(struct host_data *h, bool scripts)
{
    h->threads.n = 0;
    struct map seen = {0};
    ARRAY(struct sort_key) ids = {0};
    uint32_t last = 0;
    for (size_t i = 0; i < h->apis.n; i++) {
        const struct api *a = &h->apis.at[i];
        if (!api_shown(a, scripts) || (ids.n && a->thread_id == last)) continue;
        bool is_new;
        last = a->thread_id;
        map_put(&seen, last, 1, &is_new);
        if (is_new) array_push(&ids, ((struct sort_key){last, 0}));
    }
    sort_keys(ids.at, ids.n);
    for (size_t i = 0; i < ids.n; i++) array_push(&h->threads, (uint32_t)ids.at[i].key);
    array_free(&ids);
    map_free(&seen);
}

void apis_finish(struct host_data *h, const struct session *s, const struct api_names *names, unsigned threads)
{
    struct finish f = {h, s, names};
    jobs_each(threads, (h->apis.n + CONVERT_BLOCK - 1) / CONVERT_BLOCK, convert_block, &f);
    hide_early(&f);
    host_list_threads(h, s->script_timeline);
}
