/* Sampled counters of cores, and what the AI CPU reports: worked examples and odd records. */
#include "metric_prof.h"

#define SAMPLE(metrics, events)                                                                                        \
    "{\"ai_core_profiling_mode\":\"sample-based\",\"aiv_profiling_mode\":\"sample-based\",\"ai_core_metrics\":"        \
    "\"" metrics "\",\"aiv_metrics\":\"" metrics "\",\"ai_core_profiling_events\":\"" events                           \
    "\",\"aiv_profiling_events\":\"" events "\"}"
#define CLOCKS "\"aic_frequency\":\"1000\",\"aiv_frequency\":\"500\",\"ai_core_num\":24,\"aiv_num\":48,"

static void put_sample(struct metric_bytes *b, unsigned mode, uint64_t first, uint64_t second, uint64_t cycles,
                       uint64_t time, unsigned core)
{
    put(b, 8, mode);
    put(b, 8, first);
    put(b, 8, second);
    for (int i = 2; i < 8; i++) put(b, 8, 0);
    put(b, 8, cycles);
    put(b, 8, time);
    put(b, 1, 2);
    put(b, 1, core);
    put(b, 6, 0);
}

static void cores_are_told_by_their_id(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 5, "", CLOCKS, SAMPLE("L2Cache", "0x500,0x502"));
    put_sample(&b, 1, 1, 2, 1000000, 500200000000, 24);
    put_sample(&b, 1, 5, 6, 500000, 500200000000, 25);
    put_sample(&b, 1, 3, 4, 1000000, 500202000000, 24);
    put_sample(&b, 0, 9, 9, 9, 500204000000, 24);
    put_sample(&b, 1, 9, 9, 9, 500206000000, 24);
    metric_write("ffts_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("ai_core_utilization", "Device_id,Core ID,write_cache_hit,write_cache_miss_allocate\n"
                                         "0,Core24,4.0,6.0\n0,Average,4.0,6.0\n");
    assert_report("ai_vector_core_utilization", "Device_id,Core ID,write_cache_hit,write_cache_miss_allocate\n"
                                                "0,Core25,5.0,6.0\n0,Average,5.0,6.0\n");
    assert_query("select timestampNs, totalCycle, usage, freq, coreId from SAMPLE_PMU_TIMELINE",
                 "1700000000300000000|1000000|100000000|1000|24;1700000000302000000|1000000|50|1000|24;"
                 "1700000000300000000|500000|50000000|1000|25");
    assert_true(timeline_has("\"name\":\"Core 24\""));
    assert_true(timeline_has("\"Utilization(%)\":\"50.000000\""));
    assert_false(timeline_has("\"name\":\"Core 25\""));
}

static void samples_of_a_moment_count_once(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 5, "", CLOCKS, SAMPLE("L2Cache", "0x500,0x502"));
    put_sample(&b, 1, 1, 2, 1000000, 500200000000, 0);
    put_sample(&b, 1, 1, 2, 1000000, 500200000000, 0);
    metric_write("ffts_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select count(*) from SAMPLE_PMU_TIMELINE", "1");
}

static void preprocessing_of_old_collectors_is_text(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    static const char text[] = "[1000300000000] Last queue dequeue, source:src_0, index:0, size:3\n\0"
                               "[1000400000000] Other, source:x, index:1, size:2\n\0"
                               "[x] Last queue dequeue, source:src_0, index:0, size:3\n";
    metric_device(5, "{}");
    for (size_t i = 0; i < sizeof text; i++) put(&b, 1, (uint8_t)text[i]);
    metric_write("DATA_PREPROCESS.DP.0.slice_0", &b);
    metric_text("DATA_PREPROCESS.AICPUMI.0.slice_0", "Node:wait,queue size:7,Run start:1000,Run end:1500\n");
    assert_int_equal(metric_export(), 1);
    assert_report("dp", "Device_id,Timestamp(us),Action,Source,Cached Buffer Size\n"
                        "0,1700000000300000.0,Last queue dequeue,src_0,3\n");
    assert_report("aicpu_mi", "Device_id,Node Name,Start Time(us),End Time(us),Queue Size\n0,wait,1000.0,1500.0,7\n");
    assert_report("aicpu", NULL);
}

static void kernels_without_an_end_are_left_out(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_device(5, "{}");
    for (uint64_t end = 0; end <= 25000100000; end += 25000100000) {
        const uint64_t fields[] = {0, 25000050000, 1000, 1010, 1030, 0, end, 0, 25000040000, 0, 0, 25000110000};
        put(&b, 2, 0x5A5A);
        put(&b, 2, 60);
        put(&b, 2, 3);
        put(&b, 2, 7);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) put(&b, 8, fields[i]);
        put(&b, 4, 0);
        put(&b, 4, 5);
        put(&b, 8, 0);
        put(&b, 8, 0);
    }
    metric_write("DATA_PREPROCESS.AICPU.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("aicpu", "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
                           "Dispatch_time(us),Total_time(us),Stream ID,Task ID\n"
                           "0,1700000000101000.000\t,N/A,10.0,20.0,1000.0,5.0,1400.0,3,7\n");
}

static void put_ts_sample(struct metric_bytes *b, bool large, unsigned pc, unsigned cycles)
{
    put(b, 8, 0xABABABABu);
    for (int i = 0; i < (large ? 21 : 10); i++) put(b, 8, 0);
    if (!large) put(b, 4, 0);
    put(b, large ? 8 : 4, pc);
    put(b, 8, 0);
    put(b, 8, 0x11);
    put(b, 8, cycles);
    put(b, 8, 0x08);
    put(b, 8, 7);
    for (int i = 2; i < (large ? 7 : 5); i++) put(b, 8, 0), put(b, 8, 0);
}

/* One large record also begins where a small one would. */
static void task_scheduler_files_have_one_of_two_layouts(void **state)
{
    (void)state;
    metric_device(5, "{\"ts_cpu_profiling_events\":\"0x11\"}");
    struct metric_bytes large = {0}, small = {0};
    put_ts_sample(&large, true, 0x2000, 300);
    assert_int_equal(large.n, 304);
    metric_write("tscpu.data.0.slice_0", &large);
    put_ts_sample(&small, false, 0x3000, 60);
    put_ts_sample(&small, false, 0x3000, 40);
    assert_int_equal(small.n, 368);
    metric_write("tscpu.data.0.slice_1", &small);
    assert_int_equal(metric_export(), 0);
    assert_report("ts_cpu_pmu_events", "Device_id,Event,Name,Count\n0,0x11,Cpu_cycles,400\n");
    assert_report("ts_cpu_top_function", "Device_id,Function,Cycles,Cycles(%)\n0,0x2000,300,75.0\n0,0x3000,100,25.0\n");
}

static void cores_share_a_file_of_samples(void **state)
{
    (void)state;
    metric_metadata(DEVICE, ".0", 5, "", "\"ctrl_cpu\":\"0,1\",\"ai_cpu\":\"2,12\",", "{}");
    static const char text[] =
        "a b    7/8    [012] 6352.513319:     300 r11:\n\tff00 f+0x8 (/lib/m.so)\n\tff10 g+0x1 (/lib/m.so)\n\n"
        "python    7/8    [001] 6352.513320:     100 r11:\n\tff10 g+0x1 (/lib/m.so)\n\n"
        "python    7/8    [005] 6352.513321:     900 r11:\n\tff10 g+0x1 (/lib/m.so)\n\n";
    scratch_text(DEVICE "data/ai_ctrl_cpu.data.0.slice_0", text);
    assert_int_equal(metric_export(), 0);
    assert_report("ai_cpu_pmu_events", "Device_id,Event,Name,Count\n0,0x11,Cpu_cycles,300\n");
    assert_report("ai_cpu_top_function", "Device_id,Function,Module,Cycles,Cycles(%)\n0,f,/lib/m.so,300,100.0\n");
    assert_report("ctrl_cpu_top_function", "Device_id,Function,Module,Cycles,Cycles(%)\n0,g,/lib/m.so,100,100.0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cores_are_told_by_their_id),
        TEST(samples_of_a_moment_count_once),
        TEST(preprocessing_of_old_collectors_is_text),
        TEST(kernels_without_an_end_are_left_out),
        TEST(task_scheduler_files_have_one_of_two_layouts),
        TEST(cores_share_a_file_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
