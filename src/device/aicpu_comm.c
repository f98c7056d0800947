/* The records of the AI CPU that tell of communication, decoded one by one. What belongs to what is found when the
 * device is joined with the host. */
#include "device/aicpu_comm.h"

#include "device/parts.h"

struct reader {
    struct aicpu_comm *to;
    bool expanded, unique;
};

/* Ids of a record that has 16 bits for each. */
static void set_ids(const struct reader *r, uint16_t sid, uint16_t tid, uint32_t *stream_id, uint32_t *task_id)
{
    if (r->unique) {
        *stream_id = AICPU_STREAM_OPEN;
        *task_id = (uint32_t)tid << 16 | sid;
        return;
    }
    struct task_ids ids = task_ids(sid, tid, SQE_AICPU, r->expanded);
    *stream_id = ids.stream;
    *task_id = ids.task;
}

/* Ids of a record that has 32 bits for the task. */
static void set_wide_ids(const struct reader *r, uint16_t sid, uint32_t tid, uint32_t *stream_id, uint32_t *task_id)
{
    if (r->unique) {
        *stream_id = sid;
        *task_id = tid;
        return;
    }
    set_ids(r, sid, (uint16_t)tid, stream_id, task_id);
}

static void visit_op(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct aicpu_comm_op_record o;
    (void)place;
    memcpy(&o, record, sizeof o);
    struct aicpu_op op = {
        .time = o.head.time,
        .algorithm = o.algorithm,
        .group = o.group,
        .count = o.count,
        .rank_size = o.rank_size,
        .data_type = o.data_type,
        .relay = o.flags & 1,
        .retry = o.flags >> 1 & 1,
    };
    set_wide_ids(r, o.stream_id, o.task_id, &op.stream_id, &op.task_id);
    array_push(&r->to->ops, op);
}

static void visit_main_task(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct aicpu_main_task_record m;
    (void)place;
    memcpy(&m, record, sizeof m);
    struct aicpu_main_task task = {.time = m.head.time, .first = m.kind == AICPU_MAIN_FIRST};
    set_ids(r, m.kernel_stream_id, m.kernel_task_id, &task.kernel_stream_id, &task.kernel_task_id);
    set_ids(r, m.stream_id, m.task_id, &task.stream_id, &task.task_id);
    array_push(&r->to->main_tasks, task);
}

static void add_info(struct reader *r, const struct aicpu_comm_info_entry *e)
{
    struct aicpu_info info = {
        .time = e->time,
        .plane_id = e->plane_id,
        .name = e->item,
        .group = e->group,
        .local_rank = e->local_rank,
        .remote_rank = e->remote_rank,
        .notify_id = e->notify_id,
        .estimated_us = e->estimated_us,
        .size = e->size,
        .data_type = e->data_type,
        .link_type = e->link_type,
        .transport_type = e->transport_type,
        .rdma_type = e->rdma_type,
    };
    set_wide_ids(r, e->stream_id, e->task_id, &info.stream_id, &info.task_id);
    array_push(&r->to->infos, info);
}

static void visit_info(const uint8_t *record, const struct record_place *place, void *context)
{
    struct aicpu_comm_info_record i;
    (void)place;
    memcpy(&i, record, sizeof i);
    for (size_t k = 0; k < sizeof i.entries / sizeof *i.entries; k++)
        if (i.entries[k].entry.group) add_info(context, &i.entries[k].entry);
}

static void visit_flip(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct aicpu_flip_record f;
    uint32_t task_id;
    (void)place;
    memcpy(&f, record, sizeof f);
    struct aicpu_flip flip = {.time = f.head.time, .number = f.number};
    set_ids(r, f.stream_id, f.task_id, &flip.stream_id, &task_id);
    array_push(&r->to->flips, flip);
}

static void visit_comm_turn(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct aicpu_comm_turn_record t;
    (void)place;
    memcpy(&t, record, sizeof t);
    struct aicpu_turn turn = {.turn = t.turn};
    memcpy(turn.points, t.points, sizeof t.points);
    set_ids(r, t.stream_id, t.task_id, &turn.stream_id, &turn.task_id);
    array_push(&r->to->turns, turn);
}

static void visit_compute_turn(const uint8_t *record, const struct record_place *place, void *context)
{
    struct reader *r = context;
    struct aicpu_compute_turn_record t;
    (void)place;
    memcpy(&t, record, sizeof t);
    struct aicpu_turn turn = {.turn = t.turn, .compute = true};
    memcpy(turn.points, t.points, sizeof t.points);
    set_ids(r, t.stream_id, t.task_id, &turn.stream_id, &turn.task_id);
    array_push(&r->to->turns, turn);
}

static const record_visit visits[AICPU_TYPES] = {
    [AICPU_COMM_TURN] = visit_comm_turn, [AICPU_COMPUTE_TURN] = visit_compute_turn, [AICPU_COMM_OP] = visit_op,
    [AICPU_FLIP] = visit_flip,           [AICPU_MAIN_TASK] = visit_main_task,       [AICPU_COMM_INFO] = visit_info,
};

void aicpu_comm_load(struct aicpu_comm *c, const struct device_source *from)
{
    struct reader r = {c, from->expanded, from->dir->chip->unique_task_ids};
    aicpu_each(prof_dir_files(from->dir, INPUT_AICPU), visits, from->diag, from->progress, &r);
}

void aicpu_comm_free(struct aicpu_comm *c)
{
    array_free(&c->ops);
    array_free(&c->main_tasks);
    array_free(&c->infos);
    array_free(&c->flips);
    array_free(&c->turns);
}
