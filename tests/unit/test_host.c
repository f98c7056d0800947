/* host_load as a whole: which task belongs to which call, which operator it runs, what communication it is. */
#include "host_fixture.h"

#define IN  0
#define OUT 1
#define ND  2
#define NZ5 (29 | 5 << 8) /* FRACTAL_NZ:5 */

static void a_launch_gives_its_tasks_the_operator(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    const struct tensor_record tensors[] = {{IN, ND, 1, {2, 3}}, {OUT, NZ5, 27, {4}}};
    put_api_of(&f, THREAD, LEVEL_MODEL, T_EXECUTE, 1000, 9000, 3, 5);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, 10000, UINT64_MAX, 7, 1);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, 20000, UINT64_MAX, 7, 1);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 2000, 3000, H_OP_A);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 4000, 5000, H_OP_B);
    put_basic(&f, 2500, H_OP_A, 0, H_MATMUL, 8 | 2 << 16);
    put_tensors(&f, 2500, H_OP_A, tensors, 2);
    put_attr(&f, 2500, H_OP_A, H_UNKNOWN);
    put_track(&f, 2600, 1, 10, R_AICORE, H_KERNEL_A);
    put_track(&f, 4500, 1, 11, R_AICORE, 0);
    put_track(&f, 30000, 1, 12, R_EVENT_RECORD, 0);
    struct host_data *h = fixture_load(&f, 1);

    assert_int_equal(h->apis.n, 4);
    assert_text(&f, h->apis.at[3].name, "ModelLoad");
    assert_int_equal(h->apis.at[3].end_ns, 20000);
    assert_text(&f, h->apis.at[3].item, "7");

    assert_int_equal(h->tasks.n, 3);
    const struct host_task *t = task_of(&f, 10, CONTEXT_NONE);
    assert_int_equal(t->model_id, 3);
    assert_int_equal(t->request_id, 5);
    assert_int_equal(t->connection, connection_at(&f, 2000));
    assert_text(&f, t->kernel_name, "kernelA");
    const struct op *o = op_of(&f, t);
    assert_text(&f, o->name, "opA");
    assert_text(&f, o->type, "MatMul");
    assert_text(&f, o->task_type, "AI_CORE");
    assert_text(&f, o->state, "dynamic");
    assert_text(&f, o->hf32, "YES");
    assert_text(&f, o->input_formats, "ND");
    assert_text(&f, o->input_types, "FLOAT16");
    assert_text(&f, o->input_shapes, "2,3");
    assert_text(&f, o->output_formats, "FRACTAL_NZ:5");
    assert_text(&f, o->output_types, "DT_BF16");
    assert_text(&f, o->output_shapes, "4");
    assert_int_equal(o->block_num, 8);
    assert_int_equal(o->mix_block_num, 16);
    assert_int_equal(o->tensor_count, 2);
    assert_int_equal(o->model_id, 3);
    assert_int_equal(o->attr, NONE);
    assert_int_equal(o->flags, OP_HAS_INPUTS | OP_HAS_OUTPUTS);

    assert_int_equal(task_of(&f, 11, CONTEXT_NONE)->op, NONE);
    assert_int_equal(task_of(&f, 11, CONTEXT_NONE)->connection, connection_at(&f, 4000));
    const struct host_task *event = task_of(&f, 12, CONTEXT_NONE);
    assert_int_equal(event->model_id, MODEL_NONE);
    assert_int_equal(event->request_id, -1);
    assert_int_equal(event->connection, h->apis.n + 1);
    fixture_end(&f);
}

static void a_task_belongs_to_the_call_that_it_ends_with(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_ACL, 0x050001, 100, 200, 0);
    put_api(&f, LEVEL_ACL, 0x030003, 150, 300, 0); /* overlaps: not in the tree */
    put_api(&f, LEVEL_NODE, T_LAUNCH, 400, 500, H_OP_A);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 600, 700, H_OP_B);
    put_basic(&f, 500, H_OP_A, 2, H_ADD, 1);
    put_basic(&f, 550, H_OP_B, 0, H_MATMUL, 1); /* in no call */
    put_track(&f, 100, 1, 1, R_EVENT_RECORD, 0);
    put_track(&f, 101, 1, 2, R_EVENT_RECORD, 0);
    put_track(&f, 200, 1, 3, R_EVENT_RECORD, 0);
    put_track(&f, 250, 1, 4, R_EVENT_RECORD, 0);
    put_track(&f, 400, 1, 5, R_AICORE, 0);
    put_track(&f, 401, 1, 6, R_AICORE, 0);
    put_track(&f, 650, 1, 7, R_AICORE, 0);
    put_track(&f, 900, 1, 8, R_AICORE, H_KERNEL_A);
    struct host_data *h = fixture_load(&f, 1);
    uint32_t root = (uint32_t)h->apis.n + 1, acl = connection_at(&f, 100);
    const struct {
        uint32_t task, connection;
        const char *op;
    } expected[] = {
        {1, root, NULL},
        {2, acl, NULL},
        {3, acl, NULL},
        {4, root, NULL},
        {5, root, NULL},
        {6, connection_at(&f, 400), "opA"},
        {7, connection_at(&f, 600), NULL},
        {8, root, "kernelA"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct host_task *t = task_of(&f, expected[i].task, CONTEXT_NONE);
        assert_int_equal(t->connection, expected[i].connection);
        if (expected[i].op) assert_text(&f, op_of(&f, t)->name, expected[i].op);
        else assert_int_equal(t->op, NONE);
    }
    assert_text(&f, op_of(&f, task_of(&f, 6, CONTEXT_NONE))->task_type, "AI_VECTOR_CORE");
    assert_text(&f, op_of(&f, task_of(&f, 8, CONTEXT_NONE))->type, "kernelA");
    assert_int_equal(op_of(&f, task_of(&f, 8, CONTEXT_NONE))->model_id, MODEL_NONE);
    fixture_end(&f);
}

static void a_record_at_the_begin_of_its_call_is_kept(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 400, 500, H_OP_A);
    put_basic(&f, 400, H_OP_A, 2, H_ADD, 1);
    put_track(&f, 450, 1, 1, R_AICORE, 0);
    fixture_load(&f, 1);
    assert_text(&f, op_of(&f, task_of(&f, 1, CONTEXT_NONE))->type, "Add");
    fixture_end(&f);
}

static void every_operator_of_a_graph_keeps_its_contexts(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_C);
    put_basic(&f, 150, H_OP_C, 6, H_MATMUL, 1); /* the graph itself */
    put_basic(&f, 151, H_OP_A, 0, H_MATMUL, 1);
    put_contexts(&f, LEVEL_NODE, 151, H_OP_A, 2, 0u, 1u);
    put_basic(&f, 152, H_OP_B, 2, H_ADD, 1);
    put_contexts(&f, LEVEL_NODE, 152, H_OP_B, 2, 2u, 3u);
    put_track(&f, 160, 1, 1, R_FFTS, 0);
    fixture_load(&f, 1);
    assert_int_equal(rows_of(&f, 1), 5);
    const char *const names[] = {"opA", "opA", "opB", "opB"};
    for (uint32_t c = 0; c < 4; c++) assert_text(&f, op_of(&f, task_of(&f, 1, c))->name, names[c]);
    assert_int_equal(task_of(&f, 1, CONTEXT_NONE)->op, NONE);
    fixture_end(&f);
}

static void contexts_of_a_type_without_sub_tasks_give_one_row(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_basic(&f, 150, H_OP_A, 1, H_MATMUL, 1);
    put_contexts(&f, LEVEL_NODE, 150, H_OP_A, 1, 0u);
    put_track(&f, 160, 1, 1, R_AICPU, 0);
    fixture_load(&f, 1);
    assert_int_equal(rows_of(&f, 1), 1);
    assert_text(&f, op_of(&f, task_of(&f, 1, CONTEXT_NONE))->name, "opA");
    fixture_end(&f);
}

static void ranges_of_contexts_are_communication_sub_tasks(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 300, 500, H_HCOM);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 310, 490, H_OP_C);
    put_contexts(&f, LEVEL_COMMUNICATION, 400, H_OP_C, 2, 0u, 2u);
    put_comm(&f, 400, H_NOTIFY_WAIT, 0);
    put_comm(&f, 401, H_MEMCPY, 1);
    put_comm(&f, 402, H_MEMCPY, 7);
    put_comm_op(&f, 450, 3, 1024);
    put_track(&f, 420, 1, 1, R_FFTS, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(rows_of(&f, 1), 4);
    for (size_t i = 0; i < h->tasks.n; i++) assert_int_equal(h->tasks.at[i].op, NONE);
    assert_int_equal(h->comm_tasks.n, 3);
    const char *const names[] = {"Notify_Wait", "Memcpy", "N/A"};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(h->comm_tasks.at[i].context_id, i);
        assert_true(h->comm_tasks.at[i].is_master);
        assert_text(&f, h->comm_infos.at[h->comm_tasks.at[i].info].name, names[i]);
    }
    const struct comm_info *info = &h->comm_infos.at[h->comm_tasks.at[0].info], *none = &h->comm_infos.at[0];
    assert_text(&f, info->group, "group1abc");
    assert_int_equal(info->rdma_type, 65535);
    assert_int_equal(none->data_type, 65534);
    assert_int_equal(none->plane_id, -1);
    assert_int_equal(none->size, -1);

    assert_int_equal(h->comm_ops.n, 1);
    const struct host_comm_op *o = &h->comm_ops.at[0];
    assert_int_equal(o->begin, 300);
    assert_int_equal(o->relay, 1);
    assert_int_equal(o->retry, 1);
    assert_int_equal(o->data_type, 3);
    assert_text(&f, o->alg_type, "MESH-RING");
    assert_int_equal(o->count, 1024);
    assert_int_equal(o->group_key, 31);
    assert_text(&f, o->op_type, "N/A");
    fixture_end(&f);
}

static void kernels_inside_communication_are_both(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 600, 900, H_HCOM);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 610, 650, H_NOTIFY_WAIT);
    put_comm(&f, 640, H_NOTIFY_WAIT, CONTEXT_NONE);
    put_track(&f, 620, 1, 1, R_NOTIFY_WAIT, 0);
    put_api(&f, LEVEL_COMMUNICATION, T_SLAVE, 660, 700, H_OP_A);
    put_comm(&f, 690, H_MEMCPY, 5);
    put_track(&f, 670, 1, 2, R_AICPU, 0);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 710, 750, H_OP_B);
    put_track(&f, 720, 1, 3, R_AICORE, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->comm_tasks.n, 3);
    assert_int_equal(h->tasks.n, 3);
    assert_int_equal(task_of(&f, 1, CONTEXT_NONE)->op, NONE);
    const struct op *aicpu = op_of(&f, task_of(&f, 2, CONTEXT_NONE));
    assert_text(&f, aicpu->task_type, "HCCL_AI_CPU");
    assert_text(&f, aicpu->name, "opA");
    assert_text(&f, aicpu->type, "0");
    assert_true(aicpu->flags & OP_NOT_COMPUTE_TYPE);
    assert_int_equal(h->comm_tasks.at[1].context_id, CONTEXT_NONE);
    assert_false(h->comm_tasks.at[1].is_master);
    assert_text(&f, op_of(&f, task_of(&f, 3, CONTEXT_NONE))->task_type, "COMMUNICATION");
    assert_int_equal(h->comm_tasks.at[2].info, 0);
    assert_int_equal(h->comm_ops.n, 1);
    fixture_end(&f);
}

static void communication_outside_an_operator_is_told(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 100, 200, H_NOTIFY_WAIT);
    put_track(&f, 150, 1, 1, R_NOTIFY_WAIT, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->tasks.n, 0);
    assert_int_equal(h->comm_tasks.n, 0);
    assert_int_equal(diag_entries(f.diag, DIAG_WARNING), 1);
    fixture_end(&f);
}

static void an_inner_node_is_an_operator_of_its_own(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 900, H_HCOM);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 200, 300, H_OP_A);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 310, 350, H_NOTIFY_WAIT);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 400, 500, H_OP_B);
    put_basic(&f, 250, H_OP_A, 1, H_ADD, 1);
    put_basic(&f, 800, H_HCOM, 9, H_HCOM, 1);
    put_track(&f, 240, 1, 1, R_AICPU, 0);
    put_track(&f, 320, 1, 2, R_NOTIFY_WAIT, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_text(&f, op_of(&f, task_of(&f, 1, CONTEXT_NONE))->type, "Add");
    assert_int_equal(h->comm_ops.n, 1);
    assert_text(&f, h->comm_ops.at[0].op_type, "hcom");
    assert_int_equal(h->comm_ops.at[0].connection, connection_at(&f, 100));
    assert_int_equal(h->comm_ops.at[0].kfc_connection, connection_at(&f, 400));
    fixture_end(&f);
}

static void a_task_behind_an_inner_node_keeps_the_outer_one(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 900, H_HCOM);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 200, 800, H_NOTIFY_WAIT);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 300, 400, H_OP_A);
    put_track(&f, 700, 1, 1, R_NOTIFY_WAIT, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->comm_tasks.n, 1);
    assert_int_equal(h->comm_tasks.at[0].connection, connection_at(&f, 100));
    fixture_end(&f);
}

static void lccl_and_step_info_launch_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_LCCL);
    put_api(&f, LEVEL_NODE, T_STEP_INFO, 300, 400, 7);
    put_basic(&f, 150, H_LCCL, 0, H_ADD, 1);
    put_track(&f, 150, 1, 1, R_AIV, H_KERNEL_A);
    put_track(&f, 350, 1, 2, R_AIV, H_KERNEL_A);
    struct host_data *h = fixture_load(&f, 1);
    assert_text(&f, op_of(&f, task_of(&f, 1, CONTEXT_NONE))->name, "kernelA");
    assert_text(&f, op_of(&f, task_of(&f, 2, CONTEXT_NONE))->name, "kernelA");
    assert_text(&f, h->apis.at[1].item, "7");
    fixture_end(&f);
}

static void a_mix_kernel_without_launch_has_context_0(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_track(&f, 150, 1, 1, R_MIX_AIC, H_KERNEL_A);
    fixture_load(&f, 1);
    assert_text(&f, op_of(&f, task_of(&f, 1, 0))->task_type, "MIX_AIC");
    fixture_end(&f);
}

static void level_0_knows_only_names(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    f.host_dir.meta.level0 = true;
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_track(&f, 150, 1, 1, R_AICORE, H_KERNEL_A);
    put_track(&f, 350, 1, 2, R_AICORE, H_KERNEL_A);
    fixture_load(&f, 1);
    const struct op *o = op_of(&f, task_of(&f, 1, CONTEXT_NONE));
    assert_text(&f, o->name, "opA");
    assert_int_equal(o->type, STR_NA);
    assert_int_equal(o->task_type, STR_NA);
    assert_text(&f, op_of(&f, task_of(&f, 2, CONTEXT_NONE))->name, "kernelA");
    fixture_end(&f);
}

static void the_task_may_say_how_many_blocks(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_basic(&f, 150, H_OP_A, 0, H_ADD, 5);
    struct task_track_record t = {.head = head(LEVEL_RUNTIME, 150, 40), .stream_id = 1, .task = 1};
    t.extension.kernel.blocks = 24;
    t.extension.kernel.modes = 0x0A; /* ratio 2 */
    fixture_put(&f, INPUT_TASK_TRACK, AGING, &t, sizeof t);
    t.task = 2;
    t.task_type = R_SIMT;
    memcpy(t.extension.bytes, (const uint16_t[]){1, 2, 3, 32, 4, 1, 96, 1}, 16);
    fixture_put(&f, INPUT_TASK_TRACK, AGING, &t, sizeof t);
    fixture_load(&f, 1);
    const struct op *o = op_of(&f, task_of(&f, 1, CONTEXT_NONE));
    assert_int_equal(o->block_num, 24);
    assert_int_equal(o->mix_block_num, 48);
    o = op_of(&f, task_of(&f, 2, CONTEXT_NONE));
    assert_text(&f, o->grid_dim, "1,2,3");
    assert_text(&f, o->block_dim, "32,4,1");
    assert_int_equal(o->block_num, 5);
    fixture_end(&f);
}

static void copies_share_what_their_call_reports(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct memcpy_record c = {.head = head(LEVEL_RUNTIME, 101, 18), .size = 1000, .max_size = 400, .direction = 1};
    fixture_put(&f, INPUT_MEMCPY_INFO, AGING, &c, sizeof c);
    c.head.time = 200;
    c.size = 500;
    c.direction = 9;
    fixture_put(&f, INPUT_MEMCPY_INFO, AGING, &c, sizeof c);
    for (uint32_t i = 0; i < 5; i++)
        put_track(&f, (const uint64_t[]){100, 101, 101, 101, 200}[i], 1, i, R_MEMCPY_ASYNC, 0);
    struct host_data *h = fixture_load(&f, 1);
    const struct memcpy_info expected[] = {{0, 0, 65535}, {1, 400, 1}, {2, 400, 1}, {3, 200, 1}, {4, 400, 65535}};
    assert_int_equal(h->memcpys.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(h->memcpys.at[i].host_task, expected[i].host_task);
        assert_int_equal(h->memcpys.at[i].size, expected[i].size);
        assert_int_equal(h->memcpys.at[i].direction, expected[i].direction);
    }
    assert_string_equal(memcpy_direction_name(65535), "other");
    fixture_end(&f);
}

static void copy_records_without_tasks_are_one_row(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct memcpy_record c = {.head = head(LEVEL_RUNTIME, 101, 18), .size = 1000, .max_size = 400, .direction = 1};
    fixture_put(&f, INPUT_MEMCPY_INFO, AGING, &c, sizeof c);
    struct host_data *h = fixture_load(&f, 1);
    assert_true(h->has_memcpy_records);
    assert_int_equal(h->memcpys.n, 1);
    assert_int_equal(h->memcpys.at[0].host_task, NONE);
    fixture_end(&f);
}

static void captured_streams_and_operators(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    const struct {
        uint64_t time;
        uint16_t status, model_stream, original, model;
    } captures[] = {{100, 0, 2, 1, 5}, {150, 0, 2, 1, 5}, {200, 0, 2, 1, 6}, {5000, 1, 65535, 65535, 5}};
    for (size_t i = 0; i < 4; i++) {
        struct capture_stream_record c = {.head = head(LEVEL_RUNTIME, captures[i].time, 10),
                                          .status = captures[i].status,
                                          .model_stream = captures[i].model_stream,
                                          .original_stream = captures[i].original,
                                          .model_id = captures[i].model};
        fixture_put(&f, INPUT_CAPTURE_STREAM_INFO, UNAGING, &c, sizeof c);
    }
    const struct tensor_record tensors[] = {{IN, ND, 1, {2, 0, 3}}, {OUT, 46, 99, {2, 3}}};
    struct capture_op_record o = {.head = head(LEVEL_RUNTIME, 50, 64 + sizeof tensors),
                                  .model_id = 77,
                                  .stream_id = 2,
                                  .task_id = 9,
                                  .task_type = 2,
                                  .blocks = 8 | 2 << 16,
                                  .op_name = H_OP_A,
                                  .op_type = H_MATMUL,
                                  .attr = H_OP_C,
                                  .op_flag = 1,
                                  .count = 2};
    fixture_put(&f, INPUT_CAPTURE_OP_INFO_VARIABLE, UNAGING, &o, sizeof o);
    fixture_put(&f, INPUT_CAPTURE_OP_INFO_VARIABLE, UNAGING, tensors, sizeof tensors);
    put_track(&f, 50, 2, 9, R_AICORE, 0);
    put_track(&f, 130, 2, 10, R_AICORE, 0);
    put_track(&f, 140, 2, 11, R_AICPU, H_KERNEL_A);
    fixture_load(&f, 1);
    assert_int_equal(task_of(&f, 9, CONTEXT_NONE)->model_id, MODEL_NONE); /* before the capture */
    assert_int_equal(task_of(&f, 10, CONTEXT_NONE)->model_id, 5);
    assert_int_equal(task_of(&f, 10, CONTEXT_NONE)->op, NONE);
    const struct op *op = op_of(&f, task_of(&f, 9, CONTEXT_NONE));
    assert_int_equal(op->model_id, 77);
    assert_text(&f, op->name, "opA");
    assert_text(&f, op->state, "static");
    assert_text(&f, op->task_type, "AI_VECTOR_CORE");
    assert_int_equal(op->mix_block_num, 16);
    assert_text(&f, op->input_shapes, "2,3");
    assert_text(&f, op->output_formats, "NYUV_A");
    assert_text(&f, op->output_types, "UNDEFINED");
    assert_text(&f, op->attr, "opC");
    assert_text(&f, op_of(&f, task_of(&f, 11, CONTEXT_NONE))->task_type, "AI_CPU");
    fixture_end(&f);
}

static void more_than_five_tensors_come_in_several_records(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct tensor_record t[5];
    for (uint32_t i = 0; i < 5; i++) t[i] = (struct tensor_record){IN, ND, 3, {i + 1}};
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_basic(&f, 150, H_OP_A, 0, H_ADD, 1);
    put_tensors(&f, 150, H_OP_A, t, 5);
    t[0].kind = OUT;
    put_tensors(&f, 150, H_OP_A, t, 2);
    put_track(&f, 160, 1, 1, R_AICORE, 0);
    fixture_load(&f, 1);
    const struct op *o = op_of(&f, task_of(&f, 1, CONTEXT_NONE));
    assert_int_equal(o->tensor_count, 7);
    assert_text(&f, o->input_shapes, "1;2;3;4;5;2");
    assert_text(&f, o->output_shapes, "1");
    fixture_end(&f);
}

/* Records of two operators of one launch may alternate. */
static void tensor_records_of_one_operator_are_joined(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct tensor_record t[5];
    for (uint32_t i = 0; i < 5; i++) t[i] = (struct tensor_record){IN, ND, 3, {i + 1}};
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_basic(&f, 150, H_OP_A, 0, H_ADD, 1);
    put_tensors(&f, 140, H_OP_A, t, 1);
    for (uint32_t i = 0; i < 100; i++) {
        put_tensors(&f, 150, H_OP_A, t, 5);
        put_tensors(&f, 150, H_OP_B, t, 1);
    }
    put_tensors(&f, 150, H_OP_A, t + 3, 1);
    put_basic(&f, 150, H_OP_B, 0, H_ADD, 1);
    put_contexts(&f, LEVEL_NODE, 150, H_OP_A, 1, 7u);
    put_contexts(&f, LEVEL_NODE, 150, H_OP_B, 1, 8u);
    put_track(&f, 160, 1, 1, R_AICORE, 0);
    fixture_load(&f, 1);
    const struct op *a = op_of(&f, task_of(&f, 1, 7)), *b = op_of(&f, task_of(&f, 1, 8));
    assert_int_equal(a->tensor_count, 501);
    assert_memory_equal(strpool_text(f.strings, a->input_shapes), "1;2;3;4;5;1;2", 13);
    assert_string_equal(strpool_text(f.strings, a->input_shapes) + strpool_length(f.strings, a->input_shapes) - 4,
                        ";5;4");
    assert_int_equal(b->tensor_count, 100);
    fixture_end(&f);
}

static void a_count_that_lies_is_cut(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct tensor_record t[5] = {{IN, ND, 3, {1}}};
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 200, H_OP_A);
    put_basic(&f, 150, H_OP_A, 0, H_ADD, 1);
    put_tensors(&f, 150, H_OP_A, t, 4000000000u);
    struct context_id_record c = {.head = head(LEVEL_NODE, 150, 232), .count = UINT32_MAX};
    fixture_put(&f, INPUT_CONTEXT_ID_INFO, AGING, &c, sizeof c);
    put_track(&f, 160, 1, 1, R_AICORE, 0);
    fixture_load(&f, 1);
    assert_int_equal(op_of(&f, task_of(&f, 1, 0))->tensor_count, 5);
    assert_int_equal(diag_entries(f.diag, DIAG_WARNING), 2);
    fixture_end(&f);
}

static void absurd_context_ranges_do_not_blow_up(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 100, 900, H_HCOM);
    put_api(&f, LEVEL_COMMUNICATION, T_MASTER, 200, 800, H_NOTIFY_WAIT);
    put_contexts(&f, LEVEL_COMMUNICATION, 300, H_OP_C, 2, 0u, UINT32_MAX);
    put_contexts(&f, LEVEL_COMMUNICATION, 300, H_OP_C, 2, 0u, 65535u);
    for (uint32_t i = 0; i < 500; i++) put_track(&f, 300 + i, 1, i, R_NOTIFY_WAIT, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_true(h->comm_tasks.n < 400000);
    assert_true(diag_entries(f.diag, DIAG_WARNING) > 0);
    fixture_end(&f);
}

static void deep_nesting_loses_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    for (uint32_t i = 0; i < 1000; i++) put_api(&f, LEVEL_NODE, T_LAUNCH, 100 + i, 100000 - i, H_OP_A);
    put_basic(&f, 50000, H_OP_A, 0, H_ADD, 1);
    put_track(&f, 0, 1, 1, R_EVENT_RECORD, 0);
    put_track(&f, 50000, 1, 2, R_AICORE, 0);
    put_track(&f, 99950, 1, 3, R_EVENT_RECORD, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(task_of(&f, 1, CONTEXT_NONE)->connection, h->apis.n + 1);
    assert_int_equal(task_of(&f, 2, CONTEXT_NONE)->connection, connection_at(&f, 1099));
    assert_int_equal(task_of(&f, 3, CONTEXT_NONE)->connection, connection_at(&f, 150));
    fixture_end(&f);
}

static void apis_are_numbered_by_begin_then_level(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_RUNTIME, 1, 500, 600, 0);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 500, 600, H_OP_A);
    put_api(&f, LEVEL_ACL, 0x050001, 500, 600, 0);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 500, 700, H_OP_B);
    put_api(&f, LEVEL_ACL, 0x050001, 0, 50, 0);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->apis.n, 5);
    assert_false(h->apis.at[0].flags & API_EXPORTED);
    assert_int_equal(h->apis.at[1].level, LEVEL_ACL);
    assert_text(&f, h->apis.at[2].item, "opA");
    assert_text(&f, h->apis.at[3].item, "opB");
    assert_int_equal(h->apis.at[4].level, LEVEL_RUNTIME);
    assert_int_equal(h->apis.at[1].acl_tag, 5);
    assert_int_equal(h->threads.n, 1);
    fixture_end(&f);
}

static void early_calls_are_hidden_unless_a_model_was_loading(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    f.session.start_ns = 1000;
    put_api(&f, LEVEL_MODEL, T_LOAD, 100, 300, 1);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 150, 250, H_OP_A);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 260, 310, H_OP_A);
    put_api_of(&f, THREAD + 1, LEVEL_NODE, T_LAUNCH, 150, 250, H_OP_B, 0);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 900, 1000, H_OP_A);
    struct host_data *h = fixture_load(&f, 1);
    for (size_t i = 0; i < h->apis.n; i++) {
        const struct api *a = &h->apis.at[i];
        bool shown = a->thread_id == THREAD && a->end_ns != 310;
        assert_int_equal(!!(a->flags & API_EXPORTED), shown);
    }
    assert_int_equal(h->threads.n, 1);
    fixture_end(&f);
}

static void events_without_counterpart_are_told(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, 100, UINT64_MAX, 7, 1);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, 200, UINT64_MAX, 8, 1);
    put_api_of(&f, THREAD, LEVEL_MODEL, T_LOAD, 300, UINT64_MAX, 7, 1);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->apis.n, 1);
    assert_int_equal(h->apis.at[0].start_ns, 100);
    assert_int_equal(h->apis.at[0].end_ns, 300);
    assert_int_equal(diag_entries(f.diag, DIAG_WARNING), 1);
    fixture_end(&f);
}

static void flows_start_at_launches_events_and_copies(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_api(&f, LEVEL_ACL, 0x030003, 100, 200, 0); /* aclrtRecordEvent */
    put_api(&f, LEVEL_ACL, 0x050001, 300, 400, 0); /* a copy inside */
    put_api(&f, LEVEL_ACL, 0x050001, 500, 600, 0);
    put_api(&f, LEVEL_NODE, T_LAUNCH, 700, 800, H_OP_A);
    put_track(&f, 350, 1, 1, R_MEMCPY_ASYNC, 0);
    struct host_data *h = fixture_load(&f, 1);
    const uint8_t expected[] = {API_FLOW_START | API_EVENT_SYNC, API_FLOW_START, 0, API_FLOW_START};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(h->apis.at[i].flags & (API_FLOW_START | API_EVENT_SYNC), expected[i]);
    fixture_end(&f);
}

static void fusion_operators_belong_to_the_model_around_them(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct fusion_op_record r = {.head = head(LEVEL_MODEL, 300, 116),
                                 .name = H_OP_A,
                                 .count = 2,
                                 .input = 1024,
                                 .total = 4096,
                                 .ops = {H_OP_B, H_UNKNOWN}};
    put_api(&f, LEVEL_MODEL, T_LOAD, 100, 400, 9);
    fixture_put(&f, INPUT_FUSION_OP_INFO, UNAGING, &r, sizeof r);
    r.head.time = 500;
    fixture_put(&f, INPUT_FUSION_OP_INFO, UNAGING, &r, sizeof r);
    struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->fusion_ops.n, 1);
    assert_int_equal(h->fusion_ops.at[0].model_id, 9);
    assert_text(&f, h->fusion_ops.at[0].ops, "opB;999");
    assert_int_equal(h->fusion_ops.at[0].total, 4096);
    fixture_end(&f);
}

static void any_number_of_workers_gives_the_same(void **state)
{
    (void)state;
    struct fixture f[2];
    for (int k = 0; k < 2; k++) {
        fixture_begin(&f[k]);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t thread = 50 + i * 7 % 11;
            put_api_of(&f[k], thread, LEVEL_NODE, T_LAUNCH, 1000 + i * 100, 1080 + i * 100, H_OP_A + i % 3, 0);
            put_track_of(&f[k], thread, 1050 + i * 100, (uint16_t)(i % 5), i, i % 4 ? R_AICORE : R_MEMCPY_ASYNC,
                         H_KERNEL_A);
        }
        fixture_load(&f[k], k ? 8 : 1);
    }
    assert_int_equal(f[0].host.tasks.n, 300);
    assert_int_equal(f[0].host.tasks.n, f[1].host.tasks.n);
    for (size_t i = 0; i < f[0].host.tasks.n; i++) {
        const struct host_task *a = &f[0].host.tasks.at[i], *b = &f[1].host.tasks.at[i];
        assert_int_equal(a->time, b->time);
        assert_int_equal(a->connection, b->connection);
        assert_int_equal(a->op, b->op);
    }
    fixture_end(&f[0]);
    fixture_end(&f[1]);
}

static void nothing_is_an_empty_host(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    struct host_data *h = fixture_load(&f, 2);
    assert_false(h->has_apis);
    assert_int_equal(h->tasks.n, 0);
    assert_int_equal(diag_entries(f.diag, DIAG_INFO), 0);
    fixture_end(&f);

    fixture_begin(&f);
    f.session.host = NULL;
    host_load(&f.host, &f.session, f.strings, 2, f.diag, NULL);
    assert_false(host_streams_expanded(&f.session, f.diag));
    assert_int_equal(f.host.apis.n, 0);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_gives_its_tasks_the_operator),
        cmocka_unit_test(a_task_belongs_to_the_call_that_it_ends_with),
        cmocka_unit_test(a_record_at_the_begin_of_its_call_is_kept),
        cmocka_unit_test(every_operator_of_a_graph_keeps_its_contexts),
        cmocka_unit_test(contexts_of_a_type_without_sub_tasks_give_one_row),
        cmocka_unit_test(ranges_of_contexts_are_communication_sub_tasks),
        cmocka_unit_test(kernels_inside_communication_are_both),
        cmocka_unit_test(communication_outside_an_operator_is_told),
        cmocka_unit_test(an_inner_node_is_an_operator_of_its_own),
        cmocka_unit_test(a_task_behind_an_inner_node_keeps_the_outer_one),
        cmocka_unit_test(lccl_and_step_info_launch_nothing),
        cmocka_unit_test(a_mix_kernel_without_launch_has_context_0),
        cmocka_unit_test(level_0_knows_only_names),
        cmocka_unit_test(the_task_may_say_how_many_blocks),
        cmocka_unit_test(copies_share_what_their_call_reports),
        cmocka_unit_test(copy_records_without_tasks_are_one_row),
        cmocka_unit_test(captured_streams_and_operators),
        cmocka_unit_test(more_than_five_tensors_come_in_several_records),
        cmocka_unit_test(tensor_records_of_one_operator_are_joined),
        cmocka_unit_test(a_count_that_lies_is_cut),
        cmocka_unit_test(absurd_context_ranges_do_not_blow_up),
        cmocka_unit_test(deep_nesting_loses_nothing),
        cmocka_unit_test(apis_are_numbered_by_begin_then_level),
        cmocka_unit_test(early_calls_are_hidden_unless_a_model_was_loading),
        cmocka_unit_test(events_without_counterpart_are_told),
        cmocka_unit_test(flows_start_at_launches_events_and_copies),
        cmocka_unit_test(fusion_operators_belong_to_the_model_around_them),
        cmocka_unit_test(any_number_of_workers_gives_the_same),
        cmocka_unit_test(nothing_is_an_empty_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
