/* Selections: which iterations there are, the window of a device, and what is inside of it. */
#include "model_world.h"

#include <stdlib.h>

static void add_step(struct world *w, uint32_t model, bool marked, uint32_t id, uint64_t start, uint64_t end)
{
    array_push(&w->d.data.steps, ((struct step){.model_id = model,
                                                .iteration_id = id,
                                                .iteration_end_ns = AT(end),
                                                .start = REF + start,
                                                .end = REF + end,
                                                .marked = marked}));
}

/* Two graphs in turn, and two marked steps around them. */
static void add_steps(struct world *w)
{
    add_step(w, 1, false, 1, 1000, 2000);
    add_step(w, 7, false, 1, 2100, 3000);
    add_step(w, MODEL_MARKED, true, 1, 900, 3100);
    add_step(w, 1, false, 2, 4000, 5000);
    add_step(w, 7, false, 2, 5100, 6000);
    add_step(w, MODEL_MARKED, true, 2, 3900, 6100);
}

static void find(struct world *w, int64_t model, int64_t first, int64_t count)
{
    w->m.devices = &w->d;
    w->m.n_devices = 1;
    w->d.window = (struct window){0};
    selection_find(&w->m, &(struct selection){model, first, count}, w->diag);
}

static bool has(const struct world *w, uint64_t start, uint64_t end)
{
    return window_has_task(&w->d.window, &(struct device_task){.start = REF + start, .end = REF + end});
}

static int end(void **state)
{
    struct world *w = *state;
    array_free(&w->d.data.steps);
    return teardown(state);
}

static void models_are_listed_with_marked_steps_last(void **state)
{
    struct world *w = *state;
    size_t n;
    add_steps(w);
    struct seen_model *seen = seen_models(&w->m.host, &w->d.data, &n);
    assert_int_equal(n, 3);
    assert_int_equal(seen[0].model_id, 1);
    assert_int_equal(seen[1].model_id, 7);
    assert_true(seen[2].marked && !seen[0].marked);
    assert_int_equal(seen[0].first, 1);
    assert_int_equal(seen[0].last, 2);
    assert_int_equal(seen[0].n, 2);
    free(seen);
}

static void a_window_reaches_from_begin_to_end_of_its_iterations(void **state)
{
    struct world *w = *state;
    add_steps(w);
    find(w, 1, 2, 1);
    assert_int_equal(w->m.scope, MODEL_ITERATIONS);
    assert_true(has(w, 4000, 5000));
    assert_false(has(w, 3999, 4500));
    assert_false(has(w, 4500, 5001));
    find(w, 1, 1, 2);
    assert_true(has(w, 1000, 5000));
    find(w, MODEL_MARKED, 1, 1);
    assert_true(has(w, 900, 3100));
    assert_false(has(w, 3900, 6100));
}

static void the_timeline_of_the_first_iteration_begins_with_the_collection(void **state)
{
    struct world *w = *state;
    add_steps(w);
    find(w, 1, 1, 1);
    assert_true(window_shows(&w->d.window, AT(0), AT(1)));
    assert_false(window_shows(&w->d.window, AT(2000), AT(2001)));
    find(w, 1, 2, 1);
    assert_false(window_shows(&w->d.window, AT(0), AT(4000)));
    assert_true(window_shows(&w->d.window, AT(0), AT(4001)));
    assert_int_equal(w->d.window.calls_from_ns, AT(3000));
}

static void operators_of_other_models_and_iterations_are_outside(void **state)
{
    struct world *w = *state;
    add_steps(w);
    find(w, 1, 2, 1);
    assert_true(window_has_op(&w->d.window, 1, 0));
    assert_true(window_has_op(&w->d.window, 1, 2));
    assert_false(window_has_op(&w->d.window, 1, 1));
    assert_false(window_has_op(&w->d.window, 7, 2));
    find(w, MODEL_MARKED, 2, 1);
    assert_true(window_has_op(&w->d.window, 7, 1));
}

static void operators_know_the_iteration_in_which_they_ran(void **state)
{
    struct world *w = *state;
    add_steps(w);
    find(w, 1, 1, 2);
    assert_int_equal(window_iteration_at(&w->d.window, AT(1500)), 1);
    assert_int_equal(window_iteration_at(&w->d.window, AT(2000)), 1);
    assert_int_equal(window_iteration_at(&w->d.window, AT(4500)), 2);
}

static void what_does_not_exist_selects_nothing(void **state)
{
    static const int64_t wrong[][3] = {{1, 3, 1},
                                       {1, 0, 1},
                                       {1, 2, 2},
                                       {1, 1, 0},
                                       {1, 1, 6},
                                       {1, 1, INT64_MAX},
                                       {2, 1, 1},
                                       {-1, 1, 1},
                                       {1, INT64_MIN, 5},
                                       {1, INT64_MAX, 1},
                                       {MODEL_MARKED, 3, 1},
                                       {(int64_t)1 << 32 | 1, 1, 1}};
    struct world *w = *state;
    add_steps(w);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        find(w, wrong[i][0], wrong[i][1], wrong[i][2]);
        assert_int_equal(w->m.scope, MODEL_NOTHING);
        assert_false(has(w, 1000, 2000));
        assert_int_equal(diag_entries(w->diag, DIAG_ERROR), i + 1);
    }
}

static void without_a_selection_everything_is_inside(void **state)
{
    struct world *w = *state;
    add_steps(w);
    w->m.devices = &w->d;
    w->m.n_devices = 1;
    selection_find(&w->m, NULL, w->diag);
    assert_int_equal(w->m.scope, MODEL_WHOLE);
    assert_true(has(w, 0, 1) && window_shows(&w->d.window, INT64_MIN, INT64_MAX));
}

static void tasks_that_repeat_their_ids_are_exported_by_iteration(void **state)
{
    struct world *w = *state;
    add_steps(w);
    add_step(w, 7, false, 3, 7000, 8000);
    w->session.all_export = false;
    w->m.devices = &w->d;
    w->m.n_devices = 1;
    selection_find(&w->m, NULL, w->diag);
    assert_int_equal(w->m.scope, MODEL_ITERATIONS);
    assert_true(has(w, 2100, 3000)); /* the first iteration of the model with most */
    assert_false(has(w, 1000, 2000));
    find(w, MODEL_MARKED, 1, 1);
    assert_int_equal(w->m.scope, MODEL_NOTHING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(models_are_listed_with_marked_steps_last),
        TEST(a_window_reaches_from_begin_to_end_of_its_iterations),
        TEST(the_timeline_of_the_first_iteration_begins_with_the_collection),
        TEST(operators_of_other_models_and_iterations_are_outside),
        TEST(operators_know_the_iteration_in_which_they_ran),
        TEST(what_does_not_exist_selects_nothing),
        TEST(without_a_selection_everything_is_inside),
        TEST(tasks_that_repeat_their_ids_are_exported_by_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
