/* Communication of a cluster: what is critical, what is advised, and what an export notices beside. Operators, links
 * and tasks are made by hand; answers about whole clusters are tests of the program (tests/cli). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/advice.h"
#include "cluster/critical_path.h"
#include "cluster/hints.h"
#include "cluster/ranks.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A text that is freed has the words in it; NULL: it has not. */
static void says(char *text, const char *words, const char *not_these)
{
    if (!strstr(text, words)) fail_msg("'%s' does not say '%s'", text, words);
    if (not_these && strstr(text, not_these)) fail_msg("'%s' says '%s'", text, not_these);
    free(text);
}

/* ---- the critical path ---- */

static void a_path_goes_from_lane_to_lane(void **state)
{
    (void)state;
    static const struct path_event events[] = {
        {0, 1000, 1},     /* A */
        {1200, 5000, 2},  /* C waits for A */
        {5100, 9000, 1},  /* B waits for C */
        {1500, 2500, 1},  /* beside it */
        {9100, 12000, 2}, /* D waits for B: C is too long ago */
        {9100, 9500, 3},  /* what nobody waits for */
    };
    static const bool expected[] = {true, true, true, false, true, false};
    bool on_path[COUNT(events)];
    critical_path(events, COUNT(events), on_path);
    assert_memory_equal(on_path, expected, sizeof expected);
}

static void the_one_before_in_its_lane_counts_within_a_microsecond(void **state)
{
    (void)state;
    struct path_event events[] = {{0, 1000, 1}, {0, 1900, 2}, {2000, 3000, 1}};
    bool on_path[3];
    critical_path(events, 3, on_path);
    assert_true(on_path[0] && !on_path[1] && on_path[2]);
    events[2].start_ns = 2001;
    critical_path(events, 3, on_path);
    assert_true(!on_path[0] && on_path[1] && on_path[2]);
}

static void a_path_ends(void **state)
{
    (void)state;
    /* began together, the one within the other, one after the other without a gap, at the ends of time */
    static const struct path_event events[] = {
        {0, 10, 1}, {0, 10, 1}, {0, 5, 1}, {10, 20, 1}, {10, 15, 1}, {12, 14, 1}, {INT64_MIN, INT64_MAX, 2},
    };
    bool on_path[COUNT(events)];
    critical_path(events, 1, on_path);
    assert_true(on_path[0]);
    critical_path(events, 6, on_path);
    assert_true(on_path[3]);
    critical_path(events, COUNT(events), on_path);
    assert_true(on_path[6]);
    critical_path(events, 0, NULL);
}

static uint32_t next_random(uint32_t *seed)
{
    return (*seed = *seed * 1664525 + 1013904223) >> 16;
}

static void serial_time_is_when_nothing_else_ran(void **state)
{
    (void)state;
    enum { N = 40, END = 200 };
    struct path_event events[N];
    uint64_t serial_ns[N];
    uint32_t seed = 1;
    for (int round = 0; round < 50; round++) {
        int running[END] = {0};
        for (int i = 0; i < N; i++) {
            events[i].start_ns = next_random(&seed) % (END - 12);
            events[i].end_ns = events[i].start_ns + 1 + next_random(&seed) % 10;
            for (int64_t t = events[i].start_ns; t < events[i].end_ns; t++) running[t]++;
        }
        serial_times(events, N, serial_ns);
        for (int i = 0; i < N; i++) {
            uint64_t alone = 0;
            for (int64_t t = events[i].start_ns; t < events[i].end_ns; t++) alone += running[t] == 1;
            assert_int_equal(serial_ns[i], alone);
        }
    }
}

/* ---- ranks that wait ---- */

static struct comm_times waiting(int64_t wait, int64_t before, int64_t transit)
{
    return (struct comm_times){.wait = {wait, 1}, .synchronization = {before, 1}, .transit = {transit, 1}};
}

static void rank_that_waits_is_told_with_the_one_it_waits_for(void **state)
{
    (void)state;
    struct waits w = {0};
    struct comm_times most = waiting(600, 500, 400), least = waiting(100, 0, 900), some = waiting(300, 0, 700);
    waits_add(&w, 4, &some);
    waits_add(&w, 5, &most);
    waits_add(&w, 6, &least);
    char *text = advise_rank(&w);
    assert_non_null(strstr(text, "Rank 5 waits longest, for a share of 0.60"));
    says(text, "Rank 6, which waits least, comes late", NULL);
}

static void rank_that_waits_during_transfers_has_slow_links(void **state)
{
    (void)state;
    struct waits w = {0};
    struct comm_times most = waiting(600, 100, 400), least = waiting(100, 0, 900); /* 100 of 500: not more than 0.2 */
    waits_add(&w, 1, &most);
    waits_add(&w, 2, &least);
    says(advise_rank(&w), "the links between the ranks may not be equally fast", "comes late");
}

static void ranks_that_hardly_wait_are_fine(void **state)
{
    (void)state;
    struct waits w = {0};
    struct comm_times t = waiting(200, 200, 800);
    waits_add(&w, 1, &t);
    says(advise_rank(&w), "none waits for long", "Rank");
}

static void a_rank_is_not_said_to_wait_for_itself(void **state)
{
    (void)state;
    struct waits w = {0};
    struct comm_times t = waiting(600, 600, 400);
    waits_add(&w, 1, &t);
    waits_add(&w, 2, &t);
    says(advise_rank(&w), "Rank 1 waits longest", "which waits least");
}

/* ---- links ---- */

static const double nominal[TRAFFIC_KINDS] = {[TRAFFIC_RDMA] = 25, [TRAFFIC_HCCS] = 28};

/* bytes / ns are GB/s */
static struct traffic_sum traffic(int64_t bytes, int64_t ns, uint64_t n, uint64_t large)
{
    return (struct traffic_sum){.bytes = {bytes, n}, .ns = {ns, n}, .large = large};
}

static void the_kind_of_link_that_takes_most_time_is_judged(void **state)
{
    (void)state;
    struct op_facts op = {.traffic[TRAFFIC_HCCS] = traffic(14000, 1000, 10, 8),
                          .traffic[TRAFFIC_RDMA] = traffic(100, 200, 10, 10)};
    char *text = advise_links(&op, nominal);
    assert_non_null(strstr(text, "SDMA takes most of the time. HCCS reaches a share of 0.50 of its bandwidth: check"));
    says(text, "HCCS", "RDMA");
    op.traffic[TRAFFIC_RDMA] = traffic(10000, 5000, 10, 7);
    says(advise_links(&op, nominal),
         "RDMA takes most of the time. RDMA reaches a share of 0.08 of its bandwidth: too many transfers are small, "
         "only "
         "a share of 0.70 is large.",
         "HCCS");
    op.traffic[TRAFFIC_RDMA] = traffic(10000, 1000, 10, 10);
    text = advise_links(&op, nominal);
    assert_non_null(
        strstr(text, "RDMA reaches a share of 0.40 of its bandwidth: check the configuration of the switches"));
    says(text, " HCCS reaches", "most of the time");
}

static void links_used_from_eighty_percent_on_are_fine(void **state)
{
    (void)state;
    struct op_facts op = {.traffic[TRAFFIC_HCCS] = traffic(22400, 1000, 10, 0)}; /* 0.8 of 28 */
    says(advise_links(&op, nominal), "SDMA takes most of the time. The links are used well.", "HCCS");
    op.traffic[TRAFFIC_HCCS] = traffic(22390, 1000, 10, 0);
    says(advise_links(&op, nominal), "too many transfers are small", NULL);
}

static void of_links_nobody_knows_nothing_is_said(void **state)
{
    (void)state;
    struct op_facts op = {.traffic[TRAFFIC_PCIE] = traffic(1, 1000, 10, 0)};
    says(advise_links(&op, nominal), "not known how fast PCIE", "reaches");
    op = (struct op_facts){0};
    says(advise_links(&op, nominal), "used well", "most of the time");
}

static void nominal_bandwidths_are_of_the_chip(void **state)
{
    (void)state;
    double by_traffic[TRAFFIC_KINDS], by_transport[TRANSPORTS];
    nominal_by_traffic(chip_find(5), by_traffic);
    nominal_by_transport(chip_find(1), by_transport);
    assert_true(by_traffic[TRAFFIC_RDMA] == 25 && by_traffic[TRAFFIC_HCCS] == 28 && by_traffic[TRAFFIC_PCIE] == 0);
    assert_true(by_transport[TRANSPORT_RDMA] == 12.5 && by_transport[TRANSPORT_HCCS] == 18);
    assert_true(by_transport[TRANSPORT_PCIE] == 20 && by_transport[TRANSPORT_SIO] == 0);
    nominal_by_traffic(chip_unknown(), by_traffic);
    for (int i = 0; i < TRAFFIC_KINDS; i++) assert_true(by_traffic[i] == 0);
}

/* ---- links of a matrix ---- */

static void links_are_judged_kind_by_kind(void **state)
{
    (void)state;
    static const struct link links[] = {
        {.bytes = 28000000,
         .ns = 1000000,
         .transfers = 2,
         .large = 2,
         .transport = "HCCS",
         .src_rank = 0,
         .dst_rank = 1},
        {.bytes = 14000000,
         .ns = 1000000,
         .transfers = 2,
         .large = 1,
         .transport = "HCCS",
         .src_rank = 1,
         .dst_rank = 0},
        {.bytes = 25000000,
         .ns = 2000000,
         .transfers = 1,
         .large = 1,
         .transport = "RDMA",
         .src_rank = 1,
         .dst_rank = 8},
        {.bytes = 5, .ns = 500000, .transfers = 1, .large = 1, .src_rank = 1, .dst_rank = 9}, /* some other kind */
    };
    struct link_kind kinds[TRANSPORTS];
    char *lines[ADVICE_LINES];
    link_kinds(kinds, links, COUNT(links));
    assert_int_equal(kinds[TRANSPORT_HCCS].n, 2);
    assert_int_equal(kinds[TRANSPORT_SIO].n, 0);
    says(advise_time_ratio(kinds), "HCCS 0.50, PCIE 0.00, RDMA 0.50", NULL);
    assert_int_equal(advise_average(&kinds[TRANSPORT_HCCS], TRANSPORT_HCCS, 28, lines), 4);
    says(lines[0], "2.00 ms", NULL);
    says(lines[1], "21.00 GB/s on average, of 28.00 GB/s", NULL);
    says(lines[2], "0.75", NULL);
    says(lines[3], "Suggestion: HCCS reaches a share of 0.75 of its bandwidth: too many transfers are small", NULL);
    assert_int_equal(advise_slowest(&kinds[TRANSPORT_HCCS], TRANSPORT_HCCS, 28, lines), 2);
    says(lines[0],
         "from rank 1 to rank 0: 14.00 MB in 1.00 ms, which is 14.00 GB/s, a share of 0.50 of what it can; a "
         "share of 0.50 of its transfers",
         NULL);
    says(lines[1], "Suggestion: HCCS reaches a share of 0.50", NULL);
    assert_int_equal(advise_slowest(&kinds[TRANSPORT_RDMA], TRANSPORT_RDMA, 25, lines), 0); /* it is the average */
    assert_int_equal(advise_average(&kinds[TRANSPORT_PCIE], TRANSPORT_PCIE, 20, lines), 0);
}

static void without_a_transfer_there_is_no_ratio(void **state)
{
    (void)state;
    struct link_kind kinds[TRANSPORTS];
    link_kinds(kinds, NULL, 0);
    char *text = advise_time_ratio(kinds);
    assert_string_equal(text, "");
    free(text);
}

/* ---- operators of all ranks ---- */

static void add_operator(struct analysis *a, const char *name, bool measured)
{
    array_push(&a->operators,
               ((struct op_facts){.name = strpool_add_z(a->strings, name), .times.elapsed.terms = measured}));
}

static void operators_are_told_apart_by_name(void **state)
{
    (void)state;
    struct rank list[3] = {{.id = 0}, {.id = 1}, {.id = 7}};
    struct ranks r = {.at = list, .n = 3};
    struct rank_operators o;
    for (int i = 0; i < 3; i++) list[i].facts = analysis_new(0);
    add_operator(list[0].facts, "one", true);
    add_operator(list[1].facts, "two", true);
    add_operator(list[1].facts, "one", true);
    add_operator(list[2].facts, "three", false);
    add_operator(list[2].facts, "two", true);
    rank_operators_find(&o, &r, true);
    assert_int_equal(o.list.n, 2);
    assert_string_equal(o.list.at[0].name, "one");
    assert_string_equal(o.list.at[1].name, "two");
    static const struct rank_entry expected[] = {{0, 0}, {1, 1}, {1, 0}, {2, 1}};
    assert_int_equal(o.entries.n, 4);
    assert_memory_equal(o.entries.at, expected, sizeof expected);
    assert_int_equal(o.list.at[1].first, 2);
    rank_operators_free(&o);
    rank_operators_find(&o, &r, false);
    assert_int_equal(o.list.n, 3);
    assert_string_equal(o.list.at[2].name, "three");
    rank_operators_free(&o);
    for (int i = 0; i < 3; i++) analysis_free(list[i].facts);
}

/* ---- hints ---- */

struct nodes {
    struct session session;
    struct prof_dir dirs[3];
    struct device_model devices[3];
    struct model m;
};

static int make_nodes(void **state)
{
    static char *names[] = {"device_0", "device_1", "device_2"};
    struct nodes *n = mem_zalloc(1, sizeof *n);
    n->session.name = "PROF_1";
    n->m = (struct model){.session = &n->session, .strings = strpool_new(), .devices = n->devices, .n_devices = 3};
    for (int i = 0; i < 3; i++) {
        n->dirs[i].name = names[i];
        n->devices[i].dir = &n->dirs[i];
    }
    *state = n;
    return 0;
}

static int drop_nodes(void **state)
{
    struct nodes *n = *state;
    for (int i = 0; i < 3; i++) {
        array_free(&n->devices[i].comm_tasks);
        array_free(&n->devices[i].data.steps);
    }
    strpool_free(n->m.strings);
    free(n);
    return 0;
}

static void iterate(struct nodes *n, int device, int64_t data_aug_ns, bool marked)
{
    array_push(&n->devices[device].data.steps,
               ((struct step){.model_id = 1, .data_aug_ns = data_aug_ns, .marked = marked}));
}

static void send(struct nodes *n, int device, uint32_t to, int64_t bytes, uint16_t link)
{
    array_push(&n->devices[device].comm_tasks,
               ((struct comm_task){.end_ns = 1000,
                                   .op_name = strpool_add_z(n->m.strings, "allReduce"),
                                   .op_key = strpool_add_z(n->m.strings, "allReduce_1_0"),
                                   .name = strpool_add_z(n->m.strings, "Memcpy"),
                                   .size = bytes,
                                   .dst_rank = to,
                                   .link_type = link,
                                   .rdma_type = 255}));
}

/* The lines of the report as one text, free() it. */
static char *told(struct hints *h)
{
    hint_lines lines = {0};
    char *text = mem_printf("%s", "");
    hints_tell(h, &lines);
    for (size_t i = 0; i < lines.n; i++) {
        char *longer = mem_printf("%s%s\n", text, lines.at[i]);
        free(text);
        free(lines.at[i]);
        text = longer;
    }
    array_free(&lines);
    hints_free(h);
    return text;
}

static void a_node_is_slow_when_its_data_takes_longer_than_elsewhere(void **state)
{
    struct nodes *n = *state;
    struct hints h = {0};
    iterate(n, 0, 100, false);
    iterate(n, 0, 200, false);
    iterate(n, 0, 90000, true); /* what a program marks is no iteration of a graph */
    iterate(n, 1, 300, false);
    hints_gather(&h, &n->m);
    says(told(&h), "\t1) PROF_1/device_1: 300.00 ns on average, 33.33 % more\n2.", "device_0");
}

static void twenty_percent_more_is_not_slow_yet(void **state)
{
    struct nodes *n = *state;
    struct hints h = {0};
    iterate(n, 0, 80, false);
    iterate(n, 1, 120, false);
    hints_gather(&h, &n->m);
    says(told(&h), ":\n\tnone\n2.", "device_1");
}

static void without_iterations_nodes_cannot_be_compared(void **state)
{
    struct nodes *n = *state;
    struct hints h = {0};
    hints_gather(&h, &n->m);
    says(told(&h), ":\n\tN/A\n2.", NULL);
    char *nothing = told(&h);
    assert_string_equal(nothing, "");
    free(nothing);
}

static void a_link_is_slow_beside_others_of_its_kind(void **state)
{
    struct nodes *n = *state;
    struct hints h = {0}, first = {0};
    enum { ON_CHIP = 0, HCCS = 1, PCIE = 2 };
    send(n, 2, 1, 1000, HCCS);
    send(n, 2, 2, 1000, HCCS);
    send(n, 2, 3, 700, HCCS); /* 0.7 of 0.9 GB/s */
    send(n, 2, 0, 1, ON_CHIP);
    send(n, 2, 4, 10, PCIE); /* of another kind */
    hints_gather(&h, &n->m);
    array_push(&first.nodes, ((struct hint_node){.name = mem_printf("PROF_0/device_0")}));
    hints_append(&first, &h);
    says(told(&first), "\t1) PROF_1/device_2: HCCS from rank 0 to rank 3: 0.70 GB/s, 22.22 % less\n", "\t2)");
}

static void a_long_list_is_counted(void **state)
{
    (void)state;
    struct hints h = {0};
    array_push(&h.nodes, ((struct hint_node){.name = mem_printf("PROF_0/device_0")}));
    for (uint32_t i = 0; i < 130; i++) array_push(&h.links, ((struct hint_link){.transport = "HCCS", .dst_rank = i}));
    says(told(&h), "to rank 99: 0.00 GB/s, 0.00 % less\n\t… and 30 more\n", "rank 100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_goes_from_lane_to_lane),
        cmocka_unit_test(the_one_before_in_its_lane_counts_within_a_microsecond),
        cmocka_unit_test(a_path_ends),
        cmocka_unit_test(serial_time_is_when_nothing_else_ran),
        cmocka_unit_test(rank_that_waits_is_told_with_the_one_it_waits_for),
        cmocka_unit_test(rank_that_waits_during_transfers_has_slow_links),
        cmocka_unit_test(ranks_that_hardly_wait_are_fine),
        cmocka_unit_test(a_rank_is_not_said_to_wait_for_itself),
        cmocka_unit_test(the_kind_of_link_that_takes_most_time_is_judged),
        cmocka_unit_test(links_used_from_eighty_percent_on_are_fine),
        cmocka_unit_test(of_links_nobody_knows_nothing_is_said),
        cmocka_unit_test(nominal_bandwidths_are_of_the_chip),
        cmocka_unit_test(links_are_judged_kind_by_kind),
        cmocka_unit_test(without_a_transfer_there_is_no_ratio),
        cmocka_unit_test(operators_are_told_apart_by_name),
        cmocka_unit_test_setup_teardown(a_node_is_slow_when_its_data_takes_longer_than_elsewhere, make_nodes,
                                        drop_nodes),
        cmocka_unit_test_setup_teardown(twenty_percent_more_is_not_slow_yet, make_nodes, drop_nodes),
        cmocka_unit_test_setup_teardown(without_iterations_nodes_cannot_be_compared, make_nodes, drop_nodes),
        cmocka_unit_test_setup_teardown(a_link_is_slow_beside_others_of_its_kind, make_nodes, drop_nodes),
        cmocka_unit_test(a_long_list_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
