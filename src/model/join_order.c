/* Two further ways in which launches and runs meet.
 *
 * Drivers that do not tell when task ids wrap: launches and runs of one (stream, task, context) belong together in
 * order of time, the i-th with the i-th. A launch of a static graph runs many times.
 *
 * Tasks of the scheduler itself, which no log has: when they ran, the scheduler says elsewhere; what they were, the
 * host. */
#include "base/map.h"
#include "base/sort.h"
#include "model/parts.h"

static struct task_key host_key(const struct host_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, 0);
}

static struct task_key device_key(const struct device_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, 0);
}

/* --- by order ------------------------------------------------------------------------------------------------------
 */

/* Indices of the host tasks of a device by (task, stream, context, time); returns how many. */
static size_t sorted_launches(const struct model *m, uint16_t device_id, struct sort_key *order)
{
    size_t n = 0;
    for (size_t i = 0; i < m->host.tasks.n; i++) {
        const struct host_task *t = &m->host.tasks.at[i];
        if (t->device_id == device_id) order[n++] = (struct sort_key){t->time, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = host_key(&m->host.tasks.at[order[i].index]).context_batch;
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = host_key(&m->host.tasks.at[order[i].index]).task_stream;
    sort_keys(order, n);
    return n;
}

/* Leave out the launches of one type; returns how many stay. */
static size_t without_type(const struct model *m, struct sort_key *launches, size_t n, str_id type)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (m->host.tasks.at[launches[i].index].type != type) launches[kept++] = launches[i];
    return kept;
}

static void pair(const struct model *m, struct sort_key *launches, size_t n, uint32_t *host_of, size_t runs,
                 const struct well_known *known)
{
    if (n == 1 && !m->host.tasks.at[launches[0].index].request_id) {
        for (size_t i = 0; i < runs; i++) host_of[i] = launches[0].index;
        return;
    }
    if (n != runs) n = without_type(m, launches, n, known->profiler_trace);
    for (size_t i = 0; i < runs; i++) host_of[i] = i < n ? launches[i].index : HOST_UNKNOWN;
}

void join_host_in_order(const struct model *m, const struct device_model *d, uint32_t *host_of,
                        const struct well_known *known)
{
    struct sort_key *host = mem_alloc(m->host.tasks.n * sizeof *host);
    size_t n_host = sorted_launches(m, d->device_id, host), n_tasks = d->data.tasks.n;
    const struct device_task *tasks = d->data.tasks.at;
    for (size_t h = 0, t = 0; t < n_tasks;) {
        struct task_key key = device_key(&tasks[t]);
        while (h < n_host && task_key_compare(host_key(&m->host.tasks.at[host[h].index]), key) < 0) h++;
        size_t h_end = h, t_end = t;
        while (h_end < n_host && !task_key_compare(host_key(&m->host.tasks.at[host[h_end].index]), key)) h_end++;
        while (t_end < n_tasks && !task_key_compare(device_key(&tasks[t_end]), key)) t_end++;
        pair(m, &host[h], h_end - h, &host_of[t], t_end - t, known);
        h = h_end;
        t = t_end;
    }
    free(host);
}

/* --- tasks of the scheduler ----------------------------------------------------------------------------------------
 */

static struct task_key batch_key(const struct device_task *t)
{
    return task_key(t->stream_id, t->task_id, t->context_id, t->batch_id);
}

static uint64_t short_key(uint32_t stream, uint32_t task, uint32_t batch)
{
    return (uint64_t)(stream & 0xFFFF) << 32 | (uint64_t)(task & 0xFFFF) << 16 | (batch & 0xFFFF);
}

/* Launches of tasks of the scheduler: identity -> index in host.tasks. */
static void find_launches(const struct model *m, uint16_t device_id, const struct well_known *known, struct map *found)
{
    for (size_t i = 0; i < m->host.tasks.n; i++) {
        const struct host_task *t = &m->host.tasks.at[i];
        if (t->device_id != device_id || (t->type != known->model_execute && t->type != known->model_maintenance))
            continue;
        map_put(found, short_key(t->stream_id, t->task_id, m->session->all_export ? t->batch_id : 0), (uint32_t)i,
                NULL);
    }
}

void join_schedules(const struct model *m, struct device_model *d, const struct well_known *known)
{
    struct device_data *data = &d->data;
    struct map launches = {0};
    ARRAY(struct device_task) merged = {0};
    if (data->schedules.n) find_launches(m, d->device_id, known, &launches);
    size_t added = 0, t = 0;
    for (size_t i = 0; launches.n && i < data->schedules.n; i++) {
        struct device_task s = data->schedules.at[i];
        uint32_t launch = map_get(&launches, short_key(s.stream_id, s.task_id, s.batch_id), NONE);
        if (launch == NONE) continue;
        struct task_key key = batch_key(&s);
        for (; t < data->tasks.n && task_key_compare(batch_key(&data->tasks.at[t]), key) < 0; t++)
            array_push(&merged, data->tasks.at[t]);
        if (t < data->tasks.n && !task_key_compare(batch_key(&data->tasks.at[t]), key)) continue; /* the log has it */
        s.type = m->host.tasks.at[launch].type;
        array_push(&merged, s);
        added++;
    }
    if (added) {
        for (; t < data->tasks.n; t++) array_push(&merged, data->tasks.at[t]);
        array_free(&data->tasks);
        data->tasks.at = merged.at;
        data->tasks.n = merged.n;
        data->tasks.room = merged.room;
    } else {
        array_free(&merged);
    }
    array_free(&data->schedules);
    map_free(&launches);
}
