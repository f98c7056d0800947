/* The model room: host and device tasks meet, communication operators are put together, overlap is found. Inputs are
 * small hand-made records; the clock counts 20 ns ticks from a raw time of 2000000000 ns at tick 5000000, and raw time
 * is epoch time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/parts.h"

#define REF       5000000u
#define AT(ticks) (2000000000 + (int64_t)(ticks)*20)

struct world {
    struct session session;
    struct prof_dir dir;
    struct model m;
    struct device_model d;
    struct well_known known;
    struct diag *diag;
};

static str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

static int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    w->dir.name = "device_0";
    w->dir.clock =
        (struct clock){.device_ref = REF, .device_hz = 50000000, .host_hz = 1000000000, .mono_ns = 2000000000};
    w->session.start_ns = 0;
    w->m.session = &w->session;
    w->m.strings = strpool_new();
    w->d.dir = &w->dir;
    w->diag = diag_new();
    w->known = (struct well_known){
        .unknown = text(w, "UNKNOWN"),
        .ffts_plus = text(w, "FFTS_PLUS"),
        .memcpy_async = text(w, "MEMCPY_ASYNC"),
        .simt = text(w, "KERNEL_SIMT"),
        .kernel_types = {text(w, "KERNEL_AICORE"), text(w, "KERNEL_AIVEC")},
    };
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    array_free(&w->m.host.tasks);
    array_free(&w->m.host.ops);
    array_free(&w->m.host.comm_infos);
    array_free(&w->m.host.comm_tasks);
    array_free(&w->m.host.comm_ops);
    array_free(&w->d.data.tasks);
    array_free(&w->d.tasks);
    array_free(&w->d.comm_ops);
    array_free(&w->d.comm_tasks);
    for (size_t i = 0; i < w->d.comm_groups.n; i++) array_free(&w->d.comm_groups.at[i].planes);
    array_free(&w->d.comm_groups);
    array_free(&w->d.comm_statistics);
    for (int k = 0; k < OVERLAP_KINDS; k++) array_free(&w->d.overlap[k]);
    strpool_free(w->m.strings);
    diag_free(w->diag);
    free(w);
    return 0;
}

static void host_task(struct world *w, uint32_t stream, uint32_t task, uint32_t context, const char *type, uint32_t op)
{
    array_push(&w->m.host.tasks, ((struct host_task){.stream_id = stream,
                                                     .task_id = task,
                                                     .context_id = context,
                                                     .model_id = MODEL_NONE,
                                                     .connection = 7,
                                                     .type = text(w, type),
                                                     .kernel_name = STR_NA,
                                                     .op = op}));
}

/* Device tasks must be added in key order, as device_load leaves them. */
static void device_task(struct world *w, uint32_t stream, uint32_t task, uint32_t context, unsigned from, unsigned to)
{
    array_push(&w->d.data.tasks, ((struct device_task){.start = REF + from,
                                                       .end = REF + to,
                                                       .stream_id = stream,
                                                       .task_id = task,
                                                       .context_id = context,
                                                       .type = text(w, "AI_CORE"),
                                                       .pmu = NONE}));
}

static void join(struct world *w)
{
    uint32_t *host_of = mem_alloc(w->d.data.tasks.n * sizeof *host_of);
    join_host(&w->m, &w->d, host_of, w->diag);
    join_tasks(&w->m, &w->d, host_of, &w->known);
    communication_build(&w->m, &w->d, host_of, w->diag);
    join_finish(&w->m, &w->d, &w->known);
    overlap_build(&w->m, &w->d, &w->known);
    free(host_of);
}

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

static void comm_op(struct world *w, uint64_t begin, uint64_t end)
{
    array_push(&w->m.host.comm_ops, ((struct host_comm_op){.begin = begin,
                                                           .end = end,
                                                           .thread_id = 1,
                                                           .model_id = MODEL_NONE,
                                                           .connection = (uint32_t)begin,
                                                           .kfc_connection = NONE,
                                                           .name = text(w, "hcom_allReduce_"),
                                                           .op_type = text(w, "hcom_allReduce_"),
                                                           .state = STR_NA,
                                                           .alg_type = text(w, "MESH-RING"),
                                                           .group = text(w, "group1"),
                                                           .group_key = 31,
                                                           .data_type = 4,
                                                           .count = 1024}));
}

static void comm_task(struct world *w, uint32_t task, uint64_t launch, int64_t size, uint16_t rdma_type, bool master)
{
    if (!w->m.host.comm_infos.n)
        array_push(&w->m.host.comm_infos, ((struct comm_info){.name = STR_NA, .group = STR_NA, .plane_id = -1}));
    array_push(&w->m.host.comm_infos, ((struct comm_info){.name = text(w, "Memcpy"),
                                                          .group = text(w, "group1"),
                                                          .group_key = 31,
                                                          .rank_size = 8,
                                                          .size = size,
                                                          .rdma_type = rdma_type}));
    array_push(&w->m.host.comm_tasks, ((struct host_comm_task){.time = launch,
                                                               .thread_id = 1,
                                                               .stream_id = 2,
                                                               .task_id = task,
                                                               .context_id = CONTEXT_NONE,
                                                               .connection = 9,
                                                               .model_id = MODEL_NONE,
                                                               .info = (uint32_t)w->m.host.comm_infos.n - 1,
                                                               .is_master = master}));
}

static const struct comm_task *comm_of(struct world *w, uint32_t task)
{
    for (size_t i = 0; i < w->d.comm_tasks.n; i++)
        if (w->d.comm_tasks.at[i].task_id == task) return &w->d.comm_tasks.at[i];
    return NULL;
}

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

static void assert_sections(const struct world *w, enum overlap_kind kind, size_t n, const unsigned (*ticks)[2])
{
    assert_int_equal(w->d.overlap[kind].n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(w->d.overlap[kind].at[i].start_ns, AT(ticks[i][0]));
        assert_int_equal(w->d.overlap[kind].at[i].end_ns, AT(ticks[i][1]));
    }
}

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

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        T(operators_before_the_collection_have_index_minus_one),
        T(runs_of_one_launch_are_iterations),
        T(an_operator_without_master_task_is_left_out_and_said),
        T(overlap_is_union_difference_and_gaps),
        T(free_time_reaches_to_tasks_that_do_not_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
