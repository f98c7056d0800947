/* Metrics of links and networks, and of the engines for pictures: worked examples and odd lines. */
#include "metric_prof.h"

static void hccs_rates_are_between_lines(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("hccs.data.0.slice_0",
                "time(ns)  txByte rxByte\n500200000000: 1000000 1000000\n500300000000: 105857600 "
                "53428800\n500400000000: 315572800 158286400\n500500000000: 630145600 315572800\n");
    assert_int_equal(metric_export(), 0);
    assert_report("hccs", "Device_id,Mode,Max,Min,Average\n0,Tx (MB/s),2000.0,1000.0,1500.0\n"
                          "0,Rx (MB/s),1000.0,500.0,750.0\n");
    assert_query("select * from HCCS",
                 "0|1700000000400000000|1048576000|524288000;0|1700000000500000000|2097152000|1048576000");
    assert_true(timeline_has("\"Tx(MB/s)\":2000.0"));
}

static void hccs_counters_that_fell_give_no_rate(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n500200000000: 104857600 104857600\n"
                                       "500300000000: 0 0\n500400000000: 104857600 104857600\n1 2\nnonsense here 1\n");
    assert_int_equal(metric_export(), 1);
    assert_report("hccs", "Device_id,Mode,Max,Min,Average\n0,Tx (MB/s),1000.0,1000.0,1000.0\n"
                          "0,Rx (MB/s),1000.0,1000.0,1000.0\n");
}

static void hccs_of_one_sample_is_zero(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n500200000000: 5 6\n");
    assert_int_equal(metric_export(), 0);
    assert_query("select * from HCCS", "0|1700000000300000000|0|0");
}

static void hccs_without_samples_shows_nothing(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n");
    assert_int_equal(metric_export(), 0);
    assert_report("hccs", NULL);
    assert_query("select * from HCCS", NULL);
    assert_false(timeline_has("HCCS"));
}

static void pcie_record(struct metric_bytes *b, uint64_t ns, const uint32_t values[21])
{
    put(b, 8, ns);
    put(b, 4, 0);
    for (int i = 0; i < 21; i++) put(b, 4, values[i]);
}

static const uint32_t pcie_first[21] = {1,    1000, 500,  2,    20, 10, 3,  30, 15, 100, 2000,
                                        1500, 0,    5000, 2500, 0,  40, 20, 0,  60, 30};

static void pcie_data(struct metric_bytes *b)
{
    uint32_t second[21], nothing[21] = {9, 1};
    memcpy(second, pcie_first, sizeof second);
    second[1] = 2000;
    second[2] = 1000;
    pcie_record(b, 500200000000, pcie_first);
    pcie_record(b, 500300000000, second);
    pcie_record(b, 500100000000, nothing);
}

static void pcie_report_of_the_latest_sample(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(5, "{}");
    pcie_data(&b);
    metric_write("pcie.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("pcie", "Device_id,Mode,Min,Max,Avg\n0,Tx_p_avg(MB/s),0.954,1907.349,953.674\n"
                          "0,Tx_np_avg(MB/s),1.907,19.073,9.537\n0,Tx_cpl_avg(MB/s),2.861,28.61,14.305\n"
                          "0,Tx_latency_avg(us),0.1,2.0,1.5\n0,Rx_p_avg(MB/s),0.0,4768.372,2384.186\n"
                          "0,Rx_np_avg(MB/s),0.0,38.147,19.073\n0,Rx_cpl_avg(MB/s),0.0,57.22,28.61\n");
    assert_query("select timestampNs, txPostMin, txPostMax, txNonpostLatencyAvg, rxPostMax, rxCplAvg from PCIE",
                 "1700000000300000000|1000000|1000000000|1500|5000000000|30000000;"
                 "1700000000400000000|1000000|2000000000|1500|5000000000|30000000");
    assert_true(timeline_has("\"name\":\"PCIe_post\",\"pid\":1264352,\"tid\":0,\"ts\":\"1700000000300000.000\",\"ph\":"
                             "\"C\",\"args\":{\"Rx\":2384.185791015625,\"Tx\":476.837158203125}"));
}

static void pcie_report_of_the_average_on_other_chips(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    metric_device(15, "{}");
    pcie_data(&b);
    metric_write("pcie.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    char *report = metric_read(metric_find("mindstudio_profiler_output/%s_2*.csv", "pcie"));
    assert_non_null(strstr(report, "\n0,Tx_p_avg(MB/s),0.954,1430.511,715.256\n"));
    free(report);
}

#define NIC_HEAD                                                                                                       \
    "timestamp bandwidth(Mb/s) rxPacket/s rxByte/s rxPackets rxBytes rxErrors rxDropped txPacket/s txByte/s "          \
    "txPackets "                                                                                                       \
    "txBytes txErrors txDropped funcId\n"

static const char port_lines[] =
    NIC_HEAD "500200000000: 25000 100 10000000 1000 100000000 0 0 200 20000000 2000 200000000 0 0 0\n"
             "500300000000: 25000 200 20000000 2000 200000000 1 2 400 40000000 4000 400000000 3 4 0 1\n"
             "500400000000: 25000 300 30000000 3000 300000000 2 4 600 60000000 6000 600000000 6 8 0\n"
             "500400000000: 0 7 8 9 10 11 12 13 14 15 16 17 18 1\n"
             "one two\n";

static void nic_ports(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("nic.data.0.slice_0", port_lines);
    assert_int_equal(metric_export(), 1);
    assert_query("select * from NIC limit 1",
                 "0|1700000000300000000|26214400000|100|10000000|1000|100000000|0|0|200|20000000|2000|200000000|0|0|0");
    assert_query("select count(*), max(funcId) from NIC", "4|1");
    assert_true(
        timeline_has("\"Rx Bandwidth Efficiency\":0.006,\"Rx Packets\":200.0,\"Rx Error Rate\":0.0005,\"Rx Dropped "
                     "Rate\":0.001"));
    assert_false(timeline_has("Port 1/")); /* without bandwidth */
    char *report = metric_read(metric_find("mindstudio_profiler_output/%s_2*.csv", "nic"));
    assert_non_null(strstr(report, "\n0,1699999000200000.000\t,25000.0,0.0,0.0,"));
    free(report);
}

static void roce_shows_its_last_slice(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("roce.data.0.slice_0", port_lines);
    metric_text("roce.data.0.slice_1", NIC_HEAD "500200000000: 0 1 2 1000 4 5 6 7 8 2000 10 11 12 3\n");
    metric_export();
    assert_query("select count(*), max(funcId) from ROCE", "1|3");
    assert_report("roce",
                  "Device_id,Timestamp(us),Bandwidth(MB/s),Rx Bandwidth efficiency(%),rxPacket/s,rxError rate(%),"
                  "rxDropped rate(%),Tx Bandwidth efficiency(%),txPacket/s,txError rate(%),txDropped rate(%),"
                  "funcId\n0,1699999000000000.000\t,0.0,0.0,1.0,0.005,0.006,0.0,7.0,0.005,0.006,3\n");
    assert_true(timeline_has("Port 3/Rx"));
}

static void netdev_counters_grow(void **state)
{
    (void)state;
    char text[2048] = "";
    size_t at = 0;
    metric_device(5, "{}");
    for (unsigned k = 3; k; k--) { /* the order of the lines does not matter */
        at += (size_t)snprintf(text + at, sizeof text - at, "%llu", 1000200000000ull + 100000000ull * k);
        for (unsigned i = 1; i <= 15; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, " %u", i == 15 && k == 3 ? 0 : i * 1000 * k);
        at += (size_t)snprintf(text + at, sizeof text - at, "\n");
    }
    metric_text("netdev_stats.data.0.slice_0", text);
    assert_int_equal(metric_export(), 0);
    assert_query(
        "select timestampNs, macTxPfcPkt, macTxByte, macTxBandwidth, nicRxByte, nicRxBandwidth from NETDEV_STATS",
        "1700000000400000000|1000|3000|30000|15000|150000;1700000000500000000|1000|3000|30000|0|0");
}

static void netdev_of_one_line_has_no_growth(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("netdev_stats.data.0.slice_0", "1000200000000 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n");
    assert_int_equal(metric_export(), 0);
    assert_query("select * from NETDEV_STATS", NULL);
}

static void dvpp_engines(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_text("dvpp.data.0.slice_0",
                "timestamp dvpp_id engine_type engine_id all_time all_frame all_utilization proc_time proc_frame "
                "proc_utilization last_time last_frame\n"
                "500:200000000 0 0 0 1000 10 20% 500 5 10% 100 1\n500:200000000 1 9 0 1000 10 20% 500 5 10% 100 1\n"
                "500:200000000 0 4 0 1000 10 20% 500 5 10% 100 1\n500:200000000 0 0 1 7 10 20% 500 5 10% 100 1\n"
                "500:300000000 0 0 0 2000 20 21% 1000 10 10% 100 1\n500:300000000 0 0 0 2000 20\n");
    assert_int_equal(metric_export(), 1);
    assert_report("dvpp",
                  "Device_id,Dvpp Id,Engine Type,Engine ID,All Time(us),All Frame,All Utilization(%)\n"
                  "0,0,VDEC,0,1000.0,10.0,21\n0,0,VDEC,1,0.0,0.0,20\n0,0,VPC,0,0.0,0.0,20\n0,1,,0,0.0,0.0,20\n");
}

static void a_chip_does_not_show_what_it_does_not_have(void **state)
{
    (void)state;
    metric_device(15, "{}"); /* no HCCS */
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n500200000000: 5 6\n");
    assert_int_equal(metric_export(), 0);
    assert_query("select * from HCCS", NULL);
}

/* Processes of script timelines are numbered as they appear, the last device first; also where nothing is left to show.
 */
static void processes_of_script_timelines_are_numbered_as_they_appear(void **state)
{
    (void)state;
    metric_device(1, "{\"hbm_profiling_events\":\"read\"}");
    metric_metadata("PROF_1/device_1/", ".1", 1, "", "", "{}");
    metric_text("hbm.data.0.slice_0", "012345678901234567890123");
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n");
    scratch_text("PROF_1/device_1/data/hccs.data.1.slice_0", "time(ns)  txByte rxByte\n500200000000: 5 6\n");
    assert_int_equal(metric_export(), 0);
    assert_true(
        timeline_has("{\"name\":\"process_sort_index\",\"pid\":1264257,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":"
                     "20}}")); /* HCCS of device 1 */
    assert_true(
        timeline_has("\"pid\":1264288,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":21}")); /* HBM of device 0 */
    assert_true(
        timeline_has("\"pid\":1264320,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":22}")); /* HCCS of device 0 */
}

/* In all other timelines every device has the process as soon as one shows something. */
static void processes_are_named_for_all_devices(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_metadata("PROF_1/device_1/", ".1", 5, "", "", "{}");
    metric_text("hccs.data.0.slice_0", "time(ns)  txByte rxByte\n500200000000: 5 6\n");
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"pid\":1264256,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"HCCS\"}"));
    assert_true(timeline_has("\"pid\":1264257,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"HCCS\"}"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hccs_rates_are_between_lines),
        TEST(hccs_counters_that_fell_give_no_rate),
        TEST(hccs_of_one_sample_is_zero),
        TEST(hccs_without_samples_shows_nothing),
        TEST(pcie_report_of_the_latest_sample),
        TEST(pcie_report_of_the_average_on_other_chips),
        TEST(nic_ports),
        TEST(roce_shows_its_last_slice),
        TEST(netdev_counters_grow),
        TEST(netdev_of_one_line_has_no_growth),
        TEST(dvpp_engines),
        TEST(a_chip_does_not_show_what_it_does_not_have),
        TEST(processes_of_script_timelines_are_numbered_as_they_appear),
        TEST(processes_are_named_for_all_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
