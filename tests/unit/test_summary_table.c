/* The report writer and README.txt: slices, quoting, numbers; what the files of a folder are called and said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/summary/table.h"

struct world {
    struct session session;
    struct model m;
    struct export_target target;
    char dir[64];
    char *text;
};

static int setup(void **state)
{
    struct world *w = mem_zalloc(1, sizeof *w);
    strcpy(w->dir, "/tmp/test_summary_table.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->session.path = w->dir;
    w->m = (struct model){.session = &w->session, .strings = strpool_new()};
    w->target = (struct export_target){.model = &w->m, .stamp = "1", .output_dir = w->dir, .diag = diag_new()};
    *state = w;
    return 0;
}

static void path_of(const struct world *w, const char *name, char path[160])
{
    snprintf(path, 160, "%s/%s", w->dir, name);
}

static const char *read_file(struct world *w, const char *name)
{
    char path[160];
    path_of(w, name, path);
    free(w->text);
    w->text = NULL;
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    w->text = mem_alloc((size_t)st.st_size + 1);
    assert_int_equal(fread(w->text, 1, (size_t)st.st_size, f), st.st_size);
    w->text[st.st_size] = '\0';
    fclose(f);
    unlink(path);
    return w->text;
}

static int teardown(void **state)
{
    struct world *w = *state;
    assert_int_equal(rmdir(w->dir), 0);
    strpool_free(w->m.strings);
    diag_free(w->target.diag);
    written_free(&w->target.written);
    free(w->text);
    free(w);
    return 0;
}

static void write_numbers(struct world *w, uint64_t rows)
{
    static const char *const columns[] = {"a", "b"};
    struct table t;
    struct error err = {0};
    assert_int_equal(table_open(&t, &w->target, "big", columns, 2, rows, &err), 0);
    for (uint64_t i = 0; i < rows; i++) {
        table_u64(&t, i);
        table_na(&t, 1);
        assert_int_equal(table_end_row(&t), 0);
    }
    assert_int_equal(table_close(&t), 0);
}

static void a_million_rows_are_one_file(void **state)
{
    struct world *w = *state;
    write_numbers(w, TABLE_SLICE);
    const char *got = read_file(w, "big_1.csv");
    assert_non_null(got);
    assert_memory_equal(got, "a,b\n0,N/A\n", 10);
    assert_int_equal(w->target.written.files.n, 1);
    assert_int_equal(w->target.written.files.at[0].rows, TABLE_SLICE);
}

static void more_rows_are_slices_each_with_the_header(void **state)
{
    struct world *w = *state;
    write_numbers(w, 2 * TABLE_SLICE);
    assert_int_equal(w->target.written.files.n, 2);
    assert_memory_equal(read_file(w, "big_slice_0_1.csv"), "a,b\n0,N/A\n", 10);
    assert_memory_equal(read_file(w, "big_slice_1_1.csv"), "a,b\n1000000,N/A\n", 16);
    write_numbers(w, 2 * TABLE_SLICE + 1);
    assert_int_equal(w->target.written.files.at[4].rows, 1);
    assert_string_equal(read_file(w, "big_slice_2_1.csv"), "a,b\n2000000,N/A\n");
    assert_non_null(read_file(w, "big_slice_0_1.csv"));
    assert_non_null(read_file(w, "big_slice_1_1.csv"));
}

static void cells_look_as_their_kind_says(void **state)
{
    struct world *w = *state;
    static const char *const columns[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"};
    struct table t;
    struct error err = {0};
    assert_int_equal(table_open(&t, &w->target, "cells", columns, 12, 1, &err), 0);
    table_text(&t, "plain", 5);
    table_string(&t, strpool_add_z(w->m.strings, "a,\"b\"\n"));
    table_shapes(&t, strpool_add_z(w->m.strings, "4,8"));
    table_na(&t, 1);
    table_time(&t, 1719838800133956000);
    table_us(&t, 1500);
    table_us_long(&t, 1500);
    table_us_trim(&t, 1500);
    table_round(&t, 50);
    table_trim(&t, 50.1239);
    table_fixed(&t, 50);
    table_shortest(&t, 0.9765625);
    assert_int_equal(table_end_row(&t), 0);
    assert_int_equal(table_close(&t), 0);
    assert_string_equal(read_file(w, "cells_1.csv"),
                        "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11\n"
                        "plain,\"a,\"\"b\"\"\n\",\"\"\"4,8\"\"\",N/A,1719838800133956.000\t,1.500,1.500000,1.5,50.0,"
                        "50.124,50.000,0.9765625\n");
}

static void a_piece_is_written_again_as_it_was(void **state)
{
    struct world *w = *state;
    static const char *const columns[] = {"a", "b", "c"};
    struct table t;
    struct error err = {0};
    struct table_piece piece = {0}, too_long = {0};
    char *huge = mem_alloc(OUT_BUFFER * 2);
    memset(huge, 'x', OUT_BUFFER * 2);
    assert_int_equal(table_open(&t, &w->target, "pieces", columns, 3, 3, &err), 0);
    table_u64(&t, 1);
    table_record(&t);
    table_text(&t, "x,y", 3);
    table_na(&t, 1);
    table_recorded(&t, &piece);
    assert_int_equal(table_end_row(&t), 0);
    table_u64(&t, 2);
    assert_true(table_replay(&t, &piece));
    assert_int_equal(table_end_row(&t), 0);
    table_u64(&t, 3);
    table_record(&t);
    table_text(&t, huge, OUT_BUFFER * 2);
    table_recorded(&t, &too_long);
    assert_false(table_replay(&t, &too_long));
    table_na(&t, 1);
    assert_int_equal(table_end_row(&t), 0);
    assert_int_equal(table_close(&t), 0);
    assert_memory_equal(read_file(w, "pieces_1.csv"), "a,b,c\n1,\"x,y\",N/A\n2,\"x,y\",N/A\n3,xxx", 35);
    free(piece.bytes);
    free(huge);
}

static const char *write_json(struct world *w, size_t n_devices)
{
    static const char *const columns[] = {"Device_id", "Op \"Name\"", "Start(us)", "Ratio", "Note"};
    struct table t;
    struct error err = {0};
    struct table_piece piece = {0};
    w->m.n_devices = n_devices;
    w->target.format = NPUPROF_JSON;
    assert_int_equal(table_open(&t, &w->target, "json", columns, 5, 2, &err), 0);
    for (uint64_t row = 0; row < 2; row++) {
        table_u64(&t, row);
        if (!table_replay(&t, &piece)) {
            table_record(&t);
            table_string(&t, strpool_add_z(w->m.strings, "a,\"b\"\n"));
            table_time(&t, 1719838800133956000);
            table_recorded(&t, &piece);
        }
        table_round(&t, 50);
        if (row) table_na(&t, 1);
        else table_none(&t);
        assert_int_equal(table_end_row(&t), 0);
    }
    assert_int_equal(table_close(&t), 0);
    free(piece.bytes);
    return read_file(w, "json_1.json");
}

#define JSON_CELLS                                                                                                     \
    "\"Op \\\"Name\\\"\": \"a,\\\"b\\\"\\n\", \"Start(us)\": \"1719838800133956.000\\t\", \"Ratio\": 50.0, \"Note\": "

static void json_is_one_line_of_objects(void **state)
{
    assert_string_equal(write_json(*state, 1), "[{" JSON_CELLS "null}, {" JSON_CELLS "\"N/A\"}]");
}

static void json_of_several_devices_says_which(void **state)
{
    assert_string_equal(write_json(*state, 2),
                        "[{\"Device_id\": 0, " JSON_CELLS "null}, {\"Device_id\": 1, " JSON_CELLS "\"N/A\"}]");
}

static void write_cell(struct world *w, const char *stem)
{
    static const char *const columns[] = {"a"};
    struct table t;
    struct error err = {0};
    assert_int_equal(table_open(&t, &w->target, stem, columns, 1, 1, &err), 0);
    table_u64(&t, 1);
    assert_int_equal(table_end_row(&t), 0);
    assert_int_equal(table_close(&t), 0);
}

static void a_json_table_never_has_the_file_of_a_timeline(void **state)
{
    struct world *w = *state;
    write_cell(w, "step_trace");
    assert_non_null(read_file(w, "step_trace_1.csv"));
    w->target.format = NPUPROF_JSON;
    write_cell(w, "step_trace");
    assert_non_null(read_file(w, "step_trace_1.json"));
    w->target.with_timelines = true;
    write_cell(w, "step_trace");
    assert_null(read_file(w, "step_trace_1.json"));
    assert_string_equal(read_file(w, "step_trace_table_1.json"), "[{\"a\": 1}]");
    write_cell(w, "task_time");
    assert_non_null(read_file(w, "task_time_1.json"));
}

static void an_unwritable_folder_is_an_error(void **state)
{
    struct world *w = *state;
    static const char *const columns[] = {"a"};
    struct export_target nowhere = w->target;
    nowhere.output_dir = "/nonexistent/folder";
    struct table t;
    struct error err = {0};
    char message[2048];
    assert_int_equal(table_open(&t, &nowhere, "lost", columns, 1, 1, &err), -1);
    assert_non_null(strstr(error_text(&err, message, sizeof message), "lost"));
    assert_int_equal(readme_write("/nonexistent/folder", &err), -1);
}

static void touch(const struct world *w, const char *name)
{
    char path[160];
    path_of(w, name, path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void remove_file(const struct world *w, const char *name)
{
    char path[160];
    path_of(w, name, path);
    unlink(path);
}

static void readme_lists_every_kind_of_file_once(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {
        "msprof_20240701130000.json",
        "step_trace_20240701130000.json",
        "step_trace_table_20240701130000.json",
        "msprof_slice_0_20240701130000.json",
        "msprof_slice_1_20240701130000.json",
        "op_summary_20240701130000.csv",
        "op_summary_20240701140000.csv",
        "leftover_0_20240701130000.csv",
        "notes.csv",
        ".op_summary_20240701130000.csv",
        "msprof_20240701130000.db",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) touch(w, names[i]);
    struct error err = {0};
    assert_int_equal(readme_write(w->dir, &err), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove_file(w, names[i]);
    const char *got = read_file(w, "README.txt");
    assert_non_null(got);
    assert_memory_equal(got, "Timeline file description:\n1.msprof.json:The timeline", 52);
    const char *summary = strstr(got, "\n\nSummary file description:\n1.invalid.csv:");
    assert_non_null(summary);
    assert_null(strstr(got, "2.msprof"));
    assert_non_null(strstr(got, "\n2.step_trace.json:The training iterations as a timeline"));
    assert_non_null(strstr(got, "\n3.step_trace_table.json:Training iterations: forward"));
    assert_non_null(strstr(summary, "\n2.leftover.csv:There is no description of leftover here"));
    assert_non_null(strstr(summary, "\n3.op_summary.csv:Every operator"));
    assert_null(strstr(summary, "\n4."));
    assert_string_equal(got + strlen(got) - 3, ".\n\n");
}

static void readme_of_an_empty_folder_has_the_two_titles(void **state)
{
    struct world *w = *state;
    struct error err = {0};
    assert_int_equal(readme_write(w->dir, &err), 0);
    assert_string_equal(read_file(w, "README.txt"), "Timeline file description:\n\nSummary file description:\n\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_million_rows_are_one_file),
        TEST(more_rows_are_slices_each_with_the_header),
        TEST(cells_look_as_their_kind_says),
        TEST(a_piece_is_written_again_as_it_was),
        TEST(json_is_one_line_of_objects),
        TEST(json_of_several_devices_says_which),
        TEST(a_json_table_never_has_the_file_of_a_timeline),
        TEST(an_unwritable_folder_is_an_error),
        TEST(readme_lists_every_kind_of_file_once),
        TEST(readme_of_an_empty_folder_has_the_two_titles),
    };
    return cmocka_run_group_tests_name("summary_table", tests, NULL, NULL);
}
