/* The library face: what a program that calls npuprof_export can rely on. The PROF directories here hold metadata only,
 * which is enough for an (empty) timeline and a database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/out.h"
#include "npuprof.h"

static char root[] = "/tmp/npuprof-library-XXXXXX";

static void write_file(const char *dir, const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    free(path);
}

static char *make_dir(const char *parent, const char *name)
{
    char *path = mem_printf("%s/%s", parent, name);
    assert_int_equal(mkdir(path, 0750), 0);
    return path;
}

/* A side of a PROF directory: its metadata, and no data. */
static void make_side(const char *prof, const char *name, const char *suffix, const char *device_info)
{
    char *dir = make_dir(prof, name), *data = make_dir(dir, "data");
    char *info = mem_printf("{\"version\":\"1.0\",\"hostname\":\"worker-0\",\"CPU\":[{\"Frequency\":\"100.000000\"}],"
                            "\"DeviceInfo\":[%s],\"platform_version\":\"5\",\"pid\":\"4242\",\"pid_name\":\"python3\","
                            "\"drvVersion\":467732,\"hostUid\":\"12345\"}",
                            device_info);
    const char *files[][2] = {
        {"info.json", info},
        {"start_info", "{\"collectionTimeBegin\":\"1719838800123456\",\"clockMonotonicRaw\":\"191356401000000\"}"},
        {"end_info", "{\"collectionTimeEnd\":\"1719838800323456\",\"clockMonotonicRaw\":\"191356601000000\"}"},
        {"host_start.log", "[Host]\nclock_monotonic_raw: 191356411070000\ncntvct: 19135652101077\ncntvct_diff: 0\n"},
        {"dev_start.log", "clock_monotonic_raw: 191356411100000\ncntvct: 9567826050538\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = mem_printf("%s%s", files[i][0], suffix);
        write_file(dir, path, files[i][1]);
        free(path);
    }
    write_file(dir, "sample.json",
               "{\"ai_core_profiling_mode\":\"task-based\",\"ai_core_metrics\":\"PipeUtilization\"}");
    free(info);
    free(data);
    free(dir);
}

static char *make_prof(const char *parent, const char *name)
{
    char *prof = make_dir(parent, name);
    make_side(prof, "host", "", "");
    make_side(prof, "device_0", ".0",
              "{\"id\":0,\"ai_core_num\":24,\"aiv_num\":48,\"hwts_frequency\":\"50.000000\","
              "\"aic_frequency\":\"1800\",\"aiv_frequency\":\"1800\"}");
    return prof;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int export_to(const char *dir, unsigned outputs, struct npuprof_report **report)
{
    struct npuprof_options options;
    npuprof_options_init(&options);
    options.outputs = outputs;
    return npuprof_export(dir, &options, report);
}

/* Files of the report whose path ends in `end`; each is there and as big as the report says. */
static unsigned files_ending(const struct npuprof_report *report, const char *ending)
{
    const struct npuprof_file *files;
    size_t n = npuprof_report_files(report, &files);
    unsigned found = 0;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        assert_int_equal(stat(files[i].path, &st), 0);
        assert_int_equal(st.st_size, files[i].bytes);
        size_t len = strlen(files[i].path);
        found += len > strlen(ending) && !strcmp(files[i].path + len - strlen(ending), ending);
    }
    return found;
}

static const struct npuprof_message *first_error(const struct npuprof_report *report)
{
    const struct npuprof_message *m;
    size_t n = npuprof_report_messages(report, &m);
    for (size_t i = 0; i < n; i++)
        if (m[i].severity == NPUPROF_ERROR) return &m[i];
    return NULL;
}

static void version_is_that_of_the_build(void **state)
{
    (void)state;
    assert_string_equal(npuprof_version(), NPUPROF_VERSION);
}

static void defaults_ask_for_everything(void **state)
{
    (void)state;
    struct npuprof_options options;
    memset(&options, 0xFF, sizeof options);
    npuprof_options_init(&options);
    assert_int_equal(options.outputs, NPUPROF_ALL);
    assert_int_equal(options.jobs, 0);
    assert_null(options.on_progress);
}

static void a_path_without_prof_is_told_apart(void **state)
{
    (void)state;
    const struct npuprof_prof *profs;
    char *empty = make_dir(root, "empty"), *missing = mem_printf("%s/missing", root);
    write_file(root, "file", "x");
    char *file = mem_printf("%s/file", root);
    const char *paths[] = {empty, missing, file};
    for (size_t i = 0; i < 3; i++) {
        struct npuprof_report *report;
        assert_int_equal(export_to(paths[i], NPUPROF_ALL, &report), NPUPROF_BAD_PATH);
        assert_int_equal(npuprof_report_profs(report, &profs), 0);
        assert_int_equal(files_ending(report, ""), 0);
        assert_non_null(first_error(report));
        assert_non_null(strstr(first_error(report)->text, paths[i]));
        npuprof_report_free(report);
    }
    free(empty);
    free(missing);
    free(file);
}

static void the_report_lists_what_was_written(void **state)
{
    (void)state;
    const struct npuprof_prof *profs;
    char *prof = make_prof(root, "PROF_1");
    struct npuprof_report *report;
    assert_int_equal(export_to(prof, NPUPROF_ALL, &report), NPUPROF_OK);
    assert_int_equal(npuprof_report_profs(report, &profs), 1);
    assert_int_equal(files_ending(report, ".json"), 1);
    assert_int_equal(files_ending(report, ".db"), 1);
    assert_null(first_error(report));
    assert_true(npuprof_report_seconds(report) > 0);
    npuprof_report_free(report);
    free(prof);
}

static void only_what_is_asked_for_is_written(void **state)
{
    (void)state;
    char *prof = make_prof(root, "PROF_1");
    struct npuprof_report *report;
    assert_int_equal(export_to(prof, NPUPROF_DB, &report), NPUPROF_OK);
    assert_int_equal(files_ending(report, ".db"), 1);
    assert_int_equal(files_ending(report, ".json"), 0);
    npuprof_report_free(report);
    char *output_dir = mem_printf("%s/mindstudio_profiler_output", prof);
    assert_int_not_equal(access(output_dir, F_OK), 0);
    free(output_dir);
    free(prof);
}

static void runs_in_the_same_second_keep_each_others_timelines(void **state)
{
    (void)state;
    char *prof = make_prof(root, "PROF_1");
    char *last = NULL;
    for (int run = 0; run < 3; run++) {
        struct npuprof_report *report;
        const struct npuprof_file *files;
        assert_int_equal(export_to(prof, NPUPROF_TIMELINE, &report), NPUPROF_OK);
        assert_int_equal(npuprof_report_files(report, &files), 1);
        if (last) {
            assert_string_not_equal(last, files[0].path);
            assert_int_equal(access(last, F_OK), 0);
        }
        free(last);
        last = mem_strndup(files[0].path, strlen(files[0].path));
        npuprof_report_free(report);
    }
    free(last);
    free(prof);
}

static void a_failing_prof_does_not_stop_the_others(void **state)
{
    (void)state;
    const struct npuprof_prof *profs;
    char *a = make_dir(root, "PROF_1"), *device = make_dir(a, "device_0"), *b = make_prof(root, "PROF_2");
    write_file(device, "info.json.0", "not JSON at all");
    struct npuprof_report *report;
    assert_int_equal(export_to(root, NPUPROF_ALL, &report), NPUPROF_FAILED);
    assert_int_equal(npuprof_report_profs(report, &profs), 2);
    assert_string_equal(profs[0].name, "PROF_1");
    assert_int_equal(profs[0].files, 0);
    assert_string_equal(profs[0].error, first_error(report)->text);
    assert_string_equal(profs[1].name, "PROF_2");
    assert_true(profs[1].files > 0);
    assert_string_equal(profs[1].error, "");
    assert_string_equal(first_error(report)->prof, "PROF_1");
    assert_int_equal(files_ending(report, ".db"), 1);
    npuprof_report_free(report);
    free(a);
    free(device);
    free(b);
}

static void an_output_that_cannot_be_written_does_not_stop_the_others(void **state)
{
    (void)state;
    char *prof = make_prof(root, "PROF_1");
    write_file(prof, "mindstudio_profiler_output", "in the way");
    struct npuprof_report *report;
    assert_int_equal(export_to(prof, NPUPROF_ALL, &report), NPUPROF_FAILED);
    assert_non_null(strstr(first_error(report)->text, "mindstudio_profiler_output"));
    assert_int_equal(files_ending(report, ".db"), 1);
    assert_int_equal(files_ending(report, ".json"), 0);
    npuprof_report_free(report);
    free(prof);
}

static void abort_removes_unfinished_files(void **state)
{
    (void)state;
    struct out o;
    struct error err;
    char *path = mem_printf("%s/half.json", root);
    assert_int_equal(out_open(&o, path, &err), 0);
    char *temp = mem_strndup(o.temp.path, strlen(o.temp.path));
    assert_int_equal(access(temp, F_OK), 0);
    npuprof_abort();
    assert_int_not_equal(access(temp, F_OK), 0);
    out_discard(&o);
    free(temp);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_build),
        cmocka_unit_test(defaults_ask_for_everything),
        cmocka_unit_test_setup_teardown(a_path_without_prof_is_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(the_report_lists_what_was_written, begin, end),
        cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_written, begin, end),
        cmocka_unit_test_setup_teardown(runs_in_the_same_second_keep_each_others_timelines, begin, end),
        cmocka_unit_test_setup_teardown(a_failing_prof_does_not_stop_the_others, begin, end),
        cmocka_unit_test_setup_teardown(an_output_that_cannot_be_written_does_not_stop_the_others, begin, end),
        cmocka_unit_test_setup_teardown(abort_removes_unfinished_files, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
