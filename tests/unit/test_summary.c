/* The summary room: what each report makes of a small model built by hand, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/summary/summary.h"

#define T0 1719838800000000000 /* ns: 1719838800000000.000 µs, where the collection begins */

struct world {
    struct session session;
    struct metadata meta;
    struct prof_dir dirs[2];
    struct device_model devices[2];
    struct prof_dir host;
    struct model m;
    struct export_target target;
    char dir[64];
    char *text; /* of the file read last */
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    strcpy(w->dir, "/tmp/test_summary.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    for (uint16_t i = 0; i < 2; i++) {
        w->dirs[i] = (struct prof_dir){.device_id = i};
        w->devices[i] = (struct device_model){.dir = &w->dirs[i], .device_id = i};
    }
    w->host = (struct prof_dir){.is_host = true, .device_id = 64};
    w->session = (struct session){
        .path = w->dir, .chip = chip_find(5), .meta = &w->meta, .host = &w->host, .n_devices = 2, .start_ns = T0};
    w->m = (struct model){.session = &w->session, .strings = strpool_new(), .devices = w->devices, .n_devices = 2};
    w->target =
        (struct export_target){.model = &w->m, .stamp = "20240701130000", .output_dir = w->dir, .diag = diag_new()};
    *state = w;
    return 0;
}

static char *file_path(const struct world *w, const char *stem)
{
    return mem_printf("%s/%s_20240701130000.csv", w->dir, stem);
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 2; i++) {
        struct device_model *d = &w->devices[i];
        array_free(&d->tasks);
        array_free(&d->untyped);
        array_free(&d->comm_ops);
        array_free(&d->comm_statistics);
        array_free(&d->data.steps);
        array_free(&d->data.reduces);
        pmu_free(&d->data.pmu);
    }
    array_free(&w->m.host.apis);
    array_free(&w->m.host.ops);
    array_free(&w->m.host.tasks);
    array_free(&w->m.host.fusion_ops);
    array_free(&w->m.host.model_names);
    strpool_free(w->m.strings);
    diag_free(w->target.diag);
    static const char *const stems[] = {
        "op_summary", "op_statistic", "communication_statistic", "api_statistic", "task_time",
        "step_trace", "fusion_op",
    };
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        char *path = file_path(w, stems[i]);
        unlink(path);
        free(path);
    }
    written_free(&w->target.written);
    assert_int_equal(rmdir(w->dir), 0); /* no report without data, nothing unfinished */
    free(w->text);
    free(w);
    return 0;
}

static str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

/* The text of a written file, NULL when there is none. */
static const char *file_text(struct world *w, const char *stem)
{
    char *path = file_path(w, stem);
    FILE *f = fopen(path, "rb");
    free(path);
    free(w->text);
    w->text = NULL;
    if (!f) return NULL;
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    w->text = mem_alloc((size_t)st.st_size + 1);
    assert_int_equal(fread(w->text, 1, (size_t)st.st_size, f), st.st_size);
    w->text[st.st_size] = '\0';
    fclose(f);
    return w->text;
}

static void export_all(struct world *w)
{
    struct error err = {0};
    assert_int_equal(summary_export(&w->target, &err), 0);
}

/* The whole file, or its lines behind the header. */
static void assert_file(struct world *w, const char *stem, const char *expected)
{
    const char *got = file_text(w, stem);
    assert_non_null(got);
    assert_string_equal(got, expected);
}

static void assert_rows(struct world *w, const char *stem, const char *expected)
{
    const char *got = file_text(w, stem);
    assert_non_null(got);
    assert_string_equal(strchr(got, '\n') + 1, expected);
}

static uint32_t add_op(struct world *w, const char *name, const char *type, const char *task_type)
{
    array_push(&w->m.host.ops, ((struct op){
                                   .name = text(w, name),
                                   .type = text(w, type),
                                   .task_type = text(w, task_type),
                                   .state = text(w, "dynamic"),
                                   .hf32 = text(w, "NO"),
                                   .attr = NONE,
                                   .input_formats = text(w, "ND;ND"),
                                   .input_types = text(w, "FLOAT;FLOAT"),
                                   .input_shapes = text(w, "4,8;8"),
                                   .output_formats = STR_NA,
                                   .output_types = STR_NA,
                                   .output_shapes = STR_NA,
                                   .block_num = 24,
                                   .mix_block_num = 48,
                                   .model_id = MODEL_NONE,
                                   .flags = OP_HAS_INPUTS,
                               }));
    return (uint32_t)w->m.host.ops.n - 1;
}

/* A launched task of stream 2; op may be NONE. */
static void add_task(struct world *w, int device, uint32_t task_id, int64_t start, int64_t end, uint32_t op)
{
    array_push(&w->m.host.tasks, ((struct host_task){.op = op, .kernel_name = text(w, "te_kernel")}));
    array_push(&w->devices[device].tasks, ((struct task){
                                              .start_ns = T0 + start,
                                              .end_ns = T0 + end,
                                              .stream_id = 2,
                                              .task_id = task_id,
                                              .context_id = CONTEXT_NONE,
                                              .op = op,
                                              .host_task = (uint32_t)w->m.host.tasks.n - 1,
                                              .pmu = NONE,
                                              .memcpy = NONE,
                                              .type = text(w, "KERNEL_AICORE"),
                                              .flags = TASK_IN_TASK_TIME,
                                          }));
}

static void add_comm_op(struct world *w, int device, int64_t start, int64_t end)
{
    array_push(&w->devices[device].comm_ops, ((struct comm_op){
                                                 .start_ns = T0 + start,
                                                 .end_ns = T0 + end,
                                                 .name = text(w, "hcom_allReduce__1_0_1"),
                                                 .op_type = text(w, "hcom_allReduce_"),
                                                 .model_id = MODEL_NONE,
                                             }));
}

#define OP_SUMMARY_START                                                                                               \
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"   \
    "Task Wait Time(us),"

static void nothing_recorded_gives_no_file(void **state)
{
    export_all(*state); /* teardown finds the folder empty */
}

static void op_summary_merges_kernels_and_communication_by_device_and_start(void **state)
{
    struct world *w = *state;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE");
    add_task(w, 0, 7, 1000, 41000, mm);
    add_task(w, 0, 8, 60500, 60500, mm);
    add_task(w, 0, 9, 61000, 62000, NONE);
    add_comm_op(w, 0, 60500, 90000);
    add_task(w, 1, 1, 2000, 3000, mm);
    export_all(w);
    assert_file(w, "op_summary",
                OP_SUMMARY_START "Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,"
                                 "Output Shapes,Output Data Types,Output Formats,Context ID\n"
                                 "0,4294967295,7,2,mm,MatMulV2,dynamic,AI_CORE,1719838800000001.000\t,40.000,0,24,48,"
                                 "NO,\"\"\"4,8;8\"\"\",FLOAT;FLOAT,ND;ND,N/A,N/A,N/A,N/A\n"
                                 "0,4294967295,N/A,N/A,hcom_allReduce__1_0_1,hcom_allReduce_,N/A,COMMUNICATION,"
                                 "1719838800000060.500\t,29.500,19.500000,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"
                                 "0,4294967295,8,2,mm,MatMulV2,dynamic,AI_CORE,1719838800000060.500\t,0.000,0.000000,"
                                 "24,48,NO,\"\"\"4,8;8\"\"\",FLOAT;FLOAT,ND;ND,N/A,N/A,N/A,N/A\n"
                                 "1,4294967295,1,2,mm,MatMulV2,dynamic,AI_CORE,1719838800000002.000\t,1.000,0.000000,"
                                 "24,48,NO,\"\"\"4,8;8\"\"\",FLOAT;FLOAT,ND;ND,N/A,N/A,N/A,N/A\n");
}

static void op_summary_leaves_out_what_is_no_compute_operator(void **state)
{
    struct world *w = *state;
    uint32_t hccl = add_op(w, "AicpuTask", "hcom_allReduce_", "HCCL_AI_CPU");
    w->m.host.ops.at[hccl].flags |= OP_NOT_COMPUTE_TYPE;
    add_task(w, 0, 1, 0, 1000, hccl);
    export_all(w);
    assert_null(file_text(w, "op_summary"));
    assert_null(file_text(w, "op_statistic"));
}

static void op_summary_shows_sub_tasks_and_quotes_only_what_needs_it(void **state)
{
    struct world *w = *state;
    uint32_t op = add_op(w, "a,\"b\"", "T", "MIX_AIC");
    w->m.host.ops.at[op].input_shapes = STR_EMPTY; /* a scalar */
    add_task(w, 0, 1, 0, 1000, op);
    w->devices[0].tasks.at[0].context_id = 0;
    export_all(w);
    assert_rows(w, "op_summary",
                "0,4294967295,1,2,\"a,\"\"b\"\"\",T,dynamic,MIX_AIC,1719838800000000.000\t,1.000,0,24,48,NO,"
                "\"\"\"\"\"\",FLOAT;FLOAT,ND;ND,N/A,N/A,N/A,0\n");
}

static void op_summary_without_any_operator_has_the_short_header(void **state)
{
    struct world *w = *state;
    add_task(w, 0, 1, 0, 1000, NONE);
    add_comm_op(w, 0, 500, 1500);
    export_all(w);
    assert_file(w, "op_summary",
                OP_SUMMARY_START "Context ID\n"
                                 "0,4294967295,N/A,N/A,hcom_allReduce__1_0_1,hcom_allReduce_,N/A,COMMUNICATION,"
                                 "1719838800000000.500\t,1.000,0,0\n");
}

static void op_summary_remembers_the_right_description(void **state)
{
    struct world *w = *state;
    enum { OPS = 9000 }; /* more than the cache has slots */
    for (uint32_t i = 0; i < OPS; i++) {
        char name[16];
        snprintf(name, sizeof name, "op%u", (unsigned)i);
        add_op(w, name, name, "AI_CORE");
    }
    for (uint32_t i = 0; i < 2 * OPS; i++) add_task(w, 0, i, i * 10, i * 10 + 5, i % 7 ? i / 2 : (i * 4096) % OPS);
    export_all(w);
    const char *line = strchr(file_text(w, "op_summary"), '\n') + 1;
    for (uint32_t i = 0; i < 2 * OPS; i++, line = strchr(line, '\n') + 1) {
        char expected[80];
        unsigned op = i % 7 ? i / 2 : (i * 4096) % OPS;
        int n = snprintf(expected, sizeof expected, "0,4294967295,%u,2,op%u,op%u,dynamic,AI_CORE,", i, op, op);
        assert_memory_equal(line, expected, (size_t)n);
    }
    assert_string_equal(line, "");
}

static void add_column(struct pmu *p, const char *name, enum pmu_kind kind, enum pmu_formula formula, bool aiv)
{
    struct pmu_column *c = array_add(&p->columns);
    *c = (struct pmu_column){.kind = kind, .aiv = aiv, .in_summary = true, .formula = formula};
    snprintf(c->name, sizeof c->name, "%s%s", aiv ? "aiv_" : "aic_", name);
    if (formula < PMU_OF_COUNTERS) return;
    c->n_terms = 1;
    c->terms[0] = (struct pmu_term){0, 1};
}

/* Counters of a device: one row that only has a cube side. */
static void add_counters(struct world *w, int device)
{
    struct pmu *p = &w->devices[device].data.pmu;
    add_column(p, "total_time", PMU_TOTAL_TIME, PMU_OF_TOTAL_TIME, false);
    add_column(p, "total_cycles", PMU_CYCLES, PMU_OF_CYCLES, false);
    add_column(p, "mac_time", PMU_TIME, PMU_OF_TIME, false);
    add_column(p, "mac_ratio_extra", PMU_RATIO, PMU_OF_RATIO, false);
    add_column(p, "hidden_ratio", PMU_RATIO, PMU_OF_RATIO, false);
    p->columns.at[4].in_summary = false;
    add_column(p, "total_time", PMU_TOTAL_TIME, PMU_OF_TOTAL_TIME, true);
    add_column(p, "l2_read_bw", PMU_BANDWIDTH, PMU_OF_BANDWIDTH, true);
    add_column(p, "GM_to_L1_datas", PMU_VALUE, PMU_OF_COUNTERS, true);
    array_push(&p->sides, ((struct pmu_side){.cycles = 3000, .total_us = 50, .counter = {1000}}));
    array_push(&p->rows, ((struct pmu_row){0, NONE}));
    p->aic_mhz = 1000;
    p->ai_core_num = 2;
    p->has_cube = true;
    p->mac = p->vec = p->mte2 = NONE;
}

static void op_summary_ends_in_the_counters_of_the_task(void **state)
{
    struct world *w = *state;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE");
    add_counters(w, 0);
    for (uint32_t i = 0; i < 2; i++) add_task(w, 0, i, 0, 2000, mm);
    add_task(w, 0, 2, 0, 0, mm);
    w->devices[0].tasks.at[0].pmu = w->devices[0].tasks.at[2].pmu = 0;
    add_comm_op(w, 0, 3000, 4000);
    export_all(w);
    const char *line = file_text(w, "op_summary");
    static const char *const ends[] = {
        ",Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aiv_time(us),"
        "aiv_l2_read_bw(GB/s),aiv_GM_to_L1_datas(KB),cube_utilization(%)",
        ",N/A,50.0,3000,16.667,0.333,0.0,0.0,0.0,75.000",
        ",N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A",
        ",N/A,50.0,3000,16.667,0.333,0.0,0.0,0.0,0",
        ",N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A",
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strchr(line, '\n');
        assert_memory_equal(end - strlen(ends[i]), ends[i], strlen(ends[i]));
        line = end + 1;
    }
}

static void op_summary_has_no_counters_when_devices_count_different_things(void **state)
{
    struct world *w = *state;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE");
    for (int i = 0; i < 2; i++) {
        add_counters(w, i);
        add_task(w, i, 1, 0, 2000, mm);
        w->devices[i].tasks.at[0].pmu = 0;
    }
    strcpy(w->devices[1].data.pmu.columns.at[2].name, "aic_other_time");
    export_all(w);
    assert_null(strstr(file_text(w, "op_summary"), "aicore_time"));
    strcpy(w->devices[1].data.pmu.columns.at[2].name, "aic_mac_time");
    export_all(w);
    assert_non_null(strstr(file_text(w, "op_summary"), "aicore_time"));
}

static void task_time_is_one_row_per_task_over_all_devices(void **state)
{
    struct world *w = *state;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE"), untyped = add_op(w, "x", "N/A", "N/A");
    add_task(w, 0, 1, 1000, 2000, NONE);
    add_task(w, 0, 2, 1000, 3000, mm);
    add_task(w, 0, 3, 5000, 6000, untyped);
    add_task(w, 1, 4, 500, 1000, mm);
    add_task(w, 1, 5, 5000, 5000, mm);
    add_task(w, 1, 6, 7000, 8000, mm);
    w->devices[0].tasks.at[0].host_task = NONE;
    w->devices[1].tasks.at[2].flags = 0;
    export_all(w);
    assert_file(w, "task_time",
                "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
                "1,te_kernel,AI_CORE,2,4,0.500,1719838800000000.500\t,1719838800000001.000\t\n"
                "0,te_kernel,AI_CORE,2,2,2.000,1719838800000001.000\t,1719838800000003.000\t\n"
                "0,N/A,KERNEL_AICORE,2,1,1.000,1719838800000001.000\t,1719838800000002.000\t\n"
                "1,te_kernel,AI_CORE,2,5,0.000,1719838800000005.000\t,1719838800000005.000\t\n"
                "0,te_kernel,KERNEL_AICORE,2,3,1.000,1719838800000005.000\t,1719838800000006.000\t\n");
}

static void op_statistic_counts_kernels_that_began_in_the_collection(void **state)
{
    struct world *w = *state;
    uint32_t add = add_op(w, "add", "Add", "AI_VECTOR_CORE"), mm = add_op(w, "mm", "MatMulV2", "AI_CORE");
    uint32_t untyped = add_op(w, "x", "N/A", "AI_CORE"), aiv = add_op(w, "AivKernel", "hcom", "COMMUNICATION");
    w->m.host.ops.at[aiv].flags |= OP_AIV_KERNEL;
    add_task(w, 0, 1, -1000, 9000, mm);
    add_task(w, 0, 2, 0, 1000, add);
    add_task(w, 0, 3, 2000, 3001, add);
    add_task(w, 0, 4, 4000, 5001, add);
    add_task(w, 0, 5, 6000, 13001, mm);
    add_task(w, 0, 6, 14000, 15000, untyped);
    add_task(w, 0, 7, 16000, 17000, aiv);
    add_task(w, 1, 1, 0, 7001, mm);
    array_push(&w->devices[0].untyped, w->devices[0].tasks.at[1]);
    export_all(w);
    assert_file(w, "op_statistic",
                "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
                "0,MatMulV2,AI_CORE,1,7.001,7.001,7.001,7.001,63.628\n"
                "1,MatMulV2,AI_CORE,1,7.001,7.001,7.001,7.001,100\n"
                "0,Add,AI_VECTOR_CORE,4,4.002,1,1,1.001,36.372\n");
}

static void add_statistic(struct world *w, int device, const char *type, uint64_t count, int64_t total)
{
    array_push(&w->devices[device].comm_statistics,
               ((struct comm_statistic){text(w, type), count, total, 1000, 2500, 12.3456}));
}

static void communication_statistic_is_sorted_over_all_devices(void **state)
{
    struct world *w = *state;
    add_statistic(w, 0, "hcom_allReduce_", 3, 5000);
    add_statistic(w, 0, "hcom_send_", 1, 1000);
    add_statistic(w, 1, "hcom_allReduce_", 3, 7000);
    add_statistic(w, 1, "N/A", 2, 5000);
    export_all(w);
    assert_file(w, "communication_statistic",
                "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
                "1,hcom_allReduce_,3,7,1,2.333,2.5,12.346\n"
                "0,hcom_allReduce_,3,5,1,1.667,2.5,12.346\n"
                "1,N/A,2,5,1,2.5,2.5,12.346\n"
                "0,hcom_send_,1,1,1,1,2.5,12.346\n");
}

static void level0_has_no_statistics_of_operators(void **state)
{
    struct world *w = *state;
    w->meta.level0 = true;
    add_task(w, 0, 1, 0, 1000, add_op(w, "mm", "MatMulV2", "AI_CORE"));
    add_statistic(w, 0, "hcom_allReduce_", 3, 5000);
    export_all(w);
    assert_non_null(file_text(w, "op_summary"));
    assert_null(file_text(w, "op_statistic"));
    assert_null(file_text(w, "communication_statistic"));
}

static void add_api(struct world *w, uint16_t level, const char *name, const char *item, int64_t ns)
{
    array_push(&w->m.host.apis, ((struct api){
                                    .start_ns = T0,
                                    .end_ns = T0 + ns,
                                    .name = text(w, name),
                                    .item = text(w, item),
                                    .level = level,
                                    .flags = API_EXPORTED | API_TIMED,
                                }));
}

static void api_statistic_groups_by_name_and_level(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_NODE, "launch", "mm", 5000);
    add_api(w, LEVEL_RUNTIME, "launch", "0", 1000);
    add_api(w, LEVEL_RUNTIME, "launch", "0", 2001);
    add_api(w, LEVEL_COMMUNICATION, "master", "Notify_Wait", 2200);
    add_api(w, LEVEL_ACL, "aclnnAdd", "0", 3000);
    add_api(w, LEVEL_PTA, "3", "0", 800);
    add_api(w, LEVEL_ACL, "hidden", "0", 3000);
    w->m.host.apis.at[6].flags = 0;
    export_all(w);
    assert_file(w, "api_statistic",
                "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
                "host,,3,0.8,1,0.8,0.8,0.8,0\n"
                "host,communication,Notify_Wait,2.2,1,2.2,2.2,2.2,0\n"
                "host,acl,aclnnAdd,3,1,3,3,3,0\n"
                "host,runtime,launch,3.001,2,1.501,1,2.001,0.251\n"
                "host,node,launch,5,1,5,5,5,0\n");
}

static void variance_is_exact_for_many_long_calls(void **state)
{
    struct world *w = *state;
    int64_t day = INT64_C(86400000000000); /* half of the calls a day, half of them a day and 2 µs: variance 1 µs² */
    for (int i = 0; i < 10000; i++) add_api(w, LEVEL_ACL, "aclrtSynchronizeStream", "0", i % 2 ? day : day + 2000);
    export_all(w);
    assert_rows(w, "api_statistic",
                "host,acl,aclrtSynchronizeStream,864000000010000,10000,86400000001,86400000000,86400000002,1\n");
}

static void scripts_list_apis_under_each_device_with_exact_durations(void **state)
{
    struct world *w = *state;
    w->session.script_summary = true;
    for (int i = 0; i < 4; i++) {
        add_api(w, LEVEL_ACL, "aclrtFree", "0", 1000 + i % 2 * 2000);
        w->m.host.apis.at[i].rest_ps = 900;
    }
    add_api(w, LEVEL_PTA, "api_25000_3e9", "an item", 1000);
    w->m.host.apis.at[4].flags = API_TIMED; /* before the collection: counts all the same */
    add_api(w, LEVEL_ACL, "aclrtMalloc", "0", 1000);
    w->m.host.apis.at[5].flags |= API_OUTSIDE;
    export_all(w);
    assert_file(w, "api_statistic",
                "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
                "0,acl,aclrtFree,8.004,4,2.001,1.001,3.001,1\n"
                "0,pta,an item,1,1,1,1,1,0\n"
                "1,acl,aclrtFree,8.004,4,2.001,1.001,3.001,1\n"
                "1,pta,an item,1,1,1,1,1,0\n");
}

static void scripts_sort_op_statistic_device_by_device(void **state)
{
    struct world *w = *state;
    w->session.script_summary = true;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE"), add = add_op(w, "add", "Add", "AI_CORE");
    add_task(w, 0, 1, 0, 1000, mm);
    add_task(w, 1, 1, 0, 1000, mm);
    add_task(w, 1, 2, 2000, 4000, add);
    w->devices[0].tasks.at[0].rest_ps = 600;
    export_all(w);
    assert_rows(w, "op_statistic",
                "0,MatMulV2,AI_CORE,1,1.001,1.001,1,1.001,100\n"
                "1,Add,AI_CORE,1,2,2,2,2,66.667\n"
                "1,MatMulV2,AI_CORE,1,1,1,1,1,33.333\n");
}

static void step_trace_pads_to_the_step_with_most_reductions(void **state)
{
    struct world *w = *state;
    struct device_model *d = &w->devices[1];
    array_push(&d->data.steps,
               ((struct step){1, 1, T0 + 1000, T0 + 3000, T0 + 9000, 8500, 2000, 6000, 0, 0, 0, false}));
    array_push(&d->data.steps, ((struct step){MODEL_NONE, 2, 0, 0, T0 + 9000, 8000, 0, 0, 500, 0, 0, true}));
    array_push(&d->data.reduces, ((struct step_reduce){1, 1, T0 + 9000, T0 + 4000, T0 + 4500, 500, 0, 0}));
    array_push(&d->data.reduces, ((struct step_reduce){7, 1, T0 + 9000, T0 + 4000, T0 + 4500, 500, 0, 0}));
    array_push(&d->data.reduces, ((struct step_reduce){1, 1, T0 + 9000, T0 + 3500, T0 + 3600, 100, 0, 0}));
    array_push(&d->data.reduces, ((struct step_reduce){1, 1, T0 + 8000, T0 + 3500, T0 + 3600, 100, 0, 0}));
    export_all(w);
    assert_file(w, "step_trace",
                "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
                "Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us),"
                "Reduce Start(us),Reduce Duration(us)\n"
                "1,1,1719838800000001.000\t,1719838800000003.000\t,1719838800000009.000\t,8.500,2.000,6.000,0.000,1,"
                "1719838800000004.000\t,0.500,1719838800000003.500\t,0.100\n"
                "1,2,0.000\t,0.000\t,1719838800000009.000\t,8.000,0.000,0.000,0.500,4294967295,N/A,N/A,N/A,N/A\n");
}

static void step_trace_has_room_for_a_thousand_reductions(void **state)
{
    struct world *w = *state;
    struct device_data *d = &w->devices[0].data;
    array_push(&d->steps, ((struct step){.model_id = 1, .iteration_id = 1, .iteration_end_ns = T0}));
    for (int i = 0; i < 1003; i++)
        array_push(&d->reduces, ((struct step_reduce){1, 1, T0, T0 + i * 1000, T0 + i * 1000 + 500, 500, 0, 0}));
    export_all(w);
    const char *got = file_text(w, "step_trace");
    assert_non_null(strstr(got, "1719838800000999.000\t,0.500\n"));
    assert_int_equal(diag_entries(w->target.diag, DIAG_WARNING), 1);
}

static void fusion_op_names_the_model(void **state)
{
    struct world *w = *state;
    array_push(&w->m.host.model_names, ((struct model_name){1, text(w, "resnet")}));
    array_push(&w->m.host.fusion_ops,
               ((struct fusion_op){1, text(w, "conv1"), text(w, "a;b"), 1000, 2048, 100, 0, 3148}));
    array_push(&w->m.host.fusion_ops, ((struct fusion_op){2, text(w, "bn1"), text(w, "c"), 0, 0, 0, 0, 0}));
    export_all(w);
    assert_file(w, "fusion_op",
                "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),Memory Output(KB),"
                "Memory Weight(KB),Memory Workspace(KB),Memory Total(KB)\n"
                "host,resnet,1,conv1,a;b,0.9765625,2.0,0.09765625,0.0,3.07421875\n"
                "host,,2,bn1,c,0.0,0.0,0.0,0.0,0.0\n");
}

static void damaged_times_give_no_negative_spans(void **state)
{
    struct world *w = *state;
    uint32_t mm = add_op(w, "mm", "MatMulV2", "AI_CORE");
    add_task(w, 0, 1, 0, 0, mm);
    w->devices[0].tasks.at[0].start_ns = INT64_MIN;
    w->devices[0].tasks.at[0].end_ns = INT64_MAX;
    add_task(w, 0, 2, 5000, 4000, mm);
    export_all(w);
    const char *got = file_text(w, "op_summary");
    assert_non_null(strstr(got, ",9223372036854775.807,0,"));
    assert_non_null(strstr(got, ",1719838800000005.000\t,0.000,0.000000,"));
}

static void written_files_are_listed_with_their_rows(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_ACL, "a", "0", 1);
    add_api(w, LEVEL_ACL, "b", "0", 1);
    export_all(w);
    assert_int_equal(w->target.written.files.n, 1);
    assert_int_equal(w->target.written.files.at[0].rows, 2);
    assert_int_equal(w->target.written.files.at[0].bytes, strlen(file_text(w, "api_statistic")));
}

static void a_report_that_cannot_be_written_does_not_stop_the_others(void **state)
{
    struct world *w = *state;
    add_task(w, 0, 1, 0, 1000, add_op(w, "mm", "MatMulV2", "AI_CORE"));
    char *in_the_way = file_path(w, "op_summary");
    assert_int_equal(mkdir(in_the_way, 0700), 0);
    struct error err = {0};
    char message[2048];
    assert_int_equal(summary_export(&w->target, &err), -1);
    assert_non_null(strstr(error_text(&err, message, sizeof message), "op_summary"));
    assert_non_null(file_text(w, "task_time"));
    rmdir(in_the_way);
    free(in_the_way);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_recorded_gives_no_file),
        TEST(op_summary_merges_kernels_and_communication_by_device_and_start),
        TEST(op_summary_leaves_out_what_is_no_compute_operator),
        TEST(op_summary_shows_sub_tasks_and_quotes_only_what_needs_it),
        TEST(op_summary_without_any_operator_has_the_short_header),
        TEST(op_summary_remembers_the_right_description),
        TEST(op_summary_ends_in_the_counters_of_the_task),
        TEST(op_summary_has_no_counters_when_devices_count_different_things),
        TEST(task_time_is_one_row_per_task_over_all_devices),
        TEST(op_statistic_counts_kernels_that_began_in_the_collection),
        TEST(communication_statistic_is_sorted_over_all_devices),
        TEST(level0_has_no_statistics_of_operators),
        TEST(api_statistic_groups_by_name_and_level),
        TEST(variance_is_exact_for_many_long_calls),
        TEST(scripts_list_apis_under_each_device_with_exact_durations),
        TEST(scripts_sort_op_statistic_device_by_device),
        TEST(step_trace_pads_to_the_step_with_most_reductions),
        TEST(step_trace_has_room_for_a_thousand_reductions),
        TEST(fusion_op_names_the_model),
        TEST(damaged_times_give_no_negative_spans),
        TEST(written_files_are_listed_with_their_rows),
        TEST(a_report_that_cannot_be_written_does_not_stop_the_others),
    };
    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
