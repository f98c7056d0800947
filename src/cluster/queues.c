/* Queues of training data of a rank: the one on the host, that the framework fills, step by step; and the one on the
 * device, which the AI CPU waits for.
 *
 *     Framework.device_queue, Framework.dataset_iterator     lines "<type> <kind> <step> <value> <time>":
 *                                                            type 0 a time, of the kind get, send or both together;
 *                                                            type 1 how much the queue held, the kind its capacity
 *     aicpu.data, DATA_PREPROCESS.AICPUMI                    metrics/queue_waits.h
 *
 * With device_queue the framework sends its data to the device (sink mode), where several waits may be of one step;
 * with dataset_iterator there is no queue on the device. */
#include <stdlib.h>

#include "base/map.h"
#include "base/round.h"
#include "cluster/parts.h"
#include "decode/aicpu_records.h"
#include "metrics/queue_waits.h"

enum { FIELD_TYPE, FIELD_KIND, FIELD_STEP, FIELD_VALUE, FIELD_TIME, FIELDS };
enum { TYPE_TIME, TYPE_SIZE };
enum { TIME_GET, TIME_SEND, TIME_ALL, TIMES };
enum { MODE_NOT_SINK, MODE_SINK };

/* A step of the host. Times as the framework counts them. */
struct host_step {
    int64_t step, size, times[TIMES];
};

/* The AI CPU waiting for data. */
struct wait {
    double us;
    uint64_t size;
};

struct queues {
    int mode; /* MODE_… of the host's queue */
    ARRAY(struct host_step) steps;
    ARRAY(struct wait) waits;
    struct map step_at; /* step -> index in steps, while reading */
    struct diag *diag;
};

/* ---- reading ---- */

static bool read_i64(struct text_field f, int64_t *value)
{
    uint64_t v;
    bool negative = f.len && *f.at == '-';
    if (negative) f.at++, f.len--;
    if (!text_u64(f, &v) || v > INT64_MAX) return false;
    *value = negative ? -(int64_t)v : (int64_t)v;
    return true;
}

/* What leaves the range of numbers ends at its border. */
static void add(int64_t *sum, int64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum)) *sum = value < 0 ? INT64_MIN : INT64_MAX;
}

static void take_line(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct queues *q = context;
    struct text_field f[FIELDS];
    int64_t v[FIELD_TIME];
    bool fresh, good = text_split(line, len, f, FIELDS) == FIELDS;
    for (int i = 0; i < FIELD_TIME && good; i++) good = read_i64(f[i], &v[i]);
    if (!good) {
        diag_note(q->diag, DIAG_WARNING, place->file->shown, place->offset, "line not understood");
        return;
    }
    uint32_t at = *map_put(&q->step_at, (uint64_t)v[FIELD_STEP], (uint32_t)q->steps.n, &fresh);
    if (fresh) array_push(&q->steps, ((struct host_step){.step = v[FIELD_STEP]}));
    struct host_step *s = &q->steps.at[at];
    if (v[FIELD_TYPE] == TYPE_SIZE) add(&s->size, v[FIELD_VALUE]);
    else if (v[FIELD_TYPE] == TYPE_TIME && v[FIELD_KIND] >= 0 && v[FIELD_KIND] < TIMES)
        add(&s->times[v[FIELD_KIND]], v[FIELD_VALUE]);
}

static void take_wait(const struct queue_wait *w, void *context)
{
    struct queues *q = context;
    array_push(&q->waits, ((struct wait){(double)(int64_t)(w->end_us - w->start_us), w->queue_size}));
}

static void take_record(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    struct queue_wait w = queue_wait_of(record);
    take_wait(&w, context);
}

static int by_step(const void *x, const void *y)
{
    const struct host_step *a = x, *b = y;
    return a->step < b->step ? -1 : a->step > b->step;
}

static void read_queues(struct queues *q, const struct prof_dir *dir)
{
    static const record_visit visits[AICPU_TYPES] = {[AICPU_QUEUE] = take_record};
    const struct input_files *sink = prof_dir_files(dir, INPUT_DEVICE_QUEUE);
    q->mode = sink->n ? MODE_SINK : MODE_NOT_SINK;
    lines_each(sink, q->diag, NULL, take_line, q);
    lines_each(prof_dir_files(dir, INPUT_DATASET_ITERATOR), q->diag, NULL, take_line, q);
    map_free(&q->step_at);
    if (q->steps.n) qsort(q->steps.at, q->steps.n, sizeof *q->steps.at, by_step);
    if (q->steps.n && q->mode == MODE_NOT_SINK) return;
    queue_texts_each(prof_dir_files(dir, INPUT_DATA_PREPROCESS_AICPUMI), q->diag, NULL, take_wait, q);
    aicpu_each(prof_dir_files(dir, INPUT_AICPU), visits, q->diag, NULL, q);
}

/* ---- writing ---- */

static double average(double sum, size_t n)
{
    return round_decimals(sum / (double)n, 1000);
}

static void put_host(struct out *o, const struct queues *q)
{
    double get = 0, send = 0;
    int64_t empty = 0;
    for (size_t i = 0; i < q->steps.n; i++) {
        get += (double)q->steps.at[i].times[TIME_GET];
        send += (double)q->steps.at[i].times[TIME_SEND];
        empty += !q->steps.at[i].size;
    }
    out_literal(o, "\"host_total_info\": {");
    json_key(o, "step_count", true);
    out_u64(o, q->steps.n);
    json_int_member(o, "empty_queue", empty);
    json_number_member(o, "avg_get_time", average(get, q->steps.n));
    json_number_member(o, "avg_send_time", average(send, q->steps.n));
    json_number_member(o, "avg_total_time", average(get + send, q->steps.n));
    json_int_member(o, "mode", q->mode);
    out_literal(o, "}, \"host_data_list\": [");
    for (size_t i = 0; i < q->steps.n; i++) {
        const struct host_step *s = &q->steps.at[i];
        if (i) out_literal(o, ", ");
        out_char(o, '{');
        json_key(o, "step", true);
        out_i64(o, s->step);
        json_int_member(o, "get_time", s->times[TIME_GET]);
        json_int_member(o, "send_time", s->times[TIME_SEND]);
        json_int_member(o, "total_time", s->times[TIME_ALL]);
        json_int_member(o, "queue_size", s->size);
        out_char(o, '}');
    }
    out_char(o, ']');
}

/* Waits of a step, one behind the other; their size is that of the first. */
struct wait_step {
    double us;
    uint64_t size;
};

static struct wait_step step_of(const struct queues *q, size_t first, size_t per_step)
{
    struct wait_step s = {0, q->waits.at[first].size};
    for (size_t i = first; i < q->waits.n && i - first < per_step; i++) s.us += q->waits.at[i].us;
    return s;
}

static void put_device(struct out *o, const struct queues *q)
{
    size_t steps = q->steps.n ? q->steps.n : q->waits.n, per_step = (q->waits.n + steps - 1) / steps, n = 0;
    double us = 0;
    int64_t empty = 0;
    for (size_t i = 0; i < q->waits.n; i += per_step) {
        struct wait_step s = step_of(q, i, per_step);
        us += s.us;
        empty += !s.size;
    }
    out_literal(o, "\"total_info\": {");
    json_key(o, "step_count", true);
    out_u64(o, steps);
    json_int_member(o, "empty_queue", empty);
    json_number_member(o, "total_time", us);
    json_number_member(o, "avg_time", average(us, steps));
    out_literal(o, "}, \"data_list\": [");
    for (size_t i = 0; i < q->waits.n; i += per_step) {
        struct wait_step s = step_of(q, i, per_step);
        if (i) out_literal(o, ", ");
        out_char(o, '{');
        json_key(o, "step", true);
        out_u64(o, ++n);
        json_number_member(o, "duration", s.us);
        json_key(o, "queue_size", false);
        out_u64(o, s.size);
        out_char(o, '}');
    }
    out_char(o, ']');
}

static int write_queues(struct asking *asking, const struct queues *q, const struct cluster_device *d)
{
    struct out o;
    if (!q->steps.n && !q->waits.n)
        return answer_fail(asking, NPUPROF_OK, "%s has no data of queues of training data", d->dir);
    char *name = mem_printf("data_preparation_%lld.json", (long long)cluster_id(d));
    int status = answer_begin(asking, &o, name);
    if (!status) {
        out_char(&o, '{');
        if (q->steps.n) put_host(&o, q);
        if (q->steps.n && q->waits.n) out_literal(&o, ", ");
        if (q->waits.n) put_device(&o, q);
        out_char(&o, '}');
        status = answer_end(asking, &o, name);
    }
    free(name);
    return status;
}

int answer_queues(struct asking *asking)
{
    const struct npuprof_question *asked = asking->question;
    const struct prof_dir *dir;
    if (!asked->has_id) return answer_fail(asking, NPUPROF_FAILED, "--id must be given: a rank, or a device");
    const struct cluster_device *d = cluster_device(&asking->cluster, asked->id);
    if (!d) return answer_fail(asking, NPUPROF_OK, "there is no rank or device %lld", (long long)asked->id);
    struct session *s = answer_session(asking, d, &dir);
    if (!s) return NPUPROF_OK;
    struct queues q = {.diag = asking->diag};
    read_queues(&q, dir);
    int status = write_queues(asking, &q, d);
    array_free(&q.steps);
    array_free(&q.waits);
    session_close(s);
    return status;
}
