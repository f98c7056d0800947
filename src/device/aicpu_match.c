/* Which task of the log a record of the AI CPU speaks of.
 *
 * Both have stream and task id, and 16-bit task ids wrap. The AI CPU reports the wraps itself, by number, because it
 * gives the ids out; the scheduler reports them with the same numbers. So what is compared is
 *
 *     (stream, task id, number of the last wrap + streams of that number that were destroyed before)
 *
 * on either side by its own wraps. Of several runs with one key a record means the first that starts behind it. */
#include "device/parts.h"

/* The wraps of one side, ascending (stream, time). */
struct wrap {
    uint64_t time;
    uint32_t stream;
    uint32_t number; /* as reported; then the batch behind it */
};

typedef ARRAY(struct wrap) wraps;

/* Sort, and turn numbers into batches. */
static void finish_wraps(wraps *w)
{
    struct sort_key *order = mem_alloc(w->n * sizeof *order);
    for (size_t i = 0; i < w->n; i++) order[i] = (struct sort_key){w->at[i].time, (uint32_t)i};
    sort_keys(order, w->n);
    for (size_t i = 0; i < w->n; i++) order[i].key = w->at[order[i].index].stream;
    sort_keys(order, w->n);
    sort_permute(w->at, sizeof *w->at, order, w->n);
    free(order);
    uint32_t gone = 0, batch = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (!i || w->at[i].stream != w->at[i - 1].stream) gone = batch = 0;
        if (w->at[i].number == FLIP_STREAM_GONE) {
            gone++;
            batch++;
        } else {
            batch = w->at[i].number + gone;
        }
        w->at[i].number = batch;
    }
}

/* The batch of what happened at `time`: a wrap at that very time is before it. */
static uint32_t batch_at(const wraps *w, uint32_t stream, uint64_t time)
{
    size_t low = 0, high = w->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct wrap *x = &w->at[mid];
        if (x->stream < stream || (x->stream == stream && x->time <= time)) low = mid + 1;
        else high = mid;
    }
    return low && w->at[low - 1].stream == stream ? w->at[low - 1].number : 0;
}

struct matching {
    const struct device_data *d;
    bool unique;           /* the task id alone is the key */
    struct map streams;    /* those that records speak of */
    struct sort_key *runs; /* tasks of these streams, ascending (key, start) */
    size_t n_runs;
};

static uint64_t key_of(const struct matching *m, uint32_t stream, uint32_t task, uint32_t batch)
{
    if (m->unique) return task;
    return (uint64_t)task << 32 | (uint64_t)(stream & 0xFFFF) << 16 | (batch & 0xFFFF);
}

/* Tasks of one key follow each other by start in d->tasks, and a stable sort keeps that. */
static void collect_runs(struct matching *m, const wraps *device)
{
    m->runs = mem_alloc(m->d->tasks.n * sizeof *m->runs);
    for (size_t i = 0; i < m->d->tasks.n; i++) {
        const struct device_task *t = &m->d->tasks.at[i];
        if (t->context_id != CONTEXT_NONE || (!m->unique && !map_get(&m->streams, t->stream_id, 0))) continue;
        uint32_t batch = batch_at(device, t->stream_id, t->start);
        m->runs[m->n_runs++] = (struct sort_key){key_of(m, t->stream_id, t->task_id, batch), (uint32_t)i};
    }
    sort_keys(m->runs, m->n_runs);
}

static uint32_t find_run(const struct matching *m, uint64_t key, uint64_t time)
{
    size_t low = 0, high = m->n_runs;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct sort_key *r = &m->runs[mid];
        if (r->key < key || (r->key == key && m->d->tasks.at[r->index].start < time)) low = mid + 1;
        else high = mid;
    }
    if (low < m->n_runs && m->runs[low].key == key) return m->runs[low].index;
    return low && m->runs[low - 1].key == key ? m->runs[low - 1].index : NONE;
}

static void add_stream(struct matching *m, uint32_t stream)
{
    map_put(&m->streams, stream, 1, NULL);
}

void aicpu_comm_match(struct device_data *d, const flip_array *flips, const struct device_source *from)
{
    struct aicpu_comm *c = &d->aicpu;
    if (!c->infos.n && !c->main_tasks.n) return;
    struct matching m = {.d = d, .unique = from->dir->chip->unique_task_ids};
    for (size_t i = 0; i < c->infos.n; i++) add_stream(&m, c->infos.at[i].stream_id);
    for (size_t i = 0; i < c->main_tasks.n; i++) add_stream(&m, c->main_tasks.at[i].stream_id);

    wraps aicpu = {0}, device = {0};
    if (batches_used(from)) {
        for (size_t i = 0; i < c->flips.n; i++) {
            const struct aicpu_flip *f = &c->flips.at[i];
            array_push(&aicpu, ((struct wrap){f->time, f->stream_id, f->number}));
        }
        for (size_t i = 0; i < flips->n; i++)
            array_push(&device, ((struct wrap){flips->at[i].time, flips->at[i].stream, flips->at[i].number}));
    }
    finish_wraps(&aicpu);
    finish_wraps(&device);
    collect_runs(&m, &device);

    size_t lost = 0;
    for (size_t i = 0; i < c->infos.n; i++) {
        struct aicpu_info *f = &c->infos.at[i];
        uint64_t key = key_of(&m, f->stream_id, f->task_id, batch_at(&aicpu, f->stream_id, f->time));
        f->task = find_run(&m, key, f->time);
        lost += f->task == NONE;
    }
    for (size_t i = 0; i < c->main_tasks.n; i++) {
        struct aicpu_main_task *t = &c->main_tasks.at[i];
        uint64_t key = key_of(&m, t->stream_id, t->task_id, batch_at(&aicpu, t->stream_id, t->time));
        t->task = find_run(&m, key, t->time);
        lost += t->task == NONE;
    }
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, lost,
               "communication records of the AI CPU whose task is not in the task log");
    array_free(&aicpu);
    array_free(&device);
    free(m.runs);
    map_free(&m.streams);
}
