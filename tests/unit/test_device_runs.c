/* Chips without STARS: task logs, states of tasks, counters of whole tasks. */
#include "device_prof.h"

#include <math.h>

#include "device/task_runs.h"

/* A collection of such a chip. */
static void training(struct device_prof *p, int chip)
{
    prof_start(p);
    p->dir.chip = chip_find(chip);
    p->dir.meta.aic_metrics = "PipeUtilization";
    memcpy(p->dir.meta.aic_events, (uint32_t[]){0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55}, 8 * sizeof(uint32_t));
    p->dir.meta.aic_mhz = 1000;
    p->dir.meta.ai_core_num = 32;
    p->dir.meta.aiv_num = 7;
}

static void add_hwts(struct device_prof *p, enum input_id id, unsigned tag, unsigned stream, unsigned task,
                     unsigned type, uint64_t time)
{
    uint8_t r[64] = {(uint8_t)tag, (uint8_t)type};
    put16(r + 2, 0x6BD3);
    put16(r + 6, task);
    put64(r + 8, DEVICE_REF + time);
    put16(r + 16, stream);
    prof_add(p, id, r, sizeof r);
}

static void check_task(const struct device_prof *p, size_t i, unsigned stream, unsigned task, uint64_t start,
                       uint64_t end)
{
    assert_true(i < p->data.tasks.n);
    const struct device_task *t = &p->data.tasks.at[i];
    assert_int_equal(t->stream_id, stream);
    assert_int_equal(t->task_id, task);
    assert_int_equal(t->start, DEVICE_REF + start);
    assert_int_equal(t->end, DEVICE_REF + end);
    assert_int_equal(t->context_id, CONTEXT_NONE);
}

static void an_end_belongs_to_the_last_start_of_its_task(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 4);
    add_hwts(&p, INPUT_HWTS, 0, 3, 2, 0, 2185);
    add_hwts(&p, INPUT_HWTS, 1, 3, 2, 0, 6532);
    add_hwts(&p, INPUT_HWTS, 1, 3, 3, 0, 7000); /* no start */
    add_hwts(&p, INPUT_HWTS, 0, 3, 4, 0, 7100); /* no end */
    add_hwts(&p, INPUT_HWTS, 0, 3, 5, 2, 7200); /* replaced by the next */
    add_hwts(&p, INPUT_HWTS, 0, 3, 5, 2, 7300);
    add_hwts(&p, INPUT_HWTS, 1, 3, 5, 2, 7400);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_task(&p, 0, 3, 2, 2185, 6532);
    check_task(&p, 1, 3, 5, 7300, 7400);
    assert_string_equal(strpool_text(p.strings, p.data.tasks.at[1].type), "AIV_SQE");
    assert_true(p.data.has_tasks);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 2);
    prof_end(&p);
}

static void both_schedulers_have_tasks(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 4);
    add_hwts(&p, INPUT_HWTS, 0, 1, 1, 0, 100);
    add_hwts(&p, INPUT_HWTS, 1, 1, 1, 0, 200);
    add_hwts(&p, INPUT_HWTS_AIV, 0, 2, 1, 2, 110);
    add_hwts(&p, INPUT_HWTS_AIV, 1, 2, 1, 2, 190);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_task(&p, 0, 1, 1, 100, 200);
    check_task(&p, 1, 2, 1, 110, 190);
    prof_end(&p);
}

static void a_flip_begins_a_batch(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    for (unsigned i = 0; i < 2; i++) {
        add_hwts(&p, INPUT_HWTS, 0, 6, 0, 0, 100 + 1000 * i);
        add_hwts(&p, INPUT_HWTS, 1, 6, 0, 0, 200 + 1000 * i);
    }
    add_flip(&p, 6, 1, 0, 500);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    assert_int_equal(p.data.tasks.at[0].batch_id, 0);
    assert_int_equal(p.data.tasks.at[1].batch_id, 1);
    prof_end(&p);
}

static void add_state(struct device_prof *p, unsigned tag, unsigned stream, unsigned task, unsigned type,
                      unsigned task_state, uint64_t time)
{
    uint8_t rest[24] = {0};
    put16(rest, stream);
    put16(rest + 2, task);
    if (tag == 12) put16(rest + 4, type);
    rest[tag == 12 ? 6 : 4] = (uint8_t)task_state;
    add_ts_track(p, tag, time, rest, sizeof rest);
}

static void ai_cpu_tasks_that_no_log_has(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    add_state(&p, 12, 4, 7, 1, 2, 50); /* an end without a start */
    add_state(&p, 12, 4, 7, 1, 1, 100);
    add_state(&p, 12, 4, 8, 2, 1, 110); /* another kind of task */
    add_state(&p, 12, 4, 7, 1, 2, 300);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    check_task(&p, 0, 4, 7, 100, 300);
    assert_true(p.data.tasks.at[0].in_ms);
    prof_end(&p);
}

static void tasks_of_the_scheduler_are_kept_for_the_join(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 4);
    add_state(&p, 12, 12, 0, 13, 0, 100);
    add_state(&p, 12, 12, 1, 12, 0, 150);
    add_state(&p, 12, 12, 1, 12, 1, 160);
    add_state(&p, 12, 12, 0, 13, 2, 200);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 0);
    assert_int_equal(p.data.schedules.n, 1);
    assert_int_equal(p.data.schedules.at[0].start, DEVICE_REF + 100);
    assert_int_equal(p.data.schedules.at[0].end, DEVICE_REF + 200);
    prof_end(&p);
}

enum { RECEIVED, STARTED, ENDED };

static void copies_are_put_together_from_their_states(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    add_state(&p, 11, 10, 105, 0, RECEIVED, 100);
    add_state(&p, 11, 9, 100, 0, RECEIVED, 110);
    add_state(&p, 11, 10, 105, 0, STARTED, 200);
    add_state(&p, 11, 10, 105, 0, ENDED, 300);
    add_state(&p, 11, 10, 105, 0, RECEIVED, 400); /* a second copy of the same task */
    add_state(&p, 11, 10, 105, 0, STARTED, 450);
    add_state(&p, 11, 10, 105, 0, 7, 460); /* not known: no matter */
    add_state(&p, 11, 10, 105, 0, ENDED, 500);
    add_state(&p, 11, 9, 100, 0, ENDED, 600); /* never started: no copy */
    add_state(&p, 11, 8, 1, 0, STARTED, 700);
    add_state(&p, 11, 8, 1, 0, RECEIVED, 710); /* begins another one */
    add_state(&p, 11, 8, 1, 0, STARTED, 720);
    add_state(&p, 11, 8, 1, 0, ENDED, 730);
    prof_load(&p);
    assert_int_equal(p.data.copies.n, 3);
    assert_int_equal(p.data.copies.at[0].stream_id, 10);
    assert_int_equal(p.data.copies.at[0].receive_ns, MONO_NS + 2000);
    assert_int_equal(p.data.copies.at[0].start_ns, MONO_NS + 4000);
    assert_int_equal(p.data.copies.at[0].end_ns, MONO_NS + 6000);
    assert_int_equal(p.data.copies.at[1].start_ns, MONO_NS + 9000);
    assert_int_equal(p.data.copies.at[2].stream_id, 8);
    assert_int_equal(p.data.copies.at[2].receive_ns, MONO_NS + 14200);
    prof_end(&p);
}

static void block_numbers_are_split_into_their_halves(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    uint8_t rest[24] = {0};
    put16(rest, 2);
    put16(rest + 2, 9);
    put16(rest + 4, 20);
    put16(rest + 6, 2);
    add_ts_track(&p, 15, 100, rest, sizeof rest);
    prof_load(&p);
    assert_int_equal(p.data.blocks_logged.n, 1);
    assert_int_equal(p.data.blocks_logged.at[0].block_num, 20);
    assert_int_equal(p.data.blocks_logged.at[0].mix_block_num, 40);
    prof_end(&p);
}

static void add_whole_counters(struct device_prof *p, enum input_id id, unsigned stream, unsigned task,
                               struct counters c)
{
    uint8_t r[128] = {0};
    put16(r + 6, task);
    put64(r + 16, c.cycles);
    for (unsigned i = 0; i < 8; i++) put64(r + 32 + 8 * i, c.counter[i]);
    put16(r + 96, stream);
    prof_add(p, id, r, sizeof r);
}

static double value(const struct device_prof *p, size_t task, const char *name)
{
    const struct pmu *pmu = &p->data.pmu;
    assert_int_not_equal(p->data.tasks.at[task].pmu, NONE);
    for (size_t c = 0; c < pmu->columns.n; c++)
        if (!strcmp(pmu->columns.at[c].name, name)) return pmu_value(pmu, p->data.tasks.at[task].pmu, c);
    fail_msg("no column %s", name);
    return 0;
}

static void counters_belong_to_the_runs_of_their_task_in_order(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    for (unsigned i = 0; i < 3; i++) {
        add_hwts(&p, INPUT_HWTS, 0, 5, 1, 0, 100 + 1000 * i);
        add_hwts(&p, INPUT_HWTS, 1, 5, 1, 0, 900 + 1000 * i);
    }
    for (unsigned i = 0; i < 2; i++)
        add_whole_counters(&p, INPUT_AICORE, 5, 1, (struct counters){1000 * (i + 1), {100, 250, 0, 0, 500, 0, 4, 1}});
    add_whole_counters(&p, INPUT_AICORE, 5, 2, (struct counters){1, {0}}); /* of no task */
    prof_load(&p);
    struct device_blocks blocks[] = {{33, 0, true}, {0, 0, false}, {33, 0, true}}; /* the second ran elsewhere */
    device_attach_pmu(&p.data, &p.dir, blocks, NULL, p.diag);
    assert_int_equal(p.data.pmu.rows.n, 2);
    assert_int_equal(p.data.tasks.at[1].pmu, NONE);
    assert_true(value(&p, 0, "total_cycles") == 1000);
    assert_true(value(&p, 2, "total_cycles") == 2000);
    assert_true(value(&p, 0, "total_time") == 0.06); /* 1000 cycles / 33 blocks in 2 rounds, two decimals */
    assert_true(value(&p, 0, "vec_ratio") == 0.1);
    assert_true(fabs(value(&p, 0, "mac_time") - 0.015) < 1e-12);
    assert_true(value(&p, 0, "icache_miss_rate") == 0.25);
    assert_true(pmu_memory_bound(&p.data.pmu, p.data.tasks.at[0].pmu) == 2.0);
    prof_end(&p);
}

static void vector_cores_count_where_cube_cores_do_not(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 4);
    p.dir.meta.aiv_metrics = "ResourceConflictRatio";
    memcpy(p.dir.meta.aiv_events, (uint32_t[]){0x64, 0x65, 0x66}, 3 * sizeof(uint32_t));
    p.dir.meta.n_aiv_events = 3;
    add_hwts(&p, INPUT_HWTS, 0, 5, 1, 2, 100);
    add_hwts(&p, INPUT_HWTS, 1, 5, 1, 2, 900);
    add_whole_counters(&p, INPUT_AI_VECTOR_CORE, 5, 1, (struct counters){1000, {100, 200, 300}});
    prof_load(&p);
    device_attach_pmu(&p.data, &p.dir, &(struct device_blocks){7, 0, true}, NULL, p.diag);
    assert_true(value(&p, 0, "total_time") == 0.14);
    assert_true(value(&p, 0, "vec_bank_cflt_ratio") == 0.2);
    prof_end(&p);
}

static void counters_without_cycles_are_shown_bare(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 1);
    add_hwts(&p, INPUT_HWTS, 0, 5, 1, 0, 100);
    add_hwts(&p, INPUT_HWTS, 1, 5, 1, 0, 900);
    add_whole_counters(&p, INPUT_AICORE, 5, 1, (struct counters){0, {5, 5, 5, 5, 5, 5, 5, 5}});
    prof_load(&p);
    device_attach_pmu(&p.data, &p.dir, &(struct device_blocks){2, 0, true}, NULL, p.diag);
    assert_true(value(&p, 0, "vec_ratio") == 5);
    assert_true(value(&p, 0, "vec_time") == 0);
    assert_true(value(&p, 0, "icache_miss_rate") == 1);
    prof_end(&p);
}

/* --- the Ascend 310 ------------------------------------------------------------------------------------------------
 */

enum { WAITING = 1, RUNNING, COMPLETE, PENDING };

static void add_phase(struct device_prof *p, unsigned type, unsigned task_state, unsigned stream, unsigned task,
                      uint64_t time)
{
    uint8_t r[32] = {0, 3, 32};
    put16(r + 8, type);
    put16(r + 10, task_state);
    put16(r + 12, stream);
    put16(r + 14, task);
    put64(r + 16, DEVICE_REF + time);
    prof_add(p, INPUT_TS_TRACK, r, sizeof r);
}

static void add_event_count(struct device_prof *p, unsigned stream, unsigned task, unsigned blocks, struct counters c)
{
    uint8_t r[112] = {0, 4, 112};
    put16(r + 10, stream);
    put16(r + 12, task);
    for (unsigned i = 0; i < 8; i++) put64(r + 24 + 8 * i, c.counter[i]);
    put64(r + 88, c.cycles);
    put16(r + 104, blocks);
    prof_add(p, INPUT_TS_TRACK, r, sizeof r);
}

static void runs_are_found_in_the_states_of_tasks(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 0);
    add_phase(&p, 0, WAITING, 4, 500, 100);
    add_phase(&p, 0, PENDING, 4, 500, 110);
    add_phase(&p, 0, RUNNING, 4, 500, 120);
    add_phase(&p, 0, 7, 4, 500, 121); /* of no interest */
    add_phase(&p, 0, COMPLETE, 4, 500, 200);
    add_phase(&p, 1, PENDING, 4, 7, 300);
    add_phase(&p, 1, COMPLETE, 4, 7, 330); /* logged before it ran, at the same time */
    add_phase(&p, 1, RUNNING, 4, 7, 330);
    add_phase(&p, 0, COMPLETE, 4, 8, 400); /* never began */
    prof_add(&p, INPUT_TS_TRACK, (uint8_t[]){0, 8, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 16);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 2);
    check_task(&p, 0, 4, 7, 330, 330);
    check_task(&p, 1, 4, 500, 120, 200);
    assert_int_equal(p.data.phases.n, 2);
    assert_int_equal(p.data.phases.at[1].waiting, DEVICE_REF + 100);
    assert_int_equal(p.data.phases.at[1].pending, DEVICE_REF + 110);
    assert_int_equal(p.data.phases.at[0].waiting, 0);
    prof_end(&p);
}

static void the_scheduler_reports_counters_and_blocks(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 0);
    p.dir.meta.ai_core_num = 2;
    add_phase(&p, 0, RUNNING, 4, 1, 120);
    add_phase(&p, 0, COMPLETE, 4, 1, 200);
    add_event_count(&p, 4, 1, 3, (struct counters){6000, {600, 0, 0, 0, 0, 0, 0, 9}});
    prof_load(&p);
    device_attach_pmu(&p.data, &p.dir, &(struct device_blocks){50, 0, true}, NULL,
                      p.diag); /* blocks: the record's count */
    assert_true(value(&p, 0, "total_time") == 4.0);
    assert_true(fabs(value(&p, 0, "vec_time") - 0.4) < 1e-12);
    assert_true(isnan(value(&p, 0, "icache_miss_rate"))); /* no requests: nothing can be said */
    prof_end(&p);
}

static void an_absurd_number_of_cores_is_one_round(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 0);
    p.dir.meta.ai_core_num = UINT32_MAX;
    add_phase(&p, 0, RUNNING, 4, 1, 120);
    add_phase(&p, 0, COMPLETE, 4, 1, 200);
    add_event_count(&p, 4, 1, 3, (struct counters){6000, {600, 0, 0, 0, 0, 0, 0, 9}});
    prof_load(&p);
    device_attach_pmu(&p.data, &p.dir, &(struct device_blocks){50, 0, true}, NULL, p.diag);
    assert_true(value(&p, 0, "total_time") == 2.0);
    prof_end(&p);
}

static void steps_and_marks_have_the_fields_of_other_chips(void **state)
{
    (void)state;
    struct device_prof p;
    uint8_t r[40] = {0, 10, 40};
    training(&p, 0);
    put64(r + 8, DEVICE_REF + 100);
    put64(r + 16, 77);
    put16(r + 32, 4);
    put16(r + 34, 9);
    put16(r + 36, STEP_MARK);
    prof_add(&p, INPUT_TS_TRACK, r, sizeof r);
    prof_load(&p);
    assert_int_equal(p.data.marks.n, 1);
    assert_int_equal(p.data.marks.at[0].index, 77);
    assert_int_equal(p.data.marks.at[0].stream_id, 4);
    assert_int_equal(p.data.marks.at[0].task_id, 9);
    prof_end(&p);
}

static void a_packet_without_a_length_ends_its_file(void **state)
{
    (void)state;
    struct device_prof p;
    training(&p, 0);
    add_phase(&p, 0, RUNNING, 4, 1, 120);
    add_phase(&p, 0, COMPLETE, 4, 1, 200);
    prof_add(&p, INPUT_TS_TRACK, (uint8_t[8]){0, 3, 0, 0}, 8);
    add_phase(&p, 0, RUNNING, 4, 2, 220);
    add_phase(&p, 0, COMPLETE, 4, 2, 300);
    prof_add(&p, INPUT_TS_TRACK, (uint8_t[2]){0, 3}, 2);
    prof_load(&p);
    assert_int_equal(p.data.tasks.n, 1);
    assert_int_equal(diag_entries(p.diag, DIAG_WARNING), 1);
    prof_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_belongs_to_the_last_start_of_its_task),
        cmocka_unit_test(both_schedulers_have_tasks),
        cmocka_unit_test(a_flip_begins_a_batch),
        cmocka_unit_test(ai_cpu_tasks_that_no_log_has),
        cmocka_unit_test(tasks_of_the_scheduler_are_kept_for_the_join),
        cmocka_unit_test(copies_are_put_together_from_their_states),
        cmocka_unit_test(block_numbers_are_split_into_their_halves),
        cmocka_unit_test(counters_belong_to_the_runs_of_their_task_in_order),
        cmocka_unit_test(vector_cores_count_where_cube_cores_do_not),
        cmocka_unit_test(counters_without_cycles_are_shown_bare),
        cmocka_unit_test(runs_are_found_in_the_states_of_tasks),
        cmocka_unit_test(the_scheduler_reports_counters_and_blocks),
        cmocka_unit_test(an_absurd_number_of_cores_is_one_round),
        cmocka_unit_test(steps_and_marks_have_the_fields_of_other_chips),
        cmocka_unit_test(a_packet_without_a_length_ends_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
