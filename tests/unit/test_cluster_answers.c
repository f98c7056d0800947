/* Questions about a cluster, from the bytes of a collection to the files of the answers: operations by type, queues of
 * training data, usage of hosts, communication beside computation. */
#include "host_fixture.h"
/* they come before cmocka.h */
#include "device_prof.h"
#include "metric_prof.h"

#define NOT_GIVEN INT64_MIN

enum { H_RECEIVE = 40, H_ALL_REDUCE = 41, GE_COMMUNICATION = 9, MODEL = 3 };

/* ---- asking ---- */

static void import_cluster(int status)
{
    struct npuprof_options options;
    struct npuprof_report *report;
    npuprof_options_init(&options);
    assert_int_equal(npuprof_import_cluster(scratch, &options, &report), status);
    npuprof_report_free(report);
}

/* What the lines of the answer say is wrong, "" = nothing; free() it. */
static char *ask(int status, int type, int64_t id, int64_t model_id, int64_t iteration_id)
{
    struct npuprof_question q = {
        .data_type = type,
        .has_id = id != NOT_GIVEN,
        .has_model_id = model_id != NOT_GIVEN,
        .has_iteration_id = iteration_id != NOT_GIVEN,
        .id = id,
        .model_id = model_id,
        .iteration_id = iteration_id,
    };
    struct npuprof_answer *answer;
    const struct npuprof_answer_line *lines;
    char *wrong = mem_printf("%s", "");
    assert_int_equal(npuprof_ask(scratch, &q, &answer), status);
    size_t n = npuprof_answer_lines(answer, &lines);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lines[i].failed, *lines[i].info != '\0');
        assert_int_equal(lines[i].failed, *lines[i].data == '\0');
        if (!lines[i].failed) continue;
        free(wrong);
        wrong = mem_printf("%s", lines[i].info);
    }
    npuprof_answer_free(answer);
    return wrong;
}

static void assert_wrong(int status, int type, int64_t id, int64_t model_id, int64_t iteration_id, const char *text)
{
    char *wrong = ask(status, type, id, model_id, iteration_id);
    if (!strstr(wrong, text)) fail_msg("'%s' is not in '%s'", text, wrong);
    free(wrong);
}

static void assert_fine(int type, int64_t id, int64_t model_id, int64_t iteration_id)
{
    char *wrong = ask(NPUPROF_OK, type, id, model_id, iteration_id);
    assert_string_equal(wrong, "");
    free(wrong);
}

/* Is the file of an answer exactly that? NULL = it is not there. */
static void assert_answer(const char *name, const char *expected)
{
    char *path = mem_printf("%s/query/%s", scratch, name);
    if (!expected) {
        assert_int_not_equal(access(path, F_OK), 0);
        free(path);
        return;
    }
    char *text = metric_read(path);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- queues ---- */

static const char host_lines[] = "1 16 1 2 1000\n0 0 1 5 1001\n0 1 1 7 1002\n0 2 1 12 1003\n"
                                 "1 16 2 0 2000\n0 0 2 -1 2001\n0 1 2 1 2002\n0 2 2 0 2003\n"
                                 "0 9 2 100 2004\n7 0 2 100 2005\n"
                                 "nothing of that\n1 2 3 4\n1 2 3 99999999999999999999 5\n";
#define WAIT(size, start, end) "Node:GetNext_dequeue_wait,queue size:" size ",Run start:" start ",Run end:" end "\n"

static void make_queues(const char *framework, const char *info)
{
    metric_metadata(DEVICE, ".0", 1, info, "", "{}");
    char *name = mem_printf("Framework.%s.0.slice_0", framework);
    metric_text(name, host_lines);
    free(name);
    static const char waits[] = WAIT("1", "100", "150") "\0" WAIT("0", "200", "201") "\0" WAIT("0", "300", "303") "\0";
    scratch_bytes(DEVICE "data/DATA_PREPROCESS.AICPUMI.0.slice_0", waits, sizeof waits - 1);
}

#define HOST_QUEUE(mode)                                                                                               \
    "\"host_total_info\": {\"step_count\": 2, \"empty_queue\": 1, \"avg_get_time\": 2.0, \"avg_send_time\": 4.0, "     \
    "\"avg_total_time\": 6.0, \"mode\": " mode "}, \"host_data_list\": [{\"step\": 1, \"get_time\": 5, "               \
    "\"send_time\": 7, \"total_time\": 12, \"queue_size\": 2}, {\"step\": 2, \"get_time\": -1, \"send_time\": 1, "     \
    "\"total_time\": 0, \"queue_size\": 0}]"

static void queues_of_host_and_device_are_told_step_by_step(void **state)
{
    (void)state;
    make_queues("device_queue", "\"rank_id\":7,");
    import_cluster(NPUPROF_OK);
    assert_fine(3, 7, NOT_GIVEN, NOT_GIVEN);
    assert_answer("data_preparation_7.json",
                  "{" HOST_QUEUE("1") ", \"total_info\": {\"step_count\": 2, \"empty_queue\": 1, \"total_time\": 54.0, "
                                      "\"avg_time\": 27.0}, \"data_list\": [{\"step\": 1, \"duration\": 51.0, "
                                      "\"queue_size\": 1}, {\"step\": 2, \"duration\": 3.0, \"queue_size\": 0}]}");
}

static void without_sink_mode_there_is_no_queue_on_the_device(void **state)
{
    (void)state;
    make_queues("dataset_iterator", "");
    import_cluster(NPUPROF_OK);
    assert_fine(3, 0, 5, 6);
    assert_answer("data_preparation_0.json", "{" HOST_QUEUE("0") "}");
}

static void without_a_queue_on_the_host_every_wait_is_a_step(void **state)
{
    (void)state;
    struct metric_bytes record = {0};
    metric_device(5, "{}");
    put(&record, 2, 0x5A5A);
    put(&record, 2, 6000);
    put(&record, 4, 3);
    record.n = 24;
    put(&record, 8, 1);
    put(&record, 8, 4);
    put(&record, 8, 1000);
    put(&record, 8, 1500);
    record.n = 256;
    metric_write("aicpu.data.0.slice_0", &record);
    import_cluster(NPUPROF_OK);
    assert_fine(3, 0, NOT_GIVEN, NOT_GIVEN);
    assert_answer("data_preparation_0.json", "{\"total_info\": {\"step_count\": 1, \"empty_queue\": 0, \"total_time\": "
                                             "500.0, \"avg_time\": 500.0}, \"data_list\": [{\"step\": 1, \"duration\": "
                                             "500.0, \"queue_size\": 4}]}");
}

static void questions_about_queues_that_have_no_answer(void **state)
{
    (void)state;
    metric_device(5, "{}");
    assert_wrong(NPUPROF_NO_CLUSTER, 3, 0, NOT_GIVEN, NOT_GIVEN, "import --cluster");
    import_cluster(NPUPROF_OK);
    assert_wrong(NPUPROF_FAILED, 3, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, "--id");
    assert_wrong(NPUPROF_OK, 3, 5, NOT_GIVEN, NOT_GIVEN, "no rank or device 5");
    assert_wrong(NPUPROF_OK, 3, 0, NOT_GIVEN, NOT_GIVEN, "PROF_1/device_0 has no data of queues");
    assert_answer("data_preparation_0.json", NULL);
}

/* ---- usage of the host ---- */

#define AT_SECOND(n) "TimeStamp:100" n "000000000\nIndex:0\n"

static const char host_cpu[] = AT_SECOND("0") "cpu 10 1 20 60 10 0 0 0 0 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n\n" AT_SECOND(
    "2") "cpu 20 1 20 60 0 0 0 0 0 0\n\ncpu 1 2 3\n";
static const char host_mem[] = AT_SECOND("0") "MemTotal:  4000 kB\nMemFree: 1000 kB\n\n" AT_SECOND(
    "1") "MemTotal:  4000 kB\nMemFree: 4000 kB\n\n" AT_SECOND("2") "MemFree: 4000 kB\n\n";

/* pid, user and system time. */
#define STAT(pid, user, sys) #pid " (n) S 3 4 5 6 7 8 9 10 11 12 " #user " " #sys " 0 0 0\nProcessName:n\ncpu 100\n\n"

static void make_usage(const char *sample)
{
    metric_device(5, "{}");
    metric_metadata(HOST, "", 5, "\"cpuNums\":8,\"rank_id\":3,", "", sample);
    scratch_text(HOST "data/host_sys_cpu.data.slice_0", host_cpu);
    scratch_text(HOST "data/host_sys_mem.data.slice_0", host_mem);
    scratch_text(HOST "data/1234-CpuUsage.data.slice_0",
                 AT_SECOND("0") STAT(1234, 0, 0) AT_SECOND("1") STAT(1234, 30, 10));
    scratch_text(HOST "data/77-CpuUsage.data.slice_0", AT_SECOND("0") STAT(77, 9, 9));
    scratch_text(HOST "data/1234-Memory.data.slice_0", AT_SECOND("0") "2561 512 255 0 0 0 0\nProcessName:n\n\n");
}

static void usage_of_processors_and_memory_is_told_sample_by_sample(void **state)
{
    (void)state;
    make_usage("{\"host_cpu_profiling_sampling_interval\":20,\"host_mem_profiling_sampling_interval\":\"50\"}");
    import_cluster(NPUPROF_OK);
    assert_fine(8, 0, 4, NOT_GIVEN);
    assert_answer("host_sys_cpu_usage_0_4.json",
                  "{\"info\": {\"cpu_nums\": 8, \"sampling_interval\": 20, \"average_user_usage\": 15.0, "
                  "\"average_sys_usage\": 20.0, \"average_io_usage\": 5.0, \"average_idle_usage\": 60.0}, \"data\": "
                  "[{\"user_usage\": 10.0, \"sys_usage\": 20.0, \"io_usage\": 10.0, \"idle_usage\": 60.0, "
                  "\"timestamp\": 0.0}, {\"user_usage\": 20.0, \"sys_usage\": 20.0, \"io_usage\": 0.0, "
                  "\"idle_usage\": 60.0, \"timestamp\": 2.0}]}");
    assert_answer("host_pid_cpu_usage_0_4.json",
                  "{\"info\": {\"sampling_interval\": 20, \"cur_pid\": 1234, \"all_pids\": [77, 1234], "
                  "\"average_user_usage\": 75.0, \"average_sys_usage\": 25.0}, \"data\": [{\"user_usage\": 0.0, "
                  "\"sys_usage\": 0.0, \"timestamp\": 0.0}, {\"user_usage\": 75.0, \"sys_usage\": 25.0, \"timestamp\": "
                  "1.0}]}");
    assert_answer("host_sys_mem_usage_0_4.json",
                  "{\"info\": {\"sampling_interval\": 50, \"total_mem\": 4000, \"average_mem_usage\": 37.5}, \"data\": "
                  "[{\"mem_usage\": 75.0, \"timestamp\": 0.0}, {\"mem_usage\": 0.0, \"timestamp\": 1.0}]}");
    assert_answer("host_pid_mem_usage_0_4.json",
                  "{\"info\": {\"sampling_interval\": 50, \"cur_pid\": 1234, \"all_pids\": [1234]}, \"data\": "
                  "[{\"size\": 10, \"resident\": 2, \"shared\": 0, \"timestamp\": 0.0}]}");
}

static void usage_that_was_not_sampled_has_no_file(void **state)
{
    (void)state;
    metric_device(5, "{}");
    metric_metadata(HOST, "", 5, "", "", "{}");
    scratch_text(HOST "data/host_sys_mem.data.slice_0", host_mem);
    import_cluster(NPUPROF_OK);
    assert_fine(8, 0, NOT_GIVEN, NOT_GIVEN);
    assert_answer("host_sys_mem_usage_0_-1.json",
                  "{\"info\": {\"sampling_interval\": 0, \"total_mem\": 4000, \"average_mem_usage\": 37.5}, \"data\": "
                  "[{\"mem_usage\": 75.0, \"timestamp\": 0.0}, {\"mem_usage\": 0.0, \"timestamp\": 1.0}]}");
    assert_answer("host_sys_cpu_usage_0_-1.json", NULL);
}

static void questions_about_usage_that_have_no_answer(void **state)
{
    (void)state;
    metric_device(5, "{}");
    import_cluster(NPUPROF_OK);
    assert_wrong(NPUPROF_FAILED, 8, NOT_GIVEN, 1, NOT_GIVEN, "--id");
    assert_wrong(NPUPROF_OK, 8, 2, 1, NOT_GIVEN, "no rank or device 2");
    assert_wrong(NPUPROF_OK, 8, 0, 1, NOT_GIVEN, "no data of its host");
    metric_metadata(HOST, "", 5, "", "", "{}");
    assert_wrong(NPUPROF_OK, 8, 0, 1, NOT_GIVEN, "neither processors nor memory");
}

/* ---- a graph ----
 *
 * Two iterations of a model, one like the other, in ticks of 20 ns:
 *
 *     1000                                                       10000
 *     |      2000 MatMul 4000     5000 Add 6000                       |
 *     |                              5500 Receive 7500   8000 … 9000  | AllReduce                                    */

#define ITERATION 10000u

static void graph_step(struct device_prof *p, unsigned iteration, unsigned stream, unsigned task, unsigned tag,
                       uint64_t time)
{
    uint8_t rest[24] = {0};
    put64(rest, iteration);
    put64(rest + 8, MODEL);
    put16(rest + 16, stream);
    put16(rest + 18, task);
    put16(rest + 20, tag);
    add_ts_track(p, 10, time, rest, sizeof rest);
}

/* Counters are in the order 49, 4a, 4b, 4c, 4d, 4e, 4f. */
static void graph_iteration(struct device_prof *p, unsigned iteration, uint64_t at)
{
    graph_step(p, iteration, 1, 0, 0, at + 1000);
    graph_step(p, iteration, 1, 0, 2, at + 2000);
    graph_step(p, iteration, 1, 0, 3, at + 6000);
    add_run(p, 1, 10, at + 2000, at + 4000);
    add_context(p, 1, 10, 0, 0, 0, (struct counters){37000, {1000, 500}}, at + 4000);
    add_run(p, 1, 11, at + 5000, at + 6000);
    add_context(p, 1, 11, 1, 0, 0, (struct counters){18500, {0, 0, 10, 20, 30, 40, 50}}, at + 6000);
    graph_step(p, iteration, 2, 19, 10000, at + 5500);
    graph_step(p, iteration, 2, 21, 10001, at + 7500);
    graph_step(p, iteration, 2, 21, 10002, at + 8000);
    graph_step(p, iteration, 2, 23, 10003, at + 9000);
    graph_step(p, iteration, 1, 0, 4, at + 10000);
    graph_step(p, iteration, 1, 0, 1, at + 10000);
}

/* Move the files of the device into the PROF directory. */
static void graph_device(void)
{
    static const struct {
        enum input_id id;
        const char *name;
    } names[] = {
        {INPUT_STARS_SOC, "stars_soc.data.0.slice_0"},
        {INPUT_FFTS_PROFILE, "ffts_profile.data.0.slice_0"},
        {INPUT_TS_TRACK, "ts_track.data.0.slice_0"},
    };
    struct device_prof p;
    prof_start(&p);
    for (unsigned i = 1; i <= 2; i++) graph_iteration(&p, i, (i - 1) * ITERATION);
    scratch_text(DEVICE "data/empty", "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *to = mem_printf("%s/" DEVICE "data/%s", scratch, names[i].name);
        assert_int_equal(rename(p.paths[names[i].id], to), 0);
        free(to);
    }
    prof_end(&p);
}

static void graph_launch(struct fixture *f, uint64_t at, unsigned stream, unsigned task, uint64_t op, uint64_t type,
                         uint32_t ge_type)
{
    put_api(f, LEVEL_NODE, T_LAUNCH, at, at + 50, op);
    put_basic(f, at + 10, op, ge_type, type, 24);
    put_track(f, at + 20, (uint16_t)stream, task, R_AICORE, 0);
}

static void graph_host(void)
{
    static const struct {
        enum input_id id;
        const char *name;
    } names[] = {
        {INPUT_API_EVENT, "aging.api_event.data.slice_0"},
        {INPUT_TASK_TRACK, "aging.compact.task_track.slice_0"},
        {INPUT_NODE_BASIC_INFO, "aging.compact.node_basic_info.slice_0"},
    };
    const uint64_t t = 100000000000;
    struct fixture f;
    fixture_begin(&f);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, t, UINT64_MAX, MODEL, 0);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, t + 1000, UINT64_MAX, MODEL, 0);
    graph_launch(&f, t + 100, 1, 10, H_OP_A, H_MATMUL, 0);
    graph_launch(&f, t + 200, 1, 11, H_OP_B, H_ADD, 2);
    graph_launch(&f, t + 300, 2, 20, H_OP_C, H_RECEIVE, GE_COMMUNICATION);
    graph_launch(&f, t + 400, 2, 22, H_HCOM, H_ALL_REDUCE, GE_COMMUNICATION);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = mem_printf(HOST "data/%s", names[i].name);
        scratch_bytes(name, f.files[names[i].id].bytes[AGING], f.files[names[i].id].n[AGING]);
        free(name);
    }
    char *hashes = mem_printf("%s40:Receive\n41:AllReduce\n", hash_text);
    scratch_text(HOST "data/unaging.additional.hash_dic.slice_0", hashes);
    scratch_text(HOST "data/unaging.additional.type_info_dic.slice_0", type_text);
    free(hashes);
    fixture_end(&f);
}

#define ARITHMETIC                                                                                                     \
    "{\"ai_core_profiling_mode\":\"task-based\",\"ai_core_metrics\":\"ArithmeticUtilization\",\"aiv_metrics\":"        \
    "\"ArithmeticUtilization\",\"ai_core_profiling_events\":\"0x49,0x4a,0x4b,0x4c,0x4d,0x4e,0x4f\","                   \
    "\"aiv_profiling_events\":\"0x49,0x4a,0x4b,0x4c,0x4d,0x4e,0x4f\"}"

/* An old driver does not number tasks uniquely. */
static void make_graph(const char *sample, bool old_driver)
{
    metric_metadata(DEVICE, ".0", 5, "\"rank_id\":2,", "\"ai_core_num\":24,\"aiv_num\":48,\"aic_frequency\":\"1850\",",
                    sample);
    metric_metadata(HOST, "", 5, "", "", sample);
    scratch_text(DEVICE "dev_start.log.0", "clock_monotonic_raw: 500000000000\ncntvct: 1000000000000\n");
    graph_device();
    graph_host();
    if (!old_driver) return;
    char *path = mem_printf("%s/" DEVICE "info.json.0", scratch), *info = metric_read(path);
    char *version = strstr(info, "467732");
    assert_non_null(version);
    memset(version, '1', 6);
    memset(version + 1, ' ', 5);
    scratch_text(DEVICE "info.json.0", info);
    free(info);
}

static void operations_are_summed_by_type_of_operator(void **state)
{
    (void)state;
    make_graph(ARITHMETIC, false);
    import_cluster(NPUPROF_OK);
    assert_fine(2, 2, MODEL, 2);
    /* 1000 * 8192 + 500 * 16384; 20 * 128 + (30 + 10 + 40) * 64 + 50 * 32; cycles of 24 blocks at 1850 MHz */
    assert_answer("fops_2_3_2.json",
                  "[{\"total_fops_info\": {\"total_fops\": 16.39328, \"total_time\": 1.25, \"total_fops_speed\": "
                  "13.114624, \"total_op_count\": 2, \"total_fops_avg\": 8.19664}}, {\"details\": [{\"MatMul\": "
                  "{\"fops_ratio\": 99.94, \"op_count\": 1, \"fops\": 16.384}}, {\"Add\": {\"fops_ratio\": 0.06, "
                  "\"op_count\": 1, \"fops\": 0.00928}}]}]");
}

static void questions_about_operations_that_have_no_answer(void **state)
{
    (void)state;
    make_graph("{\"ai_core_metrics\":\"PipeUtilization\"}", false);
    import_cluster(NPUPROF_OK);
    assert_wrong(NPUPROF_FAILED, 2, NOT_GIVEN, MODEL, 1, "--id");
    assert_wrong(NPUPROF_FAILED, 2, 2, NOT_GIVEN, 1, "--model-id");
    assert_wrong(NPUPROF_FAILED, 2, 2, MODEL, NOT_GIVEN, "--iteration-id");
    assert_wrong(NPUPROF_FAILED, 2, 2, MODEL, 0, "--iteration-id");
    assert_wrong(NPUPROF_OK, 2, 0, MODEL, 1, "no rank or device 0");
    assert_wrong(NPUPROF_OK, 2, 2, MODEL, 3, "no iteration 3 of model 3");
    assert_wrong(NPUPROF_OK, 2, 2, MODEL, INT64_MAX, "no iteration");
    assert_wrong(NPUPROF_OK, 2, 2, MODEL, 1, "ArithmeticUtilization; here they are PipeUtilization");
    assert_answer("fops_2_3_1.json", NULL);
}

/* ---- parallelism ---- */

static void make_parallel(const char *config, bool old_driver)
{
    char *text = mem_printf("{\"config\": {%s}}", config);
    size_t half = strlen(text) / 2;
    make_graph("{}", old_driver);
    scratch_bytes(DEVICE "data/Framework.parallel_strategy.0.slice_0", text, half);
    scratch_text(DEVICE "data/Framework.parallel_strategy.0.slice_1", text + half);
    free(text);
    import_cluster(NPUPROF_OK);
}

static void data_parallelism_is_told_with_intervals(void **state)
{
    (void)state;
    make_parallel("\"parallelType\": \"data_parallel\"", false);
    assert_fine(5, 2, MODEL, -1);
    assert_answer("cluster_parallel_analysis_2_3_-1.json",
                  "{\"parallel_mode\": \"Data Parallel\", \"headers\": [\"Iteration ID\", \"Computation Time(us)\", "
                  "\"Pure Communication Time(us)\", \"Communication Time(us)\", \"Communication Interval(us)\"], "
                  "\"data\": [[1, 60.0, 50.0, 60.0, 10.0], [2, 60.0, 50.0, 60.0, 10.0]]}");
    assert_fine(5, -1, MODEL, 2);
    assert_answer("cluster_parallel_analysis_-1_3_2.json",
                  "{\"parallel_mode\": \"Data Parallel\", \"headers\": [\"Rank ID\", \"Computation Time(us)\", "
                  "\"Pure Communication Time(us)\", \"Communication Time(us)\", \"Communication Interval(us)\"], "
                  "\"data\": [[2, 60.0, 50.0, 60.0, 10.0]]}");
    assert_fine(4, -1, -1, -1);
    assert_answer("cluster_parallel_suggestion_-1_-1_-1.json",
                  "{\"parallel_mode\": \"Data Parallel\", \"suggestion\": [\"The groups in which gradients are reduced "
                  "could fit better. 83.3% of the communication time nothing was computed (40% is fine). Try groups of "
                  "other sizes (MindSpore: all_reduce_fusion_config).\"]}");
}

static void model_parallelism_is_told_where_tasks_are_not_unique(void **state)
{
    (void)state;
    make_parallel("\"parallelType\": \"auto_parallel\", \"stage_num\": \"1\"", true);
    assert_fine(5, 2, MODEL, NOT_GIVEN);
    assert_answer("cluster_parallel_analysis_2_3_-1.json",
                  "{\"parallel_mode\": \"Model Parallel\", \"headers\": [\"Iteration ID\", \"Computation Time(us)\", "
                  "\"Pure Communication Time(us)\"], \"data\": [[1, 60.0, 50.0], [2, 60.0, 50.0]]}");
    assert_fine(4, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN);
    assert_answer("cluster_parallel_suggestion_-1_-1_-1.json",
                  "{\"parallel_mode\": \"Model Parallel\", \"suggestion\": [\"The operators could be cut better: 45.5% "
                  "of the time of computation and communication is spent on communication alone (10% is fine). Let the "
                  "framework use AllToAll and search for a strategy in another way (MindSpore: enable_alltoall, "
                  "search_mode), or cut the operators by hand.\"]}");
}

static void pipelines_tell_receiving_apart(void **state)
{
    (void)state;
    make_parallel("\"parallelType\": \"semi_auto_parallel\", \"stage_num\": 2, \"rankId\": 2, \"stageId\": 0, "
                  "\"stageDevices\": [2, 3], \"ai_framework_type\": \"mindspore\"",
                  false);
    assert_fine(5, -1, MODEL, 1);
    assert_answer("cluster_parallel_analysis_-1_3_1.json",
                  "{\"parallel_mode\": \"Pipeline Parallel\", \"headers\": [\"Rank ID\", \"Computation Time(us)\", "
                  "\"Pure Communication Time(Only Receive Op Included)(us)\", \"Pure Communication Time(Receive Op Not "
                  "Included)(us)\", \"Stage Time(us)\"], \"data\": [[2, 60.0, 30.0, 20.0, 130.0]]}");
    assert_fine(4, -1, -1, -1);
    char *text = metric_read(mem_printf("%s/query/cluster_parallel_suggestion_-1_-1_-1.json", scratch));
    assert_non_null(strstr(text, "18.2% of the time"));
    assert_non_null(strstr(text, "27.3% of the time"));
    assert_null(strstr(text, "Some stages"));
    free(text);
    char *path = mem_printf("%s/sqlite/cluster_parallel.db", scratch);
    sqlite3 *db;
    sqlite3_stmt *row;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM ClusterParallelStrategy", -1, &row, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    static const char *const expected[] = {
        "mindspore", "2", "2", "0", "semi_auto_parallel", "[2, 3]", "pipeline_parallel",
    };
    for (int i = 0; i < 7; i++) assert_string_equal((const char *)sqlite3_column_text(row, i), expected[i]);
    sqlite3_finalize(row);
    sqlite3_close(db);
    free(path);
}

static void questions_about_parallelism_that_have_no_answer(void **state)
{
    (void)state;
    make_parallel("\"parallelType\": \"stand_alone\"", false);
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 5, 2, MODEL, -1, "no sqlite/cluster_parallel.db");
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 4, -1, -1, -1, "no sqlite/cluster_parallel.db");
    make_parallel("\"stage_num\": null, \"x\": 1", false);
    assert_wrong(NPUPROF_FAILED, 4, 0, -1, -1, "whole job");
    assert_wrong(NPUPROF_FAILED, 5, 2, NOT_GIVEN, -1, "--model-id");
    assert_wrong(NPUPROF_FAILED, 5, -1, MODEL, -1, "--iteration-id");
    assert_wrong(NPUPROF_FAILED, 5, 2, MODEL, 1, "--iteration-id");
    assert_wrong(NPUPROF_OK, 5, 9, MODEL, -1, "no such iterations");
    assert_wrong(NPUPROF_OK, 5, -1, MODEL, 9, "no such iterations");
    assert_answer("cluster_parallel_analysis_-1_3_9.json", NULL);
    scratch_text("sqlite/cluster_parallel.db", "no database");
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 4, -1, -1, -1, "cluster_parallel.db");
}

/* Databases of other tools may hold anything. */
static void make_database(const char *sql)
{
    char *path = mem_printf("%s/sqlite/cluster_parallel.db", scratch);
    sqlite3 *db;
    remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(path);
}

#define DATA_TABLE                                                                                                     \
    "CREATE TABLE ClusterDataParallel(rank_id, device_id, model_id, iteration_id, step_time, computation_time, "       \
    "pure_communication_time, communication_time, interval_of_communication_time, hccl_op_num);"

static void databases_of_others_are_read_with_care(void **state)
{
    (void)state;
    metric_device(5, "{}");
    import_cluster(NPUPROF_OK);
    make_database("CREATE TABLE ClusterDataParallel(x); INSERT INTO ClusterDataParallel VALUES(1)");
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 5, 0, 1, -1, "no such column");
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 4, -1, -1, -1, "no such column");
    make_database("CREATE VIEW ClusterDataParallel AS SELECT 1");
    assert_wrong(NPUPROF_NO_CLUSTER_DB, 4, -1, -1, -1, "no table");
    make_database(DATA_TABLE);
    assert_fine(4, -1, -1, -1);
    assert_answer("cluster_parallel_suggestion_-1_-1_-1.json",
                  "{\"parallel_mode\": \"Data Parallel\", \"suggestion\": []}");
    make_database(DATA_TABLE "INSERT INTO ClusterDataParallel VALUES(NULL, 0, 1, 2, NULL, NULL, 'x', 9e999, 5, 1),"
                             "(NULL, 1, 1, 2, 1, 1, 1.5, 3.5, 0, 1)");
    assert_fine(5, -1, 1, 2);
    assert_answer("cluster_parallel_analysis_-1_1_2.json",
                  "{\"parallel_mode\": \"Data Parallel\", \"headers\": [\"Rank ID\", \"Computation Time(us)\", "
                  "\"Pure Communication Time(us)\", \"Communication Time(us)\", \"Communication Interval(us)\"], "
                  "\"data\": [[0, null, null, null, 5], [1, 1, 1.5, 3.5, 0]]}");
    assert_fine(5, 1, 1, -1);
    assert_fine(4, -1, -1, -1);
    char *text = metric_read(mem_printf("%s/query/cluster_parallel_suggestion_-1_-1_-1.json", scratch));
    assert_non_null(strstr(text, "by a single operator"));
    free(text);
}

static void what_the_framework_says_may_be_anything(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{", "[1]", "{\"config\": 3}", "{\"config\": {}}", "\"\\u0000\"", "null"};
    metric_device(5, "{}");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        metric_text("Framework.parallel_strategy.0.slice_0", texts[i]);
        import_cluster(NPUPROF_OK);
        assert_wrong(NPUPROF_NO_CLUSTER_DB, 4, -1, -1, -1, "cluster_parallel.db");
    }
    make_parallel("\"parallelType\": [], \"stage_num\": 1e300, \"rankId\": {}, \"stageDevices\": {\"a\": [null]}, "
                  "\"stageId\": 99999999999999999999999",
                  false);
    assert_fine(4, -1, -1, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)
        TEST(queues_of_host_and_device_are_told_step_by_step),
        TEST(without_sink_mode_there_is_no_queue_on_the_device),
        TEST(without_a_queue_on_the_host_every_wait_is_a_step),
        TEST(questions_about_queues_that_have_no_answer),
        TEST(usage_of_processors_and_memory_is_told_sample_by_sample),
        TEST(usage_that_was_not_sampled_has_no_file),
        TEST(questions_about_usage_that_have_no_answer),
        TEST(operations_are_summed_by_type_of_operator),
        TEST(questions_about_operations_that_have_no_answer),
        TEST(data_parallelism_is_told_with_intervals),
        TEST(model_parallelism_is_told_where_tasks_are_not_unique),
        TEST(pipelines_tell_receiving_apart),
        TEST(questions_about_parallelism_that_have_no_answer),
        TEST(databases_of_others_are_read_with_care),
        TEST(what_the_framework_says_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
