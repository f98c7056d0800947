/* Iterations: all of one rank, or one of all ranks. */
#include <math.h>
#include <stdlib.h>

#include "cluster/parts.h"

/* To two decimals, half away from zero, as SQLite rounds. */
static double rounded(double value)
{
    return round(value * 100) / 100;
}

static void put_number(struct out *o, const char *name, bool known, double value)
{
    if (known) json_number_member(o, name, rounded(value));
    else json_text_member(o, name, "N/A");
}

static void put_step(struct out *o, int64_t id, const struct cluster_step *s)
{
    out_char(o, '{');
    json_key(o, "ID", true);
    out_i64(o, id);
    json_int_member(o, "Model ID", s->model_id);
    json_int_member(o, "Iteration ID", s->iteration_id);
    put_number(o, "Iteration Time", s->iteration_time != 0, s->iteration_time);
    put_number(o, "FP to BP Time", s->fp_bp_time != 0, s->fp_bp_time);
    put_number(o, "Iteration Interval", s->data_aug != 0, s->data_aug);
    put_number(o, "Iteration Refresh", s->bp_end != 0, s->iteration_end - s->bp_end);
    put_number(o, "Iteration Start", s->iteration_time != 0 && s->iteration_end != 0,
               s->iteration_end - s->iteration_time);
    put_number(o, "FP Start", s->fp_start != 0, s->fp_start);
    put_number(o, "BP End", s->bp_end != 0, s->bp_end);
    put_number(o, "Iteration End", s->iteration_end != 0, s->iteration_end);
    out_char(o, '}');
}

/* How many of the device's iterations were asked for; written when there is a file. */
static size_t put_device(const struct asking *q, struct out *o, const struct cluster_device *d, size_t before)
{
    const struct npuprof_question *asked = q->question;
    size_t n = before;
    for (size_t i = 0; i < d->steps.n; i++) {
        const struct cluster_step *s = &d->steps.at[i];
        if (s->model_id != asked->model_id || (asked->id == -1 && s->iteration_id != asked->iteration_id)) continue;
        if (o && n) out_literal(o, ", ");
        if (o) put_step(o, cluster_id(d), s);
        n++;
    }
    return n;
}

static size_t put_devices(struct asking *q, struct out *o)
{
    size_t n = 0;
    for (size_t i = 0; i < q->cluster.devices.n; i++) {
        const struct cluster_device *d = &q->cluster.devices.at[i];
        if (q->question->id == -1 || q->question->id == cluster_id(d)) n = put_device(q, o, d, n);
    }
    return n;
}

int answer_steps(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    struct out o;
    int status = answer_check_ids(q);
    if (status) return status;
    if (asked->id == -1 && !asked->has_iteration_id)
        return answer_fail(q, NPUPROF_FAILED, "for all ranks (--id -1) --iteration-id must be given, too");
    if (asked->id != -1 && asked->has_iteration_id)
        return answer_fail(q, NPUPROF_FAILED, "of one rank all iterations are told: leave --iteration-id out");
    if ((status = answer_read_steps(q))) return status;
    if (!put_devices(q, NULL)) return answer_fail(q, NPUPROF_OK, "there are no such iterations");
    char *name = answer_name(q, "step_trace");
    if (!(status = answer_begin(q, &o, name))) {
        out_char(&o, '[');
        put_devices(q, &o);
        out_char(&o, ']');
        status = answer_end(q, &o, name);
    }
    free(name);
    return status;
}
