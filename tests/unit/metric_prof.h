/* A whole PROF directory made in the test, exported through the library: for tests of metrics, from bytes to outputs.
 * The clock of the examples: device and host counters and times line up so that 500.2 s of the device's monotonic
 * clock, 200000 µs since its profiler started and 1000.3 s of the host's monotonic clock are all UTC0 + 300000 µs. */
#ifndef TEST_METRIC_PROF_H
#define TEST_METRIC_PROF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "npuprof.h"
#include "scratch.h"

#define UTC0_NS 1700000000000000000
#define DEVICE  "PROF_1/device_0/"
#define HOST    "PROF_1/host/"

/* The metadata of a directory ("PROF_1/device_0/", its files end in ".0"; "PROF_1/host/", ""). `extra` goes into
 * info.json ("" or `"version":"2.0",`), `device` into its DeviceInfo, `sample` is sample.json. */
static inline void metric_metadata(const char *dir, const char *suffix, int chip, const char *extra, const char *device,
                                   const char *sample)
{
    char *info = mem_printf("{%s\"CPU\":[{\"Frequency\":\"100.000000\"}],\"DeviceInfo\":[{%s\"hwts_frequency\":"
                            "\"50.000000\"}],\"platform_version\":\"%d\",\"pid\":\"1234\",\"drvVersion\":467732}",
                            extra, device, chip);
    const char *files[][3] = {
        {"info.json", suffix, info},
        {"sample.json", "", sample},
        {"start_info", suffix,
         "{\"collectionTimeBegin\":\"1700000000000000\",\"clockMonotonicRaw\":\"1000000000000\"}"},
        {"end_info", suffix, "{\"collectionTimeEnd\":\"1700000010000000\",\"clockMonotonicRaw\":\"1010000000000\"}"},
        {"host_start.log", suffix,
         "[Host]\nclock_monotonic_raw: 1000100000000\ncntvct: 100000000000\ncntvct_diff: 0\n"},
        {"dev_start.log", suffix, "clock_monotonic_raw: 500000000000\ncntvct: 25000000000\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *name = mem_printf("%s%s%s", dir, files[i][0], files[i][1]);
        scratch_text(name, files[i][2]);
        free(name);
    }
    free(info);
}

/* A collection of one device, and nothing else. */
static inline void metric_device(int chip, const char *sample)
{
    metric_metadata(DEVICE, ".0", chip, "", "", sample);
}

/* Export everything; the number of warnings and errors. */
static inline size_t metric_export(void)
{
    struct npuprof_options options;
    struct npuprof_report *report;
    const struct npuprof_message *messages;
    npuprof_options_init(&options);
    char *path = mem_printf("%s/PROF_1", scratch);
    assert_int_equal(npuprof_export(path, &options, &report), NPUPROF_OK);
    size_t n = npuprof_report_messages(report, &messages), bad = 0;
    for (size_t i = 0; i < n; i++) bad += messages[i].severity != NPUPROF_INFO;
    npuprof_report_free(report);
    free(path);
    return bad;
}

/* Path of the one file that fits the pattern, NULL when there is none; free() it. */
static inline char *metric_find(const char *format, const char *stem)
{
    char *end = mem_printf(format, stem), *pattern = mem_printf("%s/PROF_1/%s", scratch, end), *path = NULL;
    glob_t found;
    if (!glob(pattern, 0, NULL, &found)) path = mem_printf("%s", found.gl_pathv[0]);
    globfree(&found);
    free(pattern);
    free(end);
    return path;
}

static inline char *metric_read(char *path)
{
    if (!path) return NULL;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    char *text = mem_zalloc(n + 1, 1);
    rewind(f);
    assert_int_equal(fread(text, 1, n, f), n);
    fclose(f);
    free(path);
    return text;
}

/* Is the report exactly that? NULL = it is not there. */
static inline void assert_report(const char *stem, const char *expected)
{
    char *text = metric_read(metric_find("mindstudio_profiler_output/%s_2*.csv", stem));
    if (!expected) {
        assert_null(text);
    } else {
        assert_non_null(text);
        assert_string_equal(text, expected);
    }
    free(text);
}

/* Does the timeline hold that text (an event, or a piece of one)? */
static inline bool timeline_has(const char *piece)
{
    char *text = metric_read(metric_find("mindstudio_profiler_output/%s_2*.json", "msprof"));
    bool has = text && strstr(text, piece);
    free(text);
    return has;
}

/* Is the result of the query exactly that? Cells are joined by "|", rows by ";"; NULL = it fails: no such table. */
static inline void assert_query(const char *query, const char *expected)
{
    char *path = metric_find("%s_2*.db", "msprof"), result[4096] = "";
    size_t at = 0;
    sqlite3 *db;
    sqlite3_stmt *rows;
    assert_non_null(path);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, query, -1, &rows, NULL) != SQLITE_OK) {
        assert_null(expected);
    } else {
        while (sqlite3_step(rows) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(rows); i++)
                at += (size_t)snprintf(result + at, sizeof result - at, "%s%s",
                                       !at ? ""
                                       : i ? "|"
                                           : ";",
                                       (const char *)sqlite3_column_text(rows, i));
        sqlite3_finalize(rows);
        assert_non_null(expected);
        assert_string_equal(result, expected);
    }
    sqlite3_close(db);
    free(path);
}

/* Bytes that are put together field by field. */
struct metric_bytes {
    uint8_t at[8192];
    size_t n;
};

static inline void put(struct metric_bytes *b, unsigned size, uint64_t value)
{
    assert_true(b->n + size <= sizeof b->at);
    memcpy(b->at + b->n, &value, size);
    b->n += size;
}

static inline void metric_write(const char *name, const struct metric_bytes *b)
{
    char *path = mem_printf(DEVICE "data/%s", name);
    scratch_bytes(path, b->at, b->n);
    free(path);
}

static inline void metric_text(const char *name, const char *text)
{
    char *path = mem_printf(DEVICE "data/%s", name);
    scratch_text(path, text);
    free(path);
}

#endif
