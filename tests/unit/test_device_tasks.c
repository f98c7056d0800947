/* Task log records become runs of tasks: ids, pairing, batches. */
#include "device_prof.h"

static void check_ids(uint16_t sid, uint16_t tid, unsigned sqe, bool expanded, unsigned stream, unsigned task)
{
    struct task_ids ids = task_ids(sid, tid, sqe, expanded);
    assert_int_equal(ids.stream, stream);
    assert_int_equal(ids.task, task);
}

static void ids_are_unpacked_from_every_form(void **state)
{
    (void)state;
    check_ids(3, 8, 0, false, 3, 8);
    check_ids(8195, 8, 0, false, 8, 3);
    check_ids(12291, 8, 0, false, 3, 8200);
    check_ids(20483, 8, 0, false, 3, 16392);
    check_ids(12345, 77, SQE_PLACE_HOLDER, true, 12345, 77);
    check_ids(45678, 32769, 0, true, 1, 45678);
    check_ids(55555, 20000, 0, true, 20000, 22787);
}

static const struct device_task *task(const struct device_prof *p, size_t i)
{
    assert_true(i < p->data.tasks.n);
    return &p->data.tasks.at[i];
}

static void check_run(const struct device_prof *p, size_t i, uint64_t start, uint64_t end)
{
    assert_int_equal(task(p, i)->start, DEVICE_REF + start);
    assert_int_equal(task(p, i)->end, DEVICE_REF + end);
}

static void a_start_and_an_end_are_a_task(void **state)
{
    (void)state;
    static const uint8_t start[64] = {0x00, 0x01, 0xd3, 0x6b, 0x03, 0x00, 0x11, 0x00, 0x20, 0xb1,
                                      0xac, 0xd4, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x41, 0x01};
    static const uint8_t end[64] = {0x41, 0x01, 0xd3, 0x6b, 0x03, 0x00, 0x11, 0x00, 0x02, 0xb6,
                                    0xac, 0xd4, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x41, 0x01};
    struct device_prof p;
    prof_start(&p);
    prof_add(&p, INPUT_STARS_SOC, start, sizeof start);
    prof_add(&p, INPUT_STARS_SOC, end, sizeof end);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    assert_true(p.data.has_tasks);
    const struct device_task *t = task(&p, 0);
    assert_int_equal(t->stream_id, 3);
    assert_int_equal(t->task_id, 17);
    assert_int_equal(t->context_id, CONTEXT_NONE);
    assert_int_equal(t->batch_id, 0);
    assert_int_equal(t->type_number, 0);
    assert_int_equal(t->pmu, NONE);
    assert_string_equal(strpool_text(p.strings, t->type), "AI_CORE");
    assert_int_equal(clock_device_ns(&p.dir.clock, t->start), 200000010000000);
    assert_int_equal(clock_device_ns(&p.dir.clock, t->end), 200000010025000);
    prof_end(&p);
}

static void tasks_are_in_order_of_task_stream_context(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 9, 1, 10, 20);
    add_run(&p, 2, 5, 30, 40);
    add_run(&p, 2, 1, 50, 60);
    add_subtask(&p, 34, 2, 1, 7, 6, 51);
    add_subtask(&p, 35, 2, 1, 7, 6, 59);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 4);
    check_run(&p, 0, 51, 59);
    assert_int_equal(task(&p, 0)->context_id, 7);
    assert_int_equal(task(&p, 0)->type_number, -1);
    assert_string_equal(strpool_text(p.strings, task(&p, 0)->type), "MIX_AIC");
    check_run(&p, 1, 50, 60);
    check_run(&p, 2, 10, 20);
    check_run(&p, 3, 30, 40);
    prof_end(&p);
}

static void records_need_not_be_in_order_of_time(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_task(&p, 1, 2, 1, 0, 20);
    add_task(&p, 1, 2, 1, 0, 40);
    add_task(&p, 0, 2, 1, 0, 30);
    add_task(&p, 0, 2, 1, 0, 10);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_run(&p, 0, 10, 20);
    check_run(&p, 1, 30, 40);
    prof_end(&p);
}

static void overlapping_runs_pair_in_order(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_subtask(&p, 34, 2, 1, 0, 0, 10);
    add_subtask(&p, 34, 2, 1, 0, 0, 20);
    add_subtask(&p, 35, 2, 1, 0, 0, 30);
    add_subtask(&p, 35, 2, 1, 0, 0, 40);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_run(&p, 0, 10, 30);
    check_run(&p, 1, 20, 40);
    prof_end(&p);
}

static void a_lost_end_costs_one_run(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_task(&p, 0, 2, 1, 0, 10);
    add_run(&p, 2, 1, 20, 30);
    add_task(&p, 0, 2, 2, 0, 40);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_run(&p, 0, 20, 30);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void a_lost_start_costs_one_run(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 2, 1, 10, 20);
    add_task(&p, 1, 2, 1, 0, 30);
    add_task(&p, 1, 2, 2, 0, 40);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_run(&p, 0, 10, 20);
    prof_end(&p);
}

static void a_task_never_ends_before_it_starts(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_task(&p, 1, 2, 1, 0, 10); /* its start is lost */
    add_run(&p, 2, 1, 20, 30);
    add_task(&p, 0, 2, 1, 0, 40); /* its end is lost: as many starts as ends */
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_run(&p, 0, 20, 30);
    prof_end(&p);
}

static void contexts_stay_apart_for_large_task_ids(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_subtask(&p, 34, 1, 0x8001, 0, 0, 10);
    add_subtask(&p, 34, 1, 0x8001, 1, 0, 20);
    add_subtask(&p, 35, 1, 0x8001, 1, 0, 30);
    add_subtask(&p, 35, 1, 0x8001, 0, 0, 40);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_run(&p, 0, 10, 40);
    check_run(&p, 1, 20, 30);
    prof_end(&p);
}

static void numbers_without_a_name_are_unknown(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_task(&p, 0, 2, 1, 33, 10);
    add_task(&p, 1, 2, 1, 33, 20);
    add_subtask(&p, 34, 2, 2, 0, 2, 30);
    add_subtask(&p, 35, 2, 2, 0, 2, 40);
    prof_load(&p);
    assert_string_equal(strpool_text(p.strings, task(&p, 0)->type), "UNKNOWN");
    assert_string_equal(strpool_text(p.strings, task(&p, 1)->type), "UNKNOWN");
    prof_end(&p);
}

static void other_kinds_of_records_are_not_tasks(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_task(&p, 26, 2, 1, 0, 10);
    add_task(&p, 0, 2, 1, 0, 20);
    prof_add(&p, INPUT_STARS_SOC, (uint8_t[64]){1}, 64); /* no magic number */
    add_task(&p, 1, 2, 1, 0, 30);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_run(&p, 0, 20, 30);
    prof_end(&p);
}

static void scripts_pair_a_start_only_with_an_end_before_the_next(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.dir.chip = chip_find(7);
    add_task(&p, 0, 2, 1, 0, 10);
    add_task(&p, 0, 2, 1, 0, 20);
    add_task(&p, 1, 2, 1, 0, 30);
    add_task(&p, 1, 2, 1, 0, 40);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_run(&p, 0, 20, 30);
    prof_end(&p);
}

/* tasks[n] of one stream at times 0, 1 … or `times`; expected batches. */
static void check_batches_by(bool native, const uint64_t *times, const uint32_t *tasks, size_t n, flip_array *flips,
                             const unsigned *expected)
{
    struct stamped items[16];
    struct sort_key order[16];
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct stamped){times ? times[i] : i, tasks ? tasks[i] : (uint32_t)i, 5, 0};
        order[i].index = (uint32_t)i;
    }
    flips_sort(flips);
    batch_number(flips, order, n, items, sizeof *items, native);
    for (size_t i = 0; i < n; i++) assert_int_equal(items[i].batch, expected[i]);
    array_free(flips);
}

static void check_batches(const uint64_t *times, const uint32_t *tasks, size_t n, flip_array *flips,
                          const unsigned *expected)
{
    check_batches_by(true, times, tasks, n, flips, expected);
}

static void a_flip_begins_a_batch_behind_its_time(void **state)
{
    (void)state;
    flip_array flips = {0};
    array_push(&flips, ((struct flip){4, 5, 0, 0}));
    array_push(&flips, ((struct flip){2, 5, 0, 0}));
    check_batches(NULL, NULL, 10, &flips, (unsigned[]){0, 0, 0, 1, 1, 2, 2, 2, 2, 2});
}

static void many_flips_count(void **state)
{
    (void)state;
    flip_array flips = {0};
    for (uint64_t i = 0; i < 10; i++) array_push(&flips, ((struct flip){1000 * i, 5, 0, 0}));
    check_batches((uint64_t[]){1001, 5001}, NULL, 2, &flips, (unsigned[]){2, 6});
}

static void ids_given_out_before_the_flip_belong_behind_it(void **state)
{
    (void)state;
    flip_array flips = {0};
    array_push(&flips, ((struct flip){2, 5, 0, 0}));
    array_push(&flips, ((struct flip){6, 5, 2, 0}));
    check_batches(NULL, (uint32_t[]){9, 9, 65535, 65535, 65535, 0, 1, 2, 3, 4}, 10, &flips,
                  (unsigned[]){0, 0, 0, 1, 1, 2, 2, 2, 2, 2});
}

static void scripts_count_from_the_flip_on_and_not_its_own_id(void **state)
{
    (void)state;
    flip_array flips = {0};
    array_push(&flips, ((struct flip){2, 5, 0, 0}));
    array_push(&flips, ((struct flip){6, 5, 2, 1}));
    check_batches_by(false, NULL, (uint32_t[]){9, 9, 9, 9, 2, 1, 3, 4}, 8, &flips,
                     (unsigned[]){0, 0, 1, 1, 1, 2, 2, 2});
}

static void scripts_move_nothing_back_when_a_stream_is_gone(void **state)
{
    (void)state;
    flip_array flips = {0};
    array_push(&flips, ((struct flip){2, 5, 9, FLIP_STREAM_GONE}));
    check_batches_by(false, NULL, NULL, 4, &flips, (unsigned[]){0, 0, 1, 1});
}

/* The rule as batch.c states it, flip by flip. */
static void number_plainly(const flip_array *flips, const struct stamped *items, size_t n, uint16_t *batches)
{
    size_t at = 0;
    for (size_t b = 0; b <= flips->n; b++) {
        for (; at < n && (b == flips->n || items[at].time <= flips->at[b].time); at++) batches[at] = (uint16_t)b;
        if (b == flips->n) return;
        uint32_t task = flips->at[b].task, end = task == 0xFFFF || !task ? 0 : task + 1;
        for (size_t k = at; k && items[k - 1].task < end; k--) batches[k - 1] = (uint16_t)(b + 1);
    }
}

static void a_later_flip_moves_what_an_earlier_one_moved(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 200; round++) {
        enum { ITEMS = 40 };
        struct stamped items[ITEMS];
        struct sort_key order[ITEMS];
        uint16_t expected[ITEMS];
        flip_array flips = {0};
        for (uint64_t i = 0; i < ITEMS; i++) {
            items[i] = (struct stamped){i, (uint32_t)rand() % 12, 5, 0};
            order[i].index = (uint32_t)i;
        }
        for (int i = 0; i < 12; i++)
            array_push(&flips, ((struct flip){(uint64_t)rand() % ITEMS, 5, (uint16_t)(rand() % 14), 0}));
        flips_sort(&flips);
        number_plainly(&flips, items, ITEMS, expected);
        batch_number(&flips, order, ITEMS, items, sizeof *items, true);
        for (size_t i = 0; i < ITEMS; i++) assert_int_equal(items[i].batch, expected[i]);
        array_free(&flips);
    }
}

/* Every flip claims that all ids so far belong behind it. */
static void flips_that_move_everything_cost_no_more(void **state)
{
    (void)state;
    enum { N = 300000 };
    struct stamped *items = mem_zalloc(N, sizeof *items);
    struct sort_key *order = mem_zalloc(N, sizeof *order);
    flip_array flips = {0};
    for (uint32_t i = 0; i < N; i++) {
        items[i] = (struct stamped){i, i % 1000, 5, 0};
        order[i].index = i;
        array_push(&flips, ((struct flip){i, 5, 0xFFFE, 0}));
    }
    batch_number(&flips, order, N, items, sizeof *items, true);
    for (size_t i = 0; i < N; i++) assert_int_equal(items[i].batch, (uint16_t)N);
    array_free(&flips);
    free(items);
    free(order);
}

static void flips_of_other_streams_do_not_matter(void **state)
{
    (void)state;
    flip_array flips = {0};
    array_push(&flips, ((struct flip){1, 4, 0, 0}));
    array_push(&flips, ((struct flip){1, 6, 0, 0}));
    check_batches(NULL, NULL, 4, &flips, (unsigned[]){0, 0, 0, 0});
}

static void tasks_get_their_batch(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_run(&p, 2, 65535, 10, 20);
    add_run(&p, 2, 0, 10, 25);
    add_flip(&p, 2, 1, 0, 30);
    add_run(&p, 2, 0, 40, 50);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 3);
    check_run(&p, 0, 10, 25);
    assert_int_equal(task(&p, 0)->batch_id, 0);
    check_run(&p, 1, 40, 50);
    assert_int_equal(task(&p, 1)->batch_id, 1);
    assert_int_equal(task(&p, 2)->batch_id, 0);
    prof_end(&p);
}

static void an_old_driver_has_no_batches(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    p.session.all_export = false;
    add_flip(&p, 2, 1, 0, 30);
    add_run(&p, 2, 0, 40, 50);
    prof_load(&p);
    assert_int_equal(task(&p, 0)->batch_id, 0);
    prof_end(&p);
}

static void unknown_scheduler_records_are_skipped_and_told(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    add_ts_track(&p, 99, 5, "", 1);
    add_ts_track(&p, 98, 6, "", 1);
    add_ts_track(&p, 13, 7, "", 1);
    add_run(&p, 2, 0, 40, 50);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

static void nothing_gives_nothing(void **state)
{
    (void)state;
    struct device_prof p;
    prof_start(&p);
    prof_load(&p);
    device_attach_pmu(&p.data, &p.dir, NULL, NULL, p.diag);
    assert_int_equal(p.data.tasks.n, 0);
    assert_false(p.data.has_tasks);
    assert_int_equal(diag_entries(p.diag, DIAG_INFO), 0);
    prof_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_unpacked_from_every_form),
        cmocka_unit_test(a_start_and_an_end_are_a_task),
        cmocka_unit_test(tasks_are_in_order_of_task_stream_context),
        cmocka_unit_test(records_need_not_be_in_order_of_time),
        cmocka_unit_test(overlapping_runs_pair_in_order),
        cmocka_unit_test(a_lost_end_costs_one_run),
        cmocka_unit_test(a_lost_start_costs_one_run),
        cmocka_unit_test(a_task_never_ends_before_it_starts),
        cmocka_unit_test(contexts_stay_apart_for_large_task_ids),
        cmocka_unit_test(numbers_without_a_name_are_unknown),
        cmocka_unit_test(other_kinds_of_records_are_not_tasks),
        cmocka_unit_test(a_flip_begins_a_batch_behind_its_time),
        cmocka_unit_test(many_flips_count),
        cmocka_unit_test(ids_given_out_before_the_flip_belong_behind_it),
        cmocka_unit_test(scripts_pair_a_start_only_with_an_end_before_the_next),
        cmocka_unit_test(scripts_count_from_the_flip_on_and_not_its_own_id),
        cmocka_unit_test(scripts_move_nothing_back_when_a_stream_is_gone),
        cmocka_unit_test(a_later_flip_moves_what_an_earlier_one_moved),
        cmocka_unit_test(flips_that_move_everything_cost_no_more),
        cmocka_unit_test(flips_of_other_streams_do_not_matter),
        cmocka_unit_test(tasks_get_their_batch),
        cmocka_unit_test(an_old_driver_has_no_batches),
        cmocka_unit_test(unknown_scheduler_records_are_skipped_and_told),
        cmocka_unit_test(nothing_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
