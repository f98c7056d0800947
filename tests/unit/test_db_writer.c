/* The SQLite files that db/writer.c makes: SQLite finds them sound, and reads what SQLite itself would have stored. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "export/db/writer.h"

static char dir[] = "/tmp/npuprof_db_XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) return -1;
    snprintf(path, sizeof path, "%s/a.db", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static struct db_file *start(uint32_t page_size)
{
    struct error err;
    struct db_file *f = db_file_open(path, page_size, NULL, &err);
    assert_non_null(f);
    return f;
}

static void finish(struct db_file *f)
{
    struct error err;
    uint64_t bytes, rows;
    assert_int_equal(db_file_commit(f, &bytes, &rows, &err), 0);
}

static sqlite3 *open_db(void)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

/* First column of the first row as text; "" without row. */
static const char *query(sqlite3 *db, const char *sql)
{
    static char text[8][4096];
    static unsigned turn;
    char *result = text[turn++ % 8];
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL)) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    result[0] = 0;
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
        snprintf(result, sizeof text[0], "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return result;
}

static void assert_sound(sqlite3 *db)
{
    assert_string_equal(query(db, "PRAGMA integrity_check"), "ok");
}

static const struct db_definition mixed = {
    .name = "MIXED",
    .columns = {{"a", DB_INTEGER}, {"b", DB_NUMERIC}, {"c", DB_REAL}, {"d", DB_TEXT}},
};

static void values_are_stored_as_sqlite_stores_them(void **state)
{
    (void)state;
    static const int64_t integers[] = {0,
                                       1,
                                       2,
                                       -1,
                                       127,
                                       128,
                                       -128,
                                       -129,
                                       32767,
                                       32768,
                                       -32768,
                                       -32769,
                                       8388607,
                                       8388608,
                                       -8388608,
                                       -8388609,
                                       2147483647,
                                       2147483648,
                                       -2147483648,
                                       -2147483649,
                                       140737488355327,
                                       140737488355328,
                                       -140737488355328,
                                       -140737488355329,
                                       INT64_MAX,
                                       INT64_MIN};
    static const double doubles[] = {0.0,    -0.0, 1.0,    2.5,     1800.0, -3.0,  1e300, -1e-300, 0.1,
                                     0x1p53, 1e18, 0x1p63, -0x1p63, 9.2e18, 255.0, 65536, 1e15,    123456.75};
    static const char *const texts[] = {"", "x", "Ascend910B", "\xE4\xBD\xA0\xE5\xA5\xBD", "0", "-1.5"};
    struct db_file *f = start(4096);
    struct db_table *t = db_table_begin(f, &mixed);
    sqlite3 *own;
    assert_int_equal(sqlite3_open(":memory:", &own), SQLITE_OK);
    query(own, "CREATE TABLE MIXED (a INTEGER, b NUMERIC, c REAL, d TEXT)");
    sqlite3_stmt *insert;
    sqlite3_prepare_v2(own, "INSERT INTO MIXED VALUES (?,?,?,?)", -1, &insert, NULL);
    for (size_t i = 0; i < 500; i++) {
        int64_t a = integers[i % (sizeof integers / sizeof *integers)];
        double b = doubles[i % (sizeof doubles / sizeof *doubles)];
        double c = doubles[(i + i / 7) % (sizeof doubles / sizeof *doubles)];
        const char *d = texts[i % (sizeof texts / sizeof *texts)];
        db_int(t, a);
        db_real(t, b);
        db_real(t, c);
        db_text(t, d, strlen(d));
        db_row(t);
        sqlite3_bind_int64(insert, 1, a);
        sqlite3_bind_double(insert, 2, b);
        sqlite3_bind_double(insert, 3, c);
        sqlite3_bind_text(insert, 4, d, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    assert_int_equal(db_table_end(t), 500);
    finish(f);
    char attach[128];
    snprintf(attach, sizeof attach, "ATTACH '%s' AS ours", path);
    query(own, attach);
    assert_string_equal(query(own, "PRAGMA ours.integrity_check"), "ok");
    assert_string_equal(query(own, "SELECT count(*) FROM main.MIXED m JOIN ours.MIXED o ON m.rowid = o.rowid"
                                   " WHERE m.a IS o.a AND m.b IS o.b AND m.c IS o.c AND m.d IS o.d"
                                   " AND typeof(m.a) = typeof(o.a) AND typeof(m.b) = typeof(o.b)"
                                   " AND typeof(m.c) = typeof(o.c) AND typeof(m.d) = typeof(o.d)"),
                        "500");
    sqlite3_close(own);
}

static void numbers_that_are_none_become_zero(void **state)
{
    (void)state;
    struct db_file *f = start(4096);
    struct db_table *t = db_table_begin(f, &mixed);
    db_int(t, 5);
    db_real(t, NAN);
    db_real(t, INFINITY);
    db_text(t, "", 0);
    db_row(t);
    db_table_end(t);
    finish(f);
    sqlite3 *db = open_db();
    assert_string_equal(query(db, "SELECT a || ',' || b || ',' || c || ',' || typeof(d) FROM MIXED"), "5,0,0.0,text");
    sqlite3_close(db);
}

static void texts_are_valid_utf8_up_to_the_first_nul(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *hex;
    } cases[] = {
        {"a\xFF"
         "b",
         3, "61EFBFBD62"},
        {"\xC3", 1, "EFBFBD"},
        {"\xED\xA0\x80", 3, "EFBFBDEFBFBDEFBFBD"}, /* a surrogate */
        {"\xE4\xBD\xA0", 3, "E4BDA0"},
        {"ab\0cd", 5, "6162"},
    };
    struct db_file *f = start(4096);
    struct db_table *t = db_table_begin(f, &(struct db_definition){.name = "T", .columns = {{"d", DB_TEXT}}});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_text(t, cases[i].bytes, cases[i].length);
        db_row(t);
    }
    db_table_end(t);
    finish(f);
    sqlite3 *db = open_db();
    assert_sound(db);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "SELECT hex(d) FROM T WHERE rowid = %zu", i + 1);
        assert_string_equal(query(db, sql), cases[i].hex);
    }
    sqlite3_close(db);
}

static const struct db_definition texts_table = {.name = "TEXTS", .columns = {{"id", DB_KEY}, {"value", DB_TEXT}}};

/* Every length around the limits of a leaf and of one, two and three overflow pages. */
static void texts_of_any_length_come_back_whole(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {512, 4096, 65536};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char *text = mem_alloc(4 * sizes[s]);
        for (size_t i = 0; i < 4 * sizes[s]; i++) text[i] = (char)('a' + i % 23);
        struct db_file *f = start(sizes[s]);
        struct db_table *t = db_table_begin(f, &texts_table);
        unsigned n = 0, step = sizes[s] == 512 ? 1 : sizes[s] / 512 * 9 + 1;
        for (unsigned length = 0; length < 4 * sizes[s]; length += step, n++) {
            db_int(t, length);
            db_text(t, text, length);
            db_row(t);
        }
        db_table_end(t);
        finish(f);
        sqlite3 *db = open_db();
        assert_sound(db);
        char expected[16];
        snprintf(expected, sizeof expected, "%u", n);
        assert_string_equal(query(db, "SELECT count(*) FROM TEXTS WHERE length(value) = id"), expected);
        sqlite3_stmt *all;
        sqlite3_prepare_v2(db, "SELECT value FROM TEXTS", -1, &all, NULL);
        while (sqlite3_step(all) == SQLITE_ROW)
            assert_memory_equal(sqlite3_column_text(all, 0), text, (size_t)sqlite3_column_bytes(all, 0));
        sqlite3_finalize(all);
        sqlite3_close(db);
        free(text);
    }
}

static const struct db_definition indexed = {
    .name = "ROWS",
    .columns = {{"a", DB_INTEGER}, {"b", DB_INTEGER}, {"c", DB_NUMERIC}},
    .index = "RowsIndex",
    .indexed = {"a", "b"},
};
static const struct db_definition keyed = {.name = "KEYED", .columns = {{"id", DB_KEY}, {"x", DB_INTEGER}}};

/* Row i of a table that is out of order and has equal keys. */
static int64_t value_a(uint64_t i)
{
    return (int64_t)(i * 7919 % 1009) - 500;
}

static int64_t value_b(uint64_t i)
{
    return (int64_t)(i * i % 37) << i % 48;
}

static void write_rows(uint32_t page_size, uint64_t n)
{
    struct db_file *f = start(page_size);
    struct db_table *rows = db_table_begin(f, &indexed), *keys = db_table_begin(f, &keyed); /* pages interleave */
    for (uint64_t i = 0; i < n; i++) {
        db_int(rows, value_a(i));
        db_int(rows, value_b(i));
        db_real(rows, (double)i / 3);
        db_row(rows);
        db_int(keys, (int64_t)(i * i) - 100);
        db_int(keys, (int64_t)i);
        db_row(keys);
    }
    assert_int_equal(db_table_end(rows), n);
    assert_int_equal(db_table_end(keys), n);
    finish(f);
}

static void check_rows(uint64_t n)
{
    sqlite3 *db = open_db();
    char expected[24], sql[128];
    assert_sound(db);
    snprintf(expected, sizeof expected, "%d", n ? 3 : 0);
    assert_string_equal(query(db, "SELECT count(*) FROM sqlite_master"), expected);
    if (n) {
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)n);
        assert_string_equal(query(db, "SELECT count(*) FROM ROWS"), expected);
        assert_string_equal(query(db, "SELECT count(*) FROM ROWS INDEXED BY RowsIndex WHERE a > -1000"), expected);
        assert_string_equal(query(db, "SELECT count(*) FROM KEYED WHERE id = x * x - 100"), expected);
        for (uint64_t i = 0; i < n; i += n / 7 + 1) { /* found by key, found by index */
            snprintf(expected, sizeof expected, "%llu", (unsigned long long)i);
            snprintf(sql, sizeof sql, "SELECT x FROM KEYED WHERE id = %lld", (long long)(i * i) - 100);
            assert_string_equal(query(db, sql), expected);
            snprintf(sql, sizeof sql, "SELECT max(rowid = %llu) FROM ROWS WHERE a = %lld AND b = %lld",
                     (unsigned long long)i + 1, (long long)value_a(i), (long long)value_b(i));
            assert_string_equal(query(db, sql), "1");
        }
    }
    sqlite3_close(db);
}

/* With pages of 512 bytes every number of rows up to here gives a different edge of leaf, level 1, level 2. */
static void trees_of_every_small_size_are_sound(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 260; n++) {
        write_rows(512, n);
        check_rows(n);
    }
    for (uint64_t n = 700; n < 3000; n += 61) {
        write_rows(512, n);
        check_rows(n);
    }
}

static void trees_with_several_interior_levels_are_sound(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {512, 1024, 4096, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_rows(sizes[i], 60000);
        check_rows(60000);
    }
}

static void tables_without_rows_are_not_there(void **state)
{
    (void)state;
    struct db_file *f = start(512);
    assert_int_equal(db_table_end(db_table_begin(f, &indexed)), 0);
    finish(f);
    sqlite3 *db = open_db();
    assert_sound(db);
    assert_string_equal(query(db, "SELECT count(*) FROM sqlite_master"), "0");
    sqlite3_close(db);
}

static void tables_that_are_kept_may_be_empty_and_values_null(void **state)
{
    (void)state;
    static const struct db_definition kept = {.name = "KEPT", .columns = {{"a", DB_NUMERIC}}, .keep_empty = true};
    struct db_file *f = start(512);
    assert_int_equal(db_table_end(db_table_begin(f, &kept)), 0);
    struct db_table *t = db_table_begin(f, &mixed);
    db_null(t);
    db_int(t, 7);
    db_null(t);
    db_null(t);
    db_row(t);
    db_table_end(t);
    finish(f);
    sqlite3 *db = open_db();
    assert_sound(db);
    assert_string_equal(query(db, "SELECT count(*) FROM KEPT"), "0");
    assert_string_equal(query(db, "SELECT a IS NULL AND b = 7 AND c IS NULL AND d IS NULL FROM MIXED"), "1");
    sqlite3_close(db);
}

/* The list of tables on one page, on page 1 with more behind, and anything between. */
static void any_number_of_tables_fits(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 80; n++) {
        struct db_file *f = start(512);
        for (unsigned i = 0; i < n; i++) {
            char name[8];
            snprintf(name, sizeof name, "T%u", i);
            struct db_table *t =
                db_table_begin(f, &(struct db_definition){.name = name, .columns = {{"x", DB_INTEGER}}});
            db_int(t, i);
            db_row(t);
            db_table_end(t);
        }
        finish(f);
        sqlite3 *db = open_db();
        assert_sound(db);
        for (unsigned i = 0; i < n; i++) {
            char sql[64], expected[8];
            snprintf(sql, sizeof sql, "SELECT x FROM T%u", i);
            snprintf(expected, sizeof expected, "%u", i);
            assert_string_equal(query(db, sql), expected);
        }
        sqlite3_close(db);
    }
}

static void schema_text_is_as_documented(void **state)
{
    (void)state;
    write_rows(4096, 3);
    sqlite3 *db = open_db();
    assert_string_equal(query(db, "SELECT sql FROM sqlite_master WHERE name = 'ROWS'"),
                        "CREATE TABLE ROWS (a INTEGER, b INTEGER, c NUMERIC)");
    assert_string_equal(query(db, "SELECT sql FROM sqlite_master WHERE name = 'KEYED'"),
                        "CREATE TABLE KEYED (id INTEGER PRIMARY KEY, x INTEGER)");
    assert_string_equal(query(db, "SELECT sql FROM sqlite_master WHERE name = 'RowsIndex'"),
                        "CREATE INDEX RowsIndex ON ROWS (a,b)");
    assert_string_equal(query(db, "SELECT tbl_name FROM sqlite_master WHERE name = 'RowsIndex'"), "ROWS");
    assert_string_equal(query(db, "PRAGMA encoding"), "UTF-8");
    assert_string_equal(query(db, "PRAGMA journal_mode"), "delete");
    assert_string_equal(query(db, "PRAGMA user_version"), "0");
    assert_string_equal(query(db, "PRAGMA auto_vacuum"), "0");
    assert_string_equal(query(db, "PRAGMA freelist_count"), "0");
    sqlite3_close(db);
}

/* Viewers add columns, tables and rows to the file. */
static void sqlite_can_go_on_writing(void **state)
{
    (void)state;
    write_rows(512, 2000);
    sqlite3 *db = open_db();
    query(db, "ALTER TABLE ROWS ADD COLUMN depth INTEGER");
    query(db, "UPDATE ROWS SET depth = rowid % 5, a = a + 1");
    query(db, "DELETE FROM KEYED WHERE x % 3 = 0");
    query(db, "CREATE TABLE more AS SELECT * FROM ROWS");
    query(db, "INSERT INTO KEYED SELECT 100000000 + rowid, rowid FROM ROWS");
    query(db, "PRAGMA journal_mode = WAL");
    query(db, "DELETE FROM ROWS WHERE b = 0");
    assert_sound(db);
    sqlite3_close(db);
}

static void same_rows_give_the_same_bytes(void **state)
{
    (void)state;
    static char first[1 << 20], second[1 << 20];
    size_t n[2];
    for (int i = 0; i < 2; i++) {
        write_rows(512, 3000);
        FILE *f = fopen(path, "rb");
        n[i] = fread(i ? second : first, 1, sizeof first, f);
        fclose(f);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(first, second, n[0]);
}

static void a_foreign_journal_is_not_played_into_a_new_file(void **state)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    char name[80];
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        FILE *f = fopen(name, "w");
        assert_non_null(f);
        fclose(f);
    }
    write_rows(512, 1);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        assert_int_not_equal(access(name, F_OK), 0);
    }
}

static void a_discarded_file_leaves_nothing(void **state)
{
    (void)state;
    unlink(path);
    struct db_file *f = start(512);
    struct db_table *t = db_table_begin(f, &keyed);
    db_int(t, 1);
    db_int(t, 1);
    db_row(t);
    db_table_end(t);
    db_file_discard(f);
    assert_int_not_equal(access(path, F_OK), 0);
    struct error err;
    assert_null(db_file_open("/nonexistent/a.db", 512, NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_stored_as_sqlite_stores_them),
        cmocka_unit_test(numbers_that_are_none_become_zero),
        cmocka_unit_test(texts_are_valid_utf8_up_to_the_first_nul),
        cmocka_unit_test(texts_of_any_length_come_back_whole),
        cmocka_unit_test(trees_of_every_small_size_are_sound),
        cmocka_unit_test(trees_with_several_interior_levels_are_sound),
        cmocka_unit_test(tables_without_rows_are_not_there),
        cmocka_unit_test(tables_that_are_kept_may_be_empty_and_values_null),
        cmocka_unit_test(any_number_of_tables_fits),
        cmocka_unit_test(schema_text_is_as_documented),
        cmocka_unit_test(sqlite_can_go_on_writing),
        cmocka_unit_test(same_rows_give_the_same_bytes),
        cmocka_unit_test(a_foreign_journal_is_not_played_into_a_new_file),
        cmocka_unit_test(a_discarded_file_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
