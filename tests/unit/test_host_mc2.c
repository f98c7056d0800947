/* The host room: groups whose communication the AI CPU unfolds (mc2_comm_info), and texts for the data of devices. */
#include "host_fixture.h"

static void put_group(struct fixture *f, uint64_t group, uint32_t kfc_stream, uint32_t count)
{
    struct mc2_comm_record m = {
        .head = head(LEVEL_NODE, 100, 60), .group = group, .kfc_stream = kfc_stream, .count = count};
    for (uint32_t i = 0; i < MC2_STREAMS; i++) m.streams[i] = 20 + i;
    fixture_put(f, INPUT_MC2_COMM_INFO, AGING, &m, sizeof m);
}

static void put_capture(struct fixture *f, uint64_t time, uint16_t original, uint16_t model)
{
    struct capture_stream_record c = {.head = head(LEVEL_RUNTIME, time, 10)};
    c.model_stream = model;
    c.original_stream = original;
    fixture_put(f, INPUT_CAPTURE_STREAM_INFO, AGING, &c, sizeof c);
}

static void a_group_has_its_name_and_its_streams(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_group(&f, H_GROUP, 10, 2);
    const struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->mc2_groups.n, 1);
    const struct mc2_group *g = &h->mc2_groups.at[0];
    assert_int_equal(g->group_key, H_GROUP);
    assert_int_equal(g->kfc_stream, 10);
    assert_int_equal(g->n_streams, 2);
    assert_int_equal(g->streams[1], 21);
    assert_int_equal(h->kfc_streams.n, 1);
    fixture_end(&f);
}

static void more_streams_than_there_is_room_for_are_said(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_group(&f, H_GROUP, 10, UINT32_MAX);
    const struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->mc2_groups.at[0].n_streams, MC2_STREAMS);
    assert_int_equal(diag_entries(f.diag, DIAG_WARNING), 1);
    fixture_end(&f);
}

static void a_captured_kernel_stream_belongs_to_the_last_group_of_the_original(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    put_group(&f, H_GROUP, 10, 2);
    put_group(&f, H_HCOM, 10, 3);
    put_capture(&f, 200, 10, 77);
    put_capture(&f, 300, 10, 77); /* again: once is enough */
    put_capture(&f, 400, 11, 78); /* of no group */
    const struct host_data *h = fixture_load(&f, 1);
    assert_int_equal(h->mc2_groups.n, 3);
    assert_int_equal(h->mc2_groups.at[2].kfc_stream, 77);
    assert_int_equal(h->mc2_groups.at[2].group_key, H_HCOM);
    assert_int_equal(h->mc2_groups.at[2].n_streams, 3);
    assert_int_equal(h->kfc_streams.n, 2);
    assert_int_equal(h->kfc_streams.at[1], 77);
    fixture_end(&f);
}

static void hashes_of_devices_are_looked_up_later(void **state)
{
    (void)state;
    struct fixture f;
    fixture_begin(&f);
    const struct host_data *h = fixture_load(&f, 1);
    assert_string_equal(strpool_text(f.strings, host_text(h, f.strings, H_MEMCPY)), "Memcpy");
    assert_string_equal(strpool_text(f.strings, host_text(h, f.strings, H_UNKNOWN)), "999");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_has_its_name_and_its_streams),
        cmocka_unit_test(more_streams_than_there_is_room_for_are_said),
        cmocka_unit_test(a_captured_kernel_stream_belongs_to_the_last_group_of_the_original),
        cmocka_unit_test(hashes_of_devices_are_looked_up_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
