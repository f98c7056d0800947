/* Metrics of memories: worked examples from bytes to the outputs, and what happens with odd input. */
#include "metric_prof.h"

#define SAMPLE "{\"hbm_profiling_events\":\"read,write\",\"llc_profiling\":\"read\",\"ai_core_profiling_mode\":\"\"}"

/* Three points of four memories, counts that tell them apart. */
static void hbm_points(struct metric_bytes *b, unsigned points)
{
    for (unsigned k = 0; k < points; k++)
        for (unsigned event = 0; event < 2; event++)
            for (unsigned id = 0; id < 4; id++) {
                put(b, 8, 200000 + 100000 * k);
                put(b, 8, 1000000 * (k + 1) + 100000 * id + 10 * event);
                put(b, 4, event);
                put(b, 4, id);
            }
}

static void hbm_is_the_rate_since_the_sample_before(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, SAMPLE);
    hbm_points(&b, 3);
    metric_write("hbm.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("hbm", "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,539.144,539.146\n0,0,508.626,508.628\n"
                         "0,1,528.971,528.973\n0,2,549.316,549.318\n0,3,569.661,569.663\n");
    assert_query("select count(*) from HBM", "24");
    assert_query(
        "select h.deviceId, h.timestampNs / 1000, h.bandwidth, h.hbmId, s.value from HBM h join STRING_IDS s on "
        "s.id = h.type where h.hbmId = 0 and s.value = 'read' order by 2",
        "0|1700000000300000|0|0|read;0|1700000000400000|640000000|0|read;0|1700000000500000|960000000|0|read");
    assert_true(
        timeline_has("{\"name\":\"HBM 0/Read\",\"pid\":1264384,\"tid\":0,\"ts\":\"1700000000400000.000\",\"ph\":"
                     "\"C\",\"args\":{\"Read(MB/s)\":610.3515625}}"));
}

static void hbm_of_one_time_has_no_rate_and_shows_nothing(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, SAMPLE);
    hbm_points(&b, 1);
    metric_write("hbm.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("hbm", NULL);
    assert_query("select * from HBM", NULL);
    assert_false(timeline_has("HBM"));
}

static void hbm_that_was_sampled_in_one_direction_has_empty_cells_for_the_other(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, SAMPLE);
    for (unsigned k = 0; k < 2; k++) {
        put(&b, 8, 200000 + 100000 * k);
        put(&b, 8, 2000000);
        put(&b, 4, 1);
        put(&b, 4, 7);
    }
    metric_write("hbm.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("hbm", "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,0.0,305.176\n0,7,,305.176\n");
}

static void hbm_of_layout_2_has_its_own_times(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_metadata(DEVICE, ".0", 5, "\"version\":\"2.0\",", "", SAMPLE);
    for (unsigned k = 0; k < 2; k++) {
        put(&b, 8, 0);
        put(&b, 4, 0);
        put(&b, 4, 3);
        put(&b, 8, 1u << 20);
        put(&b, 8, UTC0_NS + 512000000ull * (k + 1));
    }
    metric_write("hbm.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select timestampNs, bandwidth, hbmId from HBM order by 1",
                 "1700000000512000000|0|3;1700000001024000000|65536000|3");
}

static void what_was_sampled_before_the_collection_is_only_in_the_report(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_metadata(DEVICE, ".0", 5, "\"version\":\"2.0\",", "", SAMPLE);
    for (unsigned k = 0; k < 2; k++) {
        put(&b, 8, 0);
        put(&b, 8, 0);
        put(&b, 8, 1u << 20);
        put(&b, 8, UTC0_NS - 512000000ull * (1 - k));
    }
    metric_write("hbm.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select timestampNs from HBM", "1700000000000000000");
    assert_report("hbm", "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,31.25,0.0\n0,0,31.25,\n");
}

static void ddr_sums_what_all_masters_did(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(4, "{}");
    for (unsigned k = 0; k < 3; k++)
        for (unsigned event = 0; event < 2; event++) {
            put(&b, 4, 200000 + 100000 * k);
            put(&b, 4, 1000000 * (k + 1) + 10 * event);
            put(&b, 4, event);
            put(&b, 4, 0);
            put(&b, 4, UINT32_MAX);
        }
    uint64_t of_one_master[] = {400000, 12345, 0, 0, 7};
    for (int i = 0; i < 5; i++) put(&b, 4, of_one_master[i]);
    metric_write("ddr.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("ddr", "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,559.489,559.491\n");
    assert_query("select * from DDR where timestampNs = 1700000000300000000",
                 "0|1700000000300000000|160000000|160001600");
    assert_true(timeline_has("\"name\":\"DDR\""));
    assert_true(timeline_has("\"Read(MB/s)\":152.587890625"));
}

static void llc_events_become_hits_and_throughput(void **state)
{
    (void)state;
    static const uint32_t codes[] = {0x00, 0x01, 0x02, 0x13, 0x20, 0x22, 0x34, 0x36, 0x77};
    struct metric_bytes b = {.n = 0};
    metric_device(5, SAMPLE);
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
            put(&b, 8, 200000 + 100000 * k);
            put(&b, 8, 1000 * (k + 1) + 100 * i);
            put(&b, 4, codes[i]);
            put(&b, 4, 0);
        }
    put(&b, 8, 200000);
    put(&b, 8, 1);
    put(&b, 8, 9ull << 32); /* a part that the chip does not have */
    metric_write("llc.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query(
        "select l.llcId, l.timestampNs / 1000, l.hitRate, s.value from LLC l join STRING_IDS s on s.id = l.mode "
        "order by 2 limit 1",
        "0|1700000000300000|190.0|read");
    assert_true(timeline_has("\"name\":\"LLC 0 Read/Hit Rate\""));
    assert_true(timeline_has("\"Throughput(MB/s)\":160.156"));
    char *report = metric_read(metric_find("mindstudio_profiler_output/%s_2*.csv", "llc_read_write"));
    assert_non_null(strstr(report, "\n0,read,Average,"));
    assert_null(strstr(report, ",9,"));
    free(report);
}

static void llc_of_an_unknown_mode_is_not_shown(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, "{\"llc_profiling\":\"sideways\"}");
    for (int i = 0; i < 6; i++) put(&b, 4, 0);
    metric_write("llc.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("llc_read_write", NULL);
    assert_query("select * from LLC", NULL);
}

#define PERF(count, event)  "     0.100000000   " count " hisi_l3c0_0/" event "/ (100.00%)\n"
#define PERF2(count, event) "     0.200000000   " count " hisi_l3c0_0/" event "/\n"

static void perf_lines_become_bandwidth(void **state)
{
    (void)state;
    metric_device(0, "{\"llc_profiling\":\"bandwidth\"}");
    metric_text("llc.data.0.slice_0",
                "# started on Mon Jul  1\n\n" PERF("100000", "read_allocate") PERF("200000", "read_noallocate")
                    PERF("300000", "read_hit") PERF("<not counted>", "write_allocate")
                        PERF("1", "cycles") "gibberish\n" PERF2("100000", "read_allocate")
                            PERF2("200000", "read_noallocate") PERF2("150000", "read_hit"));
    assert_int_equal(metric_export(), 1);
    assert_report("llc_bandwidth", "Device_id,Metric,l3c_rd,l3c_wr\n0,BandWidth(MB/s),366.211,0.0\n0,Hit_Rate(%),75.0,"
                                   "0.0\n0,Hit_BandWidth(MB/s),274.658,0.0\n");
    assert_true(
        timeline_has("\"BandWidth(MB/s)\":183.105469,\"Hit Rate(%)\":100.0,\"Hit BandWidth(MB/s)\":183.105469"));
    assert_true(timeline_has("LLC Bandwidth"));
    assert_false(timeline_has("LLC of"));
}

static void perf_lines_become_capacity_per_core(void **state)
{
    (void)state;
    metric_metadata(DEVICE, ".0", 0, "", "\"ctrl_cpu\":\"0,1\",\"ai_cpu\":\"2,3,77\",",
                    "{\"llc_profiling\":\"capacity\"}");
    metric_text("llc.data.0.slice_0", PERF("1024", "dsid0") PERF("2048", "dsid1") PERF("16", "dsid2")
                                          PERF("99", "dsid99") PERF2("1024", "dsid0"));
    assert_int_equal(metric_export(), 0);
    assert_report("llc_ctrlcpu",
                  "Device_id,Metric,CPU0(KB),CPU1(KB),Total(KB)\n0,Used Capacity of LLC,128.0,128.0,256.0"
                  "\n");
    assert_report("llc_aicpu", "Device_id,Metric,CPU0(KB),CPU1(KB),Total(KB)\n0,Used Capacity of LLC,1.0,0.0,1.0\n");
    assert_report("llc_bandwidth", NULL);
    assert_true(timeline_has("LLC of Ctrl CPU"));
    assert_true(timeline_has("\"Capacity(MB)\":0.0625"));
}

static void memory_points(struct metric_bytes *b)
{
    uint64_t records[][4] = {{200000, 0, 1048576, 2097252}, {200000, 1, 1048000, 0}, {200000, 9, 0, 1024}};
    for (int i = 0; i < 3; i++) {
        put(b, 4, records[i][0]);
        put(b, 4, records[i][1]);
        put(b, 8, 0);
        put(b, 8, records[i][2]);
        put(b, 8, records[i][3]);
    }
}

static void memory_of_device_and_program(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, "{}");
    memory_points(&b);
    metric_write("npu_mem.data.0.slice_0", &b);
    metric_write("npu_mem.app.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
#define ROWS                                                                                                           \
    "0,APP,1024,2048,3072,1700000000300000.000\t\n0,Device,1023,0,1023,1700000000300000.000\t\n"                       \
    "0,Unknown,0,1,1,1700000000300000.000\t\n"
    assert_report("npu_mem", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n" ROWS ROWS);
    assert_query(
        "select s.value, n.ddr, n.hbm from NPU_MEM n join STRING_IDS s on s.id = n.type where n.type <> 9 limit 2",
        "app|1048576|2097252;device|1048000|0");
    assert_true(timeline_has("\"name\":\"APP/HBM\""));
    assert_true(timeline_has("\"KB\":2048.09765625"));
}

static void memory_has_decimals_where_the_scripts_write_it(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(1, "{}");
    memory_points(&b);
    metric_write("npu_mem.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("npu_mem",
                  "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n"
                  "0,APP,1024.0,2048.098,3072.098,1700000000300000.000\t\n"
                  "0,Device,1023.438,0.0,1023.438,1700000000300000.000\t\n0,,0.0,1.0,1.0,1700000000300000.000\t\n");
}

static void modules(struct metric_bytes *b)
{
    uint64_t records[][3] = {{7, 100020000000, 2048}, {3, 100020000000, UINT64_MAX}, {99, 100020000000, 1536}};
    for (int i = 0; i < 3; i++) {
        put(b, 8, records[i][0]);
        put(b, 8, records[i][1]);
        put(b, 8, records[i][2]);
    }
}

static void memory_of_components_by_component(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, "{}");
    modules(&b);
    metric_write("npu_module_mem.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("npu_module_mem", "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n"
                                    "0,HCCL,1700000000300000.000\t,18014398509481983,NPU:0\n"
                                    "0,RUNTIME,1700000000300000.000\t,2,NPU:0\n"
                                    "0,Unknown,1700000000300000.000\t,1,NPU:0\n");
    assert_query("select moduleId, totalReserved from NPU_MODULE_MEM", "3|-1;7|2048;99|1536");
}

static void memory_of_components_where_the_scripts_write_it(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(4, "{}");
    modules(&b);
    metric_write("npu_module_mem.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("npu_module_mem", "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n"
                                    "0,HCCL,1700000000300000.000\t,-1,NPU:0\n"
                                    "0,RUNTIME,1700000000300000.000\t,2.0,NPU:0\n"
                                    "0,other,1700000000300000.000\t,1.5,NPU:0\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hbm_is_the_rate_since_the_sample_before),
        TEST(hbm_of_one_time_has_no_rate_and_shows_nothing),
        TEST(hbm_that_was_sampled_in_one_direction_has_empty_cells_for_the_other),
        TEST(hbm_of_layout_2_has_its_own_times),
        TEST(what_was_sampled_before_the_collection_is_only_in_the_report),
        TEST(ddr_sums_what_all_masters_did),
        TEST(llc_events_become_hits_and_throughput),
        TEST(llc_of_an_unknown_mode_is_not_shown),
        TEST(perf_lines_become_bandwidth),
        TEST(perf_lines_become_capacity_per_core),
        TEST(memory_of_device_and_program),
        TEST(memory_has_decimals_where_the_scripts_write_it),
        TEST(memory_of_components_by_component),
        TEST(memory_of_components_where_the_scripts_write_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
