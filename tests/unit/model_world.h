/* A session with one device whose records are made by hand, for tests of the model room. The clock counts 20 ns ticks
 * from a raw time of 2000000000 ns at tick 5000000, and raw time is epoch time. */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/parts.h"

#define REF       5000000u
#define AT(ticks) (2000000000 + (int64_t)(ticks)*20)

struct world {
    struct session session;
    struct prof_dir dir;
    struct model m;
    struct device_model d;
    struct well_known known;
    struct diag *diag;
};

static inline str_id text(struct world *w, const char *s)
{
    return strpool_add_z(w->m.strings, s);
}

static inline int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    w->dir.name = "device_0";
    w->dir.chip = chip_find(5);
    w->dir.clock =
        (struct clock){.device_ref = REF, .device_hz = 50000000, .host_hz = 1000000000, .mono_ns = 2000000000};
    w->session.start_ns = 0;
    w->session.all_export = true;
    w->m.session = &w->session;
    w->m.strings = strpool_new();
    w->d.dir = &w->dir;
    w->diag = diag_new();
    w->known = (struct well_known){
        .unknown = text(w, "UNKNOWN"),
        .ffts_plus = text(w, "FFTS_PLUS"),
        .memcpy_async = text(w, "MEMCPY_ASYNC"),
        .simt = text(w, "KERNEL_SIMT"),
        .kernel_types = {text(w, "KERNEL_AICORE"), text(w, "KERNEL_AIVEC")},
    };
    *state = w;
    return 0;
}

static inline int teardown(void **state)
{
    struct world *w = *state;
    array_free(&w->m.host.tasks);
    array_free(&w->m.host.ops);
    array_free(&w->m.host.comm_infos);
    array_free(&w->m.host.comm_tasks);
    array_free(&w->m.host.comm_ops);
    array_free(&w->d.data.tasks);
    array_free(&w->d.tasks);
    array_free(&w->d.comm_ops);
    array_free(&w->d.comm_tasks);
    array_free(&w->d.comm_turns);
    array_free(&w->m.host.mc2_groups);
    array_free(&w->m.host.kfc_streams);
    aicpu_comm_free(&w->d.data.aicpu);
    map_free(&w->m.host.hash_texts);
    for (size_t i = 0; i < w->d.comm_groups.n; i++) array_free(&w->d.comm_groups.at[i].planes);
    array_free(&w->d.comm_groups);
    array_free(&w->d.comm_statistics);
    for (int k = 0; k < OVERLAP_KINDS; k++) array_free(&w->d.overlap[k]);
    strpool_free(w->m.strings);
    diag_free(w->diag);
    free(w);
    return 0;
}

static inline void host_task(struct world *w, uint32_t stream, uint32_t task, uint32_t context, const char *type,
                             uint32_t op)
{
    array_push(&w->m.host.tasks, ((struct host_task){.stream_id = stream,
                                                     .task_id = task,
                                                     .context_id = context,
                                                     .model_id = MODEL_NONE,
                                                     .connection = 7,
                                                     .type = text(w, type),
                                                     .kernel_name = STR_NA,
                                                     .op = op}));
}

/* Device tasks must be added in key order, as device_load leaves them. */
static inline void device_task(struct world *w, uint32_t stream, uint32_t task, uint32_t context, unsigned from,
                               unsigned to)
{
    array_push(&w->d.data.tasks, ((struct device_task){.start = REF + from,
                                                       .end = REF + to,
                                                       .stream_id = stream,
                                                       .task_id = task,
                                                       .context_id = context,
                                                       .type = text(w, "AI_CORE"),
                                                       .pmu = NONE}));
}

static inline void join(struct world *w)
{
    uint32_t *host_of = mem_alloc(w->d.data.tasks.n * sizeof *host_of);
    join_host(&w->m, &w->d, host_of, w->diag);
    join_tasks(&w->m, &w->d, host_of, &w->known);
    communication_build(&w->m, &w->d, host_of, w->diag);
    join_finish(&w->m, &w->d, &w->known);
    overlap_build(&w->m, &w->d, &w->known);
    free(host_of);
}

static inline void comm_op(struct world *w, uint64_t begin, uint64_t end)
{
    array_push(&w->m.host.comm_ops, ((struct host_comm_op){.begin = begin,
                                                           .end = end,
                                                           .thread_id = 1,
                                                           .model_id = MODEL_NONE,
                                                           .connection = (uint32_t)begin,
                                                           .kfc_connection = NONE,
                                                           .name = text(w, "hcom_allReduce_"),
                                                           .op_type = text(w, "hcom_allReduce_"),
                                                           .state = STR_NA,
                                                           .alg_type = text(w, "MESH-RING"),
                                                           .group = text(w, "group1"),
                                                           .group_key = 31,
                                                           .data_type = 4,
                                                           .count = 1024}));
}

static inline void comm_task(struct world *w, uint32_t task, uint64_t launch, int64_t size, uint16_t rdma_type,
                             bool master)
{
    if (!w->m.host.comm_infos.n)
        array_push(&w->m.host.comm_infos, ((struct comm_info){.name = STR_NA, .group = STR_NA, .plane_id = -1}));
    array_push(&w->m.host.comm_infos, ((struct comm_info){.name = text(w, "Memcpy"),
                                                          .group = text(w, "group1"),
                                                          .group_key = 31,
                                                          .rank_size = 8,
                                                          .size = size,
                                                          .rdma_type = rdma_type}));
    array_push(&w->m.host.comm_tasks, ((struct host_comm_task){.time = launch,
                                                               .thread_id = 1,
                                                               .stream_id = 2,
                                                               .task_id = task,
                                                               .context_id = CONTEXT_NONE,
                                                               .connection = 9,
                                                               .model_id = MODEL_NONE,
                                                               .info = (uint32_t)w->m.host.comm_infos.n - 1,
                                                               .is_master = master}));
}

static inline const struct comm_task *comm_of(struct world *w, uint32_t task)
{
    for (size_t i = 0; i < w->d.comm_tasks.n; i++)
        if (w->d.comm_tasks.at[i].task_id == task) return &w->d.comm_tasks.at[i];
    return NULL;
}

static inline void assert_sections(const struct world *w, enum overlap_kind kind, size_t n, const unsigned (*ticks)[2])
{
    assert_int_equal(w->d.overlap[kind].n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(w->d.overlap[kind].at[i].start_ns, AT(ticks[i][0]));
        assert_int_equal(w->d.overlap[kind].at[i].end_ns, AT(ticks[i][1]));
    }
}

/* A test with a fresh world. */
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
