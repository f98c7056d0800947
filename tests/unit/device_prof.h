/* A device directory made in the test: records are added one by one, then read by the room. */
#ifndef TEST_DEVICE_PROF_H
#define TEST_DEVICE_PROF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/parts.h"

#define DEVICE_REF 1000000000000u /* device counter at the reference */
#define MONO_NS    200000000000000

struct device_prof {
    struct session session;
    struct prof_dir dir;
    struct input_file files[INPUT_COUNT];
    char paths[INPUT_COUNT][64];
    struct diag *diag;
    struct strpool *strings;
    struct device_data data;
};

static inline void prof_start(struct device_prof *p)
{
    *p = (struct device_prof){
        .session = {.all_export = true, .start_ns = MONO_NS - 1000, .end_ns = MONO_NS + 1000000000, .has_end = true},
        .dir = {.name = "device_0",
                .chip = chip_find(5),
                .clock = {.device_ref = DEVICE_REF, .device_hz = 50000000, .mono_ns = MONO_NS},
                .meta = {.ai_core_mode = "task-based",
                         .aic_metrics = "PipeUtilizationExct",
                         .aiv_metrics = "PipeUtilization",
                         .aic_events = {0x416, 0x417, 0x9, 0x302, 0xc, 0x303, 0x54, 0x55},
                         .aiv_events = {0x8, 0xa, 0x9, 0xb, 0xc, 0xd, 0x54, 0x55},
                         .n_aic_events = 8,
                         .n_aiv_events = 8,
                         .aic_mhz = 1850,
                         .ai_core_num = 24,
                         .aiv_num = 48}},
        .diag = diag_new(),
        .strings = strpool_new(),
    };
    p->session.meta = &p->dir.meta;
    p->dir.meta.has_start = p->dir.meta.has_end = true;
    p->dir.meta.start_ns = p->session.start_ns;
    p->dir.meta.end_ns = p->session.end_ns;
}

/* Append bytes to the one slice of an input. */
static inline void prof_add(struct device_prof *p, enum input_id id, const void *record, size_t size)
{
    struct input_file *f = &p->files[id];
    if (!f->path) {
        snprintf(p->paths[id], sizeof p->paths[id], "/tmp/test_device_XXXXXX");
        close(mkstemp(p->paths[id]));
        f->path = f->shown = p->paths[id];
    }
    FILE *out = fopen(f->path, "ab");
    assert_non_null(out);
    assert_int_equal(fwrite(record, size, 1, out), 1);
    fclose(out);
    f->size += size;
    p->dir.inputs[id] = (struct input_files){.at = f, .n = 1, .bytes = f->size};
}

static inline void put16(uint8_t *at, uint64_t v)
{
    uint16_t x = (uint16_t)v;
    memcpy(at, &x, sizeof x);
}

static inline void put64(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

/* A task log record: func 0 / 1 of a whole task of type `type`. Times count from the reference. */
static inline void add_task(struct device_prof *p, unsigned func, unsigned stream, unsigned task, unsigned type,
                            uint64_t time)
{
    uint8_t r[64] = {0};
    put16(r, func | type << 10);
    put16(r + 2, 0x6BD3);
    put16(r + 4, stream);
    put16(r + 6, task);
    put64(r + 8, DEVICE_REF + time);
    prof_add(p, INPUT_STARS_SOC, r, sizeof r);
}

/* Func 34 / 35 of an FFTS+ sub-task. */
static inline void add_subtask(struct device_prof *p, unsigned func, unsigned stream, unsigned task, unsigned context,
                               unsigned type, uint64_t time)
{
    uint8_t r[64] = {0};
    put16(r, func);
    put16(r + 2, 0x6BD3);
    put16(r + 4, stream);
    put16(r + 6, task);
    put64(r + 8, DEVICE_REF + time);
    put16(r + 16, type);
    put16(r + 18, context);
    prof_add(p, INPUT_STARS_SOC, r, sizeof r);
}

static inline void add_run(struct device_prof *p, unsigned stream, unsigned task, uint64_t start, uint64_t end)
{
    add_task(p, 0, stream, task, 0, start);
    add_task(p, 1, stream, task, 0, end);
}

struct counters {
    uint64_t cycles, counter[8];
};

static inline void add_counters(struct device_prof *p, uint8_t *r, unsigned func, unsigned stream, unsigned task,
                                struct counters c, uint64_t end)
{
    put16(r, func);
    put16(r + 2, 0x6BD3);
    put16(r + 4, stream);
    put16(r + 6, task);
    put64(r + 32, c.cycles);
    for (unsigned i = 0; i < 8; i++) put64(r + 48 + 8 * i, c.counter[i]);
    put64(r + 120, DEVICE_REF + end);
    prof_add(p, INPUT_FFTS_PROFILE, r, 128);
}

/* Counters of a whole kernel: FFTS type 0 = cube, 1 = vector, 4 = sub-task `subtask` of `context`. */
static inline void add_context(struct device_prof *p, unsigned stream, unsigned task, unsigned ffts, unsigned subtask,
                               unsigned context, struct counters c, uint64_t end)
{
    uint8_t r[128] = {0};
    put16(r + 16, subtask);
    put16(r + 18, context);
    put16(r + 20, ffts << 13);
    add_counters(p, r, 40, stream, task, c, end);
}

/* Counters of one slave block of a mix kernel. */
static inline void add_block(struct device_prof *p, unsigned stream, unsigned task, unsigned subtask, unsigned context,
                             bool vector, struct counters c, uint64_t end)
{
    uint8_t r[128] = {0};
    put16(r + 16, subtask);
    put16(r + 18, context);
    r[20] = vector;
    r[21] = 4 << 5;
    add_counters(p, r, 41, stream, task, c, end);
}

static inline void add_ts_track(struct device_prof *p, unsigned tag, uint64_t time, const void *rest, size_t size)
{
    uint8_t r[40] = {0, (uint8_t)tag, 40};
    put64(r + 8, DEVICE_REF + time);
    memcpy(r + 16, rest, size);
    prof_add(p, INPUT_TS_TRACK, r, sizeof r);
}

static inline void add_flip(struct device_prof *p, unsigned stream, unsigned number, unsigned task, uint64_t time)
{
    uint16_t rest[] = {(uint16_t)stream, (uint16_t)number, 0, (uint16_t)task};
    add_ts_track(p, 14, time, rest, sizeof rest);
}

static inline void add_step(struct device_prof *p, uint64_t model, uint64_t index, unsigned stream, unsigned tag,
                            uint64_t time)
{
    uint8_t rest[24] = {0};
    put64(rest, index);
    put64(rest + 8, model);
    put16(rest + 16, stream);
    put16(rest + 20, tag);
    add_ts_track(p, 10, time, rest, sizeof rest);
}

static inline void prof_load(struct device_prof *p)
{
    device_load(&p->data, &p->session, &p->dir, false, p->strings, 1, p->diag, NULL);
}

static inline void prof_end(struct device_prof *p)
{
    device_free(&p->data);
    strpool_free(p->strings);
    diag_free(p->diag);
    for (unsigned i = 0; i < INPUT_COUNT; i++)
        if (p->files[i].path) unlink(p->files[i].path);
}

#endif
