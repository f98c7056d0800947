/* Unit tests of base/share: threads and memory of jobs that run side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/jobs.h"
#include "base/share.h"

static void a_single_job_has_all_threads(void **state)
{
    (void)state;
    struct share s;
    share_init(&s, 7, 1, 1, 100);
    assert_int_equal(share_at_once(&s), 1);
    assert_int_equal(share_begin(&s), 7);
    share_end(&s, 7, 0);
    share_free(&s);
}

static void every_job_has_a_thread_and_together_they_have_no_more_than_there_are(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 9; threads++)
        for (size_t n = 1; n < 20; n++) {
            struct share s;
            unsigned has[32], used = 0;
            size_t running = 0;
            share_init(&s, threads, n, n, 100);
            unsigned at_once = share_at_once(&s);
            for (size_t i = 0; i < n; i++) {
                if (running == at_once) { /* the oldest one ends */
                    share_end(&s, has[0], 0);
                    used -= has[0];
                    running--;
                    for (size_t k = 0; k < running; k++) has[k] = has[k + 1];
                }
                has[running] = share_begin(&s);
                assert_true(has[running] >= 1);
                used += has[running++];
                assert_true(used <= threads);
            }
            assert_true(n > threads || used == threads);
            share_free(&s);
        }
}

static void jobs_may_be_limited_to_one_at_a_time(void **state)
{
    (void)state;
    struct share s;
    share_init(&s, 4, 3, 1, 100);
    assert_int_equal(share_at_once(&s), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(share_begin(&s), 4);
        share_end(&s, 4, 0);
    }
    share_free(&s);
}

struct world {
    struct share share;
    _Atomic uint64_t used, most, alone;
};

static void need_memory(size_t i, void *context)
{
    struct world *w = context;
    uint64_t bytes = i % 5 == 0 ? 1000 : 30; /* some need more than there is */
    unsigned threads = share_begin(&w->share);
    share_take_memory(&w->share, bytes);
    uint64_t now = w->used += bytes;
    if (now > w->most) w->most = now;
    if (bytes > 100 && now == bytes) w->alone++;
    w->used -= bytes;
    share_end(&w->share, threads, bytes);
}

static void jobs_wait_for_memory_and_large_ones_run_alone(void **state)
{
    (void)state;
    struct world w = {0};
    share_init(&w.share, 8, 100, 100, 100);
    jobs_each(share_at_once(&w.share), 100, need_memory, &w);
    share_free(&w.share);
    assert_int_equal(w.most, 1000);
    assert_int_equal(w.alone, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_job_has_all_threads),
        cmocka_unit_test(every_job_has_a_thread_and_together_they_have_no_more_than_there_are),
        cmocka_unit_test(jobs_may_be_limited_to_one_at_a_time),
        cmocka_unit_test(jobs_wait_for_memory_and_large_ones_run_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
