/* The kinds of raw data files, one row each, and the search for them.
 *
 * A name is matched piece by piece against a row: "aging.compact.task_track.slice_12" is prefix, family, tag, slice;
 * "stars_soc.data.0.slice_3" is tag, family, device, slice. What is found is put in reading order, kind by kind. */
#include "session/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

static const struct input_kind kinds[INPUT_COUNT] = {
#define KIND(id, side, family, tag, size) [id] = {id, side, family, tag, size}
    KIND(INPUT_API_EVENT, SIDE_HOST, "api_event", "data", 40),
    KIND(INPUT_HASH_DIC, SIDE_HOST, "additional", "hash_dic", 0),
    KIND(INPUT_TYPE_INFO_DIC, SIDE_HOST, "additional", "type_info_dic", 0),
    KIND(INPUT_TASK_TRACK, SIDE_HOST, "compact", "task_track", 64),
    KIND(INPUT_MEMCPY_INFO, SIDE_HOST, "compact", "memcpy_info", 64),
    KIND(INPUT_NODE_BASIC_INFO, SIDE_HOST, "compact", "node_basic_info", 64),
    KIND(INPUT_NODE_ATTR_INFO, SIDE_HOST, "compact", "node_attr_info", 64),
    KIND(INPUT_HCCL_OP_INFO, SIDE_HOST, "compact", "hccl_op_info", 64),
    KIND(INPUT_CAPTURE_STREAM_INFO, SIDE_HOST, "compact", "capture_stream_info", 64),
    KIND(INPUT_EXPAND_STREAM_SPEC, SIDE_HOST, "compact", "expand_stream_spec", 64),
    KIND(INPUT_TENSOR_INFO, SIDE_HOST, "additional", "tensor_info", 256),
    KIND(INPUT_CONTEXT_ID_INFO, SIDE_HOST, "additional", "context_id_info", 256),
    KIND(INPUT_FUSION_OP_INFO, SIDE_HOST, "additional", "fusion_op_info", 256),
    KIND(INPUT_GRAPH_ID_MAP, SIDE_HOST, "additional", "graph_id_map", 256),
    KIND(INPUT_HCCL_INFO, SIDE_HOST, "additional", "hccl_info", 256),
    KIND(INPUT_LOGIC_STREAM_INFO, SIDE_HOST, "additional", "logic_stream_info", 256),
    KIND(INPUT_MC2_COMM_INFO, SIDE_HOST, "additional", "mc2_comm_info", 256),
    KIND(INPUT_CAPTURE_OP_INFO, SIDE_HOST, "additional", "capture_op_info", 256),
    KIND(INPUT_CAPTURE_OP_INFO_VARIABLE, SIDE_HOST, "variable", "capture_op_info", 0),
    KIND(INPUT_STARS_SOC, SIDE_DEVICE, "data", "stars_soc", 0),
    KIND(INPUT_FFTS_PROFILE, SIDE_DEVICE, "data", "ffts_profile", 128),
    KIND(INPUT_TS_TRACK, SIDE_DEVICE, "data", "ts_track", 40),
    KIND(INPUT_LPM_FREQ_CONV, SIDE_DEVICE, "data", "lpmFreqConv", 888),
    KIND(INPUT_LPM_INFO_CONV, SIDE_DEVICE, "data", "lpmInfoConv", 888),
#undef KIND
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

static bool match_kind(const struct input_kind *k, const char *at, uint32_t *slice)
{
    uint32_t device;
    const char *first = k->side == SIDE_HOST ? k->family : k->tag, *second = k->side == SIDE_HOST ? k->tag : k->family;
    return skip(&at, first) && skip(&at, ".") && skip(&at, second) && skip(&at, ".") &&
           (k->side == SIDE_HOST || (skip_number(&at, &device) && skip(&at, "."))) && skip(&at, "slice_") &&
           skip_number(&at, slice);
}

int input_match(const char *name, enum input_side side, enum input_id *id, uint32_t *slice, bool *aging)
{
    if (ends_with(name, ".done") || ends_with(name, ".complete") || ends_with(name, ".zip")) return -1;
    *aging = false;
    if (side == SIDE_HOST) {
        *aging = skip(&name, "aging.");
        if (!*aging && !skip(&name, "unaging.")) return -1;
    }
    for (int i = 0; i < INPUT_COUNT; i++)
        if (kinds[i].side == side && match_kind(&kinds[i], name, slice)) {
            *id = kinds[i].id;
            return 0;
        }
    return -1;
}

/* Reading order; the plain name first where two files claim the same slice. */
static int by_reading_order(const void *x, const void *y)
{
    const struct input_file *a = x, *b = y;
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

/* Put the files in reading order, one per slice (a second one is a copy somebody left), without the empty ones. */
static void arrange(struct input_files *files, struct diag *diag)
{
    size_t kept = 0;
    qsort(files->at, files->n, sizeof *files->at, by_reading_order);
    struct input_file last = {0};
    bool gap = false; /* seen since the last file that was kept */
    for (size_t i = 0; i < files->n; i++) {
        struct input_file *f = &files->at[i];
        bool first = !i || last.aging != f->aging;
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
    enum input_id id;
    struct input_file f = {0};
    struct stat st;
    if (input_match(name, side, &id, &f.slice, &f.aging)) return;
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
    struct input_files *to = &files[id];
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
        if (files[i].n) arrange(&files[i], diag);
        total += files[i].bytes;
    }
    return total;
}

void inputs_free(struct input_files files[INPUT_COUNT])
{
    for (int i = 0; i < INPUT_COUNT; i++) {
        for (size_t k = 0; k < files[i].n; k++) file_free(&files[i].at[k]);
        free(files[i].at);
    }
    memset(files, 0, INPUT_COUNT * sizeof *files);
}
