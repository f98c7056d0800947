/* Communication that the AI CPU unfolds, and turns of fused operators: what becomes of the records of a device. The
 * group "group1" (key 31) has its kernels on stream 10 and its sub-tasks on streams 20 and 21. */
#include "model_world.h"

enum { KERNEL_STREAM = 10, NAME_HASH = 55 };

static void group(struct world *w)
{
    array_push(&w->m.host.comm_infos, ((struct comm_info){.name = STR_NA,
                                                          .group = STR_NA,
                                                          .plane_id = -1,
                                                          .local_rank = UINT32_MAX,
                                                          .remote_rank = UINT32_MAX,
                                                          .notify_id = UINT64_MAX,
                                                          .estimated_us = -1,
                                                          .size = -1,
                                                          .context_id = CONTEXT_NONE,
                                                          .data_type = 65534}));
    array_push(&w->m.host.mc2_groups, ((struct mc2_group){.group = text(w, "group1"),
                                                          .group_key = 31,
                                                          .kfc_stream = KERNEL_STREAM,
                                                          .n_streams = 2,
                                                          .streams = {20, 21}}));
    array_push(&w->m.host.kfc_streams, KERNEL_STREAM);
    map_put(&w->m.host.hash_texts, 31, text(w, "group1"), NULL);
    map_put(&w->m.host.hash_texts, NAME_HASH, text(w, "Memcpy"), NULL);
}

/* A kernel on the stream of the group. Kernels and sub-tasks must be added in ascending (task, stream). */
static void kernel(struct world *w, uint32_t task, const char *name, unsigned from, unsigned to)
{
    array_push(&w->m.host.ops, ((struct op){.name = text(w, name), .type = text(w, name), .task_type = STR_NA}));
    host_task(w, KERNEL_STREAM, task, CONTEXT_NONE, "KERNEL_AICPU", (uint32_t)w->m.host.ops.n - 1);
    w->m.host.tasks.at[w->m.host.tasks.n - 1].time = 1000 + from;
    device_task(w, KERNEL_STREAM, task, CONTEXT_NONE, from, to);
}

/* A sub-task that nothing but its info tells of. */
static void sub_task(struct world *w, uint32_t stream, uint32_t task, unsigned from, unsigned to, uint64_t size)
{
    device_task(w, stream, task, CONTEXT_NONE, from, to);
    array_push(&w->d.data.aicpu.infos, ((struct aicpu_info){.time = REF + from,
                                                            .stream_id = stream,
                                                            .task_id = task,
                                                            .task = (uint32_t)w->d.data.tasks.n - 1,
                                                            .name = NAME_HASH,
                                                            .group = 31,
                                                            .size = size,
                                                            .rdma_type = 255}));
}

static void reported_op(struct world *w, unsigned time, bool relay, bool retry)
{
    array_push(&w->d.data.aicpu.ops,
               ((struct aicpu_op){
                   .time = REF + time, .stream_id = KERNEL_STREAM, .group = 31, .relay = relay, .retry = retry}));
}

/* Of the device task that was added last. */
static void main_task(struct world *w, unsigned time, bool first)
{
    array_push(&w->d.data.aicpu.main_tasks, ((struct aicpu_main_task){.time = REF + time,
                                                                      .kernel_stream_id = KERNEL_STREAM,
                                                                      .task = (uint32_t)w->d.data.tasks.n - 1,
                                                                      .first = first}));
}

static const char *op_name_of(struct world *w, uint32_t stream, uint32_t task)
{
    for (size_t i = 0; i < w->d.comm_tasks.n; i++) {
        const struct comm_task *t = &w->d.comm_tasks.at[i];
        if (t->task_id == task && t->stream_id == stream) return strpool_text(w->m.strings, t->op_name);
    }
    return "";
}

static const struct comm_task *row(struct world *w, uint32_t stream, uint32_t task)
{
    for (size_t i = 0; i < w->d.comm_tasks.n; i++)
        if (w->d.comm_tasks.at[i].task_id == task && w->d.comm_tasks.at[i].stream_id == stream)
            return &w->d.comm_tasks.at[i];
    fail_msg("no row of task %u on stream %u", task, stream);
    return NULL;
}

/* Everything happens inside of a call whose operator has the launched sub-task 1 of stream 2 and the kernel 2. */
static void unfolded(struct world *w)
{
    group(w);
    comm_op(w, 600, 900);
    w->m.host.comm_ops.at[0].kfc_connection = 7; /* of the kernel */
    comm_task(w, 1, 610, 8, 255, true);
    device_task(w, 2, 1, CONTEXT_NONE, 90, 95);
    sub_task(w, 20, 1, 120, 130, 1000);
    main_task(w, 111, true);
    sub_task(w, 21, 1, 125, 170, 4096);
    kernel(w, 2, "allreduceAicpuKernel", 100, 300);
    sub_task(w, 20, 2, 131, 160, 4096);
    sub_task(w, 20, 3, 171, 180, 0);
    main_task(w, 112, false);
    sub_task(w, 20, 4, 190, 200, 0); /* behind the last: of no operator */
    reported_op(w, 110, true, false);
}

static void unfolded_sub_tasks_belong_to_the_launched_operator(void **state)
{
    struct world *w = *state;
    unfolded(w);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 1);
    assert_int_equal(w->d.n_fused_ops, 0);
    const struct comm_op *op = &w->d.comm_ops.at[0];
    assert_string_equal(strpool_text(w->m.strings, op->name), "hcom_allReduce__31_0_1");
    assert_int_equal(op->end_ns, AT(95)); /* of the launched sub-tasks */
    assert_int_equal(op->relay, 1);       /* what the device says */
    assert_int_equal(op->retry, 0);
    assert_int_equal(w->d.comm_tasks.n, 5);
    assert_string_equal(op_name_of(w, 20, 2), "hcom_allReduce__31_0_1");
    assert_int_equal(row(w, 20, 2)->op, 0);
    assert_int_equal(row(w, 20, 2)->source, COMM_AICPU);
    assert_true(row(w, 20, 2)->bandwidth_gbs == 4096 * 1e-9 / (580 * 1e-9));
    assert_string_equal(op_name_of(w, 20, 4), "");
    assert_int_equal(diag_entries(w->diag, DIAG_WARNING), 1); /* which is said */
}

static void the_main_stream_is_plane_one_of_an_unfolded_operator(void **state)
{
    struct world *w = *state;
    unfolded(w);
    join(w);
    assert_int_equal(row(w, 20, 1)->plane_id, 1);
    assert_false(row(w, 20, 1)->is_master); /* the first task itself is not */
    assert_true(row(w, 20, 2)->is_master);
    assert_int_equal(row(w, 20, 2)->plane_id, 1);
    assert_int_equal(row(w, 21, 1)->plane_id, 2);
    assert_false(row(w, 21, 1)->is_master);
    assert_int_equal(w->d.comm_groups.n, 1);
    assert_int_equal(w->d.comm_groups.at[0].planes.n, 3); /* 0: the launched one */
}

static void without_a_report_the_operator_lasts_as_long_as_its_kernel(void **state)
{
    struct world *w = *state;
    unfolded(w);
    w->d.data.aicpu.main_tasks.n = 0;
    w->d.data.aicpu.ops.at[0].time = REF + 301; /* when the kernel had ended */
    join(w);
    assert_string_equal(op_name_of(w, 20, 4), "hcom_allReduce__31_0_1");
    assert_int_equal(w->d.comm_ops.at[0].relay, -1);
    assert_int_equal(w->d.comm_ops.at[0].retry, -1);
}

static void streams_without_reported_operators_run_fused_ones(void **state)
{
    struct world *w = *state;
    group(w);
    kernel(w, 1, "AllGatherMatmulAicpu", 100, 200);
    sub_task(w, 20, 1, 110, 120, 0);
    sub_task(w, 21, 1, 112, 118, 0);
    w->d.data.tasks.at[1].type_number = 20; /* C core: this is the main stream */
    sub_task(w, 20, 2, 130, 140, 0);
    kernel(w, 3, "AllGatherMatmulAicpu", 300, 400);
    sub_task(w, 20, 3, 310, 320, 0);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 2);
    assert_int_equal(w->d.n_fused_ops, 2);
    const struct comm_op *op = &w->d.comm_ops.at[0];
    assert_string_equal(strpool_text(w->m.strings, op->name), "AllGatherMatmulAicpu_31_0_1");
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[1].name), "AllGatherMatmulAicpu_31_1_1");
    assert_string_equal(strpool_text(w->m.strings, op->group), "group1 Aicpu");
    assert_int_equal(op->start_ns, AT(110)); /* over the main stream */
    assert_int_equal(op->end_ns, AT(140));
    assert_int_equal(op->source, COMM_FUSED);
    assert_int_equal(op->relay, -1);
    assert_int_equal(op->count, -1);
    assert_int_equal(op->rank_size, UINT32_MAX);
    assert_int_equal(op->data_type, 65534);
    assert_int_equal(row(w, 20, 1)->plane_id, 0);
    assert_int_equal(row(w, 21, 1)->plane_id, 1);
    assert_true(row(w, 20, 2)->is_master);
    assert_true(row(w, 20, 3)->is_master); /* the main stream is remembered */
    assert_int_equal(row(w, 20, 3)->op, 1);
}

static void fused_operators_stand_behind_launched_ones(void **state)
{
    struct world *w = *state;
    group(w);
    comm_op(w, 600, 900);
    comm_task(w, 1, 610, 8, 255, true);
    device_task(w, 2, 1, CONTEXT_NONE, 500, 505);
    kernel(w, 1, "AllGatherMatmulAicpu", 100, 200);
    sub_task(w, 20, 1, 110, 120, 0);
    w->d.data.tasks.at[2].type_number = 20;
    join(w);
    assert_int_equal(w->d.comm_ops.n, 2);
    assert_int_equal(w->d.n_fused_ops, 1);
    assert_int_equal(w->d.comm_ops.at[0].source, COMM_LAUNCHED);
    assert_int_equal(row(w, 2, 1)->op, 0);
    assert_int_equal(row(w, 20, 1)->op, 1);
    assert_int_equal(w->d.comm_ops.at[1].lane, row(w, 20, 1)->lane);
}

static void at_level_0_all_tasks_of_the_streams_are_sub_tasks(void **state)
{
    struct world *w = *state;
    group(w);
    kernel(w, 1, "AllGatherMatmulAicpu", 100, 200);
    device_task(w, 20, 1, CONTEXT_NONE, 110, 120);
    w->d.data.tasks.at[1].type_number = 20;
    device_task(w, 30, 1, CONTEXT_NONE, 110, 120); /* of no group */
    join(w);
    assert_int_equal(w->d.comm_tasks.n, 1);
    assert_int_equal(w->d.comm_tasks.at[0].name, STR_NA);
    assert_int_equal(w->d.comm_tasks.at[0].plane_id, -1);
    assert_int_equal(w->d.comm_tasks.at[0].size, -1);
    assert_int_equal(w->d.comm_ops.n, 1);
}

static void a_fused_operator_that_began_before_the_collection_is_left_out(void **state)
{
    struct world *w = *state;
    w->session.start_ns = AT(115);
    group(w);
    kernel(w, 1, "AllGatherMatmulAicpu", 100, 200);
    sub_task(w, 20, 1, 110, 120, 0);
    w->d.data.tasks.at[1].type_number = 20;
    sub_task(w, 20, 2, 130, 140, 0);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 0);
    assert_int_equal(w->d.comm_tasks.n, 1);
    assert_int_equal(w->d.comm_tasks.at[0].op, NONE);
    assert_string_equal(op_name_of(w, 20, 2), "AllGatherMatmulAicpu_31_-1_1");
}

static void kernels_that_prepare_are_no_operators(void **state)
{
    struct world *w = *state;
    group(w);
    kernel(w, 1, "hcomAicpuInit", 100, 200);
    sub_task(w, 20, 1, 110, 120, 0);
    join(w);
    assert_int_equal(w->d.comm_tasks.n, 0);
}

static void turns_have_their_steps_in_epoch_time_computation_first(void **state)
{
    struct world *w = *state;
    array_push(&w->d.data.aicpu.turns,
               ((struct aicpu_turn){.points = {REF + 1, REF + 2, REF + 3, REF + 4, REF + 5, REF + 6, REF + 7},
                                    .stream_id = 10,
                                    .task_id = 3,
                                    .turn = 1}));
    array_push(
        &w->d.data.aicpu.turns,
        ((struct aicpu_turn){.points = {REF + 1, REF + 5, REF + 9}, .stream_id = 2, .turn = 1, .compute = true}));
    join(w);
    assert_int_equal(w->d.comm_turns.n, 2);
    assert_true(w->d.comm_turns.at[0].compute);
    assert_int_equal(w->d.comm_turns.at[0].points[2], AT(9));
    assert_int_equal(w->d.comm_turns.at[1].points[6], AT(7));
    assert_int_equal(w->d.comm_turns.at[1].stream_id, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(unfolded_sub_tasks_belong_to_the_launched_operator),
        T(the_main_stream_is_plane_one_of_an_unfolded_operator),
        T(without_a_report_the_operator_lasts_as_long_as_its_kernel),
        T(streams_without_reported_operators_run_fused_ones),
        T(fused_operators_stand_behind_launched_ones),
        T(at_level_0_all_tasks_of_the_streams_are_sub_tasks),
        T(a_fused_operator_that_began_before_the_collection_is_left_out),
        T(kernels_that_prepare_are_no_operators),
        T(turns_have_their_steps_in_epoch_time_computation_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
