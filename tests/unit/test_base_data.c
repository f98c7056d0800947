/* Strings, maps, sorting, notes and the parallel for: what the rooms above build on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/error.h"
#include "base/jobs.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/strpool.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11;
}

/* --- strings --- */

static void equal_texts_have_equal_ids(void **state)
{
    (void)state;
    struct strpool *p = strpool_new();
    assert_int_equal(strpool_add_z(p, ""), STR_EMPTY);
    assert_int_equal(strpool_add(p, "N/A", 3), STR_NA);
    str_id a = strpool_add_z(p, "MatMul"), b = strpool_add(p, "MatMulV2", 6);
    assert_int_equal(a, b);
    assert_int_not_equal(a, strpool_add_z(p, "MatMulV2"));
    assert_string_equal(strpool_text(p, a), "MatMul");
    assert_int_equal(strpool_length(p, a), 6);
    assert_string_equal(strpool_text(p, strpool_add_u64(p, UINT64_MAX)), "18446744073709551615");
    str_id odd = strpool_add(p, "a\0\xFF", 3);
    assert_memory_equal(strpool_text(p, odd), "a\0\xFF", 4);
    assert_int_equal(strpool_length(p, odd), 3);
    strpool_free(p);
}

static struct strpool *shared;
static str_id ids[8][5000];

static void add_many(size_t i, void *context)
{
    (void)context;
    for (uint64_t k = 0; k < 5000; k++) ids[i][k] = strpool_add_u64(shared, (k * 7 + i * 613) % 5000);
}

static void many_threads_agree_on_ids(void **state)
{
    (void)state;
    shared = strpool_new();
    jobs_each(4, 8, add_many, NULL);
    assert_int_equal(strpool_count(shared), 5000 + 2);
    for (size_t i = 0; i < 8; i++)
        for (uint64_t k = 0; k < 5000; k++) {
            char expected[24];
            snprintf(expected, sizeof expected, "%u", (unsigned)((k * 7 + i * 613) % 5000));
            assert_string_equal(strpool_text(shared, ids[i][k]), expected);
        }
    strpool_free(shared);
}

static void long_texts_are_kept(void **state)
{
    (void)state;
    struct strpool *p = strpool_new();
    char *text = mem_alloc(300000);
    memset(text, 'x', 300000);
    str_id a = strpool_add(p, text, 300000), b = strpool_add_z(p, "short");
    assert_int_equal(strpool_length(p, a), 300000);
    assert_memory_equal(strpool_text(p, a), text, 300000);
    assert_string_equal(strpool_text(p, b), "short");
    free(text);
    strpool_free(p);
}

/* --- maps --- */

static void maps_hold_any_key(void **state)
{
    (void)state;
    struct map m = {0};
    bool is_new;
    assert_int_equal(map_get(&m, 0, 77), 77);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t key = i % 3 ? i << 48 : UINT64_MAX - i;
        assert_int_equal(*map_put(&m, key, (uint32_t)i, &is_new), i);
        assert_true(is_new);
    }
    assert_int_equal(m.n, 10000);
    assert_int_equal(*map_put(&m, UINT64_MAX, 5, &is_new), 0);
    assert_false(is_new);
    *map_put(&m, UINT64_MAX, 5, NULL) = 42;
    assert_int_equal(map_get(&m, UINT64_MAX, 0), 42);
    assert_int_equal(map_get(&m, 1ull << 48, 0), 1);
    assert_int_equal(map_get(&m, 12345, 9), 9);
    map_free(&m);
    map_reserve(&m, 1000);
    struct map_slot *before = m.slots;
    for (uint64_t i = 0; i < 1000; i++) map_put(&m, i, 0, NULL);
    assert_ptr_equal(m.slots, before);
    map_free(&m);
}

/* --- sorting --- */

static void sorted_and_stable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 48, 49, 3000};
    static const uint64_t ranges[] = {1, 7, 5000, UINT64_MAX};
    uint64_t seed = 1;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            size_t n = sizes[s];
            struct sort_key *keys = mem_alloc(n * sizeof *keys);
            uint64_t *payload = mem_alloc(n * sizeof *payload);
            for (size_t i = 0; i < n; i++) {
                payload[i] = (next_random(&seed) << 11 | 5) % ranges[r];
                keys[i] = (struct sort_key){payload[i], (uint32_t)i};
            }
            sort_keys(keys, n);
            sort_permute(payload, sizeof *payload, keys, n);
            for (size_t i = 0; i < n; i++) assert_true(payload[i] == keys[i].key);
            for (size_t i = 1; i < n; i++)
                assert_true(keys[i - 1].key < keys[i].key ||
                            (keys[i - 1].key == keys[i].key && keys[i - 1].index < keys[i].index));
            free(keys);
            free(payload);
        }
}

static void keys_at_both_ends_of_the_range(void **state)
{
    (void)state;
    struct sort_key keys[100];
    for (uint32_t i = 0; i < 100; i++) keys[i] = (struct sort_key){i % 2 ? 0 : UINT64_MAX - i, i};
    sort_keys(keys, 100);
    for (size_t i = 1; i < 100; i++) assert_true(keys[i - 1].key <= keys[i].key);
    assert_int_equal(keys[99].index, 0);
}

static void second_key_is_more_significant(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct sort_key keys[2000];
    uint32_t high[2000];
    for (uint32_t i = 0; i < 2000; i++) {
        high[i] = (uint32_t)next_random(&seed) % 5;
        keys[i] = (struct sort_key){next_random(&seed) % 50, i};
    }
    sort_keys_then(keys, 2000, high);
    for (size_t i = 1; i < 2000; i++) {
        const struct sort_key *a = &keys[i - 1], *b = &keys[i];
        uint32_t ha = high[a->index], hb = high[b->index];
        assert_true(ha < hb || (ha == hb && (a->key < b->key || (a->key == b->key && a->index < b->index))));
    }
}

/* --- notes --- */

static void collect(const struct diag_entry *e, void *context)
{
    char *all = context;
    size_t n = strlen(all);
    snprintf(all + n, 500 - n, "%d %s@%lld %s x%llu;", (int)e->level, e->file, (long long)e->first_offset, e->why,
             (unsigned long long)e->count);
}

static void notes_of_one_kind_are_counted_together(void **state)
{
    (void)state;
    char all[500] = "";
    struct diag *d = diag_new();
    diag_note(d, DIAG_WARNING, "b", 640, "bad %s", "magic");
    diag_note(d, DIAG_WARNING, "b", 64, "bad magic");
    diag_count(d, DIAG_ERROR, "b", 128, 5, "bad magic");
    diag_count(d, DIAG_WARNING, "b", 0, 0, "nothing happened");
    diag_note(d, DIAG_INFO, "a", DIAG_NO_OFFSET, "fine");
    diag_each(d, collect, all);
    assert_string_equal(all, "0 a@-1 fine x1;2 b@64 bad magic x7;");
    assert_int_equal(diag_entries(d, DIAG_INFO), 2);
    assert_int_equal(diag_entries(d, DIAG_WARNING), 1);
    diag_free(d);
}

static void errors_tell_their_causes(void **state)
{
    (void)state;
    struct error e = {0};
    char text[64], tiny[8];
    assert_string_equal(error_text(&e, text, sizeof text), "");
    assert_int_equal(error_set(&e, "no space"), -1);
    assert_int_equal(error_wrap(&e, "cannot write %s", "x.json"), -1);
    assert_string_equal(error_text(&e, text, sizeof text), "cannot write x.json: no space");
    assert_string_equal(error_text(&e, tiny, sizeof tiny), "cannot ");
    for (int i = 0; i < 2 * ERROR_DEPTH; i++) error_wrap(&e, "again");
    assert_int_equal(e.n, ERROR_DEPTH);
    assert_int_equal(error_set(NULL, "nobody listens"), -1);
}

/* --- parallel for --- */

static void take(size_t i, void *context)
{
    atomic_fetch_add(&((atomic_int *)context)[i], 1);
}

static void every_item_exactly_once(void **state)
{
    (void)state;
    static const unsigned threads[] = {0, 1, 2, 7, 300};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        atomic_int seen[200] = {0};
        jobs_each(threads[t], 200, take, seen);
        for (int i = 0; i < 200; i++) assert_int_equal(seen[i], 1);
    }
    jobs_each(4, 0, take, NULL);
    assert_true(jobs_cores() >= 1);
}

static void arrays_grow(void **state)
{
    (void)state;
    ARRAY(int) a = {0};
    for (int i = 0; i < 1000; i++) array_push(&a, i);
    assert_int_equal(a.n, 1000);
    array_trim(&a);
    assert_int_equal(a.room, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(a.at[i], i);
    array_free(&a);
    assert_int_equal(a.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_have_equal_ids),
        cmocka_unit_test(many_threads_agree_on_ids),
        cmocka_unit_test(long_texts_are_kept),
        cmocka_unit_test(maps_hold_any_key),
        cmocka_unit_test(sorted_and_stable),
        cmocka_unit_test(keys_at_both_ends_of_the_range),
        cmocka_unit_test(second_key_is_more_significant),
        cmocka_unit_test(notes_of_one_kind_are_counted_together),
        cmocka_unit_test(errors_tell_their_causes),
        cmocka_unit_test(every_item_exactly_once),
        cmocka_unit_test(arrays_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
