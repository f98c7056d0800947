/* Files: complete ones appear, unfinished ones never do; JSON and CSV stay readable whatever the text; mapped input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>

#include "base/filemap.h"
#include "base/out.h"
#include "base/tempfile.h"
#include "scratch.h"

static char *path_of(const char *name)
{
    return mem_printf("%s/%s", scratch, name);
}

static unsigned files_there(void)
{
    unsigned n = 0;
    DIR *dir = opendir(scratch);
    for (const struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static void expect_content(const char *path, const char *expected, size_t size)
{
    struct filemap m;
    struct error err;
    assert_int_equal(filemap_open(&m, path, &err), 0);
    assert_int_equal(m.size, size);
    if (size) assert_memory_equal(m.data, expected, size);
    filemap_close(&m);
}

static void a_file_appears_when_committed(void **state)
{
    (void)state;
    struct out o;
    struct error err;
    char *path = path_of("a.json");
    assert_int_equal(out_open(&o, path, &err), 0);
    out_text(&o, "x=");
    out_u64(&o, 17);
    out_char(&o, ' ');
    out_i64(&o, -3);
    out_literal(&o, " ");
    out_us(&o, 1500);
    out_char(&o, ' ');
    out_us_number(&o, 1500);
    out_char(&o, ' ');
    out_double(&o, 0.5);
    assert_int_equal(out_size(&o), 21);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(out_commit(&o, &err), 0);
    expect_content(path, "x=17 -3 1.500 1.5 0.5", 21);
    assert_int_equal(files_there(), 1);
    free(path);
}

static void a_discarded_file_leaves_nothing(void **state)
{
    (void)state;
    struct out o, never = {0};
    struct error err;
    char *path = path_of("a.json");
    scratch_text("a.json", "old");
    assert_int_equal(out_open(&o, path, &err), 0);
    out_text(&o, "new");
    out_discard(&o);
    out_discard(&o);
    out_discard(&never);
    expect_content(path, "old", 3);
    assert_int_equal(files_there(), 1);
    free(path);
}

static void an_interrupt_removes_unfinished_files(void **state)
{
    (void)state;
    struct out a, b;
    struct error err;
    char *one = path_of("a"), *two = path_of("b");
    assert_int_equal(out_open(&a, one, &err), 0);
    assert_int_equal(out_open(&b, two, &err), 0);
    assert_int_equal(files_there(), 2);
    tempfile_discard_all();
    assert_int_equal(files_there(), 0);
    out_discard(&a);
    out_discard(&b);
    free(one);
    free(two);
}

static void pieces_larger_than_the_buffer(void **state)
{
    (void)state;
    struct out o;
    struct error err;
    size_t n = 3 * (size_t)OUT_BUFFER + 17;
    char *path = path_of("big"), *data = mem_alloc(n + 5);
    for (size_t i = 0; i < n + 5; i++) data[i] = (char)('a' + i % 23);
    assert_int_equal(out_open(&o, path, &err), 0);
    out_bytes(&o, data, 5);
    out_bytes(&o, data + 5, n);
    assert_int_equal(out_size(&o), n + 5);
    assert_int_equal(out_commit(&o, &err), 0);
    expect_content(path, data, n + 5);
    free(data);
    free(path);
}

static void failures_are_reported(void **state)
{
    (void)state;
    struct out o;
    struct error err = {0};
    char *path = path_of("no/such/dir/a");
    assert_int_equal(out_open(&o, path, &err), -1);
    assert_int_equal(err.n, 1);
    free(path);
    path = path_of("dir");
    assert_int_equal(mkdir(path, 0750), 0);
    assert_int_equal(out_open(&o, path, &err), 0);
    out_text(&o, "x");
    assert_int_equal(out_commit(&o, &err), -1); /* a directory is in the way */
    assert_int_equal(files_there(), 1);
    free(path);
}

/* What `write` makes of text[n]. */
static char *written(void (*write)(struct out *, const char *, size_t), const char *text, size_t n)
{
    struct out o;
    struct error err;
    struct filemap m;
    char *path = path_of("text");
    assert_int_equal(out_open(&o, path, &err), 0);
    write(&o, text, n);
    assert_int_equal(out_commit(&o, &err), 0);
    assert_int_equal(filemap_open(&m, path, &err), 0);
    char *copy = mem_strndup(m.size ? (const char *)m.data : "", m.size);
    filemap_close(&m);
    free(path);
    return copy;
}

#define EXPECT_WRITTEN(write, text, expected)                                                                          \
    do {                                                                                                               \
        char *result = written(write, "" text, sizeof(text) - 1);                                                      \
        assert_string_equal(result, expected);                                                                         \
        free(result);                                                                                                  \
    } while (0)

static void json_strings(void **state)
{
    (void)state;
    EXPECT_WRITTEN(out_json_string, "", "\"\"");
    EXPECT_WRITTEN(out_json_string, "aten::add", "\"aten::add\"");
    EXPECT_WRITTEN(out_json_string, "a\"b\\c\n\t\r\b\f", "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\"");
    EXPECT_WRITTEN(out_json_string, "\0\x01\x1F\x7F", "\"\\u0000\\u0001\\u001F\x7F\"");
    EXPECT_WRITTEN(out_json_string, "\xE7\xAE\x97\xE5\xAD\x90 \xF0\x9F\x9A\x80",
                   "\"\xE7\xAE\x97\xE5\xAD\x90 \xF0\x9F\x9A\x80\"");
    EXPECT_WRITTEN(out_json_string, "x\xFFy", "\"x\xEF\xBF\xBDy\"");
    EXPECT_WRITTEN(out_json_string, "\xE7\xAE", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* cut */
    EXPECT_WRITTEN(out_json_string, "\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* overlong */
    EXPECT_WRITTEN(out_json_string, "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); /* surrogate */
}

static void json_strings_of_any_bytes_can_be_read(void **state)
{
    (void)state;
    char bytes[64];
    uint64_t seed = 5;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(seed >> 56);
        }
        char *text = written(out_json_string, bytes, sizeof bytes);
        json_error_t error;
        json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        assert_true(json_is_string(value));
        json_decref(value);
        free(text);
    }
}

static void csv_cells(void **state)
{
    (void)state;
    EXPECT_WRITTEN(out_csv_cell, "", "");
    EXPECT_WRITTEN(out_csv_cell, "MatMul", "MatMul");
    EXPECT_WRITTEN(out_csv_cell, "2,3;4", "\"2,3;4\"");
    EXPECT_WRITTEN(out_csv_cell, "say \"x\"", "\"say \"\"x\"\"\"");
    EXPECT_WRITTEN(out_csv_cell, "two\nlines", "\"two\nlines\"");
    EXPECT_WRITTEN(out_csv_cell, "\r", "\"\r\"");
    EXPECT_WRITTEN(out_csv_cell, "\xE4\xBD\xA0", "\xE4\xBD\xA0");
    EXPECT_WRITTEN(out_csv_cell, "a\0b",
                   "a\xEF\xBF\xBD"
                   "b");
    EXPECT_WRITTEN(out_csv_cell, "a\xFFz", "a\xEF\xBF\xBDz");
    EXPECT_WRITTEN(out_csv_cell, "\"\xE4\xBD,", "\"\"\"\xEF\xBF\xBD\xEF\xBF\xBD,\"");
}

static void only_regular_files_are_mapped(void **state)
{
    (void)state;
    struct filemap m;
    struct error err = {0};
    char *fifo = path_of("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(filemap_open(&m, fifo, &err), -1);
    assert_int_equal(filemap_open(&m, scratch, &err), -1);
    assert_int_equal(filemap_open(&m, "/nonexistent", &err), -1);
    assert_int_equal(m.size, 0);
    scratch_text("empty", "");
    char *empty = path_of("empty");
    expect_content(empty, "", 0);
    char *link = path_of("link");
    assert_int_equal(symlink("empty", link), 0);
    assert_int_equal(filemap_open(&m, link, &err), -1);
    free(link);
    free(empty);
    free(fifo);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_appears_when_committed),
        TEST(a_discarded_file_leaves_nothing),
        TEST(an_interrupt_removes_unfinished_files),
        TEST(pieces_larger_than_the_buffer),
        TEST(failures_are_reported),
        TEST(json_strings),
        TEST(json_strings_of_any_bytes_can_be_read),
        TEST(csv_cells),
        TEST(only_regular_files_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
