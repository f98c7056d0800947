/* Metrics of the host and the samples of STARS: worked examples, resets, odd lines. The host's clock counts 10 ns; raw
 * time 1000.3 s is UTC0 + 300000 µs. */
#include "metric_prof.h"

#define HOST_INFO_KEYS                                                                                                 \
    "\"cpuNums\":4,\"sysClockFreq\":100,\"memoryTotal\":1000000,\"pid_name\":\"python3\","                             \
    "\"netCard\":[{\"netCardName\":\"eth0\",\"speed\":1000},{\"netCardName\":\"down0\",\"speed\":-1}],"

static void host(const char *sample)
{
    metric_metadata(HOST, "", 5, HOST_INFO_KEYS, "", sample);
}

static void host_text(const char *name, const char *text)
{
    char *path = mem_printf(HOST "data/%s", name);
    scratch_text(path, text);
    free(path);
}

static void memory_is_what_is_resident(void **state)
{
    (void)state;
    host("{}");
    host_text("host_mem.data.slice_0", "1000200000000 9 25000 1\n1000300000000 9 50000 1 1 0 9 0\n"
                                       "1000400000000 9 75000 1\n");
    assert_int_equal(metric_export(), 0);
    assert_report("host_mem_usage", "Device_id,Total Memory(KB),Peak Used Memory(KB),Recommend Memory(KB)\n"
                                    "host,1000000,300000.0,375000.0\n");
    assert_query("select * from HOST_MEM_USAGE", "1700000000200000000|20;1700000000300000000|30");
    assert_true(timeline_has("\"name\":\"Memory Usage\""));
}

static void stat_line(char *out, size_t size, unsigned thread, unsigned utime, unsigned cpu)
{
    size_t at = strlen(out);
    at += (size_t)snprintf(out + at, size - at, "%u (a) S 1 0 0 0 0 0 0 0 0 0 %u 0", thread, utime);
    for (int i = 15; i < 38; i++) at += (size_t)snprintf(out + at, size - at, " 0");
    snprintf(out + at, size - at, " %u 0\n", cpu);
}

/* Three samples 0.1 s apart, 10 ticks: thread 11 on processor 0 works 5, then 9; 12 and 13 share processor 1 and work
 * as much each, so that it comes out at 180 % and is left out. */
static void a_processor_above_all_of_its_time_is_left_out(void **state)
{
    (void)state;
    static const char *const times[] = {"time 1000200000000\n50.00 1\n", "time 1000300000000\n50.10 1\n",
                                        "time 1000400000000\n50.20 1\n"};
    static const unsigned ticks[] = {0, 5, 14};
    char text[2048] = "";
    for (int i = 0; i < 3; i++) {
        strcat(text, times[i]);
        stat_line(text, sizeof text, 11, ticks[i], 0);
        stat_line(text, sizeof text, 12, ticks[i], 1);
        stat_line(text, sizeof text, 13, ticks[i], 1);
    }
    host("{}");
    host_text("host_cpu.data.slice_0", text);
    assert_int_equal(metric_export(), 0);
    assert_report("host_cpu_usage",
                  "Device_id,Total Cpu Numbers,Occupied Cpu Numbers,Recommend Cpu Numbers\nhost,4,2,2\n");
    assert_query("select * from CPU_USAGE",
                 "1700000000200000000|0|50;1700000000300000000|0|90;1700000000200000000|1|100");
    assert_true(timeline_has("\"name\":\"CPU Avg\""));
    assert_true(timeline_has("\"Usage(%)\":37.5}"));
    assert_true(timeline_has("\"Usage(%)\":67.5}"));
}

static void an_absurd_number_of_processors_is_none(void **state)
{
    (void)state;
    char text[1024] = "time 1000200000000\n50.00 1\n";
    stat_line(text, sizeof text, 11, 0, 0);
    strcat(text, "time 1000300000000\n50.10 1\n");
    stat_line(text, sizeof text, 11, 5, 0);
    metric_metadata(HOST, "", 5, "\"cpuNums\":\"1e300\",\"sysClockFreq\":100,", "", "{}");
    host_text("host_cpu.data.slice_0", text);
    assert_int_equal(metric_export(), 0);
    assert_report("host_cpu_usage", "Device_id,Total Cpu Numbers,Occupied Cpu Numbers,Recommend Cpu Numbers\n"
                                    "host,0,1,1\n");
}

static void disk_rates_have_units(void **state)
{
    (void)state;
    host("{\"host_disk_freq\":50}");
    host_text("host_disk.data.slice_0", "start_time 1000200000000\nTotal DISK READ : 0.00 B/s\n"
                                        "1 7 be/4 root 10.5 K/s 1.25 M/s 0.00 % 0.5 % a\n"
                                        "2 7 be/4 root 2048 B/s 0 K/s 0.00 % 0.5 % a\n"
                                        "3 7 be/4 root 3 K/s 4 K/s ?unavailable?\n");
    assert_int_equal(metric_export(), 0);
    assert_report("host_disk_usage",
                  "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk Write(KB/s),Recommend Disk "
                  "Write(KB/s)\nhost,10.5,13.125,1280.0,1600.0\n");
    assert_query("select * from HOST_DISK_USAGE", "1700000000200000000|10752|1310720|0.5;"
                                                  "1700000000220000000|2048|0|0.5;1700000000240000000|3072|4096|0");
}

static void network_counts_cards_with_a_speed(void **state)
{
    (void)state;
    host("{}");
    host_text("host_network.data.slice_0",
              "time 1000200000000\n eth0: 1000 1 0 0 0 0 0 0 1000 1 0 0\n down0: 1 1 0 0 0 0 0 0 1 1 0 0\n"
              "time 1000300000000\n eth0: 4001000 1 0 0 0 0 0 0 5001000 1 0 0\n down0: 9 1 0 0 0 0 0 0 9 1 0 0\n"
              "time 1000400000000\n eth0: 0 1 0 0 0 0 0 0 0 1 0 0\n");
    assert_int_equal(metric_export(), 0);
    assert_query("select timestampNs, usage, round(speed) from HOST_NETWORK_USAGE",
                 "1700000000200000000|72|90000000.0"); /* a counter that fell gives nothing */
}

static void calls_begin_with_the_collection(void **state)
{
    (void)state;
    host("{}");
    host_text("host_syscall.data.slice_0", "5000.000 ( 0.250 ms): python/4321 read(fd: 3) = 1\nLOST 3 events!\n"
                                           "5001.000 (         ): python/4321 futex(x) ...\n"
                                           "5002.000 ( 1.500 ms): python/4322 futex(uaddr: 1) = 0\n"
                                           "5003.000 ( 9.000 ms): python/4321 getpid() = 4\n");
    host_text("host_pthreadcall.data.slice_0", "[pid 4321] 7.000100 a->pthread_mutex_lock(1) = 0 <0.000012>\n"
                                               "[pid 4321] 7.000200 a->pthread_once(1) = 0 <0.000012>\n"
                                               "[pid 4321] 7.000300 <... pthread_join resumed> ) = 0 <0.000100>\n");
    assert_int_equal(metric_export(), 0);
    assert_query("select value, globalTid & 4294967295, startNs - 1700000000000000000, endNs - startNs from OSRT_API "
                 "join STRING_IDS on id = name",
                 "pthread_mutex_lock|4321|0|12000;pthread_join|4321|200000|100000;read|4321|0|250000;"
                 "futex|4322|2000000|1500000");
    assert_true(timeline_has("\"name\":\"OS Runtime API\""));
}

static void system_memory_counts_whole_samples(void **state)
{
    (void)state;
    host("{}");
    host_text("host_sys_mem.data.slice_0",
              "TimeStamp:1\nMemTotal: 1000 kB\nMemFree: 10 kB\n\nTimeStamp:2\nMemTotal: 1001 kB\n"
              "MemFree: 11 kB\n\nTimeStamp:3\nMemTotal: 9 kB\n");
    host_text("77-Memory.data.slice_0",
              "TimeStamp:1\n10 20 30 4 5 6 7\nProcessName:init\n\n11 21 31 4 5 6 7\nProcessName:init\n\n");
    assert_int_equal(metric_export(), 0);
    assert_report("sys_mem",
                  "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share Memory(kB),Commit "
                  "Limit(kB),Committed AS(kB),Huge Pages Total(pages),Huge Pages Free(pages)\n"
                  "host,1000,10,0,0,0,0,0,0,0\n");
    assert_report("process_mem",
                  "Device_id,PID,Name,Size(pages),Resident(pages),Shared(pages)\nhost,77,init,10,20,30\n");
}

/* ---- operator memory ----------------------------------------------------------------------------------------------
 */

static void memory_event(struct metric_bytes *b, uint64_t ticks, uint64_t address, int64_t size, uint64_t allocated)
{
    size_t begin = b->n;
    put(b, 2, 0x5A5A), put(b, 2, 10000), put(b, 4, 6), put(b, 4, 7), put(b, 4, 48), put(b, 8, ticks);
    put(b, 8, address), put(b, 8, (uint64_t)size), put(b, 8, 11), put(b, 8, allocated), put(b, 8, 4096), put(b, 4, 0);
    while (b->n < begin + 256) put(b, 1, 0);
}

static void releases_find_their_allocations(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    memory_event(&b, 100010000000, 1, 2048, 2048); /* raw 1000.2 s */
    memory_event(&b, 100015000000, 2, 1000, 3048);
    memory_event(&b, 100020000000, 1, -2048, 1000);
    memory_event(&b, 100025000000, 9, -512, 488); /* was never allocated */
    host("{}");
    scratch_text(HOST "data/unaging.additional.hash_dic.slice_0", "11:MatMul_op\n");
    scratch_bytes(HOST "data/aging.additional.task_memory_info.slice_0", b.at, b.n);
    assert_int_equal(metric_export(), 0);
    assert_report("operator_memory",
                  "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),Allocation "
                  "Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB),Device\n"
                  "host,MatMul_op,2.0,1700000000200000.000\t,100000.000,2.0,4.0,0.977,4.0,NPU:0\n"
                  "host,MatMul_op,0.977,1700000000250000.000\t,0.000,2.977,4.0,0.0,0.0,NPU:0\n");
    assert_query("select count(*), sum(size) from NPU_OP_MEM", "4|5608");
}

/* ---- samples of STARS ---------------------------------------------------------------------------------------------
 */

static void stars_head(struct metric_bytes *b, unsigned kind, uint64_t ticks, unsigned at_18)
{
    put(b, 2, kind), put(b, 2, 0x6BD3), put(b, 4, 0), put(b, 8, ticks), put(b, 2, 0), put(b, 2, at_18);
}

static void stars_end(struct metric_bytes *b)
{
    while (b->n % 64) put(b, 1, 0);
}

static void sio_rates_are_of_the_time_between_samples(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    for (int i = 0; i < 2; i++) {
        stars_head(&b, 25, 25010000000 + 5000000 * (uint64_t)i, 0); /* 0.1 s apart */
        put(&b, 4, 0), put(&b, 4, 0), put(&b, 4, 0);
        put(&b, 4, 1048576);
        stars_end(&b);
    }
    metric_device(5, "{}");
    metric_write("stars_soc_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"name\":\"req_rx\""));
    assert_true(timeline_has("{\"die 0\":10.0}"));
    assert_query("select value, rxReq, txDat from SIO join STRING_IDS on id = name", "die 0|10485760|0");
}

/* The first sample is before what 64 bits of ns hold, as seen from the reference count, the second one behind it. */
static void sio_samples_of_absurd_times_have_some_rate(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    for (int i = 0; i < 2; i++) {
        stars_head(&b, 25, i ? UINT64_MAX : 0, 0);
        stars_end(&b);
    }
    metric_device(5, "{}");
    scratch_text(DEVICE "dev_start.log", "clock_monotonic_raw: 500000000000\ncntvct: 9000000000000000000\n");
    metric_write("stars_soc_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select count(*) from SIO", "1");
}

static void acc_pmu_shows_the_highest_level(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    for (unsigned acc = 0; acc < 2; acc++) {
        stars_head(&b, 26, 25010000000, acc);
        put(&b, 4, 0), put(&b, 4, 0), put(&b, 4, 0);
        put(&b, 8, 10 + acc), put(&b, 8, 20 + acc), put(&b, 8, 30 + acc), put(&b, 8, 40 + acc);
        stars_end(&b);
    }
    metric_device(5, "{}");
    metric_write("stars_soc_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select accId, readBwLevel, writeBwLevel, readOstLevel, writeOstLevel from ACC_PMU",
                 "0|20|10|40|30;1|21|11|41|31");
    assert_true(timeline_has("{\"value\":41}"));
    assert_false(timeline_has("{\"value\":40}"));
}

static void levels_of_the_soc_are_bit_fields(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    stars_head(&b, 28, 25010000000, 0);
    put(&b, 4, 0), put(&b, 4, 0), put(&b, 4, 0);
    put(&b, 2, 0x51);
    stars_end(&b);
    metric_device(5, "{}");
    metric_write("stars_soc_profile.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select l2BufferBwLevel, mataBwLevel from SOC_BANDWIDTH_LEVEL", "1|10");
}

static void qos_names_its_streams(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    put(&b, 8, 0), put(&b, 8, 0), put(&b, 8, 25010000000);
    put(&b, 4, 100), put(&b, 4, 5000);
    stars_end(&b);
    metric_device(5, "{\"qosEvents\":\"CPU,DVPP\"}");
    metric_write("qos.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_query("select value, bandwidth, dieId from QOS join STRING_IDS on id = eventName",
                 "QoS CPU|104857600|-1;QoS DVPP|5242880000|-1"); /* more than 32 bits hold */
}

static void l2_rates_need_their_events(void **state)
{
    (void)state;
    struct metric_bytes b = {.n = 0};
    put(&b, 2, 0), put(&b, 2, 3), put(&b, 2, 8), put(&b, 2, 0);
    put(&b, 8, 100), put(&b, 8, 20), put(&b, 8, 5), put(&b, 8, 40);
    for (int i = 0; i < 4; i++) put(&b, 8, 0);
    metric_device(4, "{\"l2CacheTaskProfilingEvents\":\"0x78,0x79,0x6a,0x71\"}");
    metric_write("l2_cache.data.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_report("l2_cache", "Device_id,Stream Id,Task Id,Hit Rate,Victim Rate\n0,3,8,0.041667,0.333333\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_is_what_is_resident),
        TEST(a_processor_above_all_of_its_time_is_left_out),
        TEST(disk_rates_have_units),
        TEST(network_counts_cards_with_a_speed),
        TEST(calls_begin_with_the_collection),
        TEST(system_memory_counts_whole_samples),
        TEST(releases_find_their_allocations),
        TEST(sio_rates_are_of_the_time_between_samples),
        TEST(acc_pmu_shows_the_highest_level),
        TEST(levels_of_the_soc_are_bit_fields),
        TEST(sio_samples_of_absurd_times_have_some_rate),
        TEST(an_absurd_number_of_processors_is_none),
        TEST(qos_names_its_streams),
        TEST(l2_rates_need_their_events),
    };
    return cmocka_run_group_tests_name("metrics of hosts and STARS", tests, NULL, NULL);
}
