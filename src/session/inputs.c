/* The kinds of raw data files, one row each, and the search for them.
 *
 * A name is matched against the patterns of a row, alternatives separated by '|': text that must be there, and
 *
 *     %a  "aging." or "unaging."      %d  a number that says nothing new: the device
 *     %s  the slice number            %n  a number that tells streams apart: process, group, die
 *     %c  a core: aic, aiv0, aiv1     %*  anything
 *
 * "aging.compact.task_track.slice_12", "stars_soc.data.0.slice_3", "4242-Memory.data.0.slice_0". What is found is put
 * in reading order, kind by kind. */
#include "session/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* The usual form, and those of early collectors. */
#define DEVICE_NAME(tag, family)                                                                                       \
    tag "." family ".%d.slice_%s|" tag "." family ".%d.dev.profiler_default_tag.%d.slice_%s|" tag "." family ".%d.%d." \
        "%s"
#define PREPROCESS_NAME(tag) "DATA_PREPROCESS." tag ".%d.slice_%s|DATA_PREPROCESS.dev." tag ".%d.slice_%s"

static const struct input_kind kinds[INPUT_COUNT] = {
#define KIND(id, side, tag, pattern, size) [id] = {id, side, tag, pattern, size}
#define HOST(id, family, tag, size)        KIND(id, SIDE_HOST, tag, "%a" family "." tag ".slice_%s", size)
#define USAGE(id, tag)                     KIND(id, SIDE_HOST, tag, tag ".data.slice_%s", 0)
#define DEVICE(id, tag, size)              KIND(id, SIDE_DEVICE, tag, DEVICE_NAME(tag, "data"), size)
#define PREPROCESS(id, tag, size)          KIND(id, SIDE_DEVICE, "DATA_PREPROCESS." tag, PREPROCESS_NAME(tag), size)
    HOST(INPUT_API_EVENT, "api_event", "data", 40),
    HOST(INPUT_HASH_DIC, "additional", "hash_dic", 0),
    HOST(INPUT_TYPE_INFO_DIC, "additional", "type_info_dic", 0),
    HOST(INPUT_TASK_TRACK, "compact", "task_track", 64),
    HOST(INPUT_MEMCPY_INFO, "compact", "memcpy_info", 64),
    HOST(INPUT_NODE_BASIC_INFO, "compact", "node_basic_info", 64),
    HOST(INPUT_NODE_ATTR_INFO, "compact", "node_attr_info", 64),
    HOST(INPUT_HCCL_OP_INFO, "compact", "hccl_op_info", 64),
    HOST(INPUT_CAPTURE_STREAM_INFO, "compact", "capture_stream_info", 64),
    HOST(INPUT_EXPAND_STREAM_SPEC, "compact", "expand_stream_spec", 64),
    HOST(INPUT_DPU_TRACK, "compact", "dpu_track", 64),
    HOST(INPUT_TENSOR_INFO, "additional", "tensor_info", 256),
    HOST(INPUT_CONTEXT_ID_INFO, "additional", "context_id_info", 256),
    HOST(INPUT_FUSION_OP_INFO, "additional", "fusion_op_info", 256),
    HOST(INPUT_GRAPH_ID_MAP, "additional", "graph_id_map", 256),
    HOST(INPUT_HCCL_INFO, "additional", "hccl_info", 256),
    HOST(INPUT_LOGIC_STREAM_INFO, "additional", "logic_stream_info", 256),
    HOST(INPUT_MC2_COMM_INFO, "additional", "mc2_comm_info", 256),
    HOST(INPUT_MULTI_THREAD, "additional", "Multi_Thread", 256),
    HOST(INPUT_MEMORY_APPLICATION, "additional", "memory_application", 256),
    HOST(INPUT_STATIC_OP_MEM, "additional", "static_op_mem", 256),
    HOST(INPUT_TASK_MEMORY_INFO, "additional", "task_memory_info", 256),
    HOST(INPUT_MSPROFTX, "additional", "msproftx", 256),
    HOST(INPUT_DPU_HCCL_INFO, "additional", "dpu_hccl_info", 256),
    HOST(INPUT_CCU_TASK_INFO, "additional", "ccu_task_info", 256),
    HOST(INPUT_CCU_WAIT_SIGNAL_INFO, "additional", "ccu_wait_signal_info", 256),
    HOST(INPUT_CCU_GROUP_INFO, "additional", "ccu_group_info", 256),
    HOST(INPUT_CAPTURE_OP_INFO, "additional", "capture_op_info", 256),
    HOST(INPUT_CAPTURE_OP_INFO_VARIABLE, "variable", "capture_op_info", 0),
    HOST(INPUT_MODEL_EXEOM, "additional", "model_exeom", 256),
    KIND(INPUT_DBG, SIDE_HOST, "dbg", "%*.dbg", 0),
    USAGE(INPUT_HOST_CPU, "host_cpu"),
    USAGE(INPUT_HOST_MEM, "host_mem"),
    USAGE(INPUT_HOST_DISK, "host_disk"),
    USAGE(INPUT_HOST_NETWORK, "host_network"),
    USAGE(INPUT_HOST_SYSCALL, "host_syscall"),
    USAGE(INPUT_HOST_PTHREADCALL, "host_pthreadcall"),
    USAGE(INPUT_HOST_SYS_CPU, "host_sys_cpu"),
    USAGE(INPUT_HOST_SYS_MEM, "host_sys_mem"),
    KIND(INPUT_HOST_PROCESS_CPU, SIDE_HOST, "CpuUsage", "%n-CpuUsage.data.slice_%s", 0),
    KIND(INPUT_HOST_PROCESS_MEM, SIDE_HOST, "Memory", "%n-Memory.data.slice_%s", 0),
    DEVICE(INPUT_STARS_SOC, "stars_soc", 0),
    DEVICE(INPUT_FFTS_PROFILE, "ffts_profile", 128),
    DEVICE(INPUT_TS_TRACK, "ts_track", 40),
    KIND(INPUT_TS_TRACK_AIV, SIDE_DEVICE, "ts_track.aiv_data", DEVICE_NAME("ts_track", "aiv_data"), 40),
    KIND(INPUT_HWTS, SIDE_DEVICE, "hwts",
         "hwts.data.%d.slice_%s|hwts.log.data.%d.%d.%s|hwts.log.data.%d.dev.profiler_default_tag.%d.slice_%s|"
         "hwts.log.data.%d.host.profiler_default_tag.%d.slice_%s",
         64),
    KIND(INPUT_HWTS_AIV, SIDE_DEVICE, "hwts.aiv_data", "hwts.aiv_data.%d.slice_%s|hwts.log.aiv.data.%d.%d.%s", 64),
    DEVICE(INPUT_AICORE, "aicore", 0),
    DEVICE(INPUT_AI_VECTOR_CORE, "aiVectorCore", 0),
    DEVICE(INPUT_NANO_STARS_PROFILE, "nano_stars_profile", 64),
    DEVICE(INPUT_LPM_FREQ_CONV, "lpmFreqConv", 888),
    DEVICE(INPUT_LPM_INFO_CONV, "lpmInfoConv", 888),
    DEVICE(INPUT_AICPU, "aicpu", 256),
    PREPROCESS(INPUT_DATA_PREPROCESS_AICPU, "AICPU", 128),
    PREPROCESS(INPUT_DATA_PREPROCESS_DP, "DP", 128),
    PREPROCESS(INPUT_DATA_PREPROCESS_AICPUMI, "AICPUMI", 0),
    PREPROCESS(INPUT_DATA_PREPROCESS_AICPU_MODEL, "AICPU_MODEL", 64),
    KIND(INPUT_DEVICE_QUEUE, SIDE_DEVICE, "Framework.device_queue", "Framework.device_queue.%d.slice_%s", 0),
    KIND(INPUT_DATASET_ITERATOR, SIDE_DEVICE, "Framework.dataset_iterator", "Framework.dataset_iterator.%d.slice_%s",
         0),
    KIND(INPUT_PARALLEL_STRATEGY, SIDE_DEVICE, "Framework.parallel_strategy", "Framework.parallel_strategy.%d.slice_%s",
         0),
    KIND(INPUT_BIU_PERF, SIDE_DEVICE, "instr", "instr.group_%n_%c.%d.slice_%s|instr.biu_perf_group%n_%c.%d.slice_%s",
         0),
    KIND(INPUT_CCU_INSTR, SIDE_DEVICE, "ccu.instr", "ccu%n.instr.%d.slice_%s", 64),
    KIND(INPUT_CCU_STAT, SIDE_DEVICE, "ccu.stat", "ccu%n.stat.%d.slice_%s", 2816),
    DEVICE(INPUT_STARS_SOC_PROFILE, "stars_soc_profile", 64),
    DEVICE(INPUT_L2_CACHE, "l2_cache", 0),
    DEVICE(INPUT_SOC_PMU, "socpmu", 80),
    DEVICE(INPUT_DDR, "ddr", 20),
    DEVICE(INPUT_HBM, "hbm", 0),
    DEVICE(INPUT_LLC, "llc", 24),
    DEVICE(INPUT_HCCS, "hccs", 0),
    DEVICE(INPUT_PCIE, "pcie", 96),
    DEVICE(INPUT_NIC, "nic", 0),
    DEVICE(INPUT_ROCE, "roce", 0),
    DEVICE(INPUT_NETDEV_STATS, "netdev_stats", 0),
    DEVICE(INPUT_UB, "ub", 128),
    DEVICE(INPUT_QOS, "qos", 64),
    DEVICE(INPUT_DVPP, "dvpp", 0),
    DEVICE(INPUT_NPU_MEM, "npu_mem", 32),
    KIND(INPUT_NPU_MEM_APP, SIDE_DEVICE, "npu_mem.app", "npu_mem.app.%d.slice_%s", 32),
    DEVICE(INPUT_NPU_MODULE_MEM, "npu_module_mem", 24),
    DEVICE(INPUT_TS_CPU, "tscpu", 0),
    DEVICE(INPUT_AI_CTRL_CPU, "ai_ctrl_cpu", 0),
    KIND(INPUT_CTRL_CPU, SIDE_DEVICE, "ctrlcpu",
         "ctrlcpu.data.txt.%d.%s|ctrlcpu.data.txt.dev.profiler_default_tag.%d.slice_%s", 0),
    DEVICE(INPUT_SYSTEM_CPU, "SystemCpuUsage", 0),
    DEVICE(INPUT_SYSTEM_MEM, "Memory", 0),
    KIND(INPUT_PROCESS_CPU, SIDE_DEVICE, "CpuUsage", "%n-CpuUsage.data.%d.slice_%s", 0),
    KIND(INPUT_PROCESS_MEM, SIDE_DEVICE, "Memory", "%n-Memory.data.%d.slice_%s", 0),
#undef KIND
#undef HOST
#undef USAGE
#undef DEVICE
#undef PREPROCESS
};

const struct input_kind *input_kind(enum input_id id)
{
    return &kinds[id];
}

/* Step *at over `text`; false when something else is there. */
static bool skip(const char **at, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*at, text, n)) return false;
    *at += n;
    return true;
}

/* Step *at over a decimal number that fits 32 bits. */
static bool skip_number(const char **at, uint32_t *value)
{
    uint64_t v = 0;
    const char *p = *at;
    for (; *p >= '0' && *p <= '9' && v <= UINT32_MAX; p++) v = v * 10 + (uint64_t)(*p - '0');
    if (p == *at || v > UINT32_MAX) return false;
    *at = p;
    *value = (uint32_t)v;
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static bool skip_core(const char **at, enum input_core *core)
{
    static const char *const cores[] = {[CORE_AIC] = "aic", [CORE_AIV0] = "aiv0", [CORE_AIV1] = "aiv1"};
    for (unsigned i = 0; i < sizeof cores / sizeof *cores; i++) {
        if (!skip(at, cores[i])) continue;
        *core = (enum input_core)i;
        return true;
    }
    return false;
}

static bool skip_prefix(const char **at, bool *aging)
{
    *aging = skip(at, "aging.");
    return *aging || skip(at, "unaging.");
}

/* Step *at over as much as stands before the text that goes on in the pattern. */
static bool skip_anything(const char **at, const char *pattern)
{
    const char *next = NULL;
    for (const char *p = strstr(*at, pattern); p; p = strstr(p + 1, pattern)) next = p;
    if (!next || next == *at) return false;
    *at = next;
    return true;
}

/* Does the name begin with what the pattern says, up to its end or the next '|'? */
static bool match_pattern(const char *pattern, const char *at, struct input_name *parsed)
{
    uint32_t device;
    for (; *pattern && *pattern != '|'; pattern++) {
        if (*pattern != '%') {
            if (*at++ != *pattern) return false;
            continue;
        }
        switch (*++pattern) {
        case 'a':
            if (!skip_prefix(&at, &parsed->aging)) return false;
            break;
        case 'd':
            if (!skip_number(&at, &device)) return false;
            break;
        case 'n':
            if (!skip_number(&at, &parsed->number)) return false;
            break;
        case 's':
            if (!skip_number(&at, &parsed->slice)) return false;
            break;
        case 'c':
            if (!skip_core(&at, &parsed->core)) return false;
            break;
        default:
            if (!skip_anything(&at, pattern + 1)) return false;
        }
    }
    return true;
}

static bool match_kind(const struct input_kind *k, const char *name, struct input_name *parsed)
{
    for (const char *pattern = k->pattern; pattern; pattern = strchr(pattern, '|')) {
        if (*pattern == '|') pattern++;
        *parsed = (struct input_name){.id = k->id};
        if (match_pattern(pattern, name, parsed)) return true;
    }
    return false;
}

int input_match(const char *name, enum input_side side, struct input_name *parsed)
{
    if (ends_with(name, ".done") || ends_with(name, ".complete") || ends_with(name, ".zip")) return -1;
    for (int i = 0; i < INPUT_COUNT; i++)
        if (kinds[i].side == side && match_kind(&kinds[i], name, parsed)) return 0;
    return -1;
}

/* Reading order; the plain name first where two files claim the same slice. */
static int by_reading_order(const void *x, const void *y)
{
    const struct input_file *a = x, *b = y;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    if (a->core != b->core) return a->core < b->core ? -1 : 1;
    if (a->aging != b->aging) return a->aging - b->aging;
    if (a->slice != b->slice) return a->slice < b->slice ? -1 : 1;
    return strcmp(a->path, b->path);
}

static void file_free(struct input_file *f)
{
    free(f->path);
    free(f->shown);
}

/* Slices that are not there. A collection with a storage limit drops its oldest slices, so that a missing front is in
 * order; a hole is not. */
static void note_missing(struct input_file *f, const struct input_file *previous, struct diag *diag)
{
    uint32_t expected = previous ? previous->slice + 1 : 0;
    if (f->slice == expected) return;
    f->gap = previous;
    if (!previous)
        diag_note(diag, DIAG_INFO, f->shown, DIAG_NO_OFFSET, "the oldest slices were dropped: this is the first");
    else if (f->slice == expected + 1)
        diag_note(diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "slice %u before it is missing", expected);
    else
        diag_note(diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "slices %u to %u before it are missing", expected,
                  f->slice - 1);
}

/* Put the files in reading order, one per slice (a second one is a copy somebody left), without the empty ones. Files
 * of a kind without slices are each whole. */
static void arrange(struct input_files *files, bool sliced, struct diag *diag)
{
    size_t kept = 0;
    qsort(files->at, files->n, sizeof *files->at, by_reading_order);
    struct input_file last = {0};
    bool gap = false; /* seen since the last file that was kept */
    for (size_t i = 0; i < files->n; i++) {
        struct input_file *f = &files->at[i];
        bool first = !sliced || !i || input_streams_differ(&last, f);
        if (!first && last.slice == f->slice) {
            diag_note(diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "not read: another file is slice %u", f->slice);
            file_free(f);
            continue;
        }
        note_missing(f, first ? NULL : &last, diag);
        gap = f->gap || (gap && !first);
        last = *f;
        if (!f->size) {
            file_free(f);
            continue;
        }
        f->gap = gap;
        gap = false;
        files->at[kept++] = *f;
        files->bytes += last.size;
    }
    files->n = kept;
}

static void add_file(struct input_files files[INPUT_COUNT], int dir, const char *path, const char *shown,
                     const char *name, enum input_side side, struct diag *diag)
{
    struct input_name parsed;
    struct stat st;
    if (input_match(name, side, &parsed)) return;
    struct input_file f = {.slice = parsed.slice, .number = parsed.number, .core = parsed.core, .aging = parsed.aging};
    f.shown = mem_printf("%s/%s", shown, name);
    int failed = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
    if (failed || !S_ISREG(st.st_mode)) {
        if (failed) diag_note(diag, DIAG_WARNING, f.shown, DIAG_NO_OFFSET, "not read: %s", strerror(errno));
        else diag_note(diag, DIAG_WARNING, f.shown, DIAG_NO_OFFSET, "not read: not a regular file");
        free(f.shown);
        return;
    }
    f.path = mem_printf("%s/%s", path, name);
    f.size = (uint64_t)st.st_size;
    struct input_files *to = &files[parsed.id];
    if (!(to->n & (to->n - 1))) to->at = mem_resize(to->at, to->n ? to->n * 2 : 1, sizeof *to->at);
    to->at[to->n++] = f;
}

uint64_t inputs_scan(struct input_files files[INPUT_COUNT], const char *path, const char *shown, enum input_side side,
                     struct diag *diag)
{
    uint64_t total = 0;
    memset(files, 0, INPUT_COUNT * sizeof *files);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (errno != ENOENT) diag_note(diag, DIAG_WARNING, shown, DIAG_NO_OFFSET, "not read: %s", strerror(errno));
        if (fd >= 0) close(fd);
        return 0;
    }
    for (const struct dirent *e; (e = readdir(dir));) add_file(files, fd, path, shown, e->d_name, side, diag);
    closedir(dir);
    for (int i = 0; i < INPUT_COUNT; i++) {
        if (files[i].n) arrange(&files[i], strstr(kinds[i].pattern, "%s"), diag);
        total += files[i].bytes;
    }
    return total;
}

uint64_t inputs_leave_out(struct input_files files[INPUT_COUNT], enum input_id id)
{
    uint64_t bytes = files[id].bytes;
    for (size_t i = 0; i < files[id].n; i++) file_free(&files[id].at[i]);
    free(files[id].at);
    files[id] = (struct input_files){0};
    return bytes;
}

void inputs_free(struct input_files files[INPUT_COUNT])
{
    for (int i = 0; i < INPUT_COUNT; i++) inputs_leave_out(files, (enum input_id)i);
}
