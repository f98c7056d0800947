/* What the AI CPU of a device did: kernels, data preprocessing, and waiting for the queue with the next data.
 *
 * Newer collectors have all of it in aicpu.data (decode/aicpu_records.h), older ones in files of their own, two of them
 * text:
 *
 *     DATA_PREPROCESS.AICPU      records of 128 bytes, a kernel each
 *     DATA_PREPROCESS.DP         records of 128 bytes, or "[<ns>] Last queue dequeue, source:…, index:…, size:…"
 *     DATA_PREPROCESS.AICPUMI    metrics/queue_waits.h
 *
 * Texts end with a NUL byte. The operator of a kernel is that of the task that was running when the kernel ended. */
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "base/format.h"
#include "decode/aicpu_records.h"
#include "device/ids.h"
#include "metrics/all.h"
#include "metrics/queue_waits.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

/* The older records. */
enum {
    OLD_RECORD = 128,
    OLD_MAGIC = 0x5A5A,
    OLD_TAG = 2,
    OLD_TAG_NODE = 60,
    OLD_TAG_PREPROCESS = 100,
    NODE_STREAM = 4,
    NODE_TASK = 6,
    NODE_START = 16,
    NODE_COMPUTE = 24,
    NODE_COPY = 32,
    NODE_COPIED = 40,
    NODE_END = 56,
    NODE_SUBMIT = 72,
    NODE_AFTER = 96,
    NODE_DISPATCH = 108,
    PREPROCESS_TIME = 8,
    PREPROCESS_ACTION = 16,
    PREPROCESS_SOURCE = 32,
    PREPROCESS_SIZE = 104,
};

#define ACTION_MAX 16
#define SOURCE_MAX 64

struct node {
    int64_t start_ns, end_ns;
    double compute_us, copy_us, task_us, dispatch_us, total_us;
    uint32_t stream_id, task_id;
    str_id op; /* name */
};

struct preprocess {
    int64_t time_ns;
    str_id action, source;
    uint64_t size;
    bool rounded; /* the reference has the time as a double of us */
};

struct wait {
    str_id name;
    uint64_t start_us, end_us; /* as reported: no clock is known for them */
    uint64_t queue_size;
};

struct aicpu {
    ARRAY(struct node) nodes; /* ascending time, none from before the collection */
    ARRAY(struct preprocess) preprocesses;
    ARRAY(struct wait) waits; /* both in the order of the records */
};

struct reader {
    struct aicpu *to;
    const struct prof_dir *dir;
    struct strpool *strings;
    struct diag *diag;
    bool expanded;
};

/* Differences as signed numbers: clocks of a damaged record may run backwards. */
static double us_between(uint64_t from_us, uint64_t to_us)
{
    return (double)(int64_t)(to_us - from_us);
}

static double ticks_us(const struct clock *c, uint64_t from, uint64_t to)
{
    return (double)(int64_t)(to - from) * 1e6 / (double)c->device_hz;
}

/* --- kernels -------------------------------------------------------------------------------------------------------
 */

/* Starts and ends that are 0 were not reported. */
static void add_node(struct reader *r, struct node *n, uint64_t start, uint64_t end)
{
    const struct clock *c = &r->dir->clock;
    n->start_ns = clock_device_ns(c, start);
    n->end_ns = clock_device_ns(c, end);
    n->task_us = ticks_us(c, start, end);
    n->op = STR_NA;
    if (start && end && !sample_too_early(r->dir, n->start_ns)) array_push(&r->to->nodes, *n);
}

static void visit_node(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    struct aicpu_node_record k;
    memcpy(&k, record, sizeof k);
    struct task_ids ids = {k.stream_id, k.task_id}; /* nothing is packed into them where task ids are unique */
    if (!r->dir->chip->unique_task_ids) ids = task_ids(k.stream_id, k.task_id, SQE_AICPU, r->expanded);
    struct node n = {
        .compute_us = us_between(k.compute_start_us, k.memcpy_start_us),
        .copy_us = us_between(k.memcpy_start_us, k.memcpy_end_us),
        .dispatch_us = k.dispatch_us,
        .total_us = ticks_us(&r->dir->clock, k.submit, k.after_run),
        .stream_id = ids.stream,
        .task_id = ids.task,
    };
    add_node(r, &n, k.run_start, k.run_end);
}

static void visit_old_node(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    struct node n = {
        .compute_us = us_between(get_u64(p + NODE_COMPUTE), get_u64(p + NODE_COPY)),
        .copy_us = us_between(get_u64(p + NODE_COPY), get_u64(p + NODE_COPIED)),
        .dispatch_us = get_u32(p + NODE_DISPATCH),
        .total_us = ticks_us(&r->dir->clock, get_u64(p + NODE_SUBMIT), get_u64(p + NODE_AFTER)),
        .stream_id = plain_stream(get_u16(p + NODE_STREAM), false),
        .task_id = get_u16(p + NODE_TASK),
    };
    add_node(r, &n, get_u64(p + NODE_START), get_u64(p + NODE_END));
}

static bool valid_old_node(const uint8_t *p)
{
    return get_u16(p) == OLD_MAGIC && get_u16(p + OLD_TAG) == OLD_TAG_NODE;
}

static const struct device_model *device_of(const struct metric_source *from)
{
    for (size_t i = 0; i < from->model->n_devices; i++)
        if (from->model->devices[i].dir == from->dir) return &from->model->devices[i];
    return NULL;
}

static uint64_t key_of(uint32_t stream_id, uint32_t task_id)
{
    return (uint64_t)stream_id << 32 | task_id;
}

/* Nodes of one key are a chain: the first is in the map, the next of i is next[i]. */
static void find_ops(struct aicpu *a, const struct metric_source *from, const struct device_model *d)
{
    if (!d || !a->nodes.n) return;
    struct map first = {0};
    uint32_t *next = mem_alloc(a->nodes.n * sizeof *next);
    for (size_t i = a->nodes.n; i-- > 0;) {
        const struct node *n = &a->nodes.at[i];
        uint32_t *head = map_put(&first, key_of(n->stream_id, n->task_id), NONE, NULL);
        next[i] = *head;
        *head = (uint32_t)i;
    }
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *t = &d->tasks.at[i];
        if (t->op == NONE) continue;
        uint32_t at = map_get(&first, key_of(t->stream_id, t->task_id), NONE);
        for (; at != NONE; at = next[at]) {
            struct node *n = &a->nodes.at[at];
            if (t->start_ns <= n->end_ns && n->end_ns <= t->end_ns) n->op = from->model->host.ops.at[t->op].name;
        }
    }
    map_free(&first);
    free(next);
}

static uint64_t start_key(const void *node)
{
    return sample_time_key(((const struct node *)node)->start_ns);
}

/* --- preprocessing -------------------------------------------------------------------------------------------------
 */

static void add_preprocess(struct reader *r, uint64_t ns, const char *action, const char *source, uint64_t size,
                           bool rounded)
{
    struct preprocess p = {
        .time_ns = clock_raw_ns(&r->dir->clock, ns > INT64_MAX ? INT64_MAX : (int64_t)ns),
        .action = strpool_add(r->strings, action, strnlen(action, ACTION_MAX)),
        .source = strpool_add(r->strings, source, strnlen(source, SOURCE_MAX)),
        .size = size,
        .rounded = rounded,
    };
    array_push(&r->to->preprocesses, p);
}

static void visit_preprocess(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct aicpu_preprocess_record p;
    memcpy(&p, record, sizeof p);
    add_preprocess(context, p.head.time, p.action, p.source, p.size, false);
}

static void visit_old_preprocess(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    add_preprocess(context, get_u64(p + PREPROCESS_TIME), (const char *)p + PREPROCESS_ACTION,
                   (const char *)p + PREPROCESS_SOURCE, get_u64(p + PREPROCESS_SIZE), true);
}

static bool valid_old_preprocess(const uint8_t *p)
{
    return get_u16(p) == OLD_MAGIC && get_u16(p + OLD_TAG) == OLD_TAG_PREPROCESS;
}

/* --- texts ---------------------------------------------------------------------------------------------------------
 */

#define PIECES 8

/* "[<ns>] Last queue dequeue, source:…, index:…, size:…"; other texts of the file are of no interest. */
static bool read_preprocess(struct reader *r, struct text_field text)
{
    static const char action[] = "Last queue dequeue";
    struct text_field pieces[PIECES];
    size_t n = text_split_at(text, ',', pieces, PIECES);
    if (n < 4 || n > PIECES || !memmem(text.at, text.len, action, sizeof action - 1)) return true;
    const char *end = memchr(text.at, ']', text.len);
    uint64_t ns, size;
    if (text.at[0] != '[' || !end || !text_u64((struct text_field){text.at + 1, (size_t)(end - text.at - 1)}, &ns) ||
        !text_u64(text_value(pieces[n - 1]), &size))
        return false;
    struct text_field source = text_value(pieces[1]);
    struct preprocess p = {
        .time_ns = clock_raw_ns(&r->dir->clock, ns > INT64_MAX ? INT64_MAX : (int64_t)ns),
        .action = strpool_add_z(r->strings, action),
        .source = strpool_add(r->strings, source.at, source.len),
        .size = size,
        .rounded = true,
    };
    array_push(&r->to->preprocesses, p);
    return true;
}

static void visit_preprocess_text(struct text_field text, const struct record_place *place, void *context)
{
    struct reader *r = context;
    if (!read_preprocess(r, text))
        diag_note(r->diag, DIAG_WARNING, place->file->shown, place->offset, "text not understood");
}

/* Does the file hold records? Either its first or its last is whole then. */
static bool is_binary(const struct input_file *file)
{
    struct filemap map;
    struct error err = {0};
    if (file->size < OLD_RECORD || filemap_open(&map, file->path, &err)) return false;
    bool binary = map.size >= OLD_RECORD &&
                  (valid_old_preprocess(map.data) || valid_old_preprocess(map.data + map.size - OLD_RECORD));
    filemap_close(&map);
    return binary;
}

/* --- waiting -------------------------------------------------------------------------------------------------------
 */

static void visit_wait(const struct queue_wait *w, void *context)
{
    struct reader *r = context;
    str_id name = strpool_add(r->strings, w->node.at, w->node.len);
    array_push(&r->to->waits, ((struct wait){name, w->start_us, w->end_us, w->queue_size}));
}

static void visit_queue(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct queue_wait w = queue_wait_of(record);
    visit_wait(&w, context);
}

/* --- loading -------------------------------------------------------------------------------------------------------
 */

static void aicpu_free(void *data)
{
    struct aicpu *a = data;
    array_free(&a->nodes);
    array_free(&a->preprocesses);
    array_free(&a->waits);
    free(a);
}

static void load_old(struct reader *r, const struct metric_source *from)
{
    const struct input_files *files = prof_dir_files(from->dir, INPUT_DATA_PREPROCESS_AICPU);
    records_each(files, OLD_RECORD, valid_old_node, from->diag, from->progress, visit_old_node, r);
    files = prof_dir_files(from->dir, INPUT_DATA_PREPROCESS_DP);
    if (files->n && is_binary(&files->at[0]))
        records_each(files, OLD_RECORD, valid_old_preprocess, from->diag, from->progress, visit_old_preprocess, r);
    else texts_each(files, from->diag, from->progress, visit_preprocess_text, r);
    files = prof_dir_files(from->dir, INPUT_DATA_PREPROCESS_AICPUMI);
    queue_texts_each(files, from->diag, from->progress, visit_wait, r);
}

static void *load(const struct metric_source *from)
{
    static const record_visit visits[AICPU_TYPES] = {
        [AICPU_NODE] = visit_node, [AICPU_PREPROCESS] = visit_preprocess, [AICPU_QUEUE] = visit_queue};
    struct aicpu *a = mem_zalloc(1, sizeof *a);
    struct diag *quiet = diag_new(); /* the device's tasks were read with the same question, and aicpu.data, too */
    struct reader r = {a, from->dir, from->strings, from->diag, host_streams_expanded(from->model->session, quiet)};
    diag_free(quiet);
    aicpu_each(prof_dir_files(from->dir, INPUT_AICPU), visits, NULL, from->progress, &r);
    load_old(&r, from);
    const struct device_model *d = device_of(from);
    sample_sort(a->nodes.at, a->nodes.n, sizeof *a->nodes.at, start_key);
    find_ops(a, from, d);
    if (a->nodes.n || a->preprocesses.n || a->waits.n) return a;
    aicpu_free(a);
    return NULL;
}

/* --- reports -------------------------------------------------------------------------------------------------------
 */

static uint64_t node_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct aicpu *)data)->nodes.n;
}

static void fill_nodes(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct aicpu *a = data;
    for (size_t i = 0; i < a->nodes.n; i++) {
        const struct node *n = &a->nodes.at[i];
        report_row(t, dir);
        table_time(t, n->start_ns);
        table_string(t, n->op);
        table_round(t, n->compute_us);
        table_round(t, n->copy_us);
        table_round(t, n->task_us);
        table_round(t, n->dispatch_us);
        table_round(t, n->total_us);
        table_u64(t, n->stream_id);
        table_u64(t, n->task_id);
        if (!report_row_end(t)) return;
    }
}

static uint64_t preprocess_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct aicpu *)data)->preprocesses.n;
}

static void fill_preprocesses(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct aicpu *a = data;
    for (size_t i = 0; i < a->preprocesses.n; i++) {
        const struct preprocess *p = &a->preprocesses.at[i];
        char time[FORMAT_US];
        report_row(t, dir);
        if (p->rounded) table_shortest(t, (double)p->time_ns / 1000);
        else table_text(t, time, (size_t)(format_us(time, p->time_ns) - time));
        table_string(t, p->action);
        table_string(t, p->source);
        table_u64(t, p->size);
        if (!report_row_end(t)) return;
    }
}

static uint64_t wait_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct aicpu *)data)->waits.n;
}

static void fill_waits(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct aicpu *a = data;
    for (size_t i = 0; i < a->waits.n; i++) {
        const struct wait *w = &a->waits.at[i];
        report_row(t, dir);
        table_string(t, w->name);
        table_shortest(t, (double)w->start_us);
        table_shortest(t, (double)w->end_us);
        table_u64(t, w->queue_size);
        if (!report_row_end(t)) return;
    }
}

static const char *const node_columns[] = {
    "Timestamp(us)",     "Node",           "Compute_time(us)", "Memcpy_time(us)", "Task_time(us)",
    "Dispatch_time(us)", "Total_time(us)", "Stream ID",        "Task ID",         NULL,
};
static const char *const preprocess_columns[] = {"Timestamp(us)", "Action", "Source", "Cached Buffer Size", NULL};
static const char *const wait_columns[] = {"Node Name", "Start Time(us)", "End Time(us)", "Queue Size", NULL};

const struct metric metric_aicpu = {
    .name = "AI CPU",
    METRIC_INPUTS(INPUT_AICPU, INPUT_DATA_PREPROCESS_AICPU, INPUT_DATA_PREPROCESS_DP, INPUT_DATA_PREPROCESS_AICPUMI),
    .load = load,
    .free = aicpu_free,
    .reports =
        (const struct report[]){
            {.stem = "aicpu",
             .about = "Kernels of the AI CPU: when they ran, and how long they computed, copied and "
                      "waited.",
             .columns = node_columns,
             .rows = node_rows,
             .fill = fill_nodes},
            {.stem = "dp",
             .about = "Data preprocessing: what was put into and taken from the queue, and how much "
                      "it held.",
             .columns = preprocess_columns,
             .rows = preprocess_rows,
             .fill = fill_preprocesses},
            {.stem = "aicpu_mi",
             .about = "Waiting of the AI CPU for the queue with the next data.",
             .columns = wait_columns,
             .rows = wait_rows,
             .fill = fill_waits},
            {.stem = NULL}},
};
