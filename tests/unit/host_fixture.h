/* A host directory made of records that a test lists, and what host_load makes of it. */
#ifndef HOST_FIXTURE_H
#define HOST_FIXTURE_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decode/host_records.h"
#include "host/host.h"

enum { AGING = 1, UNAGING = 0 };

/* Hashes of the dictionary. */
enum {
    H_OP_A = 11,
    H_MATMUL = 12,
    H_KERNEL_A = 13,
    H_OP_B = 14,
    H_OP_C = 15,
    H_ADD = 16,
    H_HCOM = 17,
    H_NOTIFY_WAIT = 24,
    H_MEMCPY = 25,
    H_MESH_RING = 30,
    H_GROUP = 31,
    H_LCCL = 32,
    H_UNKNOWN = 999,
};

/* Types of the dictionary. */
enum { T_LAUNCH = 5, T_STEP_INFO = 12, T_EXECUTE = 1, T_LOAD = 2, T_MASTER = 0x10001, T_SLAVE = 0x10002 };
enum { R_AICORE = 0, R_AICPU = 1, R_EVENT_RECORD = 2, R_MEMCPY_ASYNC = 5, R_NOTIFY_WAIT = 14, R_FFTS = 52, R_AIV = 66 };
enum { R_FLIP = 98, R_MIX_AIC = 108, R_SIMT = 101 };

static const char hash_text[] =
    "11:opA\n12:MatMul\n13:kernelA\n14:opB\n15:opC\n16:Add\n17:hcom\n24:Notify_Wait\n25:Memcpy\n"
    "30:MESH-RING\n31:group1abc\n32:LcclAllReduce\n";
static const char type_text[] =
    "10000_5:launch\n10000_12:step_info\n15000_1:ModelExecute\n15000_2:ModelLoad\n"
    "5500_65537:master\n5500_65538:slave\n20000_196611:aclrtRecordEvent\n20000_327681:aclnnAdd\n"
    "5000_0:KERNEL_AICORE\n5000_1:KERNEL_AICPU\n5000_2:EVENT_RECORD\n5000_5:MEMCPY_ASYNC\n"
    "5000_14:NOTIFY_WAIT\n5000_52:FFTS_PLUS\n5000_66:KERNEL_AIVEC\n5000_98:FLIP_TASK\n"
    "5000_108:KERNEL_MIX_AIC\n5000_101:KERNEL_SIMT\n";

/* The bytes of one kind, unaging and aging. */
struct fixture_file {
    uint8_t bytes[2][1 << 16];
    size_t n[2];
};

struct fixture {
    struct session session;
    struct prof_dir host_dir;
    struct chip chip;
    struct fixture_file *files; /* INPUT_COUNT */
    struct strpool *strings;
    struct diag *diag;
    struct host_data host;
    char dir[64];
    bool loaded;
};

static inline void fixture_begin(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->files = mem_zalloc(INPUT_COUNT, sizeof *f->files);
    f->chip = (struct chip){.id = 5, .name = "test", .context_ids = true, .can_export_all = true};
    f->host_dir.chip = &f->chip;
    f->host_dir.is_host = true;
    f->host_dir.clock = (struct clock){.host_hz = 1000000000, .device_hz = 50000000, .host_is_ns = true};
    f->session.host = &f->host_dir;
    f->session.chip = &f->chip;
    f->session.all_export = true;
    f->strings = strpool_new();
    f->diag = diag_new();
    strcpy(f->dir, "/tmp/npuprof_host_XXXXXX");
    assert_non_null(mkdtemp(f->dir));
}

static inline void fixture_put(struct fixture *f, enum input_id id, int aging, const void *data, size_t n)
{
    struct fixture_file *file = &f->files[id];
    assert_true(file->n[aging] + n <= sizeof file->bytes[aging]);
    memcpy(file->bytes[aging] + file->n[aging], data, n);
    file->n[aging] += n;
}

static inline void fixture_write(struct fixture *f, enum input_id id)
{
    struct input_files *files = &f->host_dir.inputs[id];
    files->at = mem_zalloc(2, sizeof *files->at);
    for (int aging = 0; aging < 2; aging++) {
        if (!f->files[id].n[aging]) continue;
        struct input_file *file = &files->at[files->n++];
        file->path = mem_printf("%s/%d_%d", f->dir, (int)id, aging);
        file->shown = mem_printf("%s.%d", aging ? "aging" : "unaging", (int)id);
        file->size = f->files[id].n[aging];
        file->aging = aging;
        files->bytes += file->size;
        FILE *out = fopen(file->path, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(f->files[id].bytes[aging], 1, file->size, out), file->size);
        fclose(out);
    }
}

static inline struct host_data *fixture_load(struct fixture *f, unsigned threads)
{
    if (!f->files[INPUT_HASH_DIC].n[0]) fixture_put(f, INPUT_HASH_DIC, UNAGING, hash_text, sizeof hash_text - 1);
    if (!f->files[INPUT_TYPE_INFO_DIC].n[0])
        fixture_put(f, INPUT_TYPE_INFO_DIC, UNAGING, type_text, sizeof type_text - 1);
    for (int id = 0; id < INPUT_COUNT; id++) fixture_write(f, (enum input_id)id);
    host_load(&f->host, &f->session, f->strings, threads, f->diag, NULL);
    f->loaded = true;
    return &f->host;
}

static inline void fixture_end(struct fixture *f)
{
    if (f->loaded) host_free(&f->host);
    for (int id = 0; id < INPUT_COUNT; id++) {
        struct input_files *files = &f->host_dir.inputs[id];
        for (size_t i = 0; i < files->n; i++) {
            unlink(files->at[i].path);
            free(files->at[i].path);
            free(files->at[i].shown);
        }
        free(files->at);
    }
    rmdir(f->dir);
    free(f->files);
    strpool_free(f->strings);
    diag_free(f->diag);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

#define THREAD 100u

static inline struct record_head head(uint16_t level, uint64_t time, uint32_t length)
{
    return (struct record_head){RECORD_MAGIC_HOST, level, 0, THREAD, length, time};
}

static inline void put_api_of(struct fixture *f, uint32_t thread, uint16_t level, uint32_t type, uint64_t begin,
                              uint64_t end, uint64_t item, uint32_t request)
{
    struct api_event_record a = {RECORD_MAGIC_HOST, level, type, thread, request, begin, end, item};
    fixture_put(f, INPUT_API_EVENT, AGING, &a, sizeof a);
}

static inline void put_api(struct fixture *f, uint16_t level, uint32_t type, uint64_t begin, uint64_t end,
                           uint64_t item)
{
    put_api_of(f, THREAD, level, type, begin, end, item, 0);
}

static inline void put_track_of(struct fixture *f, uint32_t thread, uint64_t time, uint16_t stream, uint32_t task,
                                uint64_t type, uint64_t kernel)
{
    struct task_track_record t = {.head = head(LEVEL_RUNTIME, time, 24),
                                  .stream_id = stream,
                                  .task = task,
                                  .task_type = type,
                                  .kernel_name = kernel};
    t.head.thread_id = thread;
    fixture_put(f, INPUT_TASK_TRACK, AGING, &t, sizeof t);
}

static inline void put_track(struct fixture *f, uint64_t time, uint16_t stream, uint32_t task, uint64_t type,
                             uint64_t kernel)
{
    put_track_of(f, THREAD, time, stream, task, type, kernel);
}

static inline void put_basic(struct fixture *f, uint64_t time, uint64_t name, uint32_t ge_type, uint64_t type,
                             uint32_t blocks)
{
    struct node_basic_record b = {.head = head(LEVEL_NODE, time, 29),
                                  .op_name = name,
                                  .task_type = ge_type,
                                  .op_type = type,
                                  .blocks = blocks,
                                  .op_flag = 1};
    fixture_put(f, INPUT_NODE_BASIC_INFO, AGING, &b, sizeof b);
}

static inline void put_contexts(struct fixture *f, uint16_t level, uint64_t time, uint64_t name, uint32_t count, ...)
{
    struct context_id_record c = {.head = head(level, time, 232), .op_name = name, .count = count};
    va_list ids;
    va_start(ids, count);
    for (uint32_t i = 0; i < count; i++) c.ids[i] = va_arg(ids, uint32_t);
    va_end(ids);
    fixture_put(f, INPUT_CONTEXT_ID_INFO, AGING, &c, sizeof c);
}

static inline void put_comm(struct fixture *f, uint64_t time, uint64_t item, uint32_t context_id)
{
    struct hccl_info_record h = {.head = head(LEVEL_COMMUNICATION, time, 124),
                                 .item = item,
                                 .group = H_GROUP,
                                 .remote_rank = 1,
                                 .rank_size = 8,
                                 .context_id = context_id,
                                 .notify_id = 7,
                                 .estimated_us = 1.5,
                                 .size = 1024,
                                 .data_type = 4,
                                 .link_type = 1,
                                 .rdma_type = UINT32_MAX};
    fixture_put(f, INPUT_HCCL_INFO, AGING, &h, sizeof h);
}

static inline void put_comm_op(struct fixture *f, uint64_t time, uint8_t flags, uint64_t count)
{
    struct hccl_op_record h = {.head = head(LEVEL_NODE, time, 26),
                               .flags = flags,
                               .data_type = 3,
                               .algorithm = H_MESH_RING,
                               .count = count,
                               .group = H_GROUP};
    fixture_put(f, INPUT_HCCL_OP_INFO, AGING, &h, sizeof h);
}

static inline void put_tensors(struct fixture *f, uint64_t time, uint64_t name, const struct tensor_record *tensors,
                               uint32_t count)
{
    struct tensor_info_record t = {.head = head(LEVEL_NODE, time, 232), .op_name = name, .count = count};
    memcpy(t.tensors, tensors, (count < TENSORS_PER_RECORD ? count : TENSORS_PER_RECORD) * sizeof *tensors);
    fixture_put(f, INPUT_TENSOR_INFO, AGING, &t, sizeof t);
}

static inline void put_attr(struct fixture *f, uint64_t time, uint64_t name, uint64_t attr)
{
    struct node_attr_record a = {.head = head(LEVEL_NODE, time, 20), .op_name = name, .attr = attr};
    fixture_put(f, INPUT_NODE_ATTR_INFO, AGING, &a, sizeof a);
}

/* ---- what came out ---------------------------------------------------------------------------------------------- */

static inline const char *text_of(const struct fixture *f, str_id id)
{
    return strpool_text(f->strings, id);
}

#define assert_text(f, id, text) assert_string_equal(text_of(f, id), text)

static inline const struct op *op_of(const struct fixture *f, const struct host_task *t)
{
    assert_int_not_equal(t->op, NONE);
    return &f->host.ops.at[t->op];
}

/* The only row of a task id and context. */
static inline const struct host_task *task_of(const struct fixture *f, uint32_t task, uint32_t context)
{
    const struct host_task *found = NULL;
    for (size_t i = 0; i < f->host.tasks.n; i++) {
        const struct host_task *t = &f->host.tasks.at[i];
        if (t->task_id != task || t->context_id != context) continue;
        assert_null(found);
        found = t;
    }
    assert_non_null(found);
    return found;
}

static inline size_t rows_of(const struct fixture *f, uint32_t task)
{
    size_t n = 0;
    for (size_t i = 0; i < f->host.tasks.n; i++) n += f->host.tasks.at[i].task_id == task;
    return n;
}

/* Connection id of the API that begins at that time. */
static inline uint32_t connection_at(const struct fixture *f, int64_t start_ns)
{
    for (size_t i = 0; i < f->host.apis.n; i++)
        if (f->host.apis.at[i].start_ns == start_ns) return (uint32_t)i + 1;
    fail_msg("no API begins at %lld", (long long)start_ns);
    return 0;
}

#endif
