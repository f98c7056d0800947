/* The analyze room: operators are measured, links are added up, files say so. Tasks are made by hand. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/parts.h"
#include "scratch.h"

#define START 1719838800143460240 /* epoch ns of everything */
#define BOTH  (NPUPROF_COMMUNICATION | NPUPROF_COMMUNICATION_MATRIX)

enum { SDMA = 0, RDMA = 1, ROCE = 4, NO_TRANSPORT = 255 };
enum { ON_CHIP = 0, HCCS = 1, PCIE = 2, ROCE_LINK = 3, SIO = 4, HCCS_SW = 5, NO_LINK = 255 };
enum { NOTIFY = 0, PAYLOAD = 1, NO_RDMA = 255 };

struct world {
    struct session session;
    struct prof_dir dirs[2];
    struct device_model devices[2];
    struct model m;
    struct diag *diag;
    struct analysis *a;
};

static int setup(void **state)
{
    static char *names[] = {"device_10", "device_9"};
    if (scratch_make(state)) return -1;
    struct world *w = mem_zalloc(1, sizeof *w);
    w->m = (struct model){.session = &w->session, .strings = strpool_new(), .devices = w->devices, .n_devices = 2};
    for (int i = 0; i < 2; i++) {
        w->dirs[i].name = names[i];
        w->devices[i].dir = &w->dirs[i];
        w->devices[i].device_id = (uint16_t)(10 - i);
    }
    w->diag = diag_new();
    w->a = analysis_new(BOTH);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 2; i++) array_free(&w->devices[i].comm_tasks);
    strpool_free(w->m.strings);
    diag_free(w->diag);
    analysis_free(w->a);
    free(w);
    return scratch_drop(state);
}

static str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

/* A task of device `d`, the defaults of most: on plane 0, which is the master's, from rank 3 to rank 4. */
static struct comm_task *task(struct world *w, int d, const char *op, const char *name, int64_t at, int64_t ns)
{
    char *key = mem_printf("%s_77_%d", op, 10 - d);
    array_push(&w->devices[d].comm_tasks, ((struct comm_task){.start_ns = START + at,
                                                              .end_ns = START + at + ns,
                                                              .op_name = text(w, op),
                                                              .op_key = text(w, key),
                                                              .name = text(w, name),
                                                              .size = -1,
                                                              .src_rank = 3,
                                                              .dst_rank = 4,
                                                              .link_type = NO_LINK,
                                                              .transport_type = NO_TRANSPORT,
                                                              .rdma_type = NO_RDMA,
                                                              .is_master = true}));
    free(key);
    return &w->devices[d].comm_tasks.at[w->devices[d].comm_tasks.n - 1];
}

static struct comm_task *wait_for(struct world *w, const char *op, int64_t at, int64_t ns)
{
    return task(w, 0, op, "Notify_Wait", at, ns);
}

static struct comm_task *copy(struct world *w, const char *op, int64_t at, int64_t ns, int64_t size, uint16_t link)
{
    struct comm_task *t = task(w, 0, op, "Memcpy", at, ns);
    t->size = size;
    t->link_type = link;
    t->transport_type = SDMA;
    return t;
}

static struct comm_task *rdma(struct world *w, const char *op, int64_t at, int64_t ns, int64_t size, uint16_t type)
{
    struct comm_task *t = task(w, 0, op, "RDMASend", at, ns);
    t->size = size;
    t->link_type = ROCE_LINK;
    t->transport_type = RDMA;
    t->rdma_type = type;
    return t;
}

static void analyze(struct world *w)
{
    analysis_add(w->a, &w->m, w->diag);
}

static const struct op_facts *find(const struct world *w, const char *name)
{
    for (size_t i = 0; i < w->a->operators.n; i++)
        if (!strcmp(strpool_text(w->a->strings, w->a->operators.at[i].name), name)) return &w->a->operators.at[i];
    fail_msg("no operator %s", name);
    return NULL;
}

/* ---- measuring ---- */

static void an_rdma_transfer_lasts_until_its_last_closing_task(void **state)
{
    struct world *w = *state;
    rdma(w, "allReduce", 0, 100, 1000, PAYLOAD);
    rdma(w, "allReduce", 100, 100, 2000, PAYLOAD);
    rdma(w, "allReduce", 200, 10, 4, NOTIFY);
    wait_for(w, "allReduce", 300, 10);
    rdma(w, "allReduce", 400, 10, 4, NOTIFY);
    wait_for(w, "allReduce", 500, 10);
    wait_for(w, "allReduce", 600, 10);
    analyze(w);
    const struct op_facts *op = find(w, "allReduce");
    assert_int_equal(op->times.transit.value, 510);
    assert_int_equal(op->times.wait.value, 10); /* the waits inside are part of the transfer */
    assert_int_equal(op->times.synchronization.terms, 0);
    assert_int_equal(op->traffic[TRAFFIC_RDMA].bytes.value, 3000);
    assert_int_equal(op->traffic[TRAFFIC_RDMA].bytes.terms, 1);
}

static void send_and_receive_close_a_transfer_sooner(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"hcom_SEND__1", "hcom_allToAllReceiveLike", "hcom_reduce"};
    for (size_t i = 0; i < 3; i++) {
        rdma(w, names[i], 0, 100, 1000, PAYLOAD);
        rdma(w, names[i], 200, 10, 4, NOTIFY);
        wait_for(w, names[i], 300, 10);
    }
    analyze(w);
    assert_int_equal(find(w, names[0])->times.transit.value, 310);
    assert_int_equal(find(w, names[1])->times.transit.value, 310);
    assert_int_equal(find(w, names[2])->times.transit.terms, 0);
}

static void payloads_of_an_unfinished_transfer_count_for_nothing(void **state)
{
    struct world *w = *state;
    rdma(w, "reduce", 0, 100, 1000, PAYLOAD);
    rdma(w, "reduce", 100, 100, 1000, PAYLOAD);
    wait_for(w, "reduce", 300, 10);
    copy(w, "reduce", 400, 10, 5000, PCIE);
    wait_for(w, "reduce", 500, 20);
    analyze(w);
    const struct op_facts *op = find(w, "reduce");
    assert_int_equal(op->traffic[TRAFFIC_RDMA].bytes.terms, 0);
    assert_int_equal(op->times.transit.value, 10);
    assert_int_equal(op->times.wait.value, 30);
    assert_int_equal(op->times.synchronization.value, 10);
    assert_int_equal(op->times.elapsed.value, 520);
    assert_int_equal(w->a->links.n, 1);
    assert_int_equal(w->a->links.at[0].bytes, 5000);
}

static void an_rdma_transfer_over_another_transport_is_no_reason_to_fail(void **state)
{
    struct world *w = *state;
    static const struct {
        uint16_t transport;
        enum traffic traffic;
    } cases[] = {{ROCE, TRAFFIC_RDMA}, {SDMA, TRAFFIC_SDMA}, {NO_TRANSPORT, TRAFFIC_RDMA}};
    for (size_t i = 0; i < 3; i++) {
        char name[] = "send_0";
        name[5] = (char)('0' + i);
        rdma(w, name, 0, 100, 1000, PAYLOAD)->transport_type = cases[i].transport;
        rdma(w, name, 200, 10, 4, NOTIFY);
        wait_for(w, name, 300, 10);
    }
    analyze(w);
    for (size_t i = 0; i < 3; i++) assert_int_equal(w->a->operators.at[i].traffic[cases[i].traffic].bytes.value, 1000);
}

static void only_the_plane_of_the_first_master_task_gives_times(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 10, 100, HCCS)->is_master = false;
    struct comm_task *t = copy(w, "x", 50, 20, 100, HCCS);
    t->plane_id = 5;
    t = copy(w, "x", 100, 40, 100, HCCS);
    t->plane_id = 5;
    t->is_master = false;
    wait_for(w, "x", 40, 1000)->is_master = false;
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->times.start_ns, START + 50);
    assert_int_equal(op->times.elapsed.value, 90);
    assert_int_equal(op->times.transit.value, 60);
    assert_int_equal(op->times.wait.terms, 0);
    assert_int_equal(op->traffic[TRAFFIC_HCCS].ns.value, 70);
}

static void launched_tasks_come_before_those_of_the_ai_cpu(void **state)
{
    struct world *w = *state;
    struct comm_task *t = copy(w, "x", 0, 10, 100, HCCS);
    t->plane_id = 1;
    t->source = COMM_AICPU;
    copy(w, "y", 20, 10, 100, HCCS);
    wait_for(w, "x", 50, 20);
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->times.start_ns, START);
    assert_int_equal(op->times.elapsed.value, 20);
    assert_int_equal(op->times.wait.value, 20);
    assert_int_equal(op->times.transit.terms, 0);
    assert_string_equal(strpool_text(w->a->strings, w->a->operators.at[0].name), "y");
}

static void copies_within_a_npu_are_local_links_and_no_traffic(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 10, 100, ON_CHIP);
    wait_for(w, "x", 20, 10);
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->times.transit.terms, 0);
    assert_int_equal(op->times.synchronization.value, 10);
    assert_int_equal(traffic_shown(op, TRAFFIC_SDMA).bytes.terms, 0);
    assert_int_equal(w->a->links.n, 1);
    assert_string_equal(w->a->links.at[0].transport, "LOCAL");
}

static void sdma_has_what_went_over_all_links_but_rdma(void **state)
{
    struct world *w = *state;
    static const uint16_t links[] = {HCCS, HCCS_SW, PCIE, SIO, ROCE_LINK, NO_LINK};
    for (size_t i = 0; i < 6; i++) copy(w, "x", (int64_t)i * 10, 5, 1 << i, links[i]);
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->traffic[TRAFFIC_HCCS].bytes.value, 3);
    assert_int_equal(op->traffic[TRAFFIC_PCIE].bytes.value, 4);
    assert_int_equal(op->traffic[TRAFFIC_SIO].bytes.value, 8);
    assert_int_equal(op->traffic[TRAFFIC_SDMA].bytes.value, 48);
    assert_int_equal(traffic_shown(op, TRAFFIC_SDMA).bytes.value, 63);
}

static void the_last_device_has_the_last_word_but_all_count_for_links(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 10, 100, HCCS); /* device_10 comes after device_9 */
    copy(w, "x", 20, 10, 50, HCCS);
    struct comm_task *t = task(w, 1, "x", "Memcpy", 7, 30);
    t->size = 1000;
    t->link_type = PCIE;
    t->transport_type = SDMA;
    copy(w, "y", 40, 10, 1, HCCS);
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->times.start_ns, START);
    assert_int_equal(op->traffic[TRAFFIC_HCCS].bytes.value, 150);
    assert_int_equal(op->traffic[TRAFFIC_PCIE].bytes.value, 0);
    link_list links = {0};
    analysis_links(w->a, &links);
    assert_int_equal(links.n, 2);
    assert_int_equal(links.at[0].bytes, 1150);
    assert_int_equal(links.at[0].ns, 50);
    assert_string_equal(links.at[0].transport, "HCCS");
    assert_int_equal(links.at[1].bytes, 1);
    array_free(&links);
}

static void a_peer_that_is_not_known_is_the_rank_itself(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 10, 100, HCCS)->src_rank = UINT32_MAX;
    copy(w, "x", 20, 10, 7, HCCS)->dst_rank = UINT32_MAX;
    analyze(w);
    assert_int_equal(w->a->links.n, 1);
    assert_int_equal(w->a->links.at[0].src_rank, 3);
    assert_int_equal(w->a->links.at[0].dst_rank, 3);
    assert_int_equal(w->a->links.at[0].bytes, 7);
}

static void absurd_sizes_and_times_do_not_overflow(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 10, INT64_MAX, HCCS);
    copy(w, "x", 20, 10, INT64_MAX, HCCS)->end_ns = INT64_MAX;
    copy(w, "x", 30, 10, INT64_MIN, HCCS)->start_ns = INT64_MIN;
    wait_for(w, "x", 50, 10)->end_ns = INT64_MAX;
    analyze(w);
    const struct op_facts *op = find(w, "x");
    assert_int_equal(op->traffic[TRAFFIC_HCCS].bytes.value, INT64_MAX);
    assert_int_equal(op->times.elapsed.value, INT64_MAX);
    uint64_t bytes, rows;
    struct error err = {0};
    char *path = mem_printf("%s/communication.json", scratch);
    assert_int_equal(json_write_communication(w->a, path, &bytes, &rows, &err), 0);
    free(path);
}

static void communication_before_the_collection_is_told_from_none(void **state)
{
    struct world *w = *state;
    analyze(w);
    assert_false(analysis_all_before(w->a));
    assert_true(noted(w->diag, "", "no communication"));
    w->devices[1].comm_tasks_before = 3;
    analyze(w);
    assert_true(analysis_all_before(w->a));
    assert_true(noted(w->diag, "", "all communication ran before the collection"));
}

static void numbers_are_rounded_to_four_decimals(void **state)
{
    (void)state;
    assert_true(bandwidth_gbs(600000, 450) == 1333.3333);
    assert_true(bandwidth_gbs(1, 0) == 0);
    assert_true(share_of(1, 3) == 0.3333);
    assert_true(share_of(1, 32) == 0.0312); /* two are equally near: the even one */
    assert_true(share_of(1, 0) == 0);
}

/* ---- files ---- */

static void worked_example(struct world *w)
{
    static const char op[] = "hcom_allReduce__077_0_1";
    wait_for(w, op, 0, 1000);
    copy(w, op, 1500, 2000, 4096, HCCS);
    wait_for(w, op, 4000, 500);
    rdma(w, op, 5000, 100, 600000, PAYLOAD);
    rdma(w, op, 5100, 50, 4, NOTIFY);
    wait_for(w, op, 5200, 50);
    rdma(w, op, 5300, 50, 4, NOTIFY);
    wait_for(w, op, 5400, 50);
    struct comm_task *t = task(w, 0, op, "Reduce_Inline", 200, 777);
    t->plane_id = 1;
    t->is_master = false;
    t->size = 50000000;
    t->link_type = HCCS_SW;
    t->transport_type = SDMA;
    t->dst_rank = 5;
    analyze(w);
}

static void write_all(struct world *w, bool json)
{
    struct written_list written = {0};
    struct error err = {0};
    assert_int_equal(analysis_write(w->a, scratch, json, &written, w->diag, &err), 0);
    written_free(&written);
}

/* The content of a file in `analyze`, static; NULL when it is not there. */
static const char *content(const char *name)
{
    static char buffer[16384];
    char *path = mem_printf("%s/analyze/%s", scratch, name);
    FILE *f = fopen(path, "rb");
    free(path);
    if (!f) return NULL;
    buffer[fread(buffer, 1, sizeof buffer - 1, f)] = '\0';
    fclose(f);
    return buffer;
}

static void the_worked_example_comes_out_as_documented(void **state)
{
    struct world *w = *state;
    worked_example(w);
    write_all(w, true);
    assert_string_equal(
        content("communication.json"),
        "{\"hcom_allReduce__077_0_1@77\": {\"Communication Time Info\": {\"Start Timestamp(us)\": 1719838800143460.24, "
        "\"Elapse Time(ms)\": 0.00545, \"Transit Time(ms)\": 0.00245, \"Wait Time(ms)\": 0.0015, \"Synchronization "
        "Time(ms)\": 0.001, \"Idle Time(ms)\": 0.0015, \"Wait Time Ratio\": 0.3797, \"Synchronization Time Ratio\": "
        "0.2899}, \"Communication Bandwidth Info\": {\"RDMA\": {\"Transit Size(MB)\": 0.6, \"Transit Time(ms)\": "
        "0.00045, \"Bandwidth(GB/s)\": 1333.3333, \"Large Packet Ratio\": 1.0, \"Size Distribution\": {\"0.6\": [1, "
        "0.00045]}}, \"HCCS\": {\"Transit Size(MB)\": 50.004096, \"Transit Time(ms)\": 0.002777, \"Bandwidth(GB/s)\": "
        "18006.5164, \"Large Packet Ratio\": 0.5, \"Size Distribution\": {\"0.004096\": [1, 0.002], \"50.0\": [1, "
        "0.000777]}}, \"PCIE\": {\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Large "
        "Packet Ratio\": 0, \"Size Distribution\": {}}, \"SDMA\": {\"Transit Size(MB)\": 50.004096, \"Transit "
        "Time(ms)\": 0.002777, \"Bandwidth(GB/s)\": 18006.5164, \"Large Packet Ratio\": 0, \"Size Distribution\": {}}, "
        "\"SIO\": {\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, \"Bandwidth(GB/s)\": 0, \"Large Packet Ratio\": "
        "0, "
        "\"Size Distribution\": {}}}}, \"Total HCCL Operators\": {\"Communication Time Info\": {\"Start "
        "Timestamp(us)\": 0, \"Elapse Time(ms)\": 0.00545, \"Transit Time(ms)\": 0.00245, \"Wait Time(ms)\": 0.0015, "
        "\"Synchronization Time(ms)\": 0.001, \"Idle Time(ms)\": 0.0015, \"Wait Time Ratio\": 0.3797, "
        "\"Synchronization Time Ratio\": 0.2899}, \"Communication Bandwidth Info\": {\"RDMA\": {\"Transit Size(MB)\": "
        "0.6, \"Transit Time(ms)\": 0.00045, \"Bandwidth(GB/s)\": 1333.3333, \"Large Packet Ratio\": 1.0, \"Size "
        "Distribution\": {\"0.6\": [1, 0.00045]}}, \"HCCS\": {\"Transit Size(MB)\": 50.004096, \"Transit Time(ms)\": "
        "0.002777, \"Bandwidth(GB/s)\": 18006.5164, \"Large Packet Ratio\": 0.5, \"Size Distribution\": {\"0.004096\": "
        "[1, 0.002], \"50.0\": [1, 0.000777]}}, \"PCIE\": {\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
        "\"Bandwidth(GB/s)\": 0, \"Large Packet Ratio\": 0, \"Size Distribution\": {}}, \"SDMA\": {\"Transit "
        "Size(MB)\": 50.004096, \"Transit Time(ms)\": 0.002777, \"Bandwidth(GB/s)\": 18006.5164, \"Large Packet "
        "Ratio\": 0, \"Size Distribution\": {}}, \"SIO\": {\"Transit Size(MB)\": 0, \"Transit Time(ms)\": 0, "
        "\"Bandwidth(GB/s)\": 0, \"Large Packet Ratio\": 0, \"Size Distribution\": {}}}}}");
    assert_string_equal(
        content("communication_matrix.json"),
        "{\"hcom_allReduce__077_0_1@77\": {\"3-4\": {\"Transport Type\": \"RDMA\", \"Transit Size(MB)\": 0.604096, "
        "\"Transit Time(ms)\": 0.00245, \"Bandwidth(GB/s)\": 246.5698}, \"3-5\": {\"Transport Type\": \"HCCS\", "
        "\"Transit Size(MB)\": 50.0, \"Transit Time(ms)\": 0.000777, \"Bandwidth(GB/s)\": 64350.0644}}, \"Total HCCL "
        "Operators\": {\"3-4\": {\"Transport Type\": \"RDMA\", \"Transit Size(MB)\": 0.604096, \"Transit Time(ms)\": "
        "0.00245, \"Bandwidth(GB/s)\": 246.5698}, \"3-5\": {\"Transport Type\": \"HCCS\", \"Transit Size(MB)\": 50.0, "
        "\"Transit Time(ms)\": 0.000777, \"Bandwidth(GB/s)\": 64350.0644}}}");
}

static void numbers_look_as_python_writes_them(void **state)
{
    struct world *w = *state;
    copy(w, "x", 0, 0, 1, PCIE)->dst_rank = 0;
    copy(w, "x", 10, 99, 99, PCIE)->dst_rank = 1;
    copy(w, "x", 200, 100, 100, PCIE)->dst_rank = 2;
    copy(w, "x", 400, 1000000, 123456789012345, PCIE)->dst_rank = 5;
    copy(w, "x", 2000000, 1, 1234567890123456789, PCIE)->dst_rank = 6;
    analyze(w);
    write_all(w, true);
    const char *json = content("communication.json");
    assert_non_null(strstr(json,
                           "\"Size Distribution\": {\"1e-06\": [1, 0.0], \"9.9e-05\": [1, 9.9e-05], \"0.0001\": [1, "
                           "0.0001], \"123456789.012345\": [1, 1.0], \"1234567890123.4568\": [1, 1e-06]}"));
    json = content("communication_matrix.json");
    assert_non_null(strstr(json, "\"3-0\": {\"Transport Type\": \"PCIE\", \"Transit Size(MB)\": 1e-06, \"Transit "
                                 "Time(ms)\": 0.0, \"Bandwidth(GB/s)\": 0}"));
}

/* All rows of a query as "a|b\n…", static; "" also without such a table. */
static const char *query(const char *sql)
{
    static char buffer[4096];
    sqlite3 *db;
    sqlite3_stmt *q = NULL;
    char *path = mem_printf("%s/analyze/communication_analyzer.db", scratch);
    size_t n = 0;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    free(path);
    buffer[0] = '\0';
    if (!sqlite3_prepare_v2(db, sql, -1, &q, NULL))
        for (; sqlite3_step(q) == SQLITE_ROW; buffer[n - 1] = '\n')
            for (int i = 0; i < sqlite3_column_count(q); i++)
                n += (size_t)snprintf(buffer + n, sizeof buffer - n, "%s|", (const char *)sqlite3_column_text(q, i));
    sqlite3_finalize(q);
    sqlite3_close(db);
    return buffer;
}

static void the_database_has_the_same_without_totals(void **state)
{
    struct world *w = *state;
    worked_example(w);
    write_all(w, false);
    assert_null(content("communication.json"));
    assert_string_equal(query("PRAGMA integrity_check"), "ok\n");
    assert_string_equal(query("SELECT * FROM CommAnalyzerTime"),
                        "hcom_allReduce__077_0_1|77|1.71983880014346e+15|0.00545|0.00245|0.0015|0.001|0.0015\n");
    assert_string_equal(query("SELECT * FROM CommAnalyzerBandwidth"),
                        "hcom_allReduce__077_0_1|77|RDMA|0.6|0.00045|1333.3333|1|0.6|1|0.00045\n"
                        "hcom_allReduce__077_0_1|77|HCCS|50.004096|0.002777|18006.5164|0.5|0.004096|1|0.002\n"
                        "hcom_allReduce__077_0_1|77|HCCS|50.004096|0.002777|18006.5164|0.5|50|1|0.000777\n"
                        "hcom_allReduce__077_0_1|77|SDMA|50.004096|0.002777|18006.5164|0|0|0|0\n");
    assert_string_equal(query("SELECT * FROM CommAnalyzerMatrix"),
                        "hcom_allReduce__077_0_1|77|3|4|RDMA|0.604096|0.00245|246.5698\n"
                        "hcom_allReduce__077_0_1|77|3|5|HCCS|50|0.000777|64350.0644\n");
}

static void a_name_with_an_at_sign_stays_whole(void **state)
{
    struct world *w = *state;
    copy(w, "a@b_c", 0, 10, 100, ROCE_LINK);
    analyze(w);
    write_all(w, true);
    assert_non_null(strstr(content("communication.json"), "{\"a@b_c@77\": {"));
    assert_string_equal(query("SELECT hccl_op_name, group_name FROM CommAnalyzerTime"), "a@b_c|77\n");
    assert_string_equal(query("SELECT hccl_op_name, group_name, transport_type FROM CommAnalyzerMatrix"),
                        "a@b_c|77|(null)\n");
}

static void tables_of_the_other_rule_stay(void **state)
{
    struct world *w = *state;
    worked_example(w);
    w->a->rules = NPUPROF_COMMUNICATION;
    write_all(w, false);
    assert_string_equal(query("SELECT name FROM sqlite_master"), "CommAnalyzerTime\nCommAnalyzerBandwidth\n");
    w->a->rules = NPUPROF_COMMUNICATION_MATRIX;
    write_all(w, false);
    assert_string_equal(query("SELECT count(*) FROM CommAnalyzerTime"), "1\n");
    assert_string_equal(query("SELECT sum(count) FROM CommAnalyzerBandwidth"), "3\n");
    assert_string_equal(query("SELECT count(*) FROM CommAnalyzerMatrix"), "2\n");
    assert_string_equal(query("PRAGMA integrity_check"), "ok\n");
}

static void an_older_database_that_is_none_is_replaced(void **state)
{
    struct world *w = *state;
    scratch_text("analyze/communication_analyzer.db", "SQLite format 3: not really, but long enough to look at it");
    worked_example(w);
    w->a->rules = NPUPROF_COMMUNICATION_MATRIX;
    write_all(w, true);
    assert_true(noted(w->diag, "", "the older communication_analyzer.db cannot be read"));
    assert_string_equal(query("SELECT name FROM sqlite_master"), "CommAnalyzerMatrix\n");
    assert_null(content("communication.json"));
}

static void tables_are_there_without_rows_too(void **state)
{
    struct world *w = *state;
    wait_for(w, "barrier", 0, 10);
    analyze(w);
    write_all(w, true);
    assert_string_equal(query("SELECT count(*) FROM CommAnalyzerBandwidth"), "0\n");
    assert_string_equal(query("SELECT count(*) FROM CommAnalyzerMatrix"), "0\n");
    assert_string_equal(query("PRAGMA integrity_check"), "ok\n");
    assert_string_equal(content("communication_matrix.json"), "{\"barrier@77\": {}, \"Total HCCL Operators\": {}}");
}

static void nothing_is_written_for_nothing(void **state)
{
    struct world *w = *state;
    char *path = mem_printf("%s/analyze", scratch);
    write_all(w, true);
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
}

static void an_operator_without_master_task_costs_the_times_of_all(void **state)
{
    struct world *w = *state;
    struct written_list written = {0};
    struct error err = {0};
    copy(w, "lost", 0, 10, 100, HCCS)->is_master = false;
    copy(w, "fine", 20, 10, 100, HCCS);
    analyze(w);
    assert_int_equal(analysis_without_master(w->a), 1);
    assert_true(noted(w->diag, "device_10", "no task on a master plane"));
    assert_int_equal(analysis_write(w->a, scratch, true, &written, w->diag, &err), -1);
    assert_int_equal(written.files.n, 2);
    assert_null(content("communication.json"));
    assert_non_null(content("communication_matrix.json"));
    assert_string_equal(query("SELECT name FROM sqlite_master"), "CommAnalyzerMatrix\n");
    written_free(&written);
}

static void a_link_in_the_way_is_refused(void **state)
{
    struct world *w = *state;
    struct written_list written = {0};
    struct error err = {0};
    char *path = mem_printf("%s/analyze", scratch), *elsewhere = mem_printf("%s/elsewhere", scratch);
    assert_int_equal(mkdir(elsewhere, 0750), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    worked_example(w);
    assert_int_equal(analysis_write(w->a, scratch, true, &written, w->diag, &err), -1);
    assert_int_equal(written.files.n, 0);
    assert_int_equal(rmdir(elsewhere), 0);
    free(path);
    free(elsewhere);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_rdma_transfer_lasts_until_its_last_closing_task),
        TEST(send_and_receive_close_a_transfer_sooner),
        TEST(payloads_of_an_unfinished_transfer_count_for_nothing),
        TEST(an_rdma_transfer_over_another_transport_is_no_reason_to_fail),
        TEST(only_the_plane_of_the_first_master_task_gives_times),
        TEST(launched_tasks_come_before_those_of_the_ai_cpu),
        TEST(copies_within_a_npu_are_local_links_and_no_traffic),
        TEST(sdma_has_what_went_over_all_links_but_rdma),
        TEST(an_operator_without_master_task_costs_the_times_of_all),
        TEST(the_last_device_has_the_last_word_but_all_count_for_links),
        TEST(a_peer_that_is_not_known_is_the_rank_itself),
        TEST(absurd_sizes_and_times_do_not_overflow),
        TEST(communication_before_the_collection_is_told_from_none),
        TEST(numbers_are_rounded_to_four_decimals),
        TEST(the_worked_example_comes_out_as_documented),
        TEST(numbers_look_as_python_writes_them),
        TEST(the_database_has_the_same_without_totals),
        TEST(a_name_with_an_at_sign_stays_whole),
        TEST(tables_of_the_other_rule_stay),
        TEST(an_older_database_that_is_none_is_replaced),
        TEST(tables_are_there_without_rows_too),
        TEST(nothing_is_written_for_nothing),
        TEST(a_link_in_the_way_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
