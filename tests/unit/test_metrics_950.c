/* Metrics of the Ascend 950: worked examples of UB, CCU, instruction monitor and DPU, and odd records. */
#include "base/format.h"
#include "metric_prof.h"
#include "metrics/digits.h"

#define TICKS_PER_S 50000000u
#define COUNT(s)    ((uint64_t)((s)*TICKS_PER_S)) /* of the device: 500 s is UTC0 + 100 ms */

static void host_write(const char *name, const struct metric_bytes *b)
{
    char *path = mem_printf(HOST "data/%s", name);
    scratch_bytes(path, b->at, b->n);
    free(path);
}

static void device_and_host(void)
{
    metric_metadata(DEVICE, ".0", 15, "", "\"aic_frequency\":\"50\",", "{}");
    metric_metadata(HOST, "", 15, "", "", "{}");
}

static void pad(struct metric_bytes *b, size_t upto)
{
    while (b->n < upto) put(b, 1, 0);
}

static void ub_shows_its_own_dma(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(15, "{}");
    put(&b, 2, 0x5A5A);
    put(&b, 2, 0);
    put(&b, 2, 1);
    put(&b, 2, 0);
    put(&b, 8, 200000);
    put(&b, 8, 11);
    put(&b, 8, 21);
    pad(&b, 128);
    metric_write("ub.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("ub", "Device_id,PortId,TimeStamp,UBRxPortBandWidth(MB/s),UBTxPortBandWidth(MB/s)\n"
                        "0,1,1700000000300000.000\t,11,21\n");
    assert_query("select * from UB", "0|1|1700000000300000000|11|21");
    assert_true(timeline_has("\"UB Port001\""));
    assert_true(timeline_has("\"bandwidth_tx(MB/s)\":21.0,\"bandwidth_rx(MB/s)\":11.0"));
}

static void ub_is_not_there_on_other_chips(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, "{}");
    pad(&b, 128);
    metric_write("ub.data.0.slice_0", &b);
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n500200000000: 5 6\n");
    metric_export();
    assert_report("ub", NULL);
}

struct mission {
    uint64_t loop_start, loop_end, wait_start;
    unsigned loop, wait, end_step;
};

static void put_mission(struct metric_bytes *b, struct mission m)
{
    for (unsigned i = 0; i < 16; i++) put(b, 2, m.end_step * (15 - i));
    put(b, 8, m.wait_start);
    put(b, 2, m.wait);
    put(b, 8, m.loop_end);
    put(b, 8, m.loop_start);
    put(b, 2, m.loop);
    put(b, 4, 0x10003); /* no task of that id was launched: stream 65535 */
}

/* A record of ccu_group_info (wait = false) or ccu_wait_signal_info. */
static void put_instruction(struct metric_bytes *b, bool wait, unsigned instruction, unsigned channel, uint32_t rank)
{
    size_t from = b->n;
    put(b, 2, 0x5A5A);
    pad(b, from + 58);
    put(b, 2, 65535);
    put(b, 4, 0x10003);
    put(b, 2, 1); /* die */
    put(b, 2, instruction);
    put(b, 1, 0);
    put(b, 1, 0); /* SUM */
    put(b, 1, 4); /* FP32 */
    put(b, 1, 4);
    put(b, 4, wait ? 5 : 1048576);
    put(b, 4, wait ? 0xFF : 0);
    put(b, 2, channel);
    for (unsigned i = 1; i < 16; i++) put(b, 2, 0xFFFF);
    put(b, 4, rank);
    for (unsigned i = 1; i < 16; i++) put(b, 4, 0xFFFFFFFF);
    pad(b, from + 256);
}

static void ccu_data(void)
{
    struct metric_bytes missions = {.n = 0}, stat = {.n = 0}, groups = {.n = 0}, waits = {.n = 0};
    put_mission(&missions, (struct mission){COUNT(500.1), COUNT(500.15), 0, 7, 0, 0}); /* the last one is shown */
    put_mission(&missions, (struct mission){COUNT(500.2), COUNT(500.21), 0, 7, 0, 0});
    put_mission(&missions, (struct mission){0, 0, COUNT(500.22), 0, 8, 100});
    put_mission(&missions, (struct mission){0, 0, COUNT(500.22), 0, 8, 1}); /* ends earlier */
    put_mission(&missions, (struct mission){0, 0, 0, 1, 0, 0});             /* neither loop nor wait */
    metric_write("ccu0.instr.0.slice_0", &missions);
    put(&stat, 8, COUNT(500.21));
    put(&stat, 4, 100);
    put(&stat, 4, 50);
    put(&stat, 4, 200);
    pad(&stat, 4 * (640 + 6));   /* channel 120 begins six words later */
    put(&stat, 8, COUNT(500.9)); /* after the wait */
    put(&stat, 4, 900);
    pad(&stat, 2816);
    metric_write("ccu0.stat.0.slice_0", &stat);
    put_instruction(&groups, false, 7, 0, 1);
    host_write("aging.additional.ccu_group_info.slice_0", &groups);
    put_instruction(&waits, true, 8, 0, 1);
    put_instruction(&waits, true, 8, 120, 2);
    put_instruction(&waits, true, 9, 3, 0xFFFFFFFF); /* no rank: left out */
    host_write("aging.additional.ccu_wait_signal_info.slice_0", &waits);
}

static void ccu_loops_and_waits_meet_the_host(void **state)
{
    (void)state;
    device_and_host();
    ccu_data();
    assert_int_equal(metric_export(), 0);
    assert_true(
        timeline_has("{\"name\":\"LoopGroup\",\"pid\":1264576,\"tid\":0,\"ts\":\"1700000000300000.000\",\"dur\":"
                     "10000.0,\"ph\":\"X\",\"args\":{\"Physic Stream Id\":65535,\"Task Id\":65539,\"Instruction "
                     "ID\":7,\"Die Id\":1,\"Data Size\":1048576,\"Bandwidth (MB/s)\":100.0,\"Reduce Op "
                     "Type\":\"SUM\",\"Input Data Type\":\"FP32\",\"Output Data Type\":\"FP32\"}}"));
    assert_true(
        timeline_has("\"dur\":120.0,\"ph\":\"X\",\"args\":{\"Physic Stream Id\":65535,\"Task Id\":65539,\"Notify "
                     "Instruction ID\":8,\"Notify Rank ID\":15,\"Die Id\":1,\"Mask\":255,\"Maximum Delay "
                     "Channel\":0,\"Maximum Channel Delay\":100}}"));
    assert_query(
        "select startNs, endNs, value from CCU join STRING_IDS on id = args order by startNs",
        "1700000000300000000|1700000000310000000|[\"Physic Stream Id\",65535,\"Task Id\",65539,\"Instruction "
        "ID\",7,\"Die Id\",1,\"Data Size\",1048576,\"Bandwidth (B/s)\",104857600.0,\"Reduce Op Type\",\"SUM\","
        "\"Input Data Type\",\"FP32\",\"Output Data Type\",\"FP32\"];1700000000320000000|1700000000320120000|"
        "[\"Physic Stream Id\",65535,\"Task Id\",65539,\"Notify Instruction ID\",8,\"Notify Rank ID\",15,\"Die "
        "Id\",1,\"Mask\",255,\"Maximum Delay Channel\",0,\"Maximum Channel Delay\",100]");
}

static void ccu_reports_have_every_record(void **state)
{
    (void)state;
    device_and_host();
    ccu_data();
    metric_export();
    assert_report("ccu_channel",
                  "Device_id,Channel Id,Timestamp(us),Max Bandwidth(MB/s),Min Bandwidth(MB/s),Avg Bandwidth(MB/s)\n"
                  "0,0,1700000000310000.000\t,3906.25,976.562,1953.125\n0,120,1700000001000000.000\t,0,0,217.014\n");
    char *report = metric_read(metric_find("mindstudio_profiler_output/%s_2*.csv", "ccu_mission"));
    assert_non_null(report);
    size_t lines = 0;
    for (const char *p = report; (p = strchr(p, '\n')); p++) lines++;
    assert_int_equal(lines, 1 + 2 + 16 + 16 + 1);
    assert_non_null(strstr(report, "\n0,65535,65539,7,1700000000300000.000\t,10000.0\t,0,0,0.0\t\n"));
    assert_non_null(strstr(report, "0.0\t,8,15,120.0\t\n"));
    free(report);
}

static const uint16_t monitor[][2] = {{0x9926, 0xE000}, {0x8EF4, 0xE100}, {0x03CD, 0xE200}, {0, 0xE300},
                                      {0x170C, 0xF001}, {0x0640, 0xF000}, {0x0030, 0xF010}, {0x086F, 0xF000}};

static void instruction_monitor_shows_when_pipes_were_busy(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    device_and_host();
    for (size_t i = 0; i < sizeof monitor / sizeof *monitor; i++) {
        put(&b, 2, monitor[i][0]);
        put(&b, 2, monitor[i][1]);
    }
    put(&b, 4, 0xEFFFFFFF);
    put(&b, 4, 0xDDDDDDDD);
    metric_write("instr.biu_perf_group12_aiv0.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"Group12-aiv0\""));
    assert_true(timeline_has("{\"name\":\"SU\",\"pid\":1264640,\"tid\":0,\"ts\":\"1700083128131591.400\",\"dur\":32.0,"
                             "\"ph\":\"X\",\"args\":{\"Core Type\":\"aiv0\",\"Block Id\":0}}"));
    assert_true(timeline_has("\"MTE2\",\"pid\":1264640,\"tid\":0,\"ts\":\"1700083128131624.360\",\"dur\":43.0"));
}

static void instruction_monitor_skips_what_no_stamp_dates(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    device_and_host();
    for (size_t i = 1; i < sizeof monitor / sizeof *monitor; i++) { /* three words of a stamp */
        put(&b, 2, monitor[i][0]);
        put(&b, 2, monitor[i][1]);
    }
    metric_write("instr.biu_perf_group0_aic.0.slice_0", &b);
    assert_int_equal(metric_export(), 1);
    assert_false(timeline_has("\"SU\""));
}

static void instruction_monitor_behind_a_gap_waits_for_a_stamp(void **state)
{
    (void)state;
    const size_t words = sizeof monitor / sizeof *monitor, first = 5; /* a stamp and the first states */
    struct metric_bytes b[2] = {{.n = 0}, {.n = 0}};
    device_and_host();
    for (size_t i = 0; i < words; i++) {
        put(&b[i >= first], 2, monitor[i][0]);
        put(&b[i >= first], 2, monitor[i][1]);
    }
    metric_write("instr.biu_perf_group0_aic.0.slice_0", &b[0]);
    metric_write("instr.biu_perf_group0_aic.0.slice_2", &b[1]);
    assert_int_equal(metric_export(), 2); /* the gap, and words without a time */
    assert_false(timeline_has("\"SU\""));
}

static void put_head(struct metric_bytes *b, uint64_t end)
{
    put(b, 2, 0x5A5A);
    put(b, 2, 5000);
    put(b, 4, 800);
    put(b, 4, 99);
    put(b, 4, 40);
    put(b, 8, end);
}

static void dpu_tasks_are_named_by_their_launch(void **state)
{
    (void)state;
    struct metric_bytes track = {.n = 0}, launch = {.n = 0}, names = {.n = 0};
    device_and_host();
    put_head(&track, 100030000000);
    put(&track, 2, 0x1002); /* DPU 2 */
    put(&track, 2, 5);
    put(&track, 4, 3000);
    put(&track, 8, 1);
    put(&track, 8, 100020000000);
    pad(&track, 64);
    host_write("aging.compact.dpu_track.slice_0", &track);
    put_head(&launch, 100010000000);
    put(&launch, 2, 0x1002);
    put(&launch, 2, 5);
    put(&launch, 4, 3000);
    put(&launch, 8, 1);
    put(&launch, 8, 77);
    pad(&launch, 64);
    host_write("aging.compact.task_track.slice_0", &launch);
    memcpy(names.at, "77:kernel_x\n", 12);
    names.n = 12;
    host_write("unaging.additional.hash_dic.slice_0", &names);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"DPU 2\""));
    assert_true(timeline_has("{\"name\":\"kernel_x\",\"pid\":1263874,\"tid\":5,\"ts\":\"1700000000300000.000\",\"dur\":"
                             "100000.0,\"ph\":\"X\",\"args\":{\"Thread Id\":99,\"Physic Stream Id\":5,\"Task Id\":3000,"
                             "\"Task Type\":\"AI_CPU\"}}"));
    assert_query("select dpuDeviceId, globalTid, startNs, endNs, streamId, taskId, value from DPU_TASK join STRING_IDS "
                 "on id = args",
                 "2|99|1700000000300000000|1700000000400000000|5|3000|[\"Thread Id\",99,\"Physic Stream Id\",5,\"Task "
                 "Id\",3000,\"Task Type\",\"AI_CPU\"]");
}

static void dpu_communication_says_what_it_moved(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    device_and_host();
    put_head(&b, 100030000000);
    pad(&b, 40);
    put(&b, 8, 12345); /* a group without text */
    pad(&b, 72);
    put(&b, 8, 100020000000);
    put(&b, 8, 0x3FF8000000000000); /* 1.5 */
    pad(&b, 104);
    put(&b, 8, 1000000000);
    put(&b, 4, 3000);
    pad(&b, 126);
    put(&b, 2, 0x1000);
    put(&b, 1, 9); /* an operation without name */
    pad(&b, 256);
    host_write("aging.additional.dpu_hccl_info.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"OP Type\":\"9\""));
    assert_true(timeline_has("\"Group Name\":\"N/A(12345)\""));
    assert_true(timeline_has("\"Duration Estimated(us)\":1.5"));
    assert_true(timeline_has("\"Size(Byte)\":1000000000,\"Bandwidth(GB/s)\":10.0,\"Data Type\":\"INT8\""));
}

/* A record of the task log: kind, task type, ns after UTC0 + 100 ms, and the word of a part of a fused task. */
static void put_log(struct metric_bytes *b, unsigned kind, uint32_t task, unsigned type, uint64_t ns, unsigned part)
{
    put(b, 2, kind | type << 10);
    put(b, 2, 0x6BD3);
    put(b, 4, task);
    put(b, 8, COUNT(500.0) + ns / 20);
    put(b, 2, part);
    put(b, 2, 6);
    pad(b, b->n + 12);
}

static void put_block(struct metric_bytes *b, uint32_t task, bool vector, unsigned core, uint64_t from_ns,
                      uint64_t to_ns)
{
    size_t from = b->n;
    put(b, 2, 41);
    put(b, 2, 0x6BD3);
    put(b, 4, task);
    pad(b, from + 20);
    put(b, 1, vector);
    put(b, 1, core);
    pad(b, from + 112);
    put(b, 8, COUNT(500.0) + from_ns / 20);
    put(b, 8, COUNT(500.0) + to_ns / 20);
}

static void parts_of_fused_tasks_are_shown_by_what_they_ran_on(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(15, "{}");
    put_log(&b, 22, 70000, 2, 1000, 16 | 3 << 5);
    put_log(&b, 23, 70000, 2, 3000, 0);
    metric_write("stars_soc.data.0.slice_0", &b);
    metric_export();
    assert_true(
        timeline_has("{\"name\":\"Fusion CCU\",\"pid\":1264736,\"tid\":0,\"ts\":\"1700000000100001.000\",\"dur\":"
                     "2.0,\"ph\":\"X\",\"args\":{\"Task Id\":70000,\"Acc Id\":6,\"Task Type\":\"FUSION\",\"Fusion "
                     "Task Type\":\"CCU\",\"Mission Id\":3,\"Ccu Die Id\":1}}"));
}

static void block_detail(uint32_t task, struct metric_bytes *blocks)
{
    struct metric_bytes log = {.n = 0};
    metric_device(15, "{\"ai_core_profiling_mode\":\"task-based\"}");
    put_log(&log, 0, task, 0, 10000, 0);
    put_log(&log, 1, task, 0, 20000, 0);
    metric_write("stars_soc.data.0.slice_0", &log);
    metric_write("ffts_profile.data.0.slice_0", blocks);
    metric_export();
}

static void first_and_last_blocks_of_a_task_are_shown(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    put_block(&b, 5, false, 1, 12000, 15900);
    put_block(&b, 5, false, 2, 11000, 12000);
    put_block(&b, 5, false, 3, 13000, 14000);
    put_block(&b, 5, true, 4, 12000, 13000);
    put_block(&b, 5, false, 5, 30000, 31000); /* of no run */
    put_block(&b, 6, false, 6, 12000, 13000); /* of no task */
    block_detail(5, &b);
    assert_true(timeline_has("\"AIC Earliest\""));
    assert_true(timeline_has("{\"name\":\"Stream 65535 \",\"pid\":1264704,\"tid\":1,\"ts\":\"1700000000100011.000\","
                             "\"dur\":1.0,\"ph\":\"X\",\"args\":{\"Physic Stream Id\":65535,\"Task Id\":5,\"Batch "
                             "Id\":0,\"Subtask Id\":4294967295,\"Core Id\":2}}"));
    assert_true(timeline_has("\"Core Id\":3}"));
    assert_true(timeline_has("\"Core Id\":4}"));
    assert_false(timeline_has("\"Core Id\":1}"));
    assert_false(timeline_has("\"Core Id\":5}"));
    assert_false(timeline_has("\"Core Id\":6}"));
}

static void a_lone_block_is_first_and_last(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    put_block(&b, 5, true, 1, 12000, 15000);
    block_detail(5, &b);
    assert_true(timeline_has("\"AIV Earliest\""));
    assert_true(timeline_has("\"AIV Latest\""));
    assert_false(timeline_has("\"AIC Earliest\""));
}

/* The task begins at …10000 ns; the doubles near that are …09984 and …10240. */
static void a_block_may_be_over_before_its_task_began(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    put_block(&b, 5, true, 1, 10020, 13000);
    put_block(&b, 5, true, 2, 10200, 13000);
    block_detail(5, &b);
    assert_true(timeline_has("\"Core Id\":2}"));
    assert_false(timeline_has("\"Core Id\":1}"));
}

static void assert_digits(double value, const char *expected)
{
    char text[FORMAT_DOUBLE + 1];
    *digits_double(text, value) = 0;
    assert_string_equal(text, expected);
    assert_true(strtod(text, NULL) == value);
}

/* Beside each the nearest of the equally short texts. */
static void doubles_in_texts_have_the_digits_of_the_reference(void **state)
{
    (void)state;
    assert_digits(0, "0.0");
    assert_digits(100, "100.0");
    assert_digits(1.5, "1.5");
    assert_digits(0.001, "0.001");
    assert_digits(104857600, "104857600.0");
    assert_digits(5000 / 3.0 * 1e6, "1666666666.6666668"); /* …667 */
    assert_digits(180260546211360.34, "180260546211360.35");
    assert_digits(161457247007138.94, "161457247007138.95");
    assert_digits(1e20, "100000000000000000000.0");
    assert_digits(1e300, "1e300");
    assert_digits(-2.5, "-2.5");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ub_shows_its_own_dma),
        TEST(ub_is_not_there_on_other_chips),
        TEST(ccu_loops_and_waits_meet_the_host),
        TEST(ccu_reports_have_every_record),
        TEST(instruction_monitor_shows_when_pipes_were_busy),
        TEST(instruction_monitor_skips_what_no_stamp_dates),
        TEST(instruction_monitor_behind_a_gap_waits_for_a_stamp),
        TEST(dpu_tasks_are_named_by_their_launch),
        TEST(dpu_communication_says_what_it_moved),
        TEST(parts_of_fused_tasks_are_shown_by_what_they_ran_on),
        TEST(first_and_last_blocks_of_a_task_are_shown),
        TEST(a_lone_block_is_first_and_last),
        TEST(a_block_may_be_over_before_its_task_began),
        cmocka_unit_test(doubles_in_texts_have_the_digits_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
