/* The instruction monitor of the Atlas A2, A3 and 200I/500 A2: chunks, counters that wrap, and what is damaged. */
#include "metric_prof.h"

#include <stdlib.h>

#define FREQ   "{\"instr_profiling_freq\":1000}"
#define CLOCKS "\"aic_frequency\":\"1000\",\"aiv_frequency\":\"500\","
#define PIPES  6

/* 500.2 s, in counts. */
#define T0 25010000000u

static const unsigned nothing[PIPES];

/* Ten pairs of 12-bit numbers and the top of the time. */
static void put_pipes(struct metric_bytes *b, const unsigned counters[PIPES], uint64_t time)
{
    unsigned v[20] = {0};
    for (unsigned i = 0; i < PIPES; i++) v[i] = counters[i];
    v[7] = time & 0xFFF, v[8] = time >> 12 & 0xFFF, v[14] = time >> 24 & 0xFFF, v[15] = time >> 36 & 0xFFF;
    for (unsigned i = 0; i < 20; i += 2) put(b, 3, v[i] | v[i + 1] << 12);
    put(b, 2, time >> 48);
}

static void put_vector_chunk(struct metric_bytes *b, const unsigned counters[PIPES], uint64_t time)
{
    for (int i = 0; i < 4; i++) put(b, 8, UINT64_MAX);
    put_pipes(b, counters, time);
}

/* The time of the pipes of a cube core is not to be used. */
static void put_cube_chunk(struct metric_bytes *b, const unsigned counters[PIPES], unsigned flow, uint64_t time)
{
    struct metric_bytes records[2] = {0};
    put(&records[0], 2, 7);
    put(&records[0], 2, 8);
    for (unsigned i = 0; i < 6; i++) put(&records[0], 3, flow + i);
    put(&records[0], 8, time);
    put(&records[0], 2, 99);
    put_pipes(&records[1], counters, 12345);
    for (int i = 0; i < 4; i++) put(b, 8, UINT64_MAX);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t piece;
        memcpy(&piece, records[i % 2].at + i / 2 * 8, 8);
        put(b, 8, piece);
    }
}

/* Bytes [from, to). */
static void write_part(const char *name, const struct metric_bytes *b, size_t from, size_t to)
{
    struct metric_bytes part = {.n = to - from};
    memcpy(part.at, b->at + from, to - from);
    metric_write(name, &part);
}

static size_t count_in_timeline(const char *piece)
{
    char *text = metric_read(metric_find("mindstudio_profiler_output/%s_2*.json", "msprof"));
    size_t n = 0;
    for (const char *p = text; p && (p = strstr(p, piece)); p++) n++;
    free(text);
    return n;
}

static void cube_cores_show_pipes_and_flow(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 7, "", CLOCKS, FREQ);
    put_cube_chunk(&b, (const unsigned[]){9, 4000, 1, 2, 3, 4095}, 0xABCDEF, T0);
    put_cube_chunk(&b, (const unsigned[]){99, 100, 501, 2, 4, 4094}, 5, T0 + 50);
    metric_write("instr.group_1_aic.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("{\"name\":\"process_name\",\"pid\":8832,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":"
                             "\"biu_group1\"}}"));
    assert_true(timeline_has("{\"name\":\"process_labels\",\"pid\":8832,\"tid\":0,\"ph\":\"M\",\"args\":{\"labels\":"
                             "\"NPU 0\"}}"));
    assert_true(timeline_has("{\"name\":\"process_sort_index\",\"pid\":8832,\"tid\":0,\"ph\":\"M\",\"args\":"
                             "{\"sort_index\":20}}"));
    assert_true(timeline_has("{\"name\":\"thread_name\",\"pid\":8832,\"tid\":3,\"ph\":\"M\",\"args\":{\"name\":"
                             "\"Bandwidth Write\"}}"));
    assert_true(timeline_has("{\"name\":\"process_name\",\"pid\":5792,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":"
                             "\"aic_core1_group1\"}}"));
    assert_true(timeline_has("{\"name\":\"Latency Read\",\"pid\":8832,\"tid\":0,\"ts\":\"1700000000300000.000\","
                             "\"ph\":\"C\",\"args\":{\"flow\":11259375}}"));
    assert_true(timeline_has("{\"name\":\"Bandwidth Write\",\"pid\":8832,\"tid\":3,\"ts\":\"1700000000300001.000\","
                             "\"ph\":\"C\",\"args\":{\"flow\":8}}"));
    assert_true(timeline_has("{\"name\":\"Scalar\",\"pid\":5792,\"tid\":1,\"ts\":\"1700000000300000.000\",\"dur\":4.0,"
                             "\"ph\":\"X\",\"args\":{\"cycle_num\":4000,\"ratio\":4.0}}"));
    assert_true(timeline_has("{\"name\":\"Scalar\",\"pid\":5792,\"tid\":1,\"ts\":\"1700000000300001.000\",\"dur\":"
                             "0.196,\"ph\":\"X\",\"args\":{\"cycle_num\":196,\"ratio\":0.196}}"));
    assert_true(timeline_has("\"tid\":0,\"ts\":\"1700000000300001.000\",\"dur\":0.0,\"ph\":\"X\",\"args\":"
                             "{\"cycle_num\":0,\"ratio\":0.0}}")); /* no vector unit */
    assert_true(timeline_has("{\"cycle_num\":500,\"ratio\":0.5}"));
    assert_true(timeline_has("{\"cycle_num\":4095,\"ratio\":4.095}"));
    assert_int_equal(count_in_timeline("cycle_num"), 2 * PIPES);
}

static void vector_cores_have_a_time_of_their_own(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 7, "", CLOCKS, "{\"instr_profiling_freq\":1000,\"instrProfilingFreq\":\"400\"}");
    put_vector_chunk(&b, (const unsigned[]){300, 0, 77, 0, 0, 0}, T0);
    put_vector_chunk(&b, (const unsigned[]){500, 0, 88, 0, 0, 0}, 1ull << 49 | 1ull << 37);
    metric_write("instr.group_3_aiv1.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("\"aiv1_core32_group3\""));
    assert_false(timeline_has("biu_group"));
    assert_true(timeline_has("{\"name\":\"Vector\",\"pid\":16000,\"tid\":0,\"ts\":\"1700000000300000.000\",\"dur\":0.6,"
                             "\"ph\":\"X\",\"args\":{\"cycle_num\":300,\"ratio\":0.75}}"));
    assert_true(timeline_has("\"ts\":\"1711261247947495.680\",\"dur\":0.4,\"ph\":\"X\",\"args\":{\"cycle_num\":200"));
    assert_false(timeline_has("\"cycle_num\":77"));
}

/* As its native part has no such track, there is no position to have, but that of the monitor of the Ascend 950. */
static void native_timelines_have_it_as_well(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 5, "", "", FREQ);
    put_cube_chunk(&b, (const unsigned[]){0, 185, 0, 0, 0, 0}, 5, T0);
    metric_write("instr.group_0_aic.0.slice_0", &b);
    assert_int_equal(metric_export(), 0);
    assert_true(timeline_has("{\"name\":\"process_sort_index\",\"pid\":4096,\"tid\":0,\"ph\":\"M\",\"args\":"
                             "{\"sort_index\":32}}"));
    assert_true(timeline_has("\"Scalar\",\"pid\":1024,\"tid\":1,\"ts\":\"1700000000300000.000\",\"dur\":0.1,"));
}

static void chunks_go_on_in_the_next_slice(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 7, "", CLOCKS, FREQ);
    for (unsigned i = 1; i <= 4; i++)
        put_cube_chunk(&b, (const unsigned[]){0, 1000 * i, 0, 0, 0, 0}, 100 * i, T0 + 50 * i);
    write_part("instr.group_0_aic.0.slice_0", &b, 0, 130);
    write_part("instr.group_0_aic.0.slice_1", &b, 130, b.n - 7);
    assert_int_equal(metric_export(), 1); /* the last one is cut */
    assert_int_equal(count_in_timeline("\"cycle_num\":1000,"), 3);
    assert_true(timeline_has("\"ts\":\"1700000000300003.000\",\"ph\":\"C\",\"args\":{\"flow\":300}"));
    assert_false(timeline_has("\"flow\":400"));
}

/* Nobody knows where the counters stood before a record that follows nothing; what flowed is in the record. */
static void records_behind_a_gap_start_anew(void **state)
{
    (void)state;
    struct metric_bytes b = {0}, vector = {0};
    metric_metadata(DEVICE, ".0", 7, "", CLOCKS, FREQ);
    for (unsigned i = 1; i <= 4; i++)
        put_cube_chunk(&b, (const unsigned[]){0, 100 * i, 0, 0, 0, 0}, 1000 * i, T0 + 50 * i);
    write_part("instr.group_0_aic.0.slice_0", &b, 0, 96);
    write_part("instr.group_0_aic.0.slice_2", &b, 192, b.n);
    put_vector_chunk(&vector, (const unsigned[]){3000, 0, 0, 0, 0, 0}, T0);
    put_vector_chunk(&vector, (const unsigned[]){3007, 0, 0, 0, 0, 0}, T0 + 50);
    write_part("instr.group_0_aiv0.0.slice_5", &vector, 20, vector.n); /* the oldest were dropped */
    metric_export();
    assert_int_equal(count_in_timeline("\"cycle_num\":100,"), 2);
    assert_false(timeline_has("\"cycle_num\":200,"));
    assert_true(timeline_has("\"flow\":3000}"));
    assert_false(timeline_has("\"cycle_num\":3000,"));
    assert_false(timeline_has("\"cycle_num\":3007,"));
}

static void without_a_length_there_are_no_ratios(void **state)
{
    (void)state;
    struct metric_bytes b = {0};
    metric_metadata(DEVICE, ".0", 7, "", CLOCKS, "{\"instr_profiling_freq\":0}");
    put_cube_chunk(&b, (const unsigned[]){0, 100, 0, 0, 0, 0}, 1000, T0);
    metric_write("instr.group_0_aic.0.slice_0", &b);
    assert_int_equal(metric_export(), 1);
    assert_true(timeline_has("\"dur\":0.1,\"ph\":\"X\",\"args\":{\"cycle_num\":100}"));
    assert_true(timeline_has("\"flow\":1000}"));
    assert_false(timeline_has("\"ratio\""));
}

static void what_no_core_writes_does_no_harm(void **state)
{
    (void)state;
    struct metric_bytes b = {0}, short_one = {0};
    metric_metadata(DEVICE, ".0", 7, "", "\"aic_frequency\":\"1e-300\",", "{\"instr_profiling_freq\":-1}");
    put_cube_chunk(&b, nothing, 1, 0); /* before the collection */
    put_cube_chunk(&b, (const unsigned[]){0, 4095, 0, 0, 0, 0}, 77, UINT64_MAX);
    for (int i = 0; i < 24; i++) put(&b, 4, UINT32_MAX);
    metric_write("instr.group_4294967295_aic.0.slice_0", &b);
    metric_write("instr.group_4294967295_aiv1.0.slice_0", &b);
    put(&short_one, 8, 1);
    metric_write("instr.group_7_aic.0.slice_0", &short_one);
    metric_export();
    assert_true(timeline_has("\"aiv1_core8589934616_group4294967295\""));
    assert_true(timeline_has("\"flow\":77}"));
    assert_true(timeline_has("\"flow\":16777215}"));
    assert_false(timeline_has("\"flow\":1}"));
    assert_false(timeline_has("group7\""));
}

static int by_value(const void *x, const void *y)
{
    unsigned long a = *(const unsigned long *)x, b = *(const unsigned long *)y;
    return a < b ? -1 : a > b;
}

/* Positions have five bits of a process id, and 24 groups of two devices more processes than that. */
static void processes_have_ids_of_their_own(void **state)
{
    (void)state;
    enum { GROUPS = 24, DEVICES = 2, ALL = DEVICES * (GROUPS * 4 + 1) }; /* and AI Core Freq */
    static const char *const cores[] = {"aic", "aiv0", "aiv1"};
    unsigned long pids[ALL];
    size_t n = 0;
    struct metric_bytes b = {0};
    put_cube_chunk(&b, nothing, 1, T0);
    put_cube_chunk(&b, nothing, 1, T0); /* or three chunks of a vector core */
    for (unsigned device = 0; device < DEVICES; device++) {
        char *dir = mem_printf("PROF_1/device_%u/", device), *suffix = mem_printf(".%u", device);
        metric_metadata(dir, suffix, 7, "", CLOCKS, FREQ);
        for (unsigned i = 0; i < 3 * GROUPS; i++) {
            char *path = mem_printf("%sdata/instr.group_%u_%s.%u.slice_0", dir, i / 3, cores[i % 3], device);
            scratch_bytes(path, b.at, b.n);
            free(path);
        }
        free(suffix);
        free(dir);
    }
    assert_int_equal(metric_export(), 0);
    char *text = metric_read(metric_find("mindstudio_profiler_output/%s_2*.json", "msprof"));
    static const char before[] = "\"process_name\",\"pid\":";
    for (const char *p = text; (p = strstr(p, before)); p++) {
        assert_true(n < ALL);
        pids[n++] = strtoul(p + strlen(before), NULL, 10);
    }
    free(text);
    assert_int_equal(n, ALL);
    qsort(pids, n, sizeof *pids, by_value);
    for (size_t i = 1; i < n; i++) assert_true(pids[i - 1] < pids[i]);
    assert_true(timeline_has("{\"name\":\"process_sort_index\",\"pid\":4737,\"tid\":0,\"ph\":\"M\",\"args\":"
                             "{\"sort_index\":20}}"));
    assert_true(timeline_has("\"sort_index\":211}"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cube_cores_show_pipes_and_flow),   TEST(vector_cores_have_a_time_of_their_own),
        TEST(native_timelines_have_it_as_well), TEST(chunks_go_on_in_the_next_slice),
        TEST(records_behind_a_gap_start_anew),  TEST(without_a_length_there_are_no_ratios),
        TEST(what_no_core_writes_does_no_harm), TEST(processes_have_ids_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
