/* Marks of the user: points and ranges that the program names (msproftx, mstx).
 *
 * A record is a plain mark, or a piece of an extended one: long messages come in several records of one mark id, put
 * together by their segment numbers. Extended marks belong to a domain, and the runtime may have put them into a
 * stream: the device reports when it met them (device/marks.c), under the same id. */
#include "metrics/msproftx.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* docs/formats/sampled-metrics.md, "User marks" */
enum {
    RECORD = 256,
    R_KIND = 24,
    R_SEGMENT = 26,
    R_PID = 36,
    R_THREAD = 40,
    R_CATEGORY = 44,
    R_EVENT = 48,
    R_PAYLOAD_TYPE = 52,
    R_PAYLOAD = 56,
    R_START = 64, /* host counter */
    R_END = 72,
    R_MARK = 80,
    R_DOMAIN = 88,
    R_MESSAGE_TYPE = 96,
    R_MESSAGE = 100,
    MESSAGE_SIZE = RECORD - R_MESSAGE,
};

enum { KIND_PLAIN, KIND_EXTENDED };

static const char *const event_names[] = {"marker", "push/pop", "start/end", "marker_ex"};
enum { EVENTS = sizeof event_names / sizeof *event_names };

#define EVENT_UNKNOWN 65535 /* in the database */

struct mark {
    int64_t start_ns, end_ns;
    uint64_t mark_id; /* extended */
    uint64_t payload;
    str_id message, domain;
    uint32_t pid, thread_id, category, event;
    uint32_t payload_type, message_type;
    uint32_t slice;
    uint16_t segment;
    bool extended;
};

struct msproftx {
    ARRAY(struct mark) marks; /* plain ones in the order of the records, then extended ones by their first record */
    size_t n_plain;
    struct map messages; /* low half of the mark id -> index in marks */
};

struct reader {
    struct msproftx *tx;
    const struct metric_source *from;
    ARRAY(struct mark) pieces; /* of extended marks */
    uint64_t n_unknown;
    struct record_place unknown;
};

/* Up to the first NUL; a message that fills its field loses the last byte, which should be one. */
static str_id message_of(const struct reader *r, const uint8_t *p)
{
    const char *text = (const char *)p + R_MESSAGE;
    return strpool_add(r->from->strings, text, strnlen(text, MESSAGE_SIZE - 1));
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    uint16_t kind = get_u16(p + R_KIND);
    if (kind > KIND_EXTENDED) {
        if (!r->n_unknown++) r->unknown = *place;
        return;
    }
    struct mark m = {
        .start_ns = clock_host_ns(&r->from->dir->clock, get_u64(p + R_START)),
        .end_ns = clock_host_ns(&r->from->dir->clock, get_u64(p + R_END)),
        .mark_id = get_u64(p + R_MARK),
        .payload = get_u64(p + R_PAYLOAD),
        .message = message_of(r, p),
        .domain = map_get(&r->from->model->host.hash_texts, get_u64(p + R_DOMAIN), NONE),
        .pid = get_u32(p + R_PID),
        .thread_id = get_u32(p + R_THREAD),
        .category = get_u32(p + R_CATEGORY),
        .event = get_u32(p + R_EVENT),
        .payload_type = get_u32(p + R_PAYLOAD_TYPE),
        .message_type = get_u32(p + R_MESSAGE_TYPE),
        .slice = place->file->slice,
        .segment = get_u16(p + R_SEGMENT),
        .extended = kind == KIND_EXTENDED,
    };
    if (m.domain == NONE) m.domain = strpool_add_z(r->from->strings, "invalid");
    if (m.extended) array_push(&r->pieces, m);
    else array_push(&r->tx->marks, m);
}

/* Slices of both kinds of files are numbered together. */
static void sort_by_slice(struct mark *marks, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){marks[i].slice, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(marks, sizeof *marks, order, n);
    free(order);
}

/* pieces[n] are all of one mark, by segment. */
static struct mark join_pieces(const struct reader *r, const struct mark *pieces, const struct sort_key *order,
                               size_t n)
{
    struct mark whole = pieces[order[0].index];
    if (n == 1) return whole;
    ARRAY(char) text = {0};
    for (size_t i = 0; i < n; i++) {
        str_id piece = pieces[order[i].index].message;
        size_t len = strpool_length(r->from->strings, piece);
        array_reserve(&text, text.n + len);
        if (len) memcpy(text.at + text.n, strpool_text(r->from->strings, piece), len);
        text.n += len;
    }
    whole.message = strpool_add(r->from->strings, text.n ? text.at : "", text.n);
    array_free(&text);
    return whole;
}

/* Extended marks in the order of their first pieces. */
static void join_marks(struct reader *r)
{
    size_t n = r->pieces.n;
    struct map first = {0}; /* mark id -> its place among the marks */
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){r->pieces.at[i].segment, (uint32_t)i};
    for (size_t i = 0; i < n; i++) map_put(&first, r->pieces.at[i].mark_id, (uint32_t)i, NULL);
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = map_get(&first, r->pieces.at[order[i].index].mark_id, 0);
    sort_keys(order, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && order[end].key == order[i].key;) end++;
        array_push(&r->tx->marks, join_pieces(r, r->pieces.at, order + i, end - i));
    }
    map_free(&first);
    free(order);
}

static void msproftx_free(void *data)
{
    struct msproftx *tx = data;
    array_free(&tx->marks);
    map_free(&tx->messages);
    free(tx);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {.tx = mem_zalloc(1, sizeof *r.tx), .from = from};
    records_each(prof_dir_files(from->dir, INPUT_MSPROFTX), RECORD, NULL, from->diag, from->progress, visit, &r);
    if (r.n_unknown)
        diag_count(from->diag, DIAG_WARNING, r.unknown.file->shown, r.unknown.offset, r.n_unknown,
                   "mark of an unknown kind left out");
    r.tx->n_plain = r.tx->marks.n;
    sort_by_slice(r.tx->marks.at, r.tx->marks.n);
    sort_by_slice(r.pieces.at, r.pieces.n);
    join_marks(&r);
    for (size_t i = r.tx->n_plain; i < r.tx->marks.n; i++)
        map_put(&r.tx->messages, r.tx->marks.at[i].mark_id, (uint32_t)i, NULL);
    array_free(&r.pieces);
    return r.tx;
}

str_id mark_message(const struct model *m, uint64_t mark_id, str_id missing)
{
    const struct msproftx *tx = metric_data(m, m->session->host, &metric_msproftx);
    uint32_t at = tx ? map_get(&tx->messages, mark_id, NONE) : NONE;
    return at == NONE ? missing : tx->marks.at[at].message;
}

static const char *event_name(const struct mark *m)
{
    return m->event < EVENTS ? event_names[m->event] : "";
}

/* ---- timeline -----------------------------------------------------------------------------------------------------
 */

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* The reference's scripts show a payload or message type of -1 as it is, its native part as an unsigned number. */
static void type_arg(struct trace *t, uint32_t value)
{
    if (t->model->session->script_timeline) out_i64(&t->out, (int32_t)value);
    else out_u64(&t->out, value);
}

static void put_mark(struct trace *t, uint32_t pid, const struct mark *m)
{
    trace_begin(t);
    trace_text(t, m->message);
    trace_slice(t, pid, (int32_t)m->thread_id, m->start_ns, m->end_ns, NULL);
    if (m->extended) {
        trace_arg_text(t, "event_type", event_name(m));
        trace_arg_string(t, "domain", m->domain);
        trace_end(t);
        trace_mark_flow(t, true, pid, (int32_t)m->thread_id, m->mark_id, m->start_ns);
        return;
    }
    char category[FORMAT_U64 + 1];
    *format_u64(category, m->category) = '\0';
    trace_arg_text(t, "Category", category);
    trace_key(t, "Payload_type");
    type_arg(t, m->payload_type);
    trace_arg_u64(t, "Payload_value", m->payload);
    trace_key(t, "Message_type");
    type_arg(t, m->message_type);
    trace_arg_text(t, "event_type", event_name(m));
    trace_end(t);
}

static void name_threads(struct trace *t, uint32_t pid, const struct msproftx *tx)
{
    uint32_t *threads = mem_alloc(tx->marks.n * sizeof *threads);
    for (size_t i = 0; i < tx->marks.n; i++) threads[i] = tx->marks.at[i].thread_id;
    if (tx->marks.n) qsort(threads, tx->marks.n, sizeof *threads, by_number);
    for (size_t i = 0; i < tx->marks.n; i++) {
        char name[7 + FORMAT_U64 + 1] = "Thread ";
        if (i && threads[i] == threads[i - 1]) continue;
        *format_u64(name + 7, threads[i]) = '\0';
        trace_thread(t, pid, (int32_t)threads[i], name, threads[i]);
    }
    free(threads);
}

/* The process has the name of the profiled one. Of a script timeline the file of marks alone goes back before the
 * collection, and all of it does where the driver or the chip cannot tell tasks apart. */
static void write_layer(struct trace *t, const struct layer *layer)
{
    const struct prof_dir *dir = t->model->session->host;
    const struct msproftx *tx = metric_data(t->model, dir, &metric_msproftx);
    if (!tx || !tx->marks.n) return;
    const struct session *s = t->model->session;
    bool whole =
        s->script_timeline && (t->file == FILE_MSPROF_TX || (!s->all_export && t->model->scope == MODEL_WHOLE));
    uint32_t pid = layer_pid(layer, dir);
    uint64_t before = t->events;
    for (size_t i = 0; i < tx->marks.n; i++)
        if (whole || !sample_too_early(dir, tx->marks.at[i].start_ns)) put_mark(t, pid, &tx->marks.at[i]);
    if (t->events == before) return;
    trace_process(t, pid, dir->meta.pid_name, layer_sort_index(layer, dir));
    name_threads(t, pid, tx);
}

/* ---- summary ------------------------------------------------------------------------------------------------------
 */

static const char *const columns[] = {
    "Device_id",
    "pid",
    "tid",
    "category",
    "event_type",
    "payload_type",
    "payload_value",
    "Start_time(us)",
    "End_time(us)",
    "message_type",
    "message",
    "domain",
    "Device Start_time(us)",
    "Device End_time(us)",
};

/* As JSON, where there is no device that could have met a mark. */
static const char *const host_columns[] = {
    "Device_id",      "pid",          "tid",          "category", "event_type", "payload_type", "payload_value",
    "Start_time(us)", "End_time(us)", "message_type", "message",  "domain",     "mark_id",
};

/* A mark of the host together with the i-th that devices met under its id. */
struct met {
    const struct prof_dir *dir; /* NULL = no device did */
    const struct device_mark *mark;
};

static void put_row(struct table *t, const struct mark *m, const struct met *met, const struct prof_dir *host,
                    bool host_only)
{
    report_row(t, met->dir ? met->dir : host);
    table_u64(t, m->pid);
    table_u64(t, m->thread_id);
    if (m->extended) table_na(t, 1);
    else table_u64(t, m->category);
    table_text(t, event_name(m), strlen(event_name(m)));
    if (m->extended) {
        table_na(t, 2);
    } else {
        table_i64(t, (int32_t)m->payload_type);
        table_u64(t, m->payload);
    }
    table_time(t, m->start_ns);
    table_time(t, m->end_ns);
    if (m->extended) table_na(t, 1);
    else table_i64(t, (int32_t)m->message_type);
    table_string(t, m->message);
    table_string(t, m->extended ? m->domain : STR_NA);
    if (host_only) {
        if (m->extended) table_u64(t, m->mark_id);
        else table_na(t, 1);
    } else if (met->dir) {
        table_time(t, met->mark->start_ns);
        table_time(t, met->mark->end_ns);
    } else {
        table_na(t, 2);
    }
}

/* What devices met, grouped by mark id: lists[i] … of one id stand together. */
struct meetings {
    ARRAY(struct met) all; /* by mark id, devices ascending within */
    struct map first;      /* mark id -> index of the first */
    bool host_only;        /* rows have host_columns */
};

static void collect_meetings(struct meetings *out, const struct model *m)
{
    ARRAY(struct sort_key) order = {0};
    ARRAY(struct met) unsorted = {0};
    for (size_t d = 0; d < m->n_devices; d++)
        for (size_t i = 0; i < m->devices[d].data.marks.n; i++) {
            const struct device_mark *mark = &m->devices[d].data.marks.at[i];
            array_push(&order, ((struct sort_key){mark->index, (uint32_t)unsorted.n}));
            array_push(&unsorted, ((struct met){m->devices[d].dir, mark}));
        }
    sort_keys(order.at, order.n);
    for (size_t i = 0; i < order.n; i++) {
        map_put(&out->first, order.at[i].key, (uint32_t)i, NULL);
        array_push(&out->all, unsorted.at[order.at[i].index]);
    }
    array_free(&order);
    array_free(&unsorted);
}

/* Rows of one mark, written if t is given. */
static uint64_t rows_of(struct table *t, const struct meetings *meetings, const struct mark *m,
                        const struct prof_dir *host)
{
    static const struct met nobody;
    uint64_t rows = 0;
    uint32_t at = m->extended ? map_get(&meetings->first, m->mark_id, NONE) : NONE;
    for (; at < meetings->all.n && meetings->all.at[at].mark->index == m->mark_id; at++, rows++) {
        if (!t) continue;
        put_row(t, m, &meetings->all.at[at], host, false);
        if (!report_row_end(t)) return rows;
    }
    if (rows) return rows;
    if (t) {
        put_row(t, m, &nobody, host, meetings->host_only);
        report_row_end(t);
    }
    return 1;
}

static int write_report(struct export_target *target, struct error *err)
{
    const struct prof_dir *host = target->model->session->host;
    const struct msproftx *tx = metric_data(target->model, host, &metric_msproftx);
    if (!tx || !tx->marks.n) return 0;
    struct meetings meetings = {.host_only = target->format == NPUPROF_JSON && !target->model->n_devices};
    collect_meetings(&meetings, target->model);
    size_t n = tx->marks.n;
    uint64_t rows = 0;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        order[i] = (struct sort_key){(uint64_t)tx->marks.at[i].start_ns ^ 1ull << 63, (uint32_t)i};
        rows += rows_of(NULL, &meetings, &tx->marks.at[i], host);
    }
    sort_keys(order, n);
    struct table t;
    int status = meetings.host_only ? table_open(&t, target, "msprof_tx", COLUMNS(host_columns), rows, err)
                                    : table_open(&t, target, "msprof_tx", COLUMNS(columns), rows, err);
    if (!status) {
        for (size_t i = 0; i < n && !t.failed; i++) rows_of(&t, &meetings, &tx->marks.at[order[i].index], host);
        status = table_close(&t);
    }
    free(order);
    array_free(&meetings.all);
    map_free(&meetings.first);
    return status;
}

/* ---- database -----------------------------------------------------------------------------------------------------
 */

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct msproftx *tx = data;
    for (size_t i = 0; i < tx->marks.n; i++) {
        const struct mark *m = &tx->marks.at[i];
        uint64_t thread = (uint64_t)dir->meta.pid << 32 | m->thread_id;
        if (sample_too_early(dir, m->start_ns)) continue;
        db_int(t, m->start_ns);
        db_int(t, m->end_ns);
        db_int(t, m->event < EVENTS ? m->event : EVENT_UNKNOWN);
        db_int(t, UINT32_MAX); /* rangeId */
        db_int(t, m->extended ? UINT32_MAX : m->category);
        db_string(run, t, m->message);
        db_u64(t, thread);
        db_u64(t, thread);
        db_string(run, t, m->extended ? m->domain : STR_EMPTY);
        db_u64(t, m->extended ? mark_connection(m->mark_id) : MARK_ALONE);
        db_row(t);
    }
}

const struct metric metric_msproftx = {
    .name = "user marks",
    METRIC_INPUTS(INPUT_MSPROFTX),
    .load = load,
    .free = msproftx_free,
    .layers = (const struct layer[]){{.key = "msproftx",
                                      .name = "msproftx",
                                      .sort_index = 6,
                                      .script_index = 6,
                                      .files = IN_MSPROF | IN_MSPROF_TX,
                                      .write = write_layer},
                                     {.key = NULL}},
    .reports = (const struct report[]){{.stem = "msprof_tx",
                                        .about = "Marks and ranges of the program, and when devices met them.",
                                        .write = write_report},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"MSTX_EVENTS",
                                                             {{"startNs", DB_INTEGER},
                                                              {"endNs", DB_INTEGER},
                                                              {"eventType", DB_INTEGER},
                                                              {"rangeId", DB_INTEGER},
                                                              {"category", DB_INTEGER},
                                                              {"message", DB_INTEGER},
                                                              {"globalTid", DB_INTEGER},
                                                              {"endGlobalTid", DB_INTEGER},
                                                              {"domainId", DB_INTEGER},
                                                              {"connectionId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
