/* The database room: what the tables say of a small model built by hand, and what happens to the files around. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "export/db/btree.h"
#include "export/export.h"

#define T0    1719838800000000000 /* ns */
#define STAMP "20240701130000"

static const struct chip chip = {.id = 5, .npu_name = "Ascend910B", .counters_in_db = true, .freq_in_db = true};

struct world {
    struct session session;
    struct prof_dir host, dirs[2];
    struct device_model devices[2];
    struct device_model *by_number[2];
    struct model m;
    struct export_target target;
    char dir[64];
    sqlite3 *db;
};

static str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

static int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    strcpy(w->dir, "/tmp/test_db.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->host = (struct prof_dir){.is_host = true, .device_id = 64, .chip = &chip};
    w->host.meta = (struct metadata){.pid = 4242, .hostname = "worker-0", .host_uid = "123"};
    for (uint16_t i = 0; i < 2; i++) {
        w->dirs[i] = (struct prof_dir){.device_id = i, .chip = &chip};
        w->devices[i] = (struct device_model){.dir = &w->dirs[i], .device_id = i};
        w->by_number[i] = &w->devices[i];
    }
    w->session = (struct session){.path = w->dir,
                                  .host = &w->host,
                                  .meta = &w->host.meta,
                                  .devices = w->dirs,
                                  .n_devices = 2,
                                  .start_ns = T0,
                                  .end_ns = T0 + 1000};
    w->m = (struct model){.session = &w->session,
                          .strings = strpool_new(),
                          .devices = w->devices,
                          .n_devices = 2,
                          .by_number = w->by_number};
    w->target = (struct export_target){.model = &w->m, .stamp = STAMP, .output_dir = w->dir, .diag = diag_new()};
    *state = w;
    return 0;
}

static char *in_dir(const struct world *w, const char *name)
{
    return mem_printf("%s/%s", w->dir, name);
}

static int teardown(void **state)
{
    struct world *w = *state;
    sqlite3_close(w->db);
    for (int i = 0; i < 2; i++) {
        struct device_model *d = &w->devices[i];
        array_free(&d->tasks);
        array_free(&d->comm_ops);
        array_free(&d->comm_tasks);
        array_free(&d->data.freqs);
        pmu_free(&d->data.pmu);
        for (int k = 0; k < OVERLAP_KINDS; k++) array_free(&d->overlap[k]);
    }
    array_free(&w->m.host.apis);
    array_free(&w->m.host.ops);
    array_free(&w->m.host.tasks);
    array_free(&w->m.host.memcpys);
    array_free(&w->m.host.kfc_streams);
    written_free(&w->target.written);
    strpool_free(w->m.strings);
    diag_free(w->target.diag);
    char *command = mem_printf("rm -r %s", w->dir);
    assert_int_equal(system(command), 0);
    free(command);
    free(w);
    return 0;
}

static void export(struct world *w)
{
    struct error err;
    assert_int_equal(db_export(&w->target, &err), 0);
    char *path = in_dir(w, "msprof_" STAMP ".db");
    assert_int_equal(sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    free(path);
}

/* All rows as text: cells joined by '|', rows by newlines. */
static const char *query(struct world *w, const char *sql)
{
    static char result[1 << 16];
    size_t n = 0;
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL)) fail_msg("%s: %s", sql, sqlite3_errmsg(w->db));
    result[0] = 0;
    for (int row = 0; sqlite3_step(s) == SQLITE_ROW; row++)
        for (int c = 0; c < sqlite3_column_count(s); c++)
            n += (size_t)snprintf(result + n, sizeof result - n, "%s%s",
                                  c     ? "|"
                                  : row ? "\n"
                                        : "",
                                  (const char *)sqlite3_column_text(s, c));
    sqlite3_finalize(s);
    return result;
}

#define TEXT_OF(column) "(SELECT value FROM STRING_IDS s WHERE s.id = " column ")"

static struct op *add_op(struct world *w, const char *name)
{
    struct op *o = array_add(&w->m.host.ops);
    str_id na = STR_NA;
    *o = (struct op){.name = text(w, name),
                     .type = text(w, "MatMulV2"),
                     .task_type = text(w, "AI_CORE"),
                     .state = text(w, "static"),
                     .hf32 = text(w, "NO"),
                     .attr = NONE,
                     .input_formats = na,
                     .input_types = na,
                     .input_shapes = na,
                     .output_formats = na,
                     .output_types = na,
                     .output_shapes = na,
                     .grid_dim = na,
                     .block_dim = na,
                     .block_num = 24,
                     .mix_block_num = 48,
                     .model_id = MODEL_NONE};
    return o;
}

static void add_launch(struct world *w, uint32_t op, uint32_t stream, uint32_t task)
{
    array_push(&w->m.host.tasks, ((struct host_task){.stream_id = stream,
                                                     .task_id = task,
                                                     .context_id = CONTEXT_NONE,
                                                     .model_id = MODEL_NONE,
                                                     .connection = 1,
                                                     .op = op,
                                                     .type = text(w, "KERNEL_AICORE"),
                                                     .kernel_name = STR_NA}));
}

static struct task *add_task(struct world *w, int device, int64_t start, uint32_t stream, uint32_t task)
{
    struct task *t = array_add(&w->devices[device].tasks);
    *t = (struct task){.start_ns = T0 + start,
                       .end_ns = T0 + start + 50,
                       .stream_id = stream,
                       .task_id = task,
                       .context_id = CONTEXT_NONE,
                       .model_id = MODEL_NONE,
                       .op = NONE,
                       .host_task = NONE,
                       .pmu = NONE,
                       .memcpy = NONE,
                       .type = text(w, "KERNEL_AICORE")};
    return t;
}

static void a_collection_without_records_has_the_tables_about_itself(void **state)
{
    struct world *w = *state;
    export(w);
    assert_string_equal(query(w, "PRAGMA integrity_check"), "ok");
    assert_string_equal(query(w, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'ENUM%' ORDER BY name"),
                        "HOST_INFO\nMETA_DATA\nNPU_INFO\nRANK_DEVICE_MAP\nSESSION_TIME_INFO\nSTRING_IDS");
    assert_string_equal(query(w, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'ENUM%'"), "9");
    assert_string_equal(query(w, "SELECT * FROM META_DATA ORDER BY name"),
                        "SCHEMA_VERSION|1.2.0\nSCHEMA_VERSION_MAJOR|1\nSCHEMA_VERSION_MICRO|0\nSCHEMA_VERSION_MINOR|2");
    assert_string_equal(query(w, "SELECT * FROM SESSION_TIME_INFO"), "1719838800000000000|1719838800000001000");
    assert_string_equal(query(w, "SELECT * FROM HOST_INFO"), "123|worker-0");
    assert_string_equal(query(w, "SELECT * FROM NPU_INFO"), "0|Ascend910B\n1|Ascend910B");
    assert_string_equal(query(w, "SELECT * FROM RANK_DEVICE_MAP"), "-1|0\n-1|1");
    assert_string_equal(query(w, "SELECT * FROM STRING_IDS"), "0|release\n1|allocate");
}

static void without_devices_their_tables_have_one_row_that_says_so(void **state)
{
    struct world *w = *state;
    w->session.n_devices = w->m.n_devices = 0;
    export(w);
    assert_string_equal(query(w, "SELECT * FROM NPU_INFO"), "-1|UNKNOWN");
    assert_string_equal(query(w, "SELECT * FROM RANK_DEVICE_MAP"), "-1|-1");
}

static void enum_tables_are_complete(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *table, *rows, *sample;
    } tables[] = {
        {"ENUM_API_TYPE", "5", "5500|communication"},
        {"ENUM_MODULE", "65", "77|CUSTOM"},
        {"ENUM_HCCL_DATA_TYPE", "20", "11|BFP16"},
        {"ENUM_HCCL_LINK_TYPE", "12", "8|UBoE"},
        {"ENUM_HCCL_TRANSPORT_TYPE", "8", "65534|N/A"},
        {"ENUM_HCCL_RDMA_TYPE", "5", "255|RESERVED"},
        {"ENUM_MSTX_EVENT_TYPE", "4", "1|push/pop"},
        {"ENUM_MEMCPY_OPERATION", "9", "65535|other"},
        {"ENUM_OVERLAP_ANALYSIS_TYPE", "5", "2|COMM_NOT_OVERLAP_COMP"},
    };
    export(w);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i].table);
        assert_string_equal(query(w, sql), tables[i].rows);
        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE id = %d", tables[i].table, atoi(tables[i].sample));
        assert_string_equal(query(w, sql), tables[i].sample);
    }
}

static void a_task_and_its_operator_share_an_id(void **state)
{
    struct world *w = *state;
    struct op *op = add_op(w, "MatMul");
    op->flags = OP_HAS_INPUTS;
    op->input_shapes = text(w, "4096,1024;1024,4096");
    op->attr = text(w, "keep:true");
    add_op(w, "NeverRan");
    add_launch(w, 1, 2, 9);
    add_launch(w, 0, 2, 7);
    add_task(w, 0, 100, 2, 6)->type = text(w, "EVENT_WAIT");
    add_task(w, 0, 200, 2, 7)->connection = 3;
    add_task(w, 1, 150, 2, 7); /* another device: another task */
    export(w);
    assert_string_equal(query(w, "SELECT startNs, endNs - startNs, deviceId, connectionId,"
                                 " globalTaskId, globalPid, " TEXT_OF("taskType") ", contextId, streamId, taskId,"
                                                                                  " modelId FROM TASK"),
                        "1719838800000000100|50|0|-1|0|4242|EVENT_WAIT|4294967295|2|6|4294967295\n"
                        "1719838800000000200|50|0|3|1|4242|KERNEL_AICORE|4294967295|2|7|4294967295\n"
                        "1719838800000000150|50|1|-1|2|4242|KERNEL_AICORE|4294967295|2|7|4294967295");
    assert_string_equal(
        query(
            w,
            "SELECT " TEXT_OF("name") ", globalTaskId, blockNum, mixBlockNum, " TEXT_OF("taskType") ", " TEXT_OF(
                "opTyp"
                "e") ", " TEXT_OF("inputShapes") ", " TEXT_OF("outputShapes") ", " TEXT_OF("attrInfo") ", " TEXT_OF("op"
                                                                                                                    "St"
                                                                                                                    "at"
                                                                                                                    "e") ", " TEXT_OF("hf32Eligible") ","
                                                                                                                                                      " " TEXT_OF(
                                                                                                                                                          "blockDim") " FROM COMPUTE_TASK_INFO"),
        "MatMul|1|24|48|AI_CORE|MatMulV2|\"4096,1024;1024,4096\"|N/A|keep:true|static|NO|N/A\n"
        "NeverRan|3|24|48|AI_CORE|MatMulV2|N/A|N/A||static|NO|N/A");
    assert_string_equal(query(w, "SELECT count(*) FROM TASK INDEXED BY TaskIndex WHERE startNs > 0"), "3");
}

static void runs_of_one_launch_share_an_id(void **state)
{
    struct world *w = *state;
    add_op(w, "MatMul");
    add_launch(w, 0, 2, 7);
    for (int run = 0; run < 3; run++) add_task(w, 0, run * 100, 2, 7);
    export(w);
    assert_string_equal(query(w, "SELECT DISTINCT t.globalTaskId, c.globalTaskId FROM TASK t, COMPUTE_TASK_INFO c"),
                        "0|0");
}

static void keep_entry(const struct diag_entry *e, void *context)
{
    *(uint64_t *)context = e->count;
}

static void of_launches_with_one_identity_the_first_is_kept(void **state)
{
    struct world *w = *state;
    add_op(w, "First");
    add_op(w, "Second");
    add_launch(w, 0, 2, 7);
    add_launch(w, 1, 2, 7);
    export(w);
    assert_string_equal(query(w, "SELECT " TEXT_OF("name") " FROM COMPUTE_TASK_INFO"), "First");
    uint64_t count = 0;
    diag_each(w->target.diag, keep_entry, &count);
    assert_int_equal(count, 1);
}

static void communication_on_ai_cpu_has_its_own_table(void **state)
{
    struct world *w = *state;
    add_op(w, "x_allReduceAicpuKernel")->flags = OP_AICPU_KERNEL;
    add_op(w, "Fused");
    add_op(w, "Plain");
    array_push(&w->m.host.kfc_streams, 40);
    add_launch(w, 0, 2, 1);
    add_launch(w, 1, 40, 2);
    add_launch(w, 2, 2, 3);
    export(w);
    assert_string_equal(query(w, "SELECT " TEXT_OF("name") ", " TEXT_OF("taskType") ", " TEXT_OF(
                                     "opType") " FROM COMMUNICATION_SCHEDULE_TASK_INFO"),
                        "x_allReduceAicpuKernel|AI_CORE|MatMulV2\nFused|AI_CORE|MatMulV2");
    assert_string_equal(query(w, "SELECT " TEXT_OF("name") " FROM COMPUTE_TASK_INFO"), "Plain");
}

static void copies_refer_to_their_task(void **state)
{
    struct world *w = *state;
    add_launch(w, NONE, 2, 7);
    add_task(w, 0, 100, 2, 6);
    add_task(w, 0, 200, 2, 7);
    array_push(&w->m.host.memcpys, ((struct memcpy_info){.host_task = 0, .size = 4096, .direction = 1}));
    array_push(&w->m.host.memcpys, ((struct memcpy_info){.host_task = NONE, .size = UINT64_MAX, .direction = 65535}));
    export(w);
    assert_string_equal(query(w, "SELECT * FROM MEMCPY_INFO"), "1|4096|1");
}

static void api_calls_are_keyed_by_connection(void **state)
{
    struct world *w = *state;
    static const struct {
        uint16_t level;
        uint8_t flags;
    } calls[] = {{LEVEL_NODE, API_EXPORTED},
                 {LEVEL_ACL, 0},
                 {LEVEL_COMMUNICATION, API_EXPORTED},
                 {123, API_EXPORTED},
                 {LEVEL_PTA, API_EXPORTED}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        array_push(&w->m.host.apis, ((struct api){.start_ns = T0,
                                                  .end_ns = T0 + 10,
                                                  .thread_id = 4243,
                                                  .name = text(w, "launch"),
                                                  .item = text(w, "hcom_allReduce_"),
                                                  .level = calls[i].level,
                                                  .flags = calls[i].flags}));
    export(w);
    assert_string_equal(query(w, "SELECT endNs - startNs, type, globalTid >> 32, globalTid & 4294967295, connectionId, "
                                 "" TEXT_OF("name") " FROM CANN_API"),
                        "10|10000|4242|4243|1|launch\n10|5500|4242|4243|3|hcom_allReduce_\n10|123|4242|4243|4|launch\n"
                        "10|65535|4242|4243|5|launch");
    assert_string_equal(query(w, "SELECT id > 0 FROM STRING_IDS WHERE value = 'launch'"), "1");
}

static void communication_tasks_refer_to_their_operator(void **state)
{
    struct world *w = *state;
    str_id key = text(w, "hcom_1_99_0"), other = text(w, "hcom_2_99_0");
    array_push(&w->devices[0].comm_ops, ((struct comm_op){.start_ns = T0,
                                                          .end_ns = T0 + 40,
                                                          .name = text(w, "hcom_1"),
                                                          .key = key,
                                                          .op_type = text(w, "hcom_allReduce_"),
                                                          .alg_type = text(w, "MESH-RING"),
                                                          .group = text(w, "g"),
                                                          .connection = 5,
                                                          .rank_size = 8,
                                                          .relay = -1,
                                                          .data_type = 4,
                                                          .count = 6000000000}));
    struct comm_task k = {.start_ns = T0,
                          .end_ns = T0 + 10,
                          .stream_id = 3,
                          .task_id = 1,
                          .context_id = CONTEXT_NONE,
                          .op_name = text(w, "hcom_2"),
                          .op_key = other,
                          .name = text(w, "Memcpy"),
                          .group = text(w, "g"),
                          .plane_id = -1,
                          .notify_id = UINT64_MAX,
                          .bandwidth_gbs = 12.5,
                          .size = -1,
                          .src_rank = UINT32_MAX,
                          .dst_rank = 1,
                          .data_type = 255,
                          .link_type = 1,
                          .transport_type = 2,
                          .rdma_type = 65535};
    array_push(&w->devices[0].comm_tasks, k);
    k.op_key = key;
    k.op_name = text(w, "hcom_1");
    k.plane_id = 2;
    k.notify_id = 4096;
    k.size = 1 << 20;
    k.is_master = true;
    array_push(&w->devices[0].comm_tasks, k);
    add_task(w, 0, 0, 3, 1);
    export(w);
    assert_string_equal(
        query(
            w,
            "SELECT " TEXT_OF("opName") ", endNs - startNs, connectionId, " TEXT_OF(
                "groupName") ", opId, relay, retry, dataType, " TEXT_OF("algType") ", count, " TEXT_OF("opType") ", "
                                                                                                                 "devic"
                                                                                                                 "eId, "
                                                                                                                 "rankS"
                                                                                                                 "ize "
                                                                                                                 "FROM "
                                                                                                                 "COMMU"
                                                                                                                 "NICAT"
                                                                                                                 "ION_"
                                                                                                                 "OP"),
        "hcom_1|40|5|g|0|-1|0|4|MESH-RING|6000000000|hcom_allReduce_|0|8");
    assert_string_equal(
        query(w, "SELECT " TEXT_OF("name") ", globalTaskId, " TEXT_OF("taskType") ", planeId, " TEXT_OF(
                     "groupName") ", notifyId, rdmaType, srcRank, dstRank, transportType, size,"
                                  " dataType, linkType, opId, isMaster, bandwidth FROM COMMUNICATION_TASK_INFO"
                                  " INDEXED BY CommunicationTaskIndex WHERE globalTaskId = 0"),
        "hcom_2|0|Memcpy|4294967295|g|-1|65535|4294967295|1|2|-1|255|1|1|0|12500000000\n"
        "hcom_1|0|Memcpy|2|g|4096|65535|4294967295|1|2|1048576|255|1|0|1|12500000000");
}

static void overlap_sections_are_numbered_over_devices(void **state)
{
    struct world *w = *state;
    for (int d = 0; d < 2; d++) {
        w->devices[d].has_tasks = true;
        array_push(&w->devices[d].overlap[OVERLAP_FREE], ((struct section){T0 + 5, T0 + 9}));
        array_push(&w->devices[d].overlap[OVERLAP_COMPUTE], ((struct section){T0, T0 + 5}));
    }
    export(w);
    assert_string_equal(query(w, "SELECT id, deviceId, startNs % 1000, endNs % 1000, type FROM OVERLAP_ANALYSIS"),
                        "0|0|0|5|0\n1|0|5|9|3\n2|1|0|5|0\n3|1|5|9|3");
}

static void frequency_points_are_of_the_whole_chip(void **state)
{
    struct world *w = *state;
    array_push(&w->devices[1].data.freqs, ((struct freq_point){.time_ns = T0, .mhz = 1800}));
    array_push(&w->devices[1].data.freqs, ((struct freq_point){.time_ns = T0 + 1, .mhz = 900, .twice = true}));
    export(w);
    assert_string_equal(query(w, "SELECT * FROM AICORE_FREQ"),
                        "1|1719838800000000000|1800|-1\n1|1719838800000000001|900|-1\n1|1719838800000000001|900|-1");
}

static void add_counter(struct pmu *p, const char *name, enum pmu_formula formula, bool aiv)
{
    struct pmu_column *c = array_add(&p->columns);
    *c = (struct pmu_column){.formula = formula, .aiv = aiv};
    strcpy(c->name, name);
    if (formula == PMU_OF_COUNTERS) c->n_terms = 1, c->terms[0].factor = 1;
}

static void counters_are_rows_in_the_units_of_the_database(void **state)
{
    struct world *w = *state;
    struct pmu *p = &w->devices[1].data.pmu;
    add_counter(p, "aic_total_time", PMU_OF_TOTAL_TIME, false);
    add_counter(p, "aic_total_cycles", PMU_OF_CYCLES, false);
    add_counter(p, "aic_mac_ratio_extra", PMU_OF_COUNTERS, false);
    add_counter(p, "aic_l1_read_bw(GB/s)", PMU_OF_COUNTERS, false);
    add_counter(p, "aiv_total(ms)", PMU_OF_TOTAL_TIME, true);
    array_push(&p->sides, ((struct pmu_side){.cycles = 1850, .total_us = 2.5, .counter = {3}}));
    array_push(&p->sides, ((struct pmu_side){.total_us = 0.25}));
    array_push(&p->rows, ((struct pmu_row){.aic = 0, .aiv = NONE}));
    array_push(&p->rows, ((struct pmu_row){.aic = NONE, .aiv = NONE})); /* of no task */
    array_push(&p->rows, ((struct pmu_row){.aic = NONE, .aiv = 1}));
    array_push(&p->rows, ((struct pmu_row){.aic = NONE, .aiv = 1}));
    array_push(&p->orphans, ((struct pmu_orphan){.row = 3, .stream_id = 2, .task_id = 99}));
    add_task(w, 0, 0, 2, 7); /* no counters */
    add_task(w, 1, 0, 2, 8)->pmu = 2;
    add_task(w, 1, 60, 2, 9)->pmu = 0;
    export(w);
    assert_string_equal(query(w, "SELECT globalTaskId, " TEXT_OF("name") ", value FROM TASK_PMU_INFO"),
                        "2|aic_total_time|2500\n2|aic_total_cycles|1850\n2|aic_mac_ratio|3\n"
                        "2|aic_l1_read_bw|3221225472\n2|aiv_total|0\n"
                        "1|aic_total_time|0\n1|aic_total_cycles|0\n1|aic_mac_ratio|0\n"
                        "1|aic_l1_read_bw|0\n1|aiv_total|250000\n"
                        "3|aic_total_time|0\n3|aic_total_cycles|0\n3|aic_mac_ratio|0\n"
                        "3|aic_l1_read_bw|0\n3|aiv_total|250000");
}

static void touch(const struct world *w, const char *name)
{
    char *path = in_dir(w, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    free(path);
}

static bool there(const struct world *w, const char *name)
{
    char *path = in_dir(w, name);
    bool is = access(path, F_OK) == 0;
    free(path);
    return is;
}

static void the_new_database_takes_the_place_of_older_ones(void **state)
{
    struct world *w = *state;
    static const char *const gone[] = {"msprof_20230101000000.db", "msprof_20230101000000.db-wal",
                                       "msprof_20230101000000.db-shm", "msprof_20990101000000.db",
                                       "msprof_" STAMP ".db-journal"};
    static const char *const stay[] = {"msprof_2023.db",
                                       "msprof_20230101000000.db.bak",
                                       "xmsprof_20230101000000.db",
                                       "msprof_202301010000000.db",
                                       "msprof_20220101000000.db-wal",
                                       "other.db"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) touch(w, gone[i]);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) touch(w, stay[i]);
    char *folder = in_dir(w, "msprof_20210101000000.db");
    assert_int_equal(mkdir(folder, 0700), 0);
    free(folder);
    export(w);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) assert_false(there(w, gone[i]));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) assert_true(there(w, stay[i]));
    assert_true(there(w, "msprof_20210101000000.db"));
    assert_int_equal(w->target.written.files.n, 1);
    assert_string_equal(w->target.written.files.at[0].path, "msprof_" STAMP ".db");
    assert_int_equal(diag_entries(w->target.diag, DIAG_WARNING), 0);
}

static void a_database_that_cannot_be_written_leaves_the_old_one(void **state)
{
    struct world *w = *state;
    struct error err;
    touch(w, "msprof_20230101000000.db");
    char *folder = in_dir(w, "msprof_" STAMP ".db"); /* in the way of the new name */
    assert_int_equal(mkdir(folder, 0700), 0);
    free(folder);
    assert_int_equal(db_export(&w->target, &err), -1);
    assert_true(there(w, "msprof_20230101000000.db"));
    assert_int_equal(w->target.written.files.n, 0);
}

/* SQLite keeps its locks on the page with byte 2^30, which must not be used. */
static void the_page_of_the_lock_byte_is_left_out(void **state)
{
    struct world *w = *state;
    struct pages p;
    struct error err;
    char *path = in_dir(w, "pages");
    uint8_t *image = mem_zalloc(PAGE_MAX, 1);
    assert_int_equal(pages_open(&p, path, PAGE_MAX, &err), 0);
    p.n = (1u << 30) / PAGE_MAX - 1;
    assert_int_equal(pages_append(&p, image), (1u << 30) / PAGE_MAX);
    assert_int_equal(pages_append(&p, image), (1u << 30) / PAGE_MAX + 2);
    assert_int_equal(out_size(&p.out), 4 * PAGE_MAX); /* page 1, the two, and the one between */
    pages_discard(&p);
    free(image);
    free(path);
}

#define DB_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_collection_without_records_has_the_tables_about_itself),
        DB_TEST(without_devices_their_tables_have_one_row_that_says_so),
        DB_TEST(enum_tables_are_complete),
        DB_TEST(a_task_and_its_operator_share_an_id),
        DB_TEST(runs_of_one_launch_share_an_id),
        DB_TEST(of_launches_with_one_identity_the_first_is_kept),
        DB_TEST(communication_on_ai_cpu_has_its_own_table),
        DB_TEST(copies_refer_to_their_task),
        DB_TEST(api_calls_are_keyed_by_connection),
        DB_TEST(communication_tasks_refer_to_their_operator),
        DB_TEST(overlap_sections_are_numbered_over_devices),
        DB_TEST(frequency_points_are_of_the_whole_chip),
        DB_TEST(counters_are_rows_in_the_units_of_the_database),
        DB_TEST(the_new_database_takes_the_place_of_older_ones),
        DB_TEST(a_database_that_cannot_be_written_leaves_the_old_one),
        DB_TEST(the_page_of_the_lock_byte_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
