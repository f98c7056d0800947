/* The device room: what the AI CPU reports of communication, and which tasks of the log it speaks of. */
#include "device_prof.h"

#include "decode/aicpu_records.h"

static void add_record(struct device_prof *p, uint32_t type, uint64_t time, const void *body, size_t n)
{
    uint8_t r[256] = {0};
    struct record_head head = {RECORD_MAGIC_HOST, 6000, type, 7, (uint32_t)n, DEVICE_REF + time};
    memcpy(r, &head, sizeof head);
    memcpy(r + sizeof head, body, n);
    prof_add(p, INPUT_AICPU, r, sizeof r);
}

static struct aicpu_comm_info_entry info(unsigned stream, unsigned task, uint64_t time)
{
    return (struct aicpu_comm_info_entry){.item = 25,
                                          .group = 31,
                                          .local_rank = 3,
                                          .remote_rank = 1,
                                          .notify_id = 4096,
                                          .time = DEVICE_REF + time,
                                          .estimated_us = 1.5,
                                          .size = 5000000000,
                                          .task_id = task,
                                          .stream_id = (uint16_t)stream,
                                          .plane_id = 2,
                                          .data_type = 4,
                                          .link_type = 1,
                                          .rdma_type = 255};
}

static void add_infos(struct device_prof *p, const struct aicpu_comm_info_entry *a,
                      const struct aicpu_comm_info_entry *b)
{
    struct aicpu_comm_info_record r = {0};
    r.entries[0].entry = *a;
    if (b) r.entries[1].entry = *b;
    add_record(p, AICPU_COMM_INFO, 0, (uint8_t *)&r + sizeof r.head, sizeof r - sizeof r.head);
}

static void add_info(struct device_prof *p, unsigned stream, unsigned task, uint64_t time)
{
    struct aicpu_comm_info_entry e = info(stream, task, time);
    add_infos(p, &e, NULL);
}

/* Both the scheduler and the AI CPU report it. */
static void add_wrap(struct device_prof *p, unsigned stream, unsigned number, uint64_t time)
{
    add_flip(p, stream, number, 0, time);
    uint16_t of_aicpu[4] = {(uint16_t)stream, 0, (uint16_t)number, 0};
    add_record(p, AICPU_FLIP, time, of_aicpu, sizeof of_aicpu);
}

/* Start of the task that record i speaks of. */
static uint64_t start_of(const struct device_prof *p, uint32_t task)
{
    assert_true(task < p->data.tasks.n);
    return p->data.tasks.at[task].start - DEVICE_REF;
}

static void a_record_holds_up_to_two_infos(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct aicpu_comm_info_entry a = info(100, 1, 10), b = info(101, 2, 20);
    add_infos(&p, &a, &b);
    add_infos(&p, &a, NULL);
    prof_load(&p);
    const struct aicpu_comm *c = &p.data.aicpu;
    assert_int_equal(c->infos.n, 3);
    assert_int_equal(c->infos.at[1].stream_id, 101);
    assert_int_equal(c->infos.at[1].task_id, 2);
    assert_int_equal(c->infos.at[0].size, 5000000000);
    assert_int_equal(c->infos.at[0].notify_id, 4096);
    assert_int_equal(c->infos.at[0].plane_id, 2);
    assert_true(c->infos.at[0].estimated_us == 1.5);
    assert_int_equal(c->infos.at[0].task, NONE); /* nothing ran */
    prof_end(&p);
}

static void operators_flips_main_tasks_and_turns_are_read(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    struct aicpu_comm_op_record op = {.flags = 2, .data_type = 11, .count = 777, .group = 31, .rank_size = 8};
    op.stream_id = 10;
    op.task_id = 5;
    add_record(&p, AICPU_COMM_OP, 40, (uint8_t *)&op + sizeof op.head, 36);
    uint16_t last[5] = {10, 5, 20, 3, AICPU_MAIN_LAST};
    add_record(&p, AICPU_MAIN_TASK, 50, last, sizeof last);
    struct aicpu_comm_turn_record turn = {.points = {1, 2, 3, 4, 5, 6, 7}, .stream_id = 12, .task_id = 9, .turn = 2};
    add_record(&p, AICPU_COMM_TURN, 60, (uint8_t *)&turn + sizeof turn.head, 75);
    prof_load(&p);
    const struct aicpu_comm *c = &p.data.aicpu;
    assert_int_equal(c->ops.n, 1);
    assert_int_equal(c->ops.at[0].time, DEVICE_REF + 40);
    assert_int_equal(c->ops.at[0].stream_id, 10);
    assert_false(c->ops.at[0].relay);
    assert_true(c->ops.at[0].retry);
    assert_int_equal(c->main_tasks.n, 1);
    assert_int_equal(c->main_tasks.at[0].kernel_task_id, 5);
    assert_int_equal(c->main_tasks.at[0].task_id, 3);
    assert_false(c->main_tasks.at[0].first);
    assert_int_equal(c->turns.n, 1);
    assert_int_equal(c->turns.at[0].points[6], 7);
    assert_int_equal(c->turns.at[0].turn, 2);
    prof_end(&p);
}

static void records_of_unknown_kinds_are_skipped_and_said_once(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    uint64_t nothing = 0;
    add_record(&p, 6, 1, &nothing, sizeof nothing);
    add_record(&p, 14, 1, &nothing, sizeof nothing);
    add_record(&p, UINT32_MAX, 1, &nothing, sizeof nothing);
    add_record(&p, AICPU_NODE, 1, &nothing, sizeof nothing); /* known, but of no interest here */
    prof_load(&p);
    assert_int_equal(p.data.aicpu.ops.n, 0);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void wrapped_task_ids_are_told_apart_by_the_number_of_the_wrap(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 100, 1, 100, 110);
    add_run(&p, 100, 1, 300, 310); /* behind the first wrap */
    add_run(&p, 100, 1, 500, 510); /* and behind the second */
    add_wrap(&p, 100, 1, 200);
    add_wrap(&p, 100, 2, 400);
    add_info(&p, 100, 1, 290); /* reported late, but told apart by the wrap */
    add_info(&p, 100, 1, 90);
    add_info(&p, 100, 1, 450);
    prof_load(&p);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[0].task), 300);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[1].task), 100);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[2].task), 500);
    prof_end(&p);
}

static void of_several_runs_with_one_key_the_next_one_is_meant(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 100, 1, 100, 110);
    add_run(&p, 100, 1, 300, 310);
    add_info(&p, 100, 1, 100);
    add_info(&p, 100, 1, 101);
    add_info(&p, 100, 1, 301); /* none behind it: the last */
    prof_load(&p);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[0].task), 100);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[1].task), 300);
    assert_int_equal(start_of(&p, p.data.aicpu.infos.at[2].task), 300);
    prof_end(&p);
}

static void unique_task_ids_leave_the_stream_open(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.chip = chip_find(15);
    uint16_t first[5] = {7, 1, 9, 1, AICPU_MAIN_FIRST};
    add_record(&p, AICPU_MAIN_TASK, 50, first, sizeof first);
    add_info(&p, 100, 0x10009, 40);
    prof_load(&p);
    const struct aicpu_main_task *t = &p.data.aicpu.main_tasks.at[0];
    assert_int_equal(t->kernel_stream_id, AICPU_STREAM_OPEN);
    assert_int_equal(t->kernel_task_id, 0x10007);
    assert_int_equal(t->task_id, 0x10009);
    assert_int_equal(p.data.aicpu.infos.at[0].stream_id, 100);
    assert_int_equal(p.data.aicpu.infos.at[0].task_id, 0x10009);
    prof_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_holds_up_to_two_infos),
        cmocka_unit_test(operators_flips_main_tasks_and_turns_are_read),
        cmocka_unit_test(records_of_unknown_kinds_are_skipped_and_said_once),
        cmocka_unit_test(wrapped_task_ids_are_told_apart_by_the_number_of_the_wrap),
        cmocka_unit_test(of_several_runs_with_one_key_the_next_one_is_meant),
        cmocka_unit_test(unique_task_ids_leave_the_stream_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
