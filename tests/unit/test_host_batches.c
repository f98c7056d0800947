/* Batches of tasks whose 16-bit ids wrapped, as a simple and slow rule gives them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the above first */
#include <cmocka.h>
#include <string.h>

#include "host/records.h"

#define STREAM 1u

static struct track track(uint64_t time, uint32_t task_id)
{
    return (struct track){.time = time, .stream_id = STREAM, .task_id = task_id, .batch_id = 77};
}

static void flips_count_and_pull(void **state)
{
    (void)state;
    struct track t[] = {track(10, 65533), track(20, 65534), track(30, 1),   track(40, 2),
                        track(50, 3),     track(60, 65535), track(66, 100), track(70, 4)};
    const struct flip f[] = {{45, STREAM, 3, 1}, {65, STREAM, 0, 2}, {66, STREAM, 9, FLIP_DESTROYED}};
    const uint32_t expected[] = {0, 0, 1, 1, 1, 1, 2, 3};
    batches_assign(t, 8, f, 3);
    for (size_t i = 0; i < 8; i++) assert_int_equal(t[i].batch_id, expected[i]);
}

static void a_stream_without_flips_is_batch_0(void **state)
{
    (void)state;
    struct track t[] = {track(10, 5), track(20, 6)};
    const struct flip other = {15, STREAM + 1, 0, 1};
    batches_assign(t, 2, NULL, 0);
    assert_int_equal(t[0].batch_id, 0);
    t[0].batch_id = 77;
    batches_assign(t, 2, &other, 1);
    assert_int_equal(t[0].batch_id, 0);
    assert_int_equal(t[1].batch_id, 0);
}

/* The rule, word by word, for tasks and flips in order of time. */
static void slow(struct track *t, size_t n, const struct flip *f, size_t m)
{
    size_t b = 0;
    for (size_t i = 0; i < n;) {
        if (b < m && t[i].time > f[b].time) {
            const struct flip *flip = &f[b++];
            if (flip->number == FLIP_DESTROYED) continue;
            for (size_t j = i; j-- > 0 && t[j].task_id < flip->task_id;) t[j].batch_id = (uint32_t)b;
        } else {
            t[i++].batch_id = (uint32_t)b;
        }
    }
}

static void random_tasks_agree_with_the_rule(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct track t[40], expected[40];
        struct flip f[12];
        uint64_t time = 0;
        for (size_t i = 0; i < 40; i++) {
            seed = seed * 1664525u + 1013904223u;
            t[i] = track(time += seed >> 29, seed >> 10 & 15);
        }
        time = 0;
        for (size_t i = 0; i < 12; i++) {
            seed = seed * 1664525u + 1013904223u;
            f[i] = (struct flip){time += seed >> 27, STREAM, (uint16_t)(seed >> 10 & 15),
                                 seed & 0x1000 ? FLIP_DESTROYED : (uint16_t)(i + 1)};
        }
        memcpy(expected, t, sizeof t);
        slow(expected, 40, f, 12);
        batches_assign(t, 40, f, 12);
        for (size_t i = 0; i < 40; i++) assert_int_equal(t[i].batch_id, expected[i].batch_id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flips_count_and_pull),
        cmocka_unit_test(a_stream_without_flips_is_batch_0),
        cmocka_unit_test(random_tasks_agree_with_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
