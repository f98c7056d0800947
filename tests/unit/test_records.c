/* Framing: whole records and lines come out of slices however these are cut, and nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "decode/records.h"
#include "scratch.h"

#define SIZE 24 /* of the records here: magic, number, filling */

/* Record `number` as the host writes it; no byte of the filling looks like a magic. */
static void make_record(uint8_t record[SIZE], uint32_t number)
{
    memset(record, 0x11, SIZE);
    memcpy(record, (uint16_t[]){0x5A5A}, 2);
    memcpy(record + 4, &number, 4);
}

struct slices {
    struct input_files files;
    uint8_t *data; /* records 0 … */
    size_t n;
};

static struct slices make_stream(uint32_t records)
{
    struct slices s = {.data = mem_alloc((size_t)records * SIZE), .n = (size_t)records * SIZE};
    for (uint32_t i = 0; i < records; i++) make_record(s.data + i * SIZE, i);
    return s;
}

/* One more slice: bytes from … to of the stream. */
static struct input_file *add_slice(struct slices *s, size_t from, size_t to)
{
    struct input_files *f = &s->files;
    char *shown = mem_printf("slice_%zu", f->n);
    scratch_bytes(shown, s->data + from, to - from);
    f->at = mem_resize(f->at, f->n + 1, sizeof *f->at);
    f->at[f->n] = (struct input_file){.path = mem_printf("%s/%s", scratch, shown),
                                      .shown = shown,
                                      .size = to - from,
                                      .slice = (uint32_t)f->n,
                                      .aging = true};
    f->bytes += to - from;
    return &f->at[f->n++];
}

/* The slices are not the first of the collection. */
static void renumber(const struct slices *s)
{
    for (size_t i = 0; i < s->files.n; i++) s->files.at[i].slice += 4;
}

static void free_stream(struct slices *s)
{
    for (size_t i = 0; i < s->files.n; i++) {
        free(s->files.at[i].path);
        free(s->files.at[i].shown);
    }
    free(s->files.at);
    free(s->data);
}

struct seen {
    ARRAY(uint32_t) numbers;
    const struct input_files *files;
    bool places_right; /* every place names the file and offset where the record begins */
};

static void see(const uint8_t *record, const struct record_place *place, void *context)
{
    struct seen *seen = context;
    array_push(&seen->numbers, get_u32(record + 4));
    uint8_t first;
    FILE *f = fopen(place->file->path, "rb");
    assert_non_null(f);
    fseek(f, (long)place->offset, SEEK_SET);
    if (fread(&first, 1, 1, f) != 1 || first != record[0]) seen->places_right = false;
    fclose(f);
}

/* Read, expect the records first … last (and no others), return the notes. */
static struct diag *expect_all(const struct slices *s, record_valid valid, const uint32_t *numbers, size_t n)
{
    struct diag *d = diag_new();
    struct seen seen = {.places_right = true};
    struct progress progress = {0};
    records_each(&s->files, SIZE, valid, d, &progress, see, &seen);
    assert_int_equal(seen.numbers.n, n);
    if (n) assert_memory_equal(seen.numbers.at, numbers, n * sizeof *numbers);
    assert_true(seen.places_right);
    assert_int_equal(progress.done, s->files.bytes);
    array_free(&seen.numbers);
    return d;
}

static struct diag *expect_range(const struct slices *s, record_valid valid, uint32_t first, uint32_t end)
{
    uint32_t numbers[100];
    for (uint32_t i = first; i < end; i++) numbers[i - first] = i;
    return expect_all(s, valid, numbers, end - first);
}

static void whole_records(void **state)
{
    (void)state;
    struct slices s = make_stream(20);
    add_slice(&s, 0, 10 * SIZE);
    add_slice(&s, 10 * SIZE, s.n);
    struct diag *d = expect_range(&s, record_valid_host, 0, 20);
    assert_int_equal(diag_entries(d, DIAG_INFO), 0);
    diag_free(d);
    free_stream(&s);
}

static void records_straddle_slices_cut_anywhere(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 3 * SIZE; cut++) {
        struct slices s = make_stream(9);
        add_slice(&s, 0, cut);
        add_slice(&s, cut, cut + 2); /* smaller than what the record misses */
        add_slice(&s, cut + 2, 5 * SIZE + 1);
        add_slice(&s, 5 * SIZE + 1, s.n);
        struct diag *d = expect_range(&s, record_valid_host, 0, 9);
        assert_int_equal(diag_entries(d, DIAG_INFO), 0);
        diag_free(d);
        d = expect_range(&s, NULL, 0, 9);
        diag_free(d);
        free_stream(&s);
    }
}

static void aged_out_front_is_left_out(void **state)
{
    (void)state;
    for (size_t front = 1; front < SIZE; front++) {
        struct slices s = make_stream(30);
        add_slice(&s, front, 7 * SIZE + 5);
        add_slice(&s, 7 * SIZE + 5, s.n);
        renumber(&s);
        struct diag *d = expect_range(&s, record_valid_host, 1, 30);
        assert_true(noted(d, "slice_0", "middle of a record"));
        assert_int_equal(diag_entries(d, DIAG_WARNING), 0);
        diag_free(d);
        diag_free(expect_range(&s, NULL, 1, 30));
        free_stream(&s);
    }
}

static void front_longer_than_its_slice(void **state)
{
    (void)state;
    struct slices s = make_stream(30);
    add_slice(&s, 5, 7);
    add_slice(&s, 7, 8);
    add_slice(&s, 8, s.n);
    renumber(&s);
    diag_free(expect_range(&s, record_valid_host, 1, 30));
    diag_free(expect_range(&s, NULL, 1, 30));
    free_stream(&s);
}

static void what_begins_with_slice_0_has_lost_its_end(void **state)
{
    (void)state;
    struct slices s = make_stream(3);
    add_slice(&s, 0, s.n - 7);
    struct diag *d = expect_range(&s, NULL, 0, 2);
    assert_true(noted(d, "slice_0", "cut off"));
    diag_free(d);
    free_stream(&s);
}

static void cut_tail_costs_one_record(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < SIZE; cut++) {
        struct slices s = make_stream(30);
        add_slice(&s, 0, 7 * SIZE + 5);
        add_slice(&s, 7 * SIZE + 5, s.n - cut);
        struct diag *d = expect_range(&s, record_valid_host, 0, 29);
        assert_true(noted(d, "slice_1", "cut off"));
        diag_free(d);
        free_stream(&s);
    }
}

static void front_and_tail_cut(void **state)
{
    (void)state;
    struct slices s = make_stream(30);
    add_slice(&s, 9, 7 * SIZE);
    add_slice(&s, 7 * SIZE, s.n - 9); /* the length fits whole records */
    diag_free(expect_range(&s, record_valid_host, 1, 29));
    free_stream(&s);
}

static void damaged_record_is_skipped_and_counted(void **state)
{
    (void)state;
    struct slices s = make_stream(6);
    s.data[2 * SIZE] = 0;
    s.data[4 * SIZE + 1] = 0;
    add_slice(&s, 0, s.n);
    struct diag *d = expect_all(&s, record_valid_host, (uint32_t[]){0, 1, 3, 5}, 4);
    assert_true(noted(d, "slice_0", "damaged record"));
    assert_int_equal(diag_entries(d, DIAG_INFO), 1);
    diag_free(d);
    free_stream(&s);
}

static void damaged_straddling_record_is_skipped(void **state)
{
    (void)state;
    struct slices s = make_stream(20);
    s.data[10 * SIZE] = 0;
    add_slice(&s, 0, 10 * SIZE + 7);
    add_slice(&s, 10 * SIZE + 7, s.n);
    uint32_t expected[19];
    for (uint32_t i = 0; i < 19; i++) expected[i] = i + (i >= 10);
    diag_free(expect_all(&s, record_valid_host, expected, 19));
    free_stream(&s);
}

static void aligned_anew_after_a_missing_slice(void **state)
{
    (void)state;
    struct slices s = make_stream(40);
    add_slice(&s, 0, 10 * SIZE + 5);
    add_slice(&s, 20 * SIZE + 11, s.n)->gap = true;
    uint32_t expected[29];
    for (uint32_t i = 0; i < 29; i++) expected[i] = i < 10 ? i : i + 11;
    struct diag *d = expect_all(&s, record_valid_host, expected, 29);
    assert_true(noted(d, "slice_0", "cut off"));
    diag_free(d);
    free_stream(&s);
}

static void slice_cut_short_in_the_middle(void **state)
{
    (void)state;
    struct slices s = make_stream(60);
    add_slice(&s, 0, 10 * SIZE + 5);
    add_slice(&s, 10 * SIZE + 5, 18 * SIZE + 3); /* ends early: 18 is cut */
    add_slice(&s, 30 * SIZE + 8, s.n);
    uint32_t expected[47];
    for (uint32_t i = 0; i < 47; i++) expected[i] = i < 18 ? i : i + 13;
    struct diag *d = expect_all(&s, record_valid_host, expected, 47);
    assert_true(noted(d, "slice_2", "does not continue"));
    diag_free(d);
    free_stream(&s);
}

static void prefixes_are_separate_streams(void **state)
{
    (void)state;
    struct slices s = make_stream(20);
    add_slice(&s, 0, 9 * SIZE + 5)->aging = false; /* its tail is cut */
    add_slice(&s, 10 * SIZE, s.n);
    uint32_t expected[19];
    for (uint32_t i = 0; i < 19; i++) expected[i] = i + (i >= 9);
    diag_free(expect_all(&s, record_valid_host, expected, 19));
    free_stream(&s);
}

static void garbage_gives_nothing(void **state)
{
    (void)state;
    struct slices s = make_stream(10);
    memset(s.data, 0x77, s.n);
    add_slice(&s, 0, 13);
    add_slice(&s, 13, s.n - 3);
    struct diag *d = expect_range(&s, record_valid_host, 0, 0);
    assert_true(diag_entries(d, DIAG_WARNING) > 0);
    diag_free(d);
    free_stream(&s);
}

static void unreadable_slice_is_noted_and_the_rest_read(void **state)
{
    (void)state;
    struct slices s = make_stream(60);
    add_slice(&s, 0, 10 * SIZE + 5);
    add_slice(&s, 10 * SIZE + 5, 20 * SIZE + 5);
    add_slice(&s, 20 * SIZE + 5, s.n);
    unlink(s.files.at[1].path);
    uint32_t expected[49];
    for (uint32_t i = 0; i < 49; i++) expected[i] = i < 10 ? i : i + 11;
    struct diag *d = diag_new();
    struct seen seen = {.places_right = true};
    records_each(&s.files, SIZE, record_valid_host, d, NULL, see, &seen);
    assert_int_equal(seen.numbers.n, 49);
    assert_memory_equal(seen.numbers.at, expected, sizeof expected);
    assert_true(noted(d, "slice_1", "not read"));
    array_free(&seen.numbers);
    diag_free(d);
    free_stream(&s);
}

static void count_only(const uint8_t *record, const struct record_place *place, void *context)
{
    (void)place;
    uint32_t *next = context;
    assert_int_equal(get_u32(record + 4), *next);
    ++*next;
}

static void slice_larger_than_a_window(void **state)
{
    (void)state;
    uint32_t n = 500000, next = 1; /* 12 MB */
    struct slices s = make_stream(n);
    add_slice(&s, 7, s.n);
    struct diag *d = diag_new();
    struct progress progress = {0};
    records_each(&s.files, SIZE, record_valid_host, d, &progress, count_only, &next);
    assert_int_equal(next, n);
    assert_int_equal(progress.done, s.files.bytes);
    diag_free(d);
    free_stream(&s);
}

static void stars_magic_is_at_two(void **state)
{
    (void)state;
    assert_true(record_valid_stars((const uint8_t[]){0, 1, 0xD3, 0x6B}));
    assert_false(record_valid_stars((const uint8_t[]){0xD3, 0x6B, 0, 0}));
    assert_true(record_valid_host((const uint8_t[]){0x5A, 0x5A}));
}

struct text {
    char all[256]; /* lines joined by | */
    uint64_t last_offset;
};

static void see_line(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct text *t = context;
    size_t n = strlen(t->all);
    snprintf(t->all + n, sizeof t->all - n, "%.*s|", (int)len, line);
    t->last_offset = place->offset;
}

static void lines_straddle_slices(void **state)
{
    (void)state;
    static const char text[] = "1:one\n2:two\n\n3:three\n4:fo";
    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        struct slices s = {.data = (uint8_t *)mem_strndup(text, sizeof text - 1)};
        struct text seen = {0};
        struct diag *d = diag_new();
        add_slice(&s, 0, cut);
        add_slice(&s, cut, sizeof text - 1);
        lines_each(&s.files, d, NULL, see_line, &seen);
        assert_string_equal(seen.all, "1:one|2:two||3:three|4:fo|");
        diag_free(d);
        free_stream(&s);
    }
}

static void lines_do_not_continue_over_a_missing_slice(void **state)
{
    (void)state;
    struct slices s = {.data = (uint8_t *)mem_strndup("1:one\n2:tw3:three\n", 18)};
    struct text seen = {0};
    struct diag *d = diag_new();
    add_slice(&s, 0, 10);
    add_slice(&s, 10, 18)->gap = true;
    lines_each(&s.files, d, NULL, see_line, &seen);
    assert_string_equal(seen.all, "1:one|2:tw|3:three|");
    assert_int_equal(seen.last_offset, 0);
    diag_free(d);
    free_stream(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_records),
        TEST(records_straddle_slices_cut_anywhere),
        TEST(aged_out_front_is_left_out),
        TEST(front_longer_than_its_slice),
        TEST(what_begins_with_slice_0_has_lost_its_end),
        TEST(cut_tail_costs_one_record),
        TEST(front_and_tail_cut),
        TEST(damaged_record_is_skipped_and_counted),
        TEST(damaged_straddling_record_is_skipped),
        TEST(aligned_anew_after_a_missing_slice),
        TEST(slice_cut_short_in_the_middle),
        TEST(prefixes_are_separate_streams),
        TEST(garbage_gives_nothing),
        TEST(unreadable_slice_is_noted_and_the_rest_read),
        TEST(slice_larger_than_a_window),
        TEST(stars_magic_is_at_two),
        TEST(lines_straddle_slices),
        TEST(lines_do_not_continue_over_a_missing_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
