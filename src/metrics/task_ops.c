/* Operators by stream and task id, and lists of events. */
#include "metrics/task_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t key_of(uint32_t stream, uint32_t task)
{
    return (uint64_t)task << 16 | (stream & 0xFFFF);
}

void task_ops_build(struct task_ops *o, const struct metric_source *from, bool last)
{
    const struct host_data *h = &from->model->host;
    *o = (struct task_ops){0};
    for (size_t i = 0; i < h->tasks.n; i++) {
        const struct host_task *t = &h->tasks.at[i];
        if (t->op == NONE || t->device_id != from->dir->device_id) continue;
        str_id name = h->ops.at[t->op].name;
        uint32_t *slot = map_put(&o->names, key_of(t->stream_id, t->task_id), name, NULL);
        if (last) *slot = name;
    }
}

str_id task_ops_name(const struct task_ops *o, uint32_t stream, uint32_t task)
{
    return map_get(&o->names, key_of(stream, task), STR_NA);
}

void task_rates_name(struct task_rates *r, const struct metric_source *from)
{
    struct task_ops ops;
    task_ops_build(&ops, from, true);
    for (size_t i = 0; i < r->rows.n; i++)
        r->rows.at[i].op = task_ops_name(&ops, r->rows.at[i].stream, r->rows.at[i].task);
    r->with_ops = ops.names.n > 0;
    map_free(&ops.names);
}

void task_rates_free(void *data)
{
    struct task_rates *r = data;
    array_free(&r->rows);
    free(r);
}

#define ALL_COLUMNS 6

static void put_rate(struct table *t, double rate)
{
    table_shortest(t, fabs(rate) < 1e9 ? rint(rate * 1e6) / 1e6 : rate);
}

static bool put_rows(struct table *t, const struct prof_dir *dir, const struct task_rates *r, bool with_ops)
{
    for (size_t i = 0; i < r->rows.n; i++) {
        const struct task_rate *row = &r->rows.at[i];
        report_row(t, dir);
        table_u64(t, row->stream);
        table_u64(t, row->task);
        if (r->no_first) table_na(t, 1);
        else put_rate(t, row->first);
        put_rate(t, row->second);
        if (with_ops) table_string(t, row->op);
        if (!report_row_end(t)) return false;
    }
    return true;
}

int task_rates_write(struct export_target *target, const char *stem, const char *const *columns,
                     const struct metric *metric, struct error *err)
{
    const struct model *m = target->model;
    uint64_t n = 0;
    bool with_ops = false, go_on = true;
    for (size_t d = 0; d < m->n_devices; d++) {
        const struct task_rates *r = metric_data(m, m->devices[d].dir, metric);
        if (!r) continue;
        n += r->rows.n;
        with_ops |= r->with_ops;
    }
    struct table t;
    if (!n) return 0;
    if (table_open(&t, target, stem, columns, with_ops ? ALL_COLUMNS : ALL_COLUMNS - 1, n, err)) return -1;
    for (size_t d = 0; go_on && d < m->n_devices; d++) {
        const struct task_rates *r = metric_data(m, m->devices[d].dir, metric);
        if (r) go_on = put_rows(&t, m->devices[d].dir, r, with_ops);
    }
    return table_close(&t);
}

unsigned event_list(const char *text, uint32_t *events, unsigned room)
{
    unsigned n = 0;
    for (const char *at = text; *at && *at != ';';) {
        char *end;
        unsigned long code = strtoul(at, &end, 16);
        if (end == at) return n;
        if (n < room) events[n] = (uint32_t)code;
        n++;
        at = end + strspn(end, ", ");
    }
    return n;
}
