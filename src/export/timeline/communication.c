/* Communication: per communication group one thread with its operators, followed by one thread per plane with their
 * sub-tasks. Arrows from the host end on the operators.
 *
 *     tid first            Group hcom_world_group Communication    hcom_allReduce__538_0_1
 *     tid first + 1 + p      Plane p                                 Notify_Wait, Memcpy … */
#include "export/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

static const char *or_empty(const char *name)
{
    return name ? name : "";
}

static void name_group(struct trace *t, uint32_t pid, const struct comm_group *g)
{
    char *name = g->name == STR_NA ? mem_strndup("Communication", 13)
                                   : mem_printf("Group %s Communication", model_text(t->model, g->name));
    trace_thread(t, pid, (int32_t)g->first_tid, name, g->first_tid);
    free(name);
    for (size_t i = 0; i < g->planes.n; i++) {
        uint32_t tid = g->first_tid + 1 + g->planes.at[i];
        char plane[32];
        snprintf(plane, sizeof plane, "Plane %u", g->planes.at[i]);
        trace_thread(t, pid, (int32_t)tid, plane, tid);
    }
}

static void sub_task(struct trace *t, uint32_t pid, int32_t tid, const struct comm_task *c)
{
    trace_begin(t);
    trace_text(t, c->name);
    trace_slice(t, pid, tid, c->start_ns, c->end_ns, NULL);
    trace_key(t, "notify_id");
    out_char(&t->out, '"');
    out_u64(&t->out, c->notify_id);
    out_char(&t->out, '"');
    trace_key(t, "duration estimated(us)");
    out_double(&t->out, c->estimated_us);
    trace_arg_u64(t, "stream id", c->stream_id);
    trace_arg_u64(t, "task id", c->task_id);
    trace_arg_u64(t, "context id", c->context_id);
    trace_arg_string(t, "task type", c->name);
    trace_arg_u64(t, "src rank", c->src_rank);
    trace_arg_u64(t, "dst rank", c->dst_rank);
    trace_arg_text(t, "transport type", or_empty(comm_transport_type_name(c->transport_type)));
    trace_arg_u64(t, "size(Byte)", (uint64_t)c->size);
    trace_arg_text(t, "data type", or_empty(comm_data_type_name(c->data_type)));
    trace_arg_text(t, "link type", or_empty(comm_link_type_name(c->link_type)));
    trace_key(t, "bandwidth(GB/s)");
    out_double(&t->out, c->bandwidth_gbs);
    trace_arg_u64(t, "model id", c->model_id);
    trace_end(t);
}

/* -1 is unknown, and shown as no. */
static const char *yes_no(int8_t value)
{
    return value == 1 ? "yes" : "no";
}

/* In the timelines of the reference's scripts: from the launch at level node. Their ids end in the sub-task, of which
 * an operator has none: -1. */
static void script_arrow(struct trace *t, const struct trace_point *to, uint32_t connection)
{
    const struct host_data *h = &t->model->host;
    const struct api *a = connection <= h->apis.n ? &h->apis.at[connection - 1] : NULL;
    bool launch = a && a->level == LEVEL_NODE && api_shown(a, true) && !strcmp(model_text(t->model, a->name), "launch");
    struct trace_point from;
    if (launch)
        from = (struct trace_point){trace_pid(t->model->session->host, CANN_INDEX), (int32_t)a->thread_id, a->start_ns};
    trace_arrow(t, ((trace_arrow_id)connection << 32) - 1, launch ? &from : NULL, to);
}

static void operation(struct trace *t, uint32_t pid, int32_t tid, const struct comm_op *o)
{
    trace_begin(t);
    trace_text(t, o->name);
    trace_slice(t, pid, tid, o->start_ns, o->end_ns, NULL);
    trace_arg_u64(t, "rank_size", o->rank_size);
    trace_connection(t, o->connection);
    trace_arg_u64(t, "model id", o->model_id);
    trace_arg_text(t, "data_type", or_empty(comm_data_type_name(o->data_type)));
    trace_arg_string(t, "alg_type", o->alg_type);
    trace_arg_u64(t, "count", o->count < 0 ? UINT32_MAX : (uint64_t)o->count); /* unknown: -1 in 32 bits */
    if (!t->model->session->script_timeline) {
        trace_arg_text(t, "relay", yes_no(o->relay));
        trace_arg_text(t, "retry", yes_no(o->retry));
    }
    trace_end(t);
    if (!o->connection) return;
    if (t->model->session->script_timeline)
        script_arrow(t, &(struct trace_point){pid, tid, o->start_ns}, o->connection);
    else trace_flow_end(t, pid, tid, o->connection, o->start_ns);
}

static void sub_tasks(struct trace *t, uint32_t pid, const struct device_model *d)
{
    for (size_t i = 0; i < d->comm_tasks.n; i++) {
        const struct comm_task *c = &d->comm_tasks.at[i];
        if (c->lane == NONE || c->plane_id < 0) continue;
        const struct comm_group *g = &d->comm_groups.at[c->lane];
        sub_task(t, pid, (int32_t)(g->first_tid + 1 + (uint32_t)c->plane_id), c);
    }
}

static void operators(struct trace *t, uint32_t pid, const struct device_model *d)
{
    for (size_t i = 0; i < d->comm_ops.n; i++) {
        const struct comm_op *o = &d->comm_ops.at[i];
        if (o->lane != NONE) operation(t, pid, (int32_t)d->comm_groups.at[o->lane].first_tid, o);
    }
}

void communication_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    size_t groups = 0;
    for (size_t i = 0; i < m->n_devices; i++) groups += m->devices[i].comm_groups.n;
    if (!groups) return;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        layer_process(t, layer, d->dir);
        for (size_t g = 0; g < d->comm_groups.n; g++) name_group(t, layer_pid(layer, d->dir), &d->comm_groups.at[g]);
    }
    if (!m->session->meta->level0) /* at level 0 nothing is known of sub-tasks but when they ran */
        for (size_t i = 0; i < m->n_devices; i++) sub_tasks(t, layer_pid(layer, m->devices[i].dir), &m->devices[i]);
    for (size_t i = 0; i < m->n_devices; i++) operators(t, layer_pid(layer, m->devices[i].dir), &m->devices[i]);
}
