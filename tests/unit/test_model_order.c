/* Launches and runs by order, tasks of the scheduler, block numbers that it logged. */
#include "model_world.h"

static void launch(struct world *w, uint32_t stream, uint32_t task, const char *type, int32_t request, uint64_t time)
{
    host_task(w, stream, task, CONTEXT_NONE, type, NONE);
    struct host_task *t = &w->m.host.tasks.at[w->m.host.tasks.n - 1];
    t->request_id = request;
    t->time = time;
}

static uint32_t *in_order(struct world *w)
{
    w->known.profiler_trace = text(w, "PROFILER_TRACE_EX");
    uint32_t *host_of = mem_alloc(w->d.data.tasks.n * sizeof *host_of);
    join_host_in_order(&w->m, &w->d, host_of, &w->known);
    return host_of;
}

static void the_nth_launch_made_the_nth_run(void **state)
{
    struct world *w = *state;
    launch(w, 3, 7, "KERNEL_AICORE", 2, 200); /* not in order of time */
    launch(w, 3, 7, "KERNEL_AICORE", 1, 100);
    launch(w, 3, 8, "KERNEL_AICORE", 1, 150);
    device_task(w, 3, 7, CONTEXT_NONE, 10, 20);
    device_task(w, 3, 7, CONTEXT_NONE, 30, 40);
    device_task(w, 3, 7, CONTEXT_NONE, 50, 60); /* one more than was launched */
    uint32_t *host_of = in_order(w);
    assert_int_equal(host_of[0], 1);
    assert_int_equal(host_of[1], 0);
    assert_int_equal(host_of[2], HOST_UNKNOWN);
    free(host_of);
}

static void a_static_graph_has_all_runs_of_its_tasks(void **state)
{
    struct world *w = *state;
    launch(w, 3, 7, "KERNEL_AICORE", 0, 100);
    launch(w, 3, 8, "KERNEL_AICORE", 4, 100); /* launched for one request */
    device_task(w, 3, 7, CONTEXT_NONE, 10, 20);
    device_task(w, 3, 7, CONTEXT_NONE, 30, 40);
    device_task(w, 3, 8, CONTEXT_NONE, 50, 60);
    device_task(w, 3, 8, CONTEXT_NONE, 70, 80);
    uint32_t *host_of = in_order(w);
    assert_int_equal(host_of[0], 0);
    assert_int_equal(host_of[1], 0);
    assert_int_equal(host_of[2], 1);
    assert_int_equal(host_of[3], HOST_UNKNOWN);
    free(host_of);
}

static void traces_of_the_profiler_make_room_when_numbers_differ(void **state)
{
    struct world *w = *state;
    launch(w, 3, 7, "PROFILER_TRACE_EX", 1, 100);
    launch(w, 3, 7, "KERNEL_AICORE", 1, 200);
    launch(w, 3, 8, "PROFILER_TRACE_EX", 1, 100);
    launch(w, 3, 8, "KERNEL_AICORE", 1, 200);
    device_task(w, 3, 7, CONTEXT_NONE, 10, 20);
    device_task(w, 3, 8, CONTEXT_NONE, 30, 40);
    device_task(w, 3, 8, CONTEXT_NONE, 50, 60);
    uint32_t *host_of = in_order(w);
    assert_int_equal(host_of[0], 1);
    assert_int_equal(host_of[1], 2);
    assert_int_equal(host_of[2], 3);
    free(host_of);
}

static void schedule(struct world *w, uint32_t stream, uint32_t task, unsigned from, unsigned to)
{
    array_push(&w->d.data.schedules, ((struct device_task){.start = REF + from,
                                                           .end = REF + to,
                                                           .stream_id = stream,
                                                           .task_id = task,
                                                           .context_id = CONTEXT_NONE,
                                                           .pmu = NONE}));
}

static void the_scheduler_ran_what_no_log_has(void **state)
{
    struct world *w = *state;
    w->known.model_execute = text(w, "MODEL_EXECUTE");
    w->known.model_maintenance = text(w, "MODEL_MAINTAINCE");
    launch(w, 12, 1, "MODEL_EXECUTE", 0, 100);
    launch(w, 12, 2, "EVENT_RECORD", 0, 100);
    launch(w, 12, 3, "MODEL_MAINTAINCE", 0, 100);
    device_task(w, 12, 0, CONTEXT_NONE, 1, 2);
    device_task(w, 12, 3, CONTEXT_NONE, 5, 6); /* the log has it */
    schedule(w, 12, 1, 10, 20);
    schedule(w, 12, 2, 30, 40); /* not of the scheduler */
    schedule(w, 12, 3, 50, 60);
    schedule(w, 12, 4, 70, 80); /* was not launched */
    join_schedules(&w->m, &w->d, &w->known);
    assert_int_equal(w->d.data.tasks.n, 3);
    assert_int_equal(w->d.data.tasks.at[1].task_id, 1);
    assert_int_equal(w->d.data.tasks.at[1].start, REF + 10);
    assert_int_equal(w->d.data.tasks.at[1].type, w->known.model_execute);
    assert_int_equal(w->d.data.tasks.at[2].start, REF + 5);
    assert_int_equal(w->d.data.schedules.n, 0);
}

static void logged(struct world *w, uint32_t stream, uint32_t task, uint32_t blocks, uint32_t mix_blocks)
{
    array_push(&w->d.data.blocks_logged,
               ((struct logged_blocks){
                   .stream_id = stream, .task_id = task, .block_num = blocks, .mix_block_num = mix_blocks}));
}

static const struct op *op_of(const struct world *w, size_t task)
{
    return &w->m.host.ops.at[w->m.host.tasks.at[task].op];
}

static void launches_with_other_blocks_have_operators_of_their_own(void **state)
{
    struct world *w = *state;
    w->m.devices = &w->d;
    w->m.n_devices = 1;
    array_push(&w->m.host.ops, ((struct op){.name = text(w, "add"), .block_num = 8, .mix_block_num = 16}));
    for (uint32_t task = 0; task < 4; task++) host_task(w, 3, task, CONTEXT_NONE, "KERNEL_AICORE", 0);
    logged(w, 3, 0, 20, 40);
    logged(w, 3, 1, 2, 2);
    logged(w, 3, 1, 20, 40); /* the last one counts */
    logged(w, 3, 2, 8, 16);  /* says nothing new */
    logged(w, 4, 3, 5, 5);   /* of another stream */
    blocks_change(&w->m);
    assert_int_equal(w->m.host.ops.n, 2);
    assert_int_equal(op_of(w, 0)->block_num, 20);
    assert_int_equal(op_of(w, 0)->mix_block_num, 40);
    assert_int_equal(op_of(w, 0)->name, text(w, "add"));
    assert_int_equal(w->m.host.tasks.at[1].op, w->m.host.tasks.at[0].op);
    assert_int_equal(w->m.host.tasks.at[2].op, 0);
    assert_int_equal(w->m.host.tasks.at[3].op, 0);
    array_free(&w->d.data.blocks_logged);
}

#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(the_nth_launch_made_the_nth_run),
        MODEL_TEST(a_static_graph_has_all_runs_of_its_tasks),
        MODEL_TEST(traces_of_the_profiler_make_room_when_numbers_differ),
        MODEL_TEST(the_scheduler_ran_what_no_log_has),
        MODEL_TEST(launches_with_other_blocks_have_operators_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
