/* capture_stream_info says that a stream of the application is captured as a stream of a model; capture_op_info
 * describes the operators of the model. mc2_comm_info is read here too: the AI CPU stream of a group may be captured.
 */
#include "host/capture.h"

#include <string.h>

#include "base/filemap.h"
#include "base/sort.h"
#include "decode/host_records.h"
#include "decode/records.h"

enum { STATUS_CAPTURED = 0, STATUS_DESTROYED = 1 };

/* ---- decoding --------------------------------------------------------------------------------------------------- */

static void visit_stream(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct capture_stream_record c;
    (void)place;
    memcpy(&c, record, sizeof c);
    array_push(&r->captured_streams, ((struct captured_stream){c.head.time, c.status, c.device, c.original_stream,
                                                               c.model_stream, c.model_id}));
}

static void visit_mc2(const uint8_t *record, const struct record_place *place, void *context)
{
    struct records *r = context;
    struct mc2_comm_record m;
    memcpy(&m, record, sizeof m);
    struct mc2_group g = {.group = records_text(r, place, m.group), .group_key = m.group, .kfc_stream = m.kfc_stream};
    g.n_streams = m.count < MC2_STREAMS ? m.count : MC2_STREAMS;
    memcpy(g.streams, m.streams, sizeof g.streams);
    if (m.count > MC2_STREAMS)
        diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset,
                  "records that claim more entries than they have room for: the rest is not known");
    array_push(&r->host->mc2_groups, g);
    array_push(&r->host->kfc_streams, m.kfc_stream);
}

/* An operator whose tensors lie in tensors[bytes]; fewer than it claims are all there is. */
static void add_op(struct records *r, const uint8_t *record, const uint8_t *tensors, size_t bytes,
                   const struct record_place *place)
{
    struct capture_op_record c;
    memcpy(&c, record, sizeof c);
    size_t n = bytes / sizeof(struct tensor_record);
    if (n > c.count) n = c.count;
    if (n < c.count)
        diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset,
                  "records that claim more entries than they have room for: the rest is not known");
    array_push(&r->captured_ops, ((struct captured_op){
                                     .device = c.device,
                                     .stream_id = c.stream_id,
                                     .task_id = c.task_id,
                                     .model_id = c.model_id,
                                     .name = records_text(r, place, c.op_name),
                                     .type = records_text(r, place, c.op_type),
                                     .attr = c.attr ? dictionary_find(r->dictionary, c.attr, NONE) : NONE,
                                     .ge_type = c.task_type,
                                     .blocks = c.blocks,
                                     .hf32 = c.op_flag != 0,
                                     .dynamic = place->file->aging,
                                     .tensors = tensors_describe(r->strings, tensors, n, TENSORS_CAPTURED),
                                 }));
}

#define FIXED_SIZE    256
#define FIXED_TENSORS 4 /* the fourth lacks its last two dimensions */

static void visit_fixed(const uint8_t *record, const struct record_place *place, void *context)
{
    uint8_t tensors[FIXED_TENSORS * sizeof(struct tensor_record)] = {0};
    memcpy(tensors, record + sizeof(struct capture_op_record), FIXED_SIZE - sizeof(struct capture_op_record));
    add_op(context, record, tensors, sizeof tensors, place);
}

/* Records of the variable form say their length and follow each other; after one that cannot be right nothing is known
 * any more. Returns what was read. */
static size_t read_variable(struct records *r, const struct filemap *m, const struct input_file *f)
{
    size_t at = 0;
    while (m->size - at >= sizeof(struct capture_op_record)) {
        const uint8_t *record = m->data + at;
        struct record_head head;
        memcpy(&head, record, sizeof head);
        size_t size = sizeof head + (size_t)head.data_length;
        if (head.magic != RECORD_MAGIC_HOST || size < sizeof(struct capture_op_record) || size > m->size - at) break;
        add_op(r, record, record + sizeof(struct capture_op_record), size - sizeof(struct capture_op_record),
               &(struct record_place){f, at});
        at += size;
    }
    return at;
}

static void load_variable(struct records *r)
{
    const struct input_files *files = prof_dir_files(r->session->host, INPUT_CAPTURE_OP_INFO_VARIABLE);
    for (size_t i = 0; i < files->n; i++) {
        const struct input_file *f = &files->at[i];
        struct filemap m;
        struct error err;
        char text[ERROR_TEXT];
        if (filemap_open(&m, f->path, &err)) {
            diag_note(r->diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "not read: %s",
                      error_text(&err, text, sizeof text));
            continue;
        }
        size_t read = read_variable(r, &m, f);
        diag_count(r->diag, DIAG_WARNING, f->shown, read, m.size - read, "bytes dropped: not a whole record");
        progress_add(r->progress, m.size);
        filemap_close(&m);
    }
}

void records_load_capture(struct records *r)
{
    static const struct {
        enum input_id input;
        record_visit visit;
    } kinds[] = {
        {INPUT_CAPTURE_STREAM_INFO, visit_stream},
        {INPUT_MC2_COMM_INFO, visit_mc2},
        {INPUT_CAPTURE_OP_INFO, visit_fixed},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        records_each(prof_dir_files(r->session->host, kinds[i].input), input_kind(kinds[i].input)->record_size,
                     record_valid_host, r->diag, r->progress, kinds[i].visit, r);
    load_variable(r);
}

/* ---- captured streams ------------------------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t device, uint32_t stream, uint32_t number)
{
    return (uint64_t)(device & 0xFFFF) << 48 | (uint64_t)(stream & 0xFFFF) << 32 | number;
}

/* State while the records are gone through by time. */
struct streams {
    struct capture *c;
    const struct records *r;
    struct intern seen;    /* whole records */
    struct map next_batch; /* (device, model stream) -> batch of its next capture */
    struct map destroyed;  /* models whose destruction was seen */
    struct map replayed;   /* model streams of kfc streams that were seen */
    size_t n_kfc;          /* kfc streams that mc2_comm_info has: ascending, the captured ones come behind */
    struct map group_of;   /* kfc stream -> index of its last record in mc2_groups */
};

static bool is_kfc(const struct streams *s, uint32_t stream)
{
    const uint32_t *known = s->r->host->kfc_streams.at;
    size_t low = 0, high = s->n_kfc;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (known[mid] < stream) low = mid + 1;
        else high = mid;
    }
    return low < s->n_kfc && known[low] == stream;
}

/* The AI CPU stream of a group was captured: the stream that replays it belongs to the group, too. */
static void replay_kfc(struct streams *s, const struct captured_stream *record)
{
    struct host_data *h = s->r->host;
    bool is_new;
    map_put(&s->replayed, record->model_stream, 1, &is_new);
    if (!is_new) return;
    array_push(&h->kfc_streams, record->model_stream);
    struct mc2_group g = h->mc2_groups.at[map_get(&s->group_of, record->original_stream, 0)];
    g.kfc_stream = record->model_stream;
    array_push(&h->mc2_groups, g);
}

/* One record by time. The first destruction of a model is the end of it and belongs to no stream. */
static void capture_stream(struct streams *s, const struct captured_stream *record)
{
    struct captured_stream whole;
    bool is_new;
    memset(&whole, 0, sizeof whole); /* interned by its bytes */
    whole.time = record->time;
    whole.status = record->status;
    whole.device = record->device;
    whole.original_stream = record->original_stream;
    whole.model_stream = record->model_stream;
    whole.model_id = record->model_id;
    if (record->status == STATUS_DESTROYED) {
        map_put(&s->destroyed, record->model_id, 1, &is_new);
        if (is_new) return;
    }
    intern_put(&s->seen, &whole, sizeof whole, &is_new);
    if (!is_new) return;

    uint32_t *batch = map_put(&s->next_batch, key_of(record->device, record->model_stream, 0), 0, NULL);
    struct capture_span span = {0, UINT64_MAX, record->model_id};
    if (record->status == STATUS_CAPTURED) span.start = record->time;
    if (record->status == STATUS_DESTROYED) span.end = record->time;
    map_put(&s->c->streams, key_of(record->device, record->model_stream, *batch), (uint32_t)s->c->spans.n, NULL);
    array_push(&s->c->spans, span);
    ++*batch;
    if (is_kfc(s, record->original_stream)) replay_kfc(s, record);
}

static void sort_kfc_streams(struct host_data *h)
{
    struct sort_key *order = mem_alloc(h->kfc_streams.n * sizeof *order);
    for (size_t i = 0; i < h->kfc_streams.n; i++) order[i] = (struct sort_key){h->kfc_streams.at[i], (uint32_t)i};
    sort_keys(order, h->kfc_streams.n);
    size_t n = 0;
    for (size_t i = 0; i < h->kfc_streams.n; i++)
        if (!i || order[i].key != order[i - 1].key) h->kfc_streams.at[n++] = (uint32_t)order[i].key;
    h->kfc_streams.n = n;
    free(order);
}

void capture_build(struct capture *c, const struct records *r)
{
    *c = (struct capture){0};
    size_t n = r->captured_streams.n;
    sort_kfc_streams(r->host);
    struct streams s = {.c = c, .r = r, .n_kfc = r->host->kfc_streams.n};
    for (size_t i = 0; i < r->host->mc2_groups.n; i++)
        *map_put(&s.group_of, r->host->mc2_groups.at[i].kfc_stream, 0, NULL) = (uint32_t)i;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){r->captured_streams.at[i].time, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) capture_stream(&s, &r->captured_streams.at[order[i].index]);
    free(order);
    intern_free(&s.seen);
    map_free(&s.next_batch);
    map_free(&s.destroyed);
    map_free(&s.replayed);
    map_free(&s.group_of);
    sort_kfc_streams(r->host);

    for (size_t i = 0; i < r->captured_ops.n; i++) {
        const struct captured_op *o = &r->captured_ops.at[i];
        if (o->device > UINT16_MAX || o->stream_id > UINT16_MAX) continue;
        *map_put(&c->ops, key_of(o->device, o->stream_id, o->task_id), (uint32_t)i, NULL) = (uint32_t)i;
    }
}

void capture_free(struct capture *c)
{
    map_free(&c->streams);
    array_free(&c->spans);
    map_free(&c->ops);
}

uint32_t capture_model(const struct capture *c, const struct track *t)
{
    uint32_t at = map_get(&c->streams, key_of(t->device_id, t->stream_id, t->batch_id), NONE);
    if (at == NONE) return MODEL_NONE;
    const struct capture_span *s = &c->spans.at[at];
    return s->start <= t->time && t->time <= s->end ? s->model_id : MODEL_NONE;
}

const struct captured_op *capture_op(const struct capture *c, const struct records *r, const struct track *t)
{
    uint32_t at = map_get(&c->ops, key_of(t->device_id, t->stream_id, t->task_id), NONE);
    return at == NONE ? NULL : &r->captured_ops.at[at];
}
