/* Block Detail: of each task the blocks that began first and last, on cube and on vector cores.
 *
 *     blocks    by (task id, start)    [task 7: b b b b b b] [task 8: b b]
 *     a run     of task 7                    └───┘  the blocks that overlap it
 *
 * As in the reference blocks are known by task id and time alone, so devices that count the same ids at the same time
 * share them. A block is shown with whole microseconds; when its overlap with a task is looked for that number counts
 * as nanoseconds. Ends are sums of doubles, in steps of 256 ns, beginnings exact: a block that begins shortly after its
 * task may be taken to have ended before it. */
#include "base/sort.h"
#include "export/timeline/timeline.h"

enum { TID_CUBE_FIRST = 1, TID_CUBE_LAST, TID_VECTOR_FIRST, TID_VECTOR_LAST, TIDS };

static const char *const thread_names[TIDS] = {
    [TID_CUBE_FIRST] = "AIC Earliest",
    [TID_CUBE_LAST] = "AIC Latest",
    [TID_VECTOR_FIRST] = "AIV Earliest",
    [TID_VECTOR_LAST] = "AIV Latest",
};

struct block {
    int64_t start_ns, us;
    uint32_t task_id;
    uint16_t stream_id;
    uint8_t core;
    bool vector;
};

struct blocks {
    ARRAY(struct block) list;
    int64_t longest_us;
};

static void load_blocks(struct blocks *b, const struct device_model *d)
{
    const struct clock *clock = &d->dir->clock;
    array_reserve(&b->list, b->list.n + d->data.blocks.n);
    for (size_t i = 0; i < d->data.blocks.n; i++) {
        const struct device_block *from = &d->data.blocks.at[i];
        double us = from->end > from->start ? clock_device_duration_us(clock, from->end - from->start) : 0;
        struct block block = {
            .start_ns = clock_task_ns(clock, from->start),
            .us = us < 0x1p50 ? (int64_t)us : 1ll << 50,
            .task_id = from->task_id,
            .stream_id = from->stream_id,
            .core = from->core,
            .vector = from->vector,
        };
        if (block.us > b->longest_us) b->longest_us = block.us;
        array_push(&b->list, block);
    }
}

static void sort_blocks(struct blocks *b)
{
    size_t n = b->list.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct sort_key){(uint64_t)b->list.at[i].start_ns ^ 1ull << 63, (uint32_t)i};
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = b->list.at[order[i].index].task_id;
    sort_keys(order, n);
    sort_permute(b->list.at, sizeof *b->list.at, order, n);
    free(order);
}

#define DOUBLE_STEP_NS 256 /* between the doubles near today's epoch times */

/* Damaged clocks give times at the ends of the range. */
static int64_t later(int64_t ns, int64_t by)
{
    int64_t sum;
    return __builtin_add_overflow(ns, by, &sum) ? (by < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Index of the first block of a task that begins at that time or later. */
static size_t first_block(const struct blocks *b, uint32_t task_id, int64_t start_ns)
{
    size_t low = 0, high = b->list.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct block *at = &b->list.at[mid];
        if (at->task_id < task_id || (at->task_id == task_id && at->start_ns < start_ns)) low = mid + 1;
        else high = mid;
    }
    return low;
}

static void write_block(struct trace *t, uint32_t pid, int32_t tid, const struct task *task, const struct block *block)
{
    trace_begin(t);
    out_literal(&t->out, "Stream ");
    out_u64(&t->out, block->stream_id);
    out_char(&t->out, ' ');
    if (task->op != NONE) trace_text(t, t->model->host.ops.at[task->op].name);
    trace_slice(t, pid, tid, block->start_ns, later(block->start_ns, block->us * 1000), NULL);
    trace_arg_u64(t, "Physic Stream Id", block->stream_id);
    trace_arg_u64(t, "Task Id", task->task_id);
    trace_arg_u64(t, "Batch Id", task->batch_id);
    trace_arg_u64(t, "Subtask Id", task->context_id);
    trace_arg_u64(t, "Core Id", block->core);
    trace_end(t);
}

/* An end as the sum of doubles. */
static int64_t end_of(int64_t start_ns, int64_t duration)
{
    double end = (double)start_ns + (double)duration;
    return end < -0x1p63 ? INT64_MIN : end >= 0x1p63 ? INT64_MAX : (int64_t)end;
}

static bool overlaps(const struct block *block, const struct task *task)
{
    int64_t duration;
    if (__builtin_sub_overflow(task->end_ns, task->start_ns, &duration)) duration = INT64_MAX;
    return end_of(block->start_ns, block->us) >= task->start_ns && block->start_ns <= end_of(task->start_ns, duration);
}

static void write_task(struct trace *t, uint32_t pid, const struct blocks *b, const struct task *task, bool used[TIDS])
{
    const struct block *chosen[TIDS] = {NULL};
    int64_t from = later(task->start_ns, -b->longest_us - DOUBLE_STEP_NS), to = later(task->end_ns, DOUBLE_STEP_NS);
    for (size_t i = first_block(b, task->task_id, from); i < b->list.n; i++) {
        const struct block *block = &b->list.at[i];
        if (block->task_id != task->task_id || block->start_ns > to) break;
        if (!overlaps(block, task)) continue;
        int first = block->vector ? TID_VECTOR_FIRST : TID_CUBE_FIRST;
        if (!chosen[first]) chosen[first] = block;
        chosen[first + 1] = block;
    }
    for (int tid = TID_CUBE_FIRST; tid < TIDS; tid++) {
        if (!chosen[tid]) continue;
        write_block(t, pid, tid, task, chosen[tid]);
        used[tid] = true;
    }
}

static void write_device(struct trace *t, const struct layer *layer, const struct device_model *d,
                         const struct blocks *b)
{
    bool used[TIDS] = {false}, any = false;
    uint32_t pid = layer_pid(layer, d->dir);
    for (size_t i = 0; i < d->tasks.n; i++) write_task(t, pid, b, &d->tasks.at[i], used);
    for (int tid = TID_CUBE_FIRST; tid < TIDS; tid++) {
        if (used[tid]) trace_thread_name(t, pid, tid, thread_names[tid]);
        any |= used[tid];
    }
    if (any) layer_process(t, layer, d->dir);
}

void block_detail_write(struct trace *t, const struct layer *layer)
{
    const struct model *m = t->model;
    struct blocks b = {0};
    for (size_t i = 0; i < m->n_devices; i++) load_blocks(&b, &m->devices[i]);
    if (b.list.n) {
        sort_blocks(&b);
        for (size_t i = 0; i < m->n_devices; i++) write_device(t, layer, &m->devices[i], &b);
    }
    array_free(&b.list);
}
