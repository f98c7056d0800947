/* Opening PROF directories: what is found in a good one, and what becomes of one with pieces missing or broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"
#include "session/metadata.h"
#include "session/session.h"

#define HOST_INFO                                                                                                      \
    "{\"platform_version\":\"5\",\"drvVersion\":467732,\"cannVersion\":\"8.1.RC1\",\"pid\":\"4242\","                  \
    "\"pid_name\":\"train\",\"rank_id\":3,\"hostname\":\"node-1\",\"hostUid\":\"77\","                                 \
    "\"CPU\":[{\"Frequency\":\"48.000000\"},{\"Frequency\":\"100.000000\"}],\"DeviceInfo\":[]}"
#define DEVICE_INFO                                                                                                    \
    "{\"platform_version\":\"5\",\"drvVersion\":467732,\"pid\":\"4242\",\"CPU\":[{\"Frequency\":\"100.000000\"}],"     \
    "\"DeviceInfo\":[{\"hwts_frequency\":\"50.000000\",\"aic_frequency\":\"1800.5\",\"aiv_frequency\":1650,"           \
    "\"ai_core_num\":\"24\",\"aiv_num\":48}]}"
#define SAMPLE                                                                                                         \
    "{\"ai_core_profiling_mode\":\"task-based\",\"ai_core_metrics\":\"PipeUtilization\",\"aiv_metrics\":\"Memory\","   \
    "\"ai_core_profiling_events\":\"0x416,0x9\",\"aiv_profiling_events\":\"0x8\",\"profLevel\":\"l0\","                \
    "\"dynamic\":\"on\",\"taskBlock\":\"off\",\"dataTypeConfig\":13835058058033629255}"
#define START      "{\"collectionTimeBegin\":\"1767225600000000\",\"clockMonotonicRaw\":\"36471129547330\"}"
#define END        "{\"collectionTimeEnd\":\"1767225610000000\",\"clockMonotonicRaw\":\"36481129547330\"}"
#define HOST_START "[Host]\nclock_monotonic_raw: 36471130547330\ncntvct: 3666503140109\ncntvct_diff: 0\n"
#define DEV_START  "clock_monotonic_raw: 700\ncntvct: 1833256145654\n"

static void write_host(void)
{
    scratch_text("host/info.json", HOST_INFO);
    scratch_text("host/info.json.done", "filesize:1\n");
    scratch_text("host/sample.json", SAMPLE);
    scratch_text("host/start_info", START);
    scratch_text("host/end_info", END);
    scratch_text("host/host_start.log", HOST_START);
}

static void write_in(const char *dir, const char *name, unsigned id, const char *text)
{
    char *path = id == UINT32_MAX ? mem_printf("%s/%s", dir, name) : mem_printf("%s/%s.%u", dir, name, id);
    scratch_text(path, text);
    free(path);
}

static void write_device(unsigned id)
{
    char *dir = mem_printf("device_%u", id);
    write_in(dir, "info.json", id, DEVICE_INFO);
    write_in(dir, "sample.json", UINT32_MAX, SAMPLE);
    write_in(dir, "start_info", id, START);
    write_in(dir, "end_info", id, END);
    write_in(dir, "host_start.log", id, HOST_START);
    write_in(dir, "dev_start.log", id, DEV_START);
    free(dir);
}

static void drop(const char *name)
{
    char *path = mem_printf("%s/%s", scratch, name);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static struct diag *notes;

static struct session *open_scratch(void)
{
    struct error err = {0};
    notes = diag_new();
    return session_open(scratch, notes, &err);
}

static void close_scratch(struct session *s)
{
    session_close(s);
    diag_free(notes);
}

static void a_complete_collection(void **state)
{
    (void)state;
    write_host();
    write_device(10);
    write_device(2);
    scratch_text("host/data/aging.compact.task_track.slice_0", "xx");
    scratch_text("device_2/data/stars_soc.data.2.slice_0", "xyz");
    struct session *s = open_scratch();
    assert_non_null(s);
    assert_int_equal(diag_entries(notes, DIAG_INFO), 0);
    assert_int_equal(s->n_devices, 2);
    assert_string_equal(s->devices[0].name, "device_10"); /* names are texts */
    assert_int_equal(s->devices[1].device_id, 2);
    assert_int_equal(s->host->device_id, 64);
    assert_ptr_equal(s->meta, &s->host->meta);
    assert_string_equal(s->chip->npu_name, "Ascend910B");
    assert_true(s->all_export);
    assert_int_equal(s->start_ns, 1767225600000000000);
    assert_int_equal(s->end_ns, 1767225610000000000);
    assert_true(s->has_end);
    assert_int_equal(s->input_bytes, 5);
    assert_int_equal(prof_dir_files(session_device(s, 2), INPUT_STARS_SOC)->n, 1);
    assert_int_equal(prof_dir_files(NULL, INPUT_STARS_SOC)->n, 0);
    assert_null(session_device(s, 3));
    close_scratch(s);
}

static void facts_of_the_metadata(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    struct session *s = open_scratch();
    const struct metadata *h = s->meta, *d = &s->devices[0].meta;
    assert_int_equal(h->platform_version, 5);
    assert_int_equal(h->cann_major, 8);
    assert_int_equal(h->cann_minor, 1);
    assert_int_equal(d->cann_major, -1);
    assert_int_equal(h->pid, 4242);
    assert_string_equal(h->pid_name, "train");
    assert_int_equal(h->rank_id, 3);
    assert_string_equal(h->hostname, "node-1");
    assert_string_equal(h->host_uid, "77");
    assert_string_equal(d->host_uid, "0");
    assert_int_equal(d->rank_id, -1);
    assert_true(d->aic_mhz == 1800.5 && d->aiv_mhz == 1650);
    assert_int_equal(d->ai_core_num, 24);
    assert_int_equal(d->aiv_num, 48);
    assert_string_equal(d->ai_core_mode, "task-based");
    assert_string_equal(d->aic_metrics, "PipeUtilization");
    assert_string_equal(d->aiv_metrics, "Memory");
    assert_int_equal(d->n_aic_events, 2);
    assert_int_equal(d->aic_events[0], 0x416);
    assert_int_equal(d->aic_events[1], 9);
    assert_int_equal(d->aic_events[2], 0);
    assert_int_equal(d->n_aiv_events, 1);
    assert_true(d->level0 && d->dynamic && !d->task_block);
    assert_int_equal(s->devices[0].clock.device_hz, 50000000);
    assert_int_equal(s->host->clock.host_hz, 100000000); /* the last CPU */
    assert_int_equal(clock_device_ns(&s->devices[0].clock, 1833256145654 + 5003), 1767225600001100060);
    assert_int_equal(clock_host_ns(&s->host->clock, 3666503140109 + 1000), 1767225600001010000);
    assert_int_equal(s->devices[0].clock.device_mono_ns, 700);
    close_scratch(s);
}

static void host_only_and_device_only(void **state)
{
    (void)state;
    write_host();
    struct session *s = open_scratch();
    assert_non_null(s->host);
    assert_int_equal(s->n_devices, 0);
    close_scratch(s);
    assert_int_equal(scratch_drop(NULL), 0);
    assert_int_equal(scratch_make(NULL), 0);
    write_device(1);
    s = open_scratch();
    assert_null(s->host);
    assert_ptr_equal(s->meta, &s->devices[0].meta);
    assert_int_equal(diag_entries(notes, DIAG_INFO), 0);
    close_scratch(s);
}

static void device_without_info_borrows(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    drop("device_0/info.json.0"); /* written when a collection stops: an interrupted one lacks it */
    struct session *s = open_scratch();
    assert_int_equal(s->n_devices, 1);
    assert_int_equal(s->devices[0].chip->id, 5);
    assert_int_equal(s->devices[0].clock.device_hz, 50000000);
    assert_true(s->all_export);
    assert_true(noted(notes, "device_0", "info.json"));
    close_scratch(s);
}

static void device_without_info_prefers_another_device(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    write_device(1);
    drop("device_0/info.json.0");
    scratch_text("device_1/info.json.1", "{\"platform_version\":\"5\",\"drvVersion\":1,\"CPU\":[{\"Frequency\":\"\"}],"
                                         "\"DeviceInfo\":[{\"hwts_frequency\":\"49.999001\",\"ai_core_num\":20}]}");
    struct session *s = open_scratch();
    assert_int_equal(s->devices[0].clock.device_hz, 49999001);
    assert_int_equal(s->devices[0].meta.ai_core_num, 20);
    assert_true(s->devices[0].clock.host_is_ns);
    assert_false(s->all_export);
    close_scratch(s);
}

static void device_without_start_logs_is_left_out(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    write_device(1);
    write_device(2);
    drop("device_0/dev_start.log.0");
    drop("device_1/host_start.log.1");
    struct session *s = open_scratch();
    assert_int_equal(s->n_devices, 1);
    assert_int_equal(s->devices[0].device_id, 2);
    assert_true(noted(notes, "device_0", "dev_start.log"));
    assert_true(noted(notes, "device_1", "host_start.log"));
    assert_int_equal(diag_entries(notes, DIAG_ERROR), 2);
    close_scratch(s);
}

static void nothing_usable_is_an_error(void **state)
{
    (void)state;
    write_device(0);
    drop("device_0/dev_start.log.0");
    assert_null(open_scratch());
    diag_free(notes);
}

static void start_info_of_a_sibling(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    scratch_text("device_0/start_info.0", "{\"collectionTimeBegin\":\"\",\"clockMonotonicRaw\":\"1\"}");
    drop("device_0/sample.json");
    struct session *s = open_scratch();
    assert_int_equal(s->devices[0].clock.epoch_offset_ns, s->host->clock.epoch_offset_ns);
    assert_string_equal(s->devices[0].meta.aic_metrics, "PipeUtilization");
    assert_true(noted(notes, "device_0", "no usable start_info: that of host is used"));
    assert_true(noted(notes, "device_0", "no usable sample.json: that of host is used"));
    close_scratch(s);
}

static void no_start_info_at_all(void **state)
{
    (void)state;
    write_host();
    drop("host/start_info");
    struct session *s = open_scratch();
    assert_int_equal(s->start_ns, 0);
    assert_int_equal(clock_host_ns(&s->host->clock, 3666503140109), 36471130547330);
    assert_true(noted(notes, "host", "start_info"));
    close_scratch(s);
}

static void no_end_info_means_half_an_hour(void **state)
{
    (void)state;
    write_host();
    drop("host/end_info");
    struct session *s = open_scratch();
    assert_false(s->has_end);
    assert_int_equal(s->end_ns, s->start_ns + 30ll * 60 * 1000000000);
    close_scratch(s);
}

static void host_start_log_of_a_device(void **state)
{
    (void)state;
    write_host();
    write_device(0);
    drop("host/host_start.log");
    struct session *s = open_scratch();
    assert_int_equal(clock_host_ns(&s->host->clock, 3666503140109 + 1000), 1767225600001010000);
    assert_true(noted(notes, "host", "host_start.log"));
    close_scratch(s);
}

static void host_counts_in_ns_need_no_start_log(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/info.json", "{\"platform_version\":\"5\",\"CPU\":[{\"Frequency\":\"\"}]}");
    drop("host/host_start.log");
    struct session *s = open_scratch();
    assert_true(s->host->clock.host_is_ns);
    assert_int_equal(clock_host_ns(&s->host->clock, 36471129547330 + 5), 1767225600000000005);
    assert_int_equal(diag_entries(notes, DIAG_INFO), 0);
    close_scratch(s);
}

static void counter_difference_moves_the_reference(void **state)
{
    (void)state;
    write_device(0);
    scratch_text("device_0/host_start.log.0",
                 "[Device0]\r\nclock_monotonic_raw:  1000 \r\ncntvct: 5\r\ncntvct_diff: 1463\r\nclock_realtime: 1\r\n");
    struct session *s = open_scratch();
    assert_int_equal(s->devices[0].clock.mono_ns, 1000 + 14630);
    close_scratch(s);
}

static void own_number_wins_among_several(void **state)
{
    (void)state;
    write_device(1);
    scratch_text("device_1/info.json", "{}");
    scratch_text("device_1/info.json.0", "{}");
    scratch_text("device_1/info.json.1.zip", "{}");
    struct session *s = open_scratch();
    assert_int_equal(s->devices[0].meta.pid, 4242);
    close_scratch(s);
}

static void unlikely_types_and_broken_files(void **state)
{
    (void)state;
    static const char *const infos[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"platform_version\":5",
        "{\"platform_version\":[],\"CPU\":{},\"DeviceInfo\":7}",
        "{\"platform_version\":1e300,\"pid\":-1,\"drvVersion\":-5,\"CPU\":[7],\"DeviceInfo\":[[]],\"rank_id\":{}}",
        "{\"platform_version\":\"5x\",\"cannVersion\":\"8\",\"pid\":\"NA\",\"hostname\":12,\"hostUid\":1.5}",
        "{\"CPU\":[{\"Frequency\":\"nan\"}],\"DeviceInfo\":[{\"hwts_frequency\":\"-1\",\"aic_frequency\":\"x\"}]}",
        "{\"CPU\":[{\"Frequency\":1e99}],\"DeviceInfo\":[{\"hwts_frequency\":0}]}",
    };
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        write_host();
        write_device(0);
        scratch_text("host/info.json", infos[i]);
        scratch_text("host/sample.json", infos[i]);
        scratch_text("host/end_info", infos[i]);
        scratch_text("device_0/info.json.0", infos[i]);
        struct session *s = open_scratch();
        assert_non_null(s);
        assert_true(s->host->clock.host_hz > 0);
        assert_non_null(s->chip);
        assert_int_equal(s->meta->pid, 0);
        assert_false(s->all_export);
        assert_true(diag_entries(notes, DIAG_WARNING) > 0);
        close_scratch(s);
    }
}

static void numbers_as_numbers(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/info.json", "{\"platform_version\":5,\"drvVersion\":\"467473\",\"pid\":7,\"hostname\":12,"
                                   "\"CPU\":[{\"Frequency\":1000}]}\ntrailing text");
    scratch_text("host/start_info",
                 "{\"collectionTimeBegin\":1767225600000000,\"clockMonotonicRaw\":17889966127518261}");
    struct session *s = open_scratch();
    assert_int_equal(s->chip->id, 5);
    assert_true(s->all_export);
    assert_int_equal(s->meta->pid, 7);
    assert_string_equal(s->meta->hostname, "12");
    assert_true(s->host->clock.host_is_ns);
    assert_int_equal(s->meta->start_raw_ns, 17889966127518261);
    close_scratch(s);
}

static void text_that_is_no_utf8_costs_nothing_else(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/sample.json", "{\"app_dir\":\"/home/\xB2\xE2\xCA\xD4\",\"ai_core_metrics\":\"Memory\"}");
    struct session *s = open_scratch();
    assert_string_equal(s->meta->aic_metrics, "Memory");
    close_scratch(s);
}

static void unknown_chip_still_opens(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/info.json", "{\"platform_version\":\"99\",\"CPU\":[{\"Frequency\":\"\"}]}");
    struct session *s = open_scratch();
    assert_string_equal(s->chip->npu_name, "UNKNOWN");
    assert_true(noted(notes, "host", "unknown chip"));
    close_scratch(s);
}

static void more_events_than_counters(void **state)
{
    (void)state;
    write_device(0);
    scratch_text("device_0/sample.json", "{\"ai_core_profiling_events\":\"1,2,3,4,5,6,7,8,9,a,b,c,0xffffffffff\"}");
    struct session *s = open_scratch();
    assert_int_equal(s->devices[0].meta.n_aic_events, 13);
    assert_int_equal(s->devices[0].meta.aic_events[PMU_MAX_EVENTS - 1], 10);
    assert_int_equal(s->devices[0].meta.aiv_events[0], 0);
    close_scratch(s);
}

static void links_are_not_followed(void **state)
{
    (void)state;
    write_host();
    scratch_text("elsewhere/stars", "0123");
    scratch_text("host/data/aging.compact.task_track.slice_0", "0123");
    char *target = mem_printf("%s/elsewhere/stars", scratch);
    char *link = mem_printf("%s/host/data/aging.compact.task_track.slice_1", scratch);
    char *device = mem_printf("%s/device_0", scratch), *info = mem_printf("%s/host/info.json", scratch);
    char *pipe = mem_printf("%s/host/data/aging.compact.memcpy_info.slice_0", scratch);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(symlink("host", device), 0);
    assert_int_equal(rename(info, target), 0);
    assert_int_equal(symlink(target, info), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    struct session *s = open_scratch();
    assert_int_equal(prof_dir_files(s->host, INPUT_TASK_TRACK)->n, 1);
    assert_int_equal(prof_dir_files(s->host, INPUT_MEMCPY_INFO)->n, 0);
    assert_int_equal(s->n_devices, 0);
    assert_int_equal(s->meta->pid, 0);
    assert_true(noted(notes, "host/data/aging.compact.task_track.slice_1", "not a regular file"));
    assert_true(noted(notes, "host/data/aging.compact.memcpy_info.slice_0", "not a regular file"));
    assert_true(noted(notes, "host/info.json", "not a regular file"));
    assert_true(noted(notes, "device_0", "not a directory"));
    close_scratch(s);
    char *all[] = {target, link, device, info, pipe};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void names_of_inputs(void **state)
{
    (void)state;
    struct input_name n;
    assert_int_equal(input_match("unaging.api_event.data.slice_12", SIDE_HOST, &n), 0);
    assert_true(n.id == INPUT_API_EVENT && n.slice == 12 && !n.aging);
    assert_int_equal(input_match("aging.variable.capture_op_info.slice_0", SIDE_HOST, &n), 0);
    assert_true(n.id == INPUT_CAPTURE_OP_INFO_VARIABLE && n.aging);
    assert_int_equal(input_match("aging.additional.capture_op_info.slice_0", SIDE_HOST, &n), 0);
    assert_true(n.id == INPUT_CAPTURE_OP_INFO);
    assert_int_equal(input_match("stars_soc.data.10.slice_3", SIDE_DEVICE, &n), 0);
    assert_true(n.id == INPUT_STARS_SOC && n.slice == 3 && !n.aging);
    static const struct {
        const char *name;
        enum input_side side;
        struct input_name is;
    } others[] = {
        {"4242-Memory.data.1.slice_5", SIDE_DEVICE, {.id = INPUT_PROCESS_MEM, .slice = 5, .number = 4242}},
        {"Memory.data.1.slice_5", SIDE_DEVICE, {.id = INPUT_SYSTEM_MEM, .slice = 5}},
        {"77-CpuUsage.data.slice_0", SIDE_HOST, {.id = INPUT_HOST_PROCESS_CPU, .number = 77}},
        {"host_cpu.data.slice_2", SIDE_HOST, {.id = INPUT_HOST_CPU, .slice = 2}},
        {"npu_mem.app.0.slice_1", SIDE_DEVICE, {.id = INPUT_NPU_MEM_APP, .slice = 1}},
        {"instr.group_3_aiv1.0.slice_0", SIDE_DEVICE, {.id = INPUT_BIU_PERF, .number = 3, .core = CORE_AIV1}},
        {"instr.biu_perf_group12_aic.0.slice_4", SIDE_DEVICE, {.id = INPUT_BIU_PERF, .slice = 4, .number = 12}},
        {"ccu1.stat.0.slice_0", SIDE_DEVICE, {.id = INPUT_CCU_STAT, .number = 1}},
        {"DATA_PREPROCESS.AICPU.0.slice_0", SIDE_DEVICE, {.id = INPUT_DATA_PREPROCESS_AICPU}},
        {"DATA_PREPROCESS.dev.AICPU_MODEL.0.slice_0", SIDE_DEVICE, {.id = INPUT_DATA_PREPROCESS_AICPU_MODEL}},
        {"hbm.data.7.dev.profiler_default_tag.0.slice_9", SIDE_DEVICE, {.id = INPUT_HBM, .slice = 9}},
        {"ddr.data.7.0.3", SIDE_DEVICE, {.id = INPUT_DDR, .slice = 3}},
        {"hwts.log.data.45.0.2", SIDE_DEVICE, {.id = INPUT_HWTS, .slice = 2}},
        {"model.a.dbg", SIDE_HOST, {.id = INPUT_DBG}},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(input_match(others[i].name, others[i].side, &n), 0);
        assert_true(n.id == others[i].is.id && n.slice == others[i].is.slice && n.number == others[i].is.number);
        assert_true(n.core == others[i].is.core);
    }
    static const char *const no_inputs[] = {
        "stars_soc.data.0.slice_0.done",    "stars_soc.data.0.slice_0.complete",
        "stars_soc.data.0.slice_0.zip",     "stars_soc.data.x.slice_0",
        "stars_soc.data.0.slice_",          "stars_soc.data.0.slice_99999999999",
        "stars_soc_unheard.data.0.slice_0", "stars_soc.data.slice_0",
        "aging.compact.task_track.slice_0", "",
    };
    for (size_t i = 0; i < sizeof no_inputs / sizeof *no_inputs; i++)
        assert_int_equal(input_match(no_inputs[i], SIDE_DEVICE, &n), -1);
    assert_int_equal(input_match("aging.compact.unheard_of.slice_0", SIDE_HOST, &n), -1);
    assert_int_equal(input_match("compact.task_track.slice_0", SIDE_HOST, &n), -1);
    for (int i = 0; i < INPUT_COUNT; i++) {
        assert_int_equal(input_kind((enum input_id)i)->id, i);
        assert_non_null(input_kind((enum input_id)i)->tag);
    }
}

static void files_of_processes_are_streams_of_their_own(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/data/9-Memory.data.slice_0", "1");
    scratch_text("host/data/9-Memory.data.slice_1", "2");
    scratch_text("host/data/10-Memory.data.slice_0", "3");
    scratch_text("host/data/b.dbg", "5");
    scratch_text("host/data/a.dbg", "4");
    struct session *s = open_scratch();
    const struct input_files *f = prof_dir_files(s->host, INPUT_HOST_PROCESS_MEM),
                             *dbg = prof_dir_files(s->host, INPUT_DBG);
    assert_int_equal(f->n, 3);
    uint32_t numbers[] = {9, 9, 10};
    for (size_t i = 0; i < 3; i++) assert_int_equal(f->at[i].number, numbers[i]);
    assert_false(f->at[2].gap);
    assert_int_equal(dbg->n, 2);
    assert_string_equal(dbg->at[0].shown, "host/data/a.dbg");
    close_scratch(s);
}

static void reading_order_and_missing_slices(void **state)
{
    (void)state;
    write_host();
    scratch_text("host/data/aging.compact.task_track.slice_10", "0123");
    scratch_text("host/data/aging.compact.task_track.slice_9", "");
    scratch_text("host/data/aging.compact.task_track.slice_8", "01");
    scratch_text("host/data/aging.compact.task_track.slice_5", "0");
    scratch_text("host/data/aging.compact.task_track.slice_5.bak", "0");
    scratch_text("host/data/unaging.compact.task_track.slice_0", "012");
    struct session *s = open_scratch();
    const struct input_files *f = prof_dir_files(s->host, INPUT_TASK_TRACK);
    assert_int_equal(f->n, 4);
    assert_int_equal(f->bytes, 10);
    assert_string_equal(f->at[0].shown, "host/data/unaging.compact.task_track.slice_0");
    uint32_t slices[] = {0, 5, 8, 10};
    bool gaps[] = {false, false, true, false};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f->at[i].slice, slices[i]);
        assert_int_equal(f->at[i].gap, gaps[i]);
        assert_int_equal(f->at[i].aging, i > 0);
    }
    assert_true(noted(notes, "host/data/aging.compact.task_track.slice_8", "slices 6 to 7 before it are missing"));
    assert_true(noted(notes, "host/data/aging.compact.task_track.slice_5", "oldest slices were dropped"));
    assert_true(noted(notes, "host/data/aging.compact.task_track.slice_5.bak", "another file"));
    assert_int_equal(diag_entries(notes, DIAG_WARNING), 2);
    close_scratch(s);
}

static void discovery(void **state)
{
    (void)state;
    struct error err = {0};
    char **paths;
    size_t n;
    assert_int_equal(session_discover("/nonexistent", &paths, &n, &err), -1);
    assert_int_equal(session_discover(scratch, &paths, &n, &err), -1); /* empty */
    scratch_text("PROF_2/host/info.json", HOST_INFO);
    scratch_text("PROF_1/device_0/info.json.0.done", "");
    scratch_text("unrelated/folder/file", "");
    scratch_text("analyze/host/info.json", "");
    scratch_text("deep/PROF_3/host/info.json", "");
    char *with_slash = mem_printf("%s///", scratch);
    assert_int_equal(session_discover(with_slash, &paths, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_string_equal(paths[0] + strlen(scratch), "/PROF_1");
    assert_string_equal(paths[1] + strlen(scratch), "/PROF_2");
    char **one;
    assert_int_equal(session_discover(paths[1], &one, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(one[0], paths[1]);
    char *host = mem_printf("%s/host", paths[1]);
    char **none;
    assert_int_equal(session_discover(host, &none, &n, &err), -1);
    char *all[] = {with_slash, paths[0], paths[1], one[0], host};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(one);
    free(paths);
}

static void chip_table_is_sound(void **state)
{
    (void)state;
    unsigned n;
    const struct chip *all = chip_all(&n);
    assert_int_equal(n, 12);
    for (unsigned i = 0; i < n; i++) {
        assert_ptr_equal(chip_find(all[i].id), &all[i]);
        assert_true(all[i].pmu_counters <= PMU_MAX_EVENTS);
        assert_int_equal(all[i].stars, all[i].stars_record > 0);
        assert_true(all[i].sqe_names[0] || all[i].sqe_unknown);
        assert_int_equal(all[i].task_log == TASK_LOG_STARS, all[i].stars);
    }
    assert_null(chip_find(6));
    assert_null(chip_find(-1));
    assert_non_null(chip_unknown()->sqe_names);
    assert_string_equal(chip_find(5)->sqe_names[7], "NOTIFY_WAIT_SQE");
    assert_null(chip_find(5)->sqe_names[21]);
    assert_string_equal(chip_find(15)->sqe_names[21], "END_SQE");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_make, scratch_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_complete_collection),
        TEST(facts_of_the_metadata),
        TEST(host_only_and_device_only),
        TEST(device_without_info_borrows),
        TEST(device_without_info_prefers_another_device),
        TEST(device_without_start_logs_is_left_out),
        TEST(nothing_usable_is_an_error),
        TEST(start_info_of_a_sibling),
        TEST(no_start_info_at_all),
        TEST(no_end_info_means_half_an_hour),
        TEST(host_start_log_of_a_device),
        TEST(host_counts_in_ns_need_no_start_log),
        TEST(counter_difference_moves_the_reference),
        TEST(own_number_wins_among_several),
        TEST(unlikely_types_and_broken_files),
        TEST(numbers_as_numbers),
        TEST(text_that_is_no_utf8_costs_nothing_else),
        TEST(unknown_chip_still_opens),
        TEST(more_events_than_counters),
        TEST(links_are_not_followed),
        TEST(names_of_inputs),
        TEST(reading_order_and_missing_slices),
        TEST(files_of_processes_are_streams_of_their_own),
        TEST(discovery),
        TEST(chip_table_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
