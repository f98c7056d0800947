/* Which launch made the device run what: host tasks and device tasks meet by (stream, batch, task, context).
 *
 * Both sides are sorted by that key and merged. One launch may have run many times (a static graph); several launches
 * with one key cannot be told apart. A device task without a launch is shown by what the device itself knows. */
#include "base/map.h"
#include "base/sort.h"
#include "model/parts.h"

static struct task_key host_key(const struct host_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, t->batch_id);
}

static struct task_key device_key(const struct device_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, t->batch_id);
}

/* Indices of the host tasks of one device, ascending by key, launch order within a key. */
static size_t sorted_host_tasks(const struct model *m, uint16_t device_id, struct sort_key **out)
{
    struct sort_key *order = mem_alloc(m->host.tasks.n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < m->host.tasks.n; i++) {
        const struct host_task *t = &m->host.tasks.at[i];
        if (t->device_id == device_id) order[n++] = (struct sort_key){host_key(t).context_batch, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = host_key(&m->host.tasks.at[order[i].index]).task_stream;
    sort_keys(order, n);
    *out = order;
    return n;
}

void model_streams(const struct model *m, const struct device_model *d, struct map *stream_of)
{
    for (size_t i = 0; i < m->host.tasks.n; i++) {
        const struct host_task *t = &m->host.tasks.at[i];
        if (t->device_id == d->device_id) map_put(stream_of, t->task_id, t->stream_id, NULL);
    }
    for (size_t i = 0; i < d->data.aicpu.infos.n; i++) {
        const struct aicpu_info *t = &d->data.aicpu.infos.at[i];
        if (t->stream_id != AICPU_STREAM_OPEN) map_put(stream_of, t->task_id, t->stream_id, NULL);
    }
}

void join_streams(const struct model *m, struct device_model *d)
{
    if (!d->dir->chip->unique_task_ids) return;
    struct map stream_of = {0};
    model_streams(m, d, &stream_of);
    device_name_streams(&d->data, &stream_of);
    map_free(&stream_of);
}

void join_host(const struct model *m, const struct device_model *d, uint32_t *host_of, struct diag *diag)
{
    struct sort_key *host;
    size_t n_host = sorted_host_tasks(m, d->device_id, &host);
    const struct device_task *tasks = d->data.tasks.at;
    size_t n_tasks = d->data.tasks.n, ambiguous = 0;
    for (size_t h = 0, t = 0; t < n_tasks;) {
        struct task_key key = device_key(&tasks[t]);
        while (h < n_host && task_key_compare(host_key(&m->host.tasks.at[host[h].index]), key) < 0) h++;
        size_t h_end = h, t_end = t;
        while (h_end < n_host && !task_key_compare(host_key(&m->host.tasks.at[host[h_end].index]), key)) h_end++;
        while (t_end < n_tasks && !task_key_compare(device_key(&tasks[t_end]), key)) t_end++;

        uint32_t who = h_end == h ? HOST_UNKNOWN : h_end == h + 1 ? host[h].index : HOST_AMBIGUOUS;
        if (who == HOST_AMBIGUOUS) ambiguous += t_end - t;
        for (size_t i = t; i < t_end; i++) host_of[i] = who;
        if (d->dir->meta.dynamic && d->dir->chip->native_tasks && t_end - t > 1 && h_end == h + 1)
            host_of[t] = HOST_LEFT_OUT;
        h = h_end;
        t = t_end;
    }
    diag_count(diag, DIAG_WARNING, d->dir->name, DIAG_NO_OFFSET, ambiguous,
               "tasks left out: several launches share their stream, task and batch id");
    free(host);
}

/* Index of the first launch, of those in order, whose key is not less. */
static size_t first_launch(const struct model *m, const struct sort_key *order, size_t n, struct task_key key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (task_key_compare(host_key(&m->host.tasks.at[order[mid].index]), key) < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

void join_orphans(const struct model *m, const struct device_model *d, const struct device_orphan *orphans, size_t n,
                  uint32_t *op_of)
{
    if (!n) return;
    struct sort_key *order;
    size_t n_host = sorted_host_tasks(m, d->device_id, &order);
    for (size_t i = 0; i < n; i++) {
        const struct device_orphan *o = &orphans[i];
        size_t first = first_launch(m, order, n_host, task_key(o->stream_id, o->task_id, o->context_id, 0));
        size_t last = first_launch(m, order, n_host, task_key(o->stream_id, o->task_id, o->context_id, UINT16_MAX));
        op_of[i] = NONE;
        if (first == last) continue;
        size_t at = o->nth < last - first ? first + o->nth : last - 1;
        op_of[i] = m->host.tasks.at[order[at].index].op;
    }
    free(order);
}

/* What TASK.taskType says: the host's word, or the device's where the host has none. */
static str_id shown_type(str_id host_type, str_id device_type, const struct well_known *known)
{
    return host_type == known->ffts_plus || host_type == known->unknown ? device_type : host_type;
}

static uint32_t find_memcpy(const struct host_data *h, uint32_t host_task)
{
    size_t low = 0, high = h->memcpys.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (h->memcpys.at[mid].host_task < host_task) low = mid + 1;
        else high = mid;
    }
    return low < h->memcpys.n && h->memcpys.at[low].host_task == host_task ? (uint32_t)low : NONE;
}

static bool ends_flow(const struct model *m, const struct task *t)
{
    if (!t->connection) return false;
    if (t->flags & TASK_MEMCPY || t->op != NONE) return true;
    return t->connection <= m->host.apis.n && m->host.apis.at[t->connection - 1].flags & API_EVENT_SYNC;
}

static int64_t end_ns(const struct clock *c, const struct device_task *from)
{
    if (!from->in_ms) return clock_task_ns(c, from->end);
    int64_t end, duration = clock_ms_duration_ns(c, from->start, from->end);
    return __builtin_add_overflow(clock_task_ns(c, from->start), duration, &end) ? INT64_MAX : end;
}

static struct task make_task(const struct model *m, const struct device_model *d, const struct device_task *from,
                             uint32_t host_task, const struct well_known *known)
{
    struct task t = {
        .start_ns = clock_task_ns(&d->dir->clock, from->start),
        .end_ns = end_ns(&d->dir->clock, from),
        .stream_id = from->stream_id,
        .task_id = from->task_id,
        .context_id = from->context_id,
        .batch_id = from->batch_id,
        .model_id = MODEL_NONE,
        .op = NONE,
        .host_task = host_task,
        .pmu = from->pmu,
        .memcpy = NONE,
        .device_type = from->type,
    };
    int64_t ns = (int64_t)((uint64_t)t.end_ns - (uint64_t)t.start_ns); /* no overflow, however damaged */
    t.rest_ps = clock_task_rest_ps(&d->dir->clock, from->start, from->end, ns);
    str_id host_type = known->unknown;
    if (host_task != NONE) {
        const struct host_task *h = &m->host.tasks.at[host_task];
        host_type = h->type;
        t.model_id = h->model_id;
        if (!m->session->all_export && !d->dir->chip->unique_task_ids) t.batch_id = h->batch_id;
        t.connection = h->connection;
        t.op = h->op;
        if (host_type == known->memcpy_async) {
            t.flags |= TASK_MEMCPY;
            /* The reference knows copies by 16 bits of the task id, and not by more where ids do not wrap. */
            if (h->task_id <= UINT16_MAX) t.memcpy = find_memcpy(&m->host, host_task);
        }
    }
    t.type = shown_type(host_type, from->type, known);
    if (t.type == known->simt) t.flags |= TASK_SIMT;
    if (ends_flow(m, &t)) t.flags |= TASK_FLOW_END;
    return t;
}

void join_tasks(const struct model *m, struct device_model *d, const uint32_t *host_of, const struct well_known *known)
{
    size_t n = d->data.tasks.n, kept = 0;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        const struct device_task *from = &d->data.tasks.at[i];
        if (host_of[i] == HOST_AMBIGUOUS || host_of[i] == HOST_LEFT_OUT) continue;
        order[kept++] = (struct sort_key){from->start, (uint32_t)i};
    }
    sort_keys(order, kept);
    array_reserve(&d->tasks, kept);
    for (size_t i = 0; i < kept; i++) {
        uint32_t at = order[i].index;
        array_push(&d->tasks, make_task(m, d, &d->data.tasks.at[at], host_of[at], known));
    }
    d->has_tasks = kept > 0;
    free(order);
}

/* Tasks that share stream, task and batch id: a whole task and its sub-tasks. */
static uint64_t group_key(const struct task *t)
{
    return (uint64_t)t->task_id << 32 | (uint64_t)(t->stream_id & 0xFFFF) << 16 | (t->batch_id & 0xFFFF);
}

enum group_kind { GROUP_PLAIN, GROUP_MIX, GROUP_GRAPH };

void join_finish(const struct model *m, struct device_model *d, const struct well_known *known)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *t = &d->tasks.at[i];
        if (t->device_type == known->unknown && t->op != NONE) array_push(&d->untyped, *t);
        if (t->end_ns < m->session->start_ns || t->device_type == known->unknown) continue;
        d->tasks.at[kept++] = *t;
    }
    d->tasks.n = kept;
    array_trim(&d->tasks);

    /* A mix kernel is a whole task with sub-task 0; a graph has other sub-tasks. The first sub-task tells. */
    struct map groups = {0};
    for (size_t i = 0; i < kept; i++) {
        const struct task *t = &d->tasks.at[i];
        if (t->context_id != CONTEXT_NONE)
            map_put(&groups, group_key(t), t->context_id ? GROUP_GRAPH : GROUP_MIX, NULL);
    }
    for (size_t i = 0; i < kept; i++) {
        struct task *t = &d->tasks.at[i];
        uint32_t kind = map_get(&groups, group_key(t), GROUP_PLAIN);
        if (kind != GROUP_PLAIN && t->context_id == CONTEXT_NONE) t->flags |= TASK_HIDDEN;
        if (kind != GROUP_MIX || !t->context_id) t->flags |= TASK_IN_TASK_TIME;
    }
    map_free(&groups);
}
