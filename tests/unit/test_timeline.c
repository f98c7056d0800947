/* The timeline room: what each layer makes of a small model built by hand, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/out.h"
#include "export/export.h"

#define T0 1719838800000000000 /* ns: 1719838800000000.000 µs */

struct world {
    struct session session;
    struct prof_dir host, dirs[2];
    struct device_model devices[2];
    struct model m;
    struct export_target target;
    char dir[64];
    char *text; /* of the file read last */
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    strcpy(w->dir, "/tmp/test_timeline.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->host = (struct prof_dir){.is_host = true, .device_id = 64, .chip = chip_find(5), .meta.pid = 4242};
    for (uint16_t i = 0; i < 2; i++) {
        w->dirs[i] = (struct prof_dir){.device_id = i, .chip = chip_find(5), .meta.pid = 4242};
        w->devices[i] = (struct device_model){.dir = &w->dirs[i], .device_id = i};
    }
    w->session =
        (struct session){.path = w->dir, .chip = chip_find(5), .host = &w->host, .meta = &w->host.meta, .n_devices = 1};
    w->m = (struct model){.session = &w->session, .strings = strpool_new(), .devices = w->devices, .n_devices = 1};
    w->target =
        (struct export_target){.model = &w->m, .stamp = "20240701130000", .output_dir = w->dir, .diag = diag_new()};
    *state = w;
    return 0;
}

static char *file_path(const struct world *w, const char *stem)
{
    return mem_printf("%s/%s_20240701130000.json", w->dir, stem);
}

static void free_device(struct device_model *d)
{
    array_free(&d->tasks);
    array_free(&d->comm_ops);
    array_free(&d->comm_tasks);
    for (size_t i = 0; i < d->comm_groups.n; i++) array_free(&d->comm_groups.at[i].planes);
    array_free(&d->comm_groups);
    array_free(&d->data.steps);
    array_free(&d->data.reduces);
    array_free(&d->data.get_nexts);
    array_free(&d->data.freqs);
    for (int k = 0; k < OVERLAP_KINDS; k++) array_free(&d->overlap[k]);
}

static int teardown(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 2; i++) free_device(&w->devices[i]);
    array_free(&w->m.host.apis);
    array_free(&w->m.host.threads);
    array_free(&w->m.host.ops);
    array_free(&w->m.host.memcpys);
    map_free(&w->m.host.logical_streams);
    strpool_free(w->m.strings);
    diag_free(w->target.diag);
    static const char *const stems[] = {"msprof", "step_trace"};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        char *path = file_path(w, stems[i]);
        unlink(path);
        free(path);
    }
    written_free(&w->target.written);
    rmdir(w->dir);
    free(w->text);
    free(w);
    return 0;
}

static str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

static void export_all(struct world *w)
{
    struct error err = {0};
    assert_int_equal(timeline_export(&w->target, &err), 0);
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

static void assert_has(const char *all, const char *part)
{
    if (!strstr(all, part)) fail_msg("not there: %s\nin: %s", part, all);
}

static void assert_lacks(const char *all, const char *part)
{
    if (strstr(all, part)) fail_msg("there: %s\nin: %s", part, all);
}

static json_t *parsed(const char *all)
{
    json_error_t e;
    json_t *events = json_loads(all, 0, &e);
    if (!events) fail_msg("%s at %d", e.text, e.position);
    return events;
}

static struct api *add_api(struct world *w, uint16_t level, const char *name, const char *item, uint8_t flags)
{
    struct api *a = array_add(&w->m.host.apis);
    *a = (struct api){.start_ns = T0 + 183526000,
                      .end_ns = T0 + 183528250,
                      .thread_id = 4242,
                      .name = text(w, name),
                      .item = text(w, item),
                      .level = level,
                      .acl_tag = 3,
                      .flags = flags};
    w->m.host.has_apis = true;
    if (!w->m.host.threads.n) array_push(&w->m.host.threads, 4242);
    return a;
}

static struct task *add_task(struct world *w, uint32_t stream, uint16_t flags)
{
    struct task *t = array_add(&w->devices[0].tasks);
    *t = (struct task){.start_ns = T0 + 1000,
                       .end_ns = T0 + 10160,
                       .stream_id = stream,
                       .task_id = 5,
                       .context_id = CONTEXT_NONE,
                       .model_id = MODEL_NONE,
                       .connection = 26,
                       .op = NONE,
                       .host_task = NONE,
                       .pmu = NONE,
                       .memcpy = NONE,
                       .device_type = text(w, "PCIE_DMA_SQE"),
                       .type = text(w, flags & TASK_MEMCPY ? "MEMCPY_ASYNC" : "EVENT_RECORD"),
                       .flags = flags};
    w->devices[0].data.has_tasks = w->devices[0].has_tasks = true;
    return t;
}

static uint32_t add_op(struct world *w, const char *name, const char *type)
{
    array_push(&w->m.host.ops, ((struct op){.name = text(w, name),
                                            .task_type = text(w, type),
                                            .grid_dim = text(w, "8,1,1"),
                                            .block_dim = text(w, "32,1,1")}));
    return (uint32_t)w->m.host.ops.n - 1;
}

static void test_nothing_leaves_no_file(void **state)
{
    struct world *w = *state;
    w->m.n_devices = 0;
    export_all(w);
    assert_null(file_text(w, "msprof"));
    assert_null(file_text(w, "step_trace"));
    assert_int_equal(w->target.written.files.n, 0);
}

static void test_data_that_shows_nothing_is_an_empty_array(void **state)
{
    struct world *w = *state;
    w->m.host.has_apis = true;
    export_all(w);
    assert_string_equal(file_text(w, "msprof"), "[]");
}

static void test_what_was_written_is_remembered(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_RUNTIME, "KernelLaunch", "0", API_EXPORTED);
    export_all(w);
    assert_int_equal(w->target.written.files.n, 1);
    assert_int_equal(w->target.written.files.at[0].rows, 6); /* 3 process, 2 thread, 1 call */
    assert_int_equal(w->target.written.files.at[0].bytes, strlen(file_text(w, "msprof")));
}

static void test_a_call_and_its_arrow(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_ACL, "aclrtRecordEvent", "0", API_EXPORTED | API_FLOW_START);
    export_all(w);
    assert_string_equal(
        file_text(w, "msprof"),
        "[{\"name\":\"process_name\",\"pid\":4344063,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"CANN\"}},"
        "{\"name\":\"process_labels\",\"pid\":4344063,\"tid\":0,\"ph\":\"M\",\"args\":{\"labels\":\"CPU\"}},"
        "{\"name\":\"process_sort_index\",\"pid\":4344063,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":7}},"
        "{\"name\":\"thread_name\",\"pid\":4344063,\"tid\":4242,\"ph\":\"M\",\"args\":{\"name\":\"Thread 4242\"}},"
        "{\"name\":\"thread_sort_index\",\"pid\":4344063,\"tid\":4242,\"ph\":\"M\",\"args\":{\"sort_index\":4242}},"
        "{\"name\":\"AscendCL@aclrtRecordEvent\",\"pid\":4344063,\"tid\":4242,\"ts\":\"1719838800183526.000\","
        "\"dur\":2.25,\"ph\":\"X\",\"args\":{\"Thread Id\":4242,\"Mode\":\"ACL_RTS\",\"level\":\"acl\","
        "\"id\":\"aclrtRecordEvent\",\"item_id\":\"0\",\"connection_id\":1}},"
        "{\"name\":\"HostToDevice4294967296\",\"pid\":4344063,\"tid\":4242,\"ph\":\"s\",\"cat\":\"HostToDevice\","
        "\"id\":\"4294967296\",\"ts\":\"1719838800183526.000\"}]");
}

static void test_calls_are_named_by_level(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_NODE, "launch", "conv1", API_EXPORTED);
    add_api(w, LEVEL_COMMUNICATION, "master", "Notify_Wait", API_EXPORTED);
    add_api(w, 777, "odd", "1", API_EXPORTED);
    add_api(w, LEVEL_NODE, "launch", "hidden", API_FLOW_START);
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"Node@launch\"");
    assert_has(all, "\"Mode\":\"launch\",\"level\":\"node\",\"id\":\"0\",\"item_id\":\"conv1\",\"connection_id\":1}");
    assert_has(all, "\"Communication@Notify_Wait\"");
    assert_has(all, "\"Mode\":\"master\",\"level\":\"communication\",\"id\":\"0\",\"item_id\":\"Notify_Wait\"");
    assert_has(all, "\"Api@odd\"");
    assert_has(all, "\"Mode\":\"odd\",\"level\":\"\"");
    assert_lacks(all, "hidden");       /* not exported: neither the call … */
    assert_lacks(all, "HostToDevice"); /* … nor its arrow */
}

static void test_thread_ids_are_signed_as_tid_only(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_RUNTIME, "KernelLaunch", "0", API_EXPORTED)->thread_id = 4294967290u;
    w->m.host.threads.at[0] = 4294967290u;
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"tid\":-6,\"ts\"");
    assert_has(all, "\"Thread Id\":4294967290");
    assert_has(all, "\"Thread 4294967290\"");
}

static void test_texts_of_the_data_stay_json(void **state)
{
    struct world *w = *state;
    add_api(w, LEVEL_NODE, "launch", "a\"b\\c\n\x01\xff\xc3\xa9", API_EXPORTED);
    char *huge = mem_alloc(3 * OUT_BUFFER);
    memset(huge, 'x', 3 * OUT_BUFFER);
    add_api(w, LEVEL_RUNTIME, "n", "0", API_EXPORTED)->item = strpool_add(w->m.strings, huge, 3 * OUT_BUFFER);
    free(huge);
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"item_id\":\"a\\\"b\\\\c\\n\\u0001\xEF\xBF\xBD\xc3\xa9\"");
    json_t *events = parsed(all);
    const char *item =
        json_string_value(json_object_get(json_object_get(json_array_get(events, 6), "args"), "item_id"));
    assert_int_equal(strlen(item), 3 * OUT_BUFFER);
    json_decref(events);
}

static void test_a_kernel_is_named_by_its_operator(void **state)
{
    struct world *w = *state;
    add_task(w, 12, TASK_FLOW_END)->op = add_op(w, "resnet/conv1", "AI_CORE");
    *map_put(&w->m.host.logical_streams, 12, 0, NULL) = 100;
    export_all(w);
    assert_string_equal(
        file_text(w, "msprof"),
        "[{\"name\":\"resnet/conv1\",\"pid\":4344256,\"tid\":100,\"ts\":\"1719838800000001.000\",\"dur\":9.16,"
        "\"ph\":\"X\",\"args\":{\"Model Id\":4294967295,\"Task Type\":\"AI_CORE\",\"Physic Stream Id\":12,\"Task "
        "Id\":5,\"Batch Id\":0,\"Subtask Id\":4294967295,\"connection_id\":26}},"
        "{\"name\":\"HostToDevice111669149696\",\"pid\":4344256,\"tid\":100,\"ph\":\"f\",\"cat\":\"HostToDevice\","
        "\"id\":\"111669149696\",\"ts\":\"1719838800000001.000\",\"bp\":\"e\"},"
        "{\"name\":\"process_name\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"Ascend Hardware\"}},"
        "{\"name\":\"process_labels\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"labels\":\"NPU 0\"}},"
        "{\"name\":\"process_sort_index\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":14}},"
        "{\"name\":\"thread_name\",\"pid\":4344256,\"tid\":100,\"ph\":\"M\",\"args\":{\"name\":\"Stream 100\"}},"
        "{\"name\":\"thread_sort_index\",\"pid\":4344256,\"tid\":100,\"ph\":\"M\",\"args\":{\"sort_index\":100}}]");
}

static void test_a_task_without_host_side(void **state)
{
    struct world *w = *state;
    add_task(w, 3, TASK_FLOW_END)->connection = 0;
    add_task(w, 3, TASK_HIDDEN)->task_id = 777;
    add_task(w, 4, TASK_SIMT)->op = add_op(w, "simt", "N/A");
    add_task(w, 4, TASK_SIMT);
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "{\"name\":\"EVENT_RECORD\",");
    assert_has(all, "\"Task Type\":\"EVENT_RECORD\",\"Physic Stream Id\":3");
    assert_has(all, "\"connection_id\":18446744073709551615}}");
    assert_lacks(all, "HostToDevice");
    assert_lacks(all, "777");
    assert_has(all, "{\"name\":\"simt\","); /* without a type of its own: the task's */
    assert_has(all, "\"Task Type\":\"EVENT_RECORD\",\"Physic Stream Id\":4");
    assert_has(all, "\"Grid Dim\":\"8,1,1\",\"Block Dim\":\"32,1,1\"}}");
    assert_has(all, "\"Grid Dim\":\"N/A\",\"Block Dim\":\"N/A\"}}");
}

static void test_copies_come_last_and_say_what_they_moved(void **state)
{
    struct world *w = *state;
    struct task *copy = add_task(w, 3, TASK_MEMCPY | TASK_FLOW_END);
    copy->memcpy = 0;
    copy->op = add_op(w, "not shown", "AI_CORE");
    array_push(&w->m.host.memcpys, ((struct memcpy_info){.size = 91600, .direction = 1}));
    add_task(w, 3, TASK_MEMCPY);
    add_task(w, 3, 0);
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_true(strstr(all, "EVENT_RECORD") < strstr(all, "MEMCPY_ASYNC"));
    assert_has(all, "\"Task Type\":\"PCIE_DMA_SQE\"");
    assert_has(all, ",\"size(B)\":91600,\"bandwidth(GB/s)\":10.0,\"operation\":\"host to device\"}},{\"name\":"
                    "\"HostToDevice111669149696\"");
    assert_has(all, ",\"size(B)\":0,\"bandwidth(GB/s)\":0.0,\"operation\":\"other\"}}");
    assert_lacks(all, "not shown");
}

static void test_copies_of_which_nothing_is_known(void **state)
{
    struct world *w = *state;
    add_task(w, 3, TASK_MEMCPY);
    export_all(w);
    assert_lacks(file_text(w, "msprof"), "size(B)");
}

static void test_streams_are_named_once_in_order(void **state)
{
    struct world *w = *state;
    add_task(w, 9, 0);
    add_task(w, 2, 0);
    add_task(w, 3, 0);
    *map_put(&w->m.host.logical_streams, 2, 0, NULL) = 10;
    *map_put(&w->m.host.logical_streams, 3, 0, NULL) = 10;
    export_all(w);
    const char *all = file_text(w, "msprof");
    const char *nine = strstr(all, "Stream 9"), *ten = strstr(all, "Stream 10");
    assert_true(nine && ten && nine < ten);
    assert_null(strstr(ten + 1, "Stream 10\""));
}

static void test_process_ids_are_32_bits(void **state)
{
    struct world *w = *state;
    w->dirs[0].meta.pid = 4194304 + 1; /* 2^22 + 1 */
    w->dirs[0].device_id = 7;
    add_task(w, 9, 0);
    export_all(w);
    assert_has(file_text(w, "msprof"), "\"pid\":1479,"); /* 1 << 10 | 14 << 5 | 7 */
    assert_has(w->text, "\"NPU 7\"");
}

static void test_damaged_times_do_no_harm(void **state)
{
    struct world *w = *state;
    struct task *t = add_task(w, 9, 0);
    t->start_ns = INT64_MIN;
    t->end_ns = INT64_MAX;
    t = add_task(w, 9, 0);
    t->start_ns = 100;
    t->end_ns = 5;
    export_all(w);
    assert_has(file_text(w, "msprof"), "\"ts\":\"-9223372036854775.808\",\"dur\":9223372036854775.807,");
    assert_has(w->text, "\"ts\":\"0.100\",\"dur\":0.0,");
    json_decref(parsed(w->text));
}

static void add_step(struct world *w)
{
    array_push(&w->devices[0].data.steps, ((struct step){.model_id = 1,
                                                         .iteration_id = 2,
                                                         .fp_start_ns = T0 + 40000,
                                                         .bp_end_ns = T0 + 60020,
                                                         .iteration_end_ns = T0 + 203000,
                                                         .iteration_time_ns = 200740,
                                                         .fp_bp_ns = 20020,
                                                         .refresh_ns = 142980,
                                                         .data_aug_ns = 50641}));
}

static void test_a_step_is_in_both_files(void **state)
{
    struct world *w = *state;
    add_step(w);
    export_all(w);
    const char *all = file_text(w, "step_trace");
    assert_string_equal(
        all,
        "[{\"name\":\"Iteration 2\",\"pid\":4344256,\"tid\":70001,\"ts\":\"1719838800000002.260\",\"dur\":200.74,"
        "\"ph\":\"X\",\"cat\":\"Iteration Time\",\"args\":{\"Iteration ID\":2,\"FP "
        "Start\":\"1719838800000040.000\",\"BP End\":\"1719838800000060.020\",\"Iteration "
        "End\":\"1719838800000203.000\",\"Iteration Time(us)\":200.74}},"
        "{\"name\":\"FP_BP Time 2\",\"pid\":4344256,\"tid\":70001,\"ts\":\"1719838800000040.000\",\"dur\":20.02,"
        "\"ph\":\"X\",\"cat\":\"FP_BP Time\",\"args\":{\"Iteration ID\":2,\"FP "
        "Start\":\"1719838800000040.000\",\"BP End\":\"1719838800000060.020\",\"FP_BP Time(us)\":20.02}},"
        "{\"name\":\"Iteration Refresh 2\",\"pid\":4344256,\"tid\":70001,\"ts\":\"1719838800000060.020\","
        "\"dur\":142.98,\"ph\":\"X\",\"cat\":\"Iteration Refresh\",\"args\":{\"Iteration ID\":2,\"BP "
        "End\":\"1719838800000060.020\",\"Iteration End\":\"1719838800000203.000\",\"Iteration "
        "Refresh(us)\":142.98}},"
        "{\"name\":\"Data_aug Bound 1\",\"pid\":4344256,\"tid\":70001,\"ph\":\"t\",\"cat\":\"Data_aug Bound\","
        "\"id\":\"Data_aug Bound 4344256_70001\",\"ts\":\"1719838800000040.000\",\"args\":{\"Iteration ID\":2}},"
        "{\"name\":\"Data_aug Bound 2\",\"pid\":4344256,\"tid\":70001,\"ph\":\"s\",\"cat\":\"Data_aug Bound\","
        "\"id\":\"Data_aug Bound 4344256_70001\",\"ts\":\"1719838800000085.340\",\"args\":{\"Data_aug "
        "Bound(us)\":50.641}},"
        "{\"name\":\"process_name\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"Ascend Hardware\"}},"
        "{\"name\":\"process_labels\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"labels\":\"NPU 0\"}},"
        "{\"name\":\"process_sort_index\",\"pid\":4344256,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":14}},"
        "{\"name\":\"thread_name\",\"pid\":4344256,\"tid\":70001,\"ph\":\"M\",\"args\":{\"name\":\"Step Trace(Model "
        "ID:1)\"}},"
        "{\"name\":\"thread_sort_index\",\"pid\":4344256,\"tid\":70001,\"ph\":\"M\",\"args\":{\"sort_index\":70001}}]");
    char *steps = mem_strndup(all, strlen(all));
    assert_string_equal(file_text(w, "msprof"), steps);
    free(steps);
}

static void test_steps_without_points_and_explicit_steps(void **state)
{
    struct world *w = *state;
    add_step(w);
    w->devices[0].data.steps.at[0].bp_end_ns = 0;
    add_step(w);
    w->devices[0].data.steps.at[1].model_id = MODEL_NONE;
    w->devices[0].data.steps.at[1].fp_start_ns = 0;
    export_all(w);
    const char *all = file_text(w, "step_trace");
    assert_has(all, "\"FP Start\":\"1719838800000040.000\",\"BP End\":\"N/A\"");
    assert_lacks(all, "FP_BP Time ");
    assert_lacks(all, "Data_aug");
    const char *explicit = strstr(all, "{\"name\":\"thread_name\",\"pid\":4344256,\"tid\":69999");
    assert_non_null(explicit);
    assert_has(explicit, "Step Trace(Model ID:4294967295)");
    assert_true(explicit < strstr(all, "{\"name\":\"thread_name\",\"pid\":4344256,\"tid\":70001"));
}

static void test_reduces_and_get_nexts(void **state)
{
    struct world *w = *state;
    w->m.n_devices = 2;
    for (int i = 0; i < 2; i++)
        array_push(&w->devices[i].data.reduces,
                   ((struct step_reduce){
                       .model_id = 3, .iteration_id = 1, .start_ns = T0, .end_ns = T0 + 40000, .duration_ns = 40000}));
    array_push(&w->devices[0].data.get_nexts,
               ((struct step_get_next){.model_id = 3, .iteration_id = 1, .start_ns = T0 + 100, .end_ns = T0 + 1400}));
    array_push(&w->devices[0].data.get_nexts,
               ((struct step_get_next){.model_id = 3, .iteration_id = 1, .start_ns = T0 + 100}));
    export_all(w);
    assert_null(file_text(w, "step_trace")); /* that file is of iterations */
    const char *all = file_text(w, "msprof");
    assert_has(all, "{\"name\":\"Reduce_1_0\",\"pid\":4344256,\"tid\":70003,\"ts\":\"1719838800000000.000\","
                    "\"dur\":40.0,\"ph\":\"X\",\"cat\":\"Reduce\",\"args\":{\"Iteration ID\":1,\"Reduce End "
                    "0\":\"1719838800000040000\",\"Reduce Start 0\":\"1719838800000000000\"}}");
    assert_has(all, "{\"name\":\"Reduce_1_1\",\"pid\":4344257,");
    assert_has(all, "{\"name\":\"GetNext\",\"pid\":4344256,\"tid\":70003,\"ts\":\"1719838800000000.100\",\"dur\":1.3,"
                    "\"ph\":\"X\",\"cat\":\"GetNext Time\",\"args\":{\"GetNext Start\":\"1719838800000000.100\","
                    "\"GetNext End\":\"1719838800000001.400\",\"GetNext Time(us)\":1.3}}]");
    assert_lacks(all, "process_name");
}

static void add_communication(struct world *w)
{
    struct device_model *d = &w->devices[0];
    struct comm_group *g = array_add(&d->comm_groups);
    *g = (struct comm_group){.name = text(w, "hcom"), .first_tid = 4};
    array_push(&g->planes, 0);
    array_push(&g->planes, 2);
    array_push(&d->comm_ops, ((struct comm_op){.start_ns = T0,
                                               .end_ns = T0 + 6540,
                                               .name = text(w, "hcom_send__186_0_1"),
                                               .alg_type = text(w, "MESH"),
                                               .connection = 5,
                                               .model_id = MODEL_NONE,
                                               .rank_size = 2,
                                               .relay = -1,
                                               .retry = 1,
                                               .data_type = 3,
                                               .count = 1ll << 40}));
    array_push(&d->comm_tasks, ((struct comm_task){.start_ns = T0,
                                                   .end_ns = T0 + 1660,
                                                   .stream_id = 20,
                                                   .task_id = 9,
                                                   .context_id = CONTEXT_NONE,
                                                   .model_id = MODEL_NONE,
                                                   .name = text(w, "Notify_Wait"),
                                                   .plane_id = 2,
                                                   .notify_id = 4848,
                                                   .estimated_us = 3.5,
                                                   .src_rank = 3,
                                                   .dst_rank = 2,
                                                   .data_type = 255,
                                                   .link_type = 255,
                                                   .transport_type = 2}));
}

static void test_communication_groups_and_planes(void **state)
{
    struct world *w = *state;
    add_communication(w);
    w->m.n_devices = 2;
    w->devices[0].data.has_tasks = true;
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "{\"name\":\"thread_name\",\"pid\":4344320,\"tid\":4,\"ph\":\"M\",\"args\":{\"name\":\"Group hcom "
                    "Communication\"}},");
    assert_has(all, "\"tid\":5,\"ph\":\"M\",\"args\":{\"name\":\"Plane 0\"}},");
    assert_has(all, "\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"Plane 2\"}},");
    assert_has(all, "\"NPU 1\""); /* all devices have the process */
    assert_has(all,
               "{\"name\":\"Notify_Wait\",\"pid\":4344320,\"tid\":7,\"ts\":\"1719838800000000.000\",\"dur\":1.66,"
               "\"ph\":\"X\",\"args\":{\"notify_id\":\"4848\",\"duration estimated(us)\":3.5,\"stream id\":20,\"task "
               "id\":9,\"context id\":4294967295,\"task type\":\"Notify_Wait\",\"src rank\":3,\"dst "
               "rank\":2,\"transport type\":\"LOCAL\",\"size(Byte)\":0,\"data type\":\"RESERVED\",\"link "
               "type\":\"RESERVED\",\"bandwidth(GB/s)\":0.0,\"model id\":4294967295}}");
    assert_has(all, "{\"name\":\"hcom_send__186_0_1\",\"pid\":4344320,\"tid\":4,\"ts\":\"1719838800000000.000\","
                    "\"dur\":6.54,\"ph\":\"X\",\"args\":{\"rank_size\":2,\"connection_id\":5,\"model id\":4294967295,"
                    "\"data_type\":\"FP16\",\"alg_type\":\"MESH\",\"count\":1099511627776,\"relay\":\"no\","
                    "\"retry\":\"yes\"}},{\"name\":\"HostToDevice21474836480\"");
}

static void test_communication_that_is_not_shown(void **state)
{
    struct world *w = *state;
    add_communication(w);
    w->devices[0].data.has_tasks = true;
    w->devices[0].comm_ops.at[0].lane = NONE; /* its group has no thread here */
    w->devices[0].comm_tasks.at[0].plane_id = -1;
    export_all(w);
    assert_lacks(file_text(w, "msprof"), "\"ph\":\"X\"");
    assert_lacks(w->text, "HostToDevice");
    w->devices[0].comm_tasks.at[0].plane_id = 2;
    w->host.meta.level0 = true;
    export_all(w);
    assert_lacks(file_text(w, "msprof"), "\"ph\":\"X\"");
}

static void test_operators_of_unknown_groups_and_counts(void **state)
{
    struct world *w = *state;
    add_communication(w);
    w->devices[0].data.has_tasks = true;
    w->devices[0].comm_groups.at[0].name = STR_NA;
    w->devices[0].comm_ops.at[0].count = -1;
    w->devices[0].comm_ops.at[0].data_type = 999;
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"args\":{\"name\":\"Communication\"}},{\"name\":\"thread_sort_index\"");
    assert_has(all, "\"data_type\":\"\"");
    assert_has(all, "\"count\":4294967295");
}

static void test_overlap_sections(void **state)
{
    struct world *w = *state;
    array_push(&w->devices[0].overlap[OVERLAP_FREE], ((struct section){T0, T0 + 19720}));
    w->devices[0].data.has_tasks = true;
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"sort_index\":31}}");
    assert_has(all, "\"tid\":2,\"ph\":\"M\",\"args\":{\"name\":\"Communication(Not Overlapped)\"}}");
    assert_has(all, "{\"name\":\"Free\",\"pid\":4344800,\"tid\":3,\"ts\":\"1719838800000000.000\",\"dur\":19.72,"
                    "\"ph\":\"X\",\"args\":{}}]");
}

static void test_frequency_is_a_counter_written_once(void **state)
{
    struct world *w = *state;
    array_push(&w->devices[0].data.freqs, ((struct freq_point){.time_ns = T0, .mhz = 1800}));
    export_all(w);
    assert_string_equal(
        file_text(w, "msprof"),
        "[{\"name\":\"AI Core Freq\",\"pid\":4344288,\"tid\":0,\"ts\":\"1719838800000000.000\",\"ph\":\"C\",\"args\":"
        "{\"MHz\":1800}},"
        "{\"name\":\"process_name\",\"pid\":4344288,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"AI Core Freq\"}},"
        "{\"name\":\"process_labels\",\"pid\":4344288,\"tid\":0,\"ph\":\"M\",\"args\":{\"labels\":\"NPU 0\"}},"
        "{\"name\":\"process_sort_index\",\"pid\":4344288,\"tid\":0,\"ph\":\"M\",\"args\":{\"sort_index\":15}}]");
}

/* --- as the reference's scripts have it ----------------------------------------------------------------------------
 */

static unsigned times_in(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) n++;
    return n;
}

static void test_scripts_repeat_the_frequency_every_ms(void **state)
{
    struct world *w = *state;
    w->session.script_timeline = true;
    w->session.start_ns = T0;
    w->dirs[0].meta.has_end = true;
    w->dirs[0].meta.end_ns = T0 + 5000500;
    array_push(&w->devices[0].data.recorded_freqs, ((struct freq_point){.time_ns = T0 + 500, .mhz = 1000}));
    array_push(&w->devices[0].data.recorded_freqs, ((struct freq_point){.time_ns = T0 + 2000500, .mhz = 800}));
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_int_equal(times_in(all, "{\"MHz\":1000}"), 2); /* at 0 and 1 ms; at 2 ms is the next value */
    assert_int_equal(times_in(all, "{\"MHz\":800}"), 4);  /* at 2, 3, 4 ms and at the end */
    assert_has(all, "\"ts\":\"1719838800001000.500\"");
    assert_has(all, "\"ts\":\"1719838800005000.500\"");
    array_free(&w->devices[0].data.recorded_freqs);
}

static void test_scripts_do_not_repeat_for_ever(void **state)
{
    struct world *w = *state;
    w->session.script_timeline = true;
    w->dirs[0].meta.has_end = true;
    w->dirs[0].meta.end_ns = INT64_MAX;
    array_push(&w->devices[0].data.recorded_freqs, ((struct freq_point){.time_ns = INT64_MIN, .mhz = 1000}));
    array_push(&w->devices[0].data.recorded_freqs, ((struct freq_point){.time_ns = T0, .mhz = 800}));
    export_all(w);
    assert_int_equal(times_in(file_text(w, "msprof"), "MHz"), 2);
    array_free(&w->devices[0].data.recorded_freqs);
}

static void test_repetitions_end_with_time_itself(void **state)
{
    struct world *w = *state;
    w->session.script_timeline = true;
    w->dirs[0].meta.has_end = true;
    w->dirs[0].meta.end_ns = INT64_MAX;
    array_push(&w->devices[0].data.recorded_freqs, ((struct freq_point){.time_ns = INT64_MAX - 2500000, .mhz = 1000}));
    export_all(w);
    assert_int_equal(times_in(file_text(w, "msprof"), "MHz"), 4);
    array_free(&w->devices[0].data.recorded_freqs);
}

static void test_scripts_draw_arrows_from_the_launch(void **state)
{
    struct world *w = *state;
    w->session.script_timeline = true;
    w->m.host.has_apis = true;
    w->host.clock = (struct clock){.host_is_ns = true};
    struct task *t = add_task(w, 12, 0);
    t->op = add_op(w, "conv1", "AI_CORE");
    t->connection = 0;
    t->host_task = 0;
    array_push(&w->m.host.tasks, ((struct host_task){.time = T0 - 5000, .thread_id = 77}));
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"connection_id\":-1");
    /* device 0, stream 12, task 5, batch 0, no context: 12 << 64 | 5 << 48 | 2^32 - 1 */
    assert_has(all, "\"name\":\"HostToDevice221362336263693139967\",\"pid\":4344063,\"tid\":77,\"ph\":\"s\"");
    assert_has(all, "\"ts\":\"1719838799999995.000\"}");
    assert_has(all, "\"id\":\"221362336263693139967\",\"ts\":\"1719838800000001.000\",\"bp\":\"e\"}");
    array_free(&w->m.host.tasks);
}

static void test_scripts_name_more_levels(void **state)
{
    struct world *w = *state;
    w->session.script_timeline = true;
    add_api(w, LEVEL_PYTORCH, "api_30000_3eb", "0", API_EXPORTED);
    add_api(w, 123, "a", "0", API_EXPORTED);
    add_api(w, LEVEL_NODE, "launch", "0", API_EXPORTED | API_STRADDLES);
    export_all(w);
    const char *all = file_text(w, "msprof");
    assert_has(all, "\"name\":\"Pytorch@api_30000_3eb\"");
    assert_has(all, "\"level\":\"pytorch\"");
    assert_has(all, "\"name\":\"123@a\"");
    assert_lacks(all, "launch");
}

static void test_a_file_that_cannot_be_written_is_an_error(void **state)
{
    struct world *w = *state;
    struct error err = {0};
    w->m.host.has_apis = true;
    w->target.output_dir = "/nowhere/at/all";
    assert_int_equal(timeline_export(&w->target, &err), -1);
    assert_true(err.n > 0);
    assert_int_equal(w->target.written.files.n, 0);
}

static void test_progress_counts_every_event(void **state)
{
    struct world *w = *state;
    struct progress progress = {0};
    for (int i = 0; i < 70000; i++)
        array_push(&w->devices[0].data.freqs, ((struct freq_point){.time_ns = T0 + i, .mhz = 1800}));
    w->target.progress = &progress;
    export_all(w);
    assert_int_equal(progress.done, 70003);
    assert_int_equal(w->target.written.files.at[0].rows, 70003);
    json_t *events = parsed(file_text(w, "msprof"));
    assert_int_equal(json_array_size(events), 70003);
    json_decref(events);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_leaves_no_file),
        TEST(test_data_that_shows_nothing_is_an_empty_array),
        TEST(test_what_was_written_is_remembered),
        TEST(test_a_call_and_its_arrow),
        TEST(test_calls_are_named_by_level),
        TEST(test_thread_ids_are_signed_as_tid_only),
        TEST(test_texts_of_the_data_stay_json),
        TEST(test_a_kernel_is_named_by_its_operator),
        TEST(test_a_task_without_host_side),
        TEST(test_copies_come_last_and_say_what_they_moved),
        TEST(test_copies_of_which_nothing_is_known),
        TEST(test_streams_are_named_once_in_order),
        TEST(test_process_ids_are_32_bits),
        TEST(test_damaged_times_do_no_harm),
        TEST(test_a_step_is_in_both_files),
        TEST(test_steps_without_points_and_explicit_steps),
        TEST(test_reduces_and_get_nexts),
        TEST(test_communication_groups_and_planes),
        TEST(test_communication_that_is_not_shown),
        TEST(test_operators_of_unknown_groups_and_counts),
        TEST(test_overlap_sections),
        TEST(test_frequency_is_a_counter_written_once),
        TEST(test_scripts_repeat_the_frequency_every_ms),
        TEST(test_scripts_do_not_repeat_for_ever),
        TEST(test_repetitions_end_with_time_itself),
        TEST(test_scripts_draw_arrows_from_the_launch),
        TEST(test_scripts_name_more_levels),
        TEST(test_a_file_that_cannot_be_written_is_an_error),
        TEST(test_progress_counts_every_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
