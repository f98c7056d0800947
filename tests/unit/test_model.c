/* The model room: host and device tasks meet, communication operators are put together, overlap is found. */
#include "model_world.h"

static void one_launch_may_run_many_times(void **state)
{
    struct world *w = *state;
    host_task(w, 3, 1, CONTEXT_NONE, "KERNEL_AICORE", NONE);
    device_task(w, 3, 1, CONTEXT_NONE, 100, 150);
    device_task(w, 3, 1, CONTEXT_NONE, 200, 250);
    device_task(w, 3, 1, CONTEXT_NONE, 300, 350);
    join(w);
    assert_int_equal(w->d.tasks.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(w->d.tasks.at[i].host_task, 0);
        assert_int_equal(w->d.tasks.at[i].start_ns, AT(100 * (i + 1)));
        assert_int_equal(w->d.tasks.at[i].end_ns, AT(100 * (i + 1) + 50));
    }
}

static void launches_that_share_a_key_are_not_guessed(void **state)
{
    struct world *w = *state;
    host_task(w, 4, 1, CONTEXT_NONE, "KERNEL_AICORE", NONE);
    host_task(w, 4, 1, CONTEXT_NONE, "KERNEL_AIVEC", NONE);
    device_task(w, 4, 1, CONTEXT_NONE, 100, 150);
    join(w);
    assert_int_equal(w->d.tasks.n, 0);
    assert_int_equal(diag_entries(w->diag, DIAG_WARNING), 1);
}

static void a_task_without_launch_is_called_what_the_device_calls_it(void **state)
{
    struct world *w = *state;
    device_task(w, 9, 9, CONTEXT_NONE, 10, 20);
    join(w);
    assert_int_equal(w->d.tasks.n, 1);
    assert_string_equal(strpool_text(w->m.strings, w->d.tasks.at[0].type), "AI_CORE");
    assert_int_equal(w->d.tasks.at[0].connection, 0);
    assert_int_equal(w->d.tasks.at[0].model_id, MODEL_NONE);
}

static void dynamic_profiling_drops_the_first_of_several_runs(void **state)
{
    struct world *w = *state;
    w->dir.meta.dynamic = true;
    host_task(w, 1, 1, CONTEXT_NONE, "KERNEL_AICORE", NONE);
    host_task(w, 1, 2, CONTEXT_NONE, "KERNEL_AICORE", NONE);
    device_task(w, 1, 1, CONTEXT_NONE, 100, 150);
    device_task(w, 1, 1, CONTEXT_NONE, 200, 250);
    device_task(w, 1, 2, CONTEXT_NONE, 300, 350);
    join(w);
    assert_int_equal(w->d.tasks.n, 2);
    assert_int_equal(w->d.tasks.at[0].start_ns, AT(200));
}

static void tasks_that_ended_before_the_collection_are_left_out(void **state)
{
    struct world *w = *state;
    w->session.start_ns = AT(151);
    device_task(w, 1, 1, CONTEXT_NONE, 100, 150);
    device_task(w, 1, 2, CONTEXT_NONE, 100, 152);
    join(w);
    assert_int_equal(w->d.tasks.n, 1);
    assert_int_equal(w->d.tasks.at[0].task_id, 2);
}

static void a_mix_kernel_is_one_row_of_task_time_and_its_sub_task_is_in_the_timeline(void **state)
{
    struct world *w = *state;
    device_task(w, 1, 5, 0, 102, 150);            /* mix: sub-task 0 */
    device_task(w, 1, 5, CONTEXT_NONE, 100, 151); /* and the whole */
    device_task(w, 1, 6, 2, 202, 250);            /* graph: sub-tasks 2, 3 */
    device_task(w, 1, 6, 3, 203, 250);
    device_task(w, 1, 6, CONTEXT_NONE, 200, 251);
    join(w);
    assert_int_equal(w->d.tasks.n, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct task *t = &w->d.tasks.at[i];
        bool whole = t->context_id == CONTEXT_NONE, mix = t->task_id == 5;
        assert_int_equal(!!(t->flags & TASK_HIDDEN), whole);
        assert_int_equal(!!(t->flags & TASK_IN_TASK_TIME), !(mix && whole));
    }
}

/* ---- communication ------------------------------------------------------------------------------------------------
 */

static void sub_tasks_make_an_operator_with_bandwidths(void **state)
{
    struct world *w = *state;
    comm_op(w, 600, 900);
    comm_task(w, 2, 610, 1024, 255, true);
    comm_task(w, 3, 650, 1000000, 1, true); /* a payload whose transfer is never closed: its own rate */
    comm_task(w, 4, 700, 1024, 255, true);
    device_task(w, 2, 2, CONTEXT_NONE, 300, 310);
    device_task(w, 2, 3, CONTEXT_NONE, 320, 330);
    device_task(w, 2, 4, CONTEXT_NONE, 331, 335);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 1);
    const struct comm_op *op = &w->d.comm_ops.at[0];
    assert_string_equal(strpool_text(w->m.strings, op->name), "hcom_allReduce__31_0_1");
    assert_int_equal(op->start_ns, AT(300));
    assert_int_equal(op->end_ns, AT(335));
    assert_int_equal(op->rank_size, 8);
    assert_int_equal(op->lane, 0);
    assert_true(comm_of(w, 2)->bandwidth_gbs == 1024 / 200.0);
    assert_true(comm_of(w, 3)->bandwidth_gbs == 1000000 / 200.0);
    assert_true(comm_of(w, 4)->bandwidth_gbs == 1024 / 80.0);
    assert_int_equal(w->d.comm_statistics.n, 1);
    assert_int_equal(w->d.comm_statistics.at[0].total_ns, 700);
    assert_true(w->d.comm_statistics.at[0].ratio == 100.0);
}

static void a_closed_rdma_transfer_shares_one_rate(void **state)
{
    struct world *w = *state;
    comm_op(w, 600, 900);
    for (uint32_t i = 0; i < 6; i++) { /* two payloads, then four tasks that close the transfer */
        comm_task(w, i, 610 + i, 1000, i < 2 ? 1 : 0, true);
        device_task(w, 2, i, CONTEXT_NONE, 100 + 10 * i, 105 + 10 * i);
    }
    join(w);
    double shared = 2000 / (55.0 * 20);
    assert_true(comm_of(w, 0)->bandwidth_gbs == shared);
    assert_true(comm_of(w, 1)->bandwidth_gbs == shared);
    assert_true(comm_of(w, 2)->bandwidth_gbs == 1000 / 100.0);
}

static void rates_of_scripts_have_their_last_digits_and_pass_over_closing_payloads(void **state)
{
    struct world *w = *state;
    w->session.all_export = false;
    comm_op(w, 600, 900);
    static const bool payload[8] = {true, false, false, true, false, false, false, false};
    for (uint32_t i = 0; i < 8; i++) {
        comm_task(w, i, 610 + i, 2000, payload[i] ? 1 : 0, true);
        device_task(w, 2, i, CONTEXT_NONE, 100 + 10 * i, 108 + 10 * i);
    }
    join(w);
    assert_true(comm_of(w, 0)->bandwidth_gbs == 2000 / 1e6 / (48 * 20 / 1e6)); /* closed by task 4 */
    assert_true(comm_of(w, 1)->bandwidth_gbs == 2000 * 1e-9 / (160 * 1e-9));
    assert_true(comm_of(w, 1)->bandwidth_gbs != 2000 / 160.0);
    assert_true(comm_of(w, 3)->bandwidth_gbs == -1);
}

static void operators_are_numbered_in_the_order_in_which_their_calls_began(void **state)
{
    struct world *w = *state;
    comm_op(w, 600, 900);
    comm_task(w, 1, 850, 8, 255, true); /* another thread is in between */
    device_task(w, 2, 1, CONTEXT_NONE, 300, 310);
    comm_op(w, 700, 800);
    w->m.host.comm_ops.at[1].thread_id = 2;
    comm_task(w, 2, 750, 8, 255, true);
    w->m.host.comm_tasks.at[1].thread_id = 2;
    device_task(w, 2, 2, CONTEXT_NONE, 200, 210);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 2);
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[0].name), "hcom_allReduce__31_1_1");
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[1].name), "hcom_allReduce__31_0_1");
}

static void operators_before_the_collection_have_index_minus_one(void **state)
{
    struct world *w = *state;
    w->session.start_ns = AT(250);
    comm_op(w, 600, 700);
    comm_op(w, 800, 900);
    comm_op(w, 1000, 1100);
    for (uint32_t i = 0; i < 3; i++) {
        comm_task(w, i, 650 + 200 * i, 8, 255, true);
        device_task(w, 2, i, CONTEXT_NONE, 100 + 200 * i, 110 + 200 * i);
    }
    join(w);
    assert_int_equal(w->d.comm_ops.n, 2);
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[0].name), "hcom_allReduce__31_0_1");
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[1].name), "hcom_allReduce__31_1_1");
    assert_int_equal(w->d.comm_tasks.n, 2);
}

static void runs_of_one_launch_are_iterations(void **state)
{
    struct world *w = *state;
    comm_op(w, 600, 700);
    comm_task(w, 1, 650, 8, 255, true);
    device_task(w, 2, 1, CONTEXT_NONE, 100, 110);
    device_task(w, 2, 1, CONTEXT_NONE, 200, 210);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 2);
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[0].name), "hcom_allReduce__31_0_1");
    assert_string_equal(strpool_text(w->m.strings, w->d.comm_ops.at[1].name), "hcom_allReduce__31_0_2");
}

static void an_operator_without_master_task_is_left_out_and_said(void **state)
{
    struct world *w = *state;
    comm_op(w, 600, 700);
    comm_task(w, 1, 650, 8, 255, false);
    device_task(w, 2, 1, CONTEXT_NONE, 100, 110);
    join(w);
    assert_int_equal(w->d.comm_ops.n, 0);
    assert_int_equal(w->d.comm_tasks.n, 1);
    assert_int_equal(w->d.comm_tasks.at[0].op, NONE);
    assert_int_equal(diag_entries(w->diag, DIAG_WARNING), 1);
}

/* ---- overlap ------------------------------------------------------------------------------------------------------
 */

static void overlap_is_union_difference_and_gaps(void **state)
{
    struct world *w = *state;
    array_push(&w->m.host.ops, ((struct op){.name = text(w, "Add")}));
    for (uint32_t i = 0; i < 4; i++) host_task(w, 1, i, CONTEXT_NONE, "KERNEL_AICORE", 0);
    device_task(w, 1, 0, CONTEXT_NONE, 100, 200);
    device_task(w, 1, 1, CONTEXT_NONE, 200, 250); /* touches: one section */
    device_task(w, 1, 2, CONTEXT_NONE, 400, 500);
    device_task(w, 1, 3, CONTEXT_NONE, 450, 460); /* inside */
    comm_op(w, 600, 700);
    comm_task(w, 9, 650, 8, 255, true);
    device_task(w, 2, 9, CONTEXT_NONE, 240, 420);
    join(w);
    assert_sections(w, OVERLAP_COMPUTE, 2, (const unsigned[][2]){{100, 250}, {400, 500}});
    assert_sections(w, OVERLAP_COMMUNICATION, 1, (const unsigned[][2]){{240, 420}});
    assert_sections(w, OVERLAP_NOT_OVERLAPPED, 1, (const unsigned[][2]){{250, 400}});
    assert_sections(w, OVERLAP_FREE, 0, NULL);
}

static void the_last_computation_hides_only_the_first_communication_it_meets(void **state)
{
    struct world *w = *state;
    array_push(&w->m.host.ops, ((struct op){.name = text(w, "Add")}));
    host_task(w, 1, 0, CONTEXT_NONE, "KERNEL_AICORE", 0);
    device_task(w, 1, 0, CONTEXT_NONE, 100, 200);
    for (uint32_t i = 0; i < 3; i++) {
        comm_op(w, 600 + 100 * i, 690 + 100 * i);
        comm_task(w, 5 + i, 650 + 100 * i, 8, 255, true);
        device_task(w, 2, 5 + i, CONTEXT_NONE, 110 + 30 * i, 120 + 30 * i + 60 * (i == 2));
    }
    join(w);
    assert_sections(w, OVERLAP_COMMUNICATION, 3, (const unsigned[][2]){{110, 120}, {140, 150}, {170, 240}});
    assert_sections(w, OVERLAP_NOT_OVERLAPPED, 2, (const unsigned[][2]){{140, 150}, {170, 240}});
}

static void free_time_reaches_to_tasks_that_do_not_compute(void **state)
{
    struct world *w = *state;
    array_push(&w->m.host.ops, ((struct op){.name = text(w, "Add")}));
    host_task(w, 1, 1, CONTEXT_NONE, "KERNEL_AICORE", 0);
    host_task(w, 1, 2, CONTEXT_NONE, "EVENT_RECORD", NONE);
    host_task(w, 1, 3, CONTEXT_NONE, "KERNEL_AICORE", NONE); /* a kernel without operator does not stretch it */
    device_task(w, 1, 1, CONTEXT_NONE, 100, 200);
    device_task(w, 1, 2, CONTEXT_NONE, 300, 310);
    device_task(w, 1, 3, CONTEXT_NONE, 400, 500);
    join(w);
    assert_sections(w, OVERLAP_COMPUTE, 1, (const unsigned[][2]){{100, 200}});
    assert_sections(w, OVERLAP_FREE, 1, (const unsigned[][2]){{200, 310}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(one_launch_may_run_many_times),
        T(launches_that_share_a_key_are_not_guessed),
        T(a_task_without_launch_is_called_what_the_device_calls_it),
        T(dynamic_profiling_drops_the_first_of_several_runs),
        T(tasks_that_ended_before_the_collection_are_left_out),
        T(a_mix_kernel_is_one_row_of_task_time_and_its_sub_task_is_in_the_timeline),
        T(sub_tasks_make_an_operator_with_bandwidths),
        T(a_closed_rdma_transfer_shares_one_rate),
        T(rates_of_scripts_have_their_last_digits_and_pass_over_closing_payloads),
        T(operators_are_numbered_in_the_order_in_which_their_calls_began),
        T(operators_before_the_collection_have_index_minus_one),
        T(runs_of_one_launch_are_iterations),
        T(an_operator_without_master_task_is_left_out_and_said),
        T(overlap_is_union_difference_and_gaps),
        T(the_last_computation_hides_only_the_first_communication_it_meets),
        T(free_time_reaches_to_tasks_that_do_not_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
