/* Opening a PROF directory: find its host and device directories, read what each says of itself, let siblings help out
 * where a file is missing (interrupted collections lose some), and set up the clocks.
 *
 * A collection is started on host and devices together, by one process on one machine, so that most metadata are the
 * same in every directory. What only a directory itself can know (its start logs) cannot be borrowed: without them its
 * times cannot be told and it is left out. */
#include "session/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "session/metadata.h"

#define HOST_ID                64
#define UNIQUE_TASK_IDS_DRIVER 467473 /* drivers from here on number tasks uniquely and log flips */

/* --- directories ------------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path, const char *name)
{
    struct stat st;
    char *full = mem_printf("%s/%s", path, name);
    bool yes = !lstat(full, &st) && S_ISDIR(st.st_mode);
    free(full);
    return yes;
}

/* The number of "device_<N>", or -1. */
static int device_number(const char *name)
{
    int id = 0;
    if (strncmp(name, "device_", 7) || !name[7]) return -1;
    for (const char *p = name + 7; *p; p++) {
        if (*p < '0' || *p > '9') return -1;
        id = id * 10 + (*p - '0');
        if (id > UINT16_MAX) return -1;
    }
    return id;
}

/* Does the directory hold the data of one side of a collection? */
static bool is_side(const char *path, const char *name)
{
    char *full = mem_printf("%s/%s", path, name);
    bool named = !strcmp(name, "host") || device_number(name) >= 0, found = false;
    DIR *dir = is_directory(path, name) ? opendir(full) : NULL;
    for (const struct dirent *e; dir && !found && (e = readdir(dir));)
        found = !strncmp(e->d_name, "info.json", 9) ||
                (named && (metadata_is_file(e->d_name) || (!strcmp(e->d_name, "data") && is_directory(full, "data"))));
    if (dir) closedir(dir);
    free(full);
    return found;
}

bool session_is_prof(const char *path)
{
    bool found = false;
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && !found && (e = readdir(dir));)
        found = strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && is_side(path, e->d_name);
    if (dir) closedir(dir);
    return found;
}

/* `path` without slashes at its end. */
static char *trimmed(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    return mem_strndup(path, n);
}

/* Folders that tools leave beside PROF directories. */
static bool is_tool_folder(const char *name)
{
    static const char *const folders[] = {
        ".profiler",
        "HCCL_PROF",
        "timeline",
        "query",
        "sqlite",
        "log",
        "analyze",
        "mindstudio_profiler_log",
        "mindstudio_profiler_output",
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strcmp(name, folders[i])) return true;
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int session_discover(const char *path, char ***paths, size_t *n, struct error *err)
{
    ARRAY(char *) found = {0};
    *paths = NULL;
    *n = 0;
    DIR *dir = opendir(path);
    if (!dir) return error_set(err, "cannot open %s: %s", path, strerror(errno));
    char *base = trimmed(path);
    if (session_is_prof(base)) {
        array_push(&found, mem_strndup(base, strlen(base)));
    } else {
        for (const struct dirent *e; (e = readdir(dir));) {
            if (is_tool_folder(e->d_name) || !is_directory(base, e->d_name)) continue;
            char *full = mem_printf("%s%s%s", base, base[strlen(base) - 1] == '/' ? "" : "/", e->d_name);
            if (session_is_prof(full)) array_push(&found, full);
            else free(full);
        }
    }
    closedir(dir);
    free(base);
    if (!found.n) return error_set(err, "no PROF directory in %s", path);
    qsort(found.at, found.n, sizeof *found.at, by_name);
    *paths = found.at;
    *n = found.n;
    return 0;
}

void session_note_others(const char *path, struct diag *diag)
{
    char *base = trimmed(path);
    DIR *dir = opendir(base);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (is_tool_folder(e->d_name) || !is_directory(base, e->d_name)) continue;
        char *full = mem_printf("%s/%s", base, e->d_name);
        if (!session_is_prof(full))
            diag_note(diag, DIAG_WARNING, e->d_name, DIAG_NO_OFFSET, "left out: it is no PROF directory");
        free(full);
    }
    if (dir) closedir(dir);
    free(base);
}

/* --- one directory ----------------------------------------------------------------------------------------------- */

/* A directory while the session is being opened. */
struct candidate {
    struct prof_dir dir;
    struct metadata_files files;
    bool used; /* its times can be told */
};

struct opening {
    ARRAY(struct candidate) all; /* devices by name, then the host: the order in which siblings are asked */
    struct diag *diag;
};

static int by_device_host_last(const void *x, const void *y)
{
    const struct prof_dir *a = &((const struct candidate *)x)->dir, *b = &((const struct candidate *)y)->dir;
    if (a->is_host != b->is_host) return a->is_host - b->is_host;
    if (a->device_id != b->device_id) return a->device_id - b->device_id;
    return strcmp(a->name, b->name);
}

/* "device_10" before "device_2": the order in which the reference's reports have devices. */
static int by_name_host_last(const void *x, const void *y)
{
    const struct prof_dir *a = &((const struct candidate *)x)->dir, *b = &((const struct candidate *)y)->dir;
    return a->is_host != b->is_host ? a->is_host - b->is_host : strcmp(a->name, b->name);
}

static void candidate_free(struct candidate *c)
{
    free(c->dir.path);
    free(c->dir.name);
    metadata_files_free(&c->files);
    metadata_free(&c->dir.meta);
    inputs_free(c->dir.inputs);
}

/* Note once for the directory that one of its files is missing, and what is done about it. */
static void missing(const struct opening *o, const struct candidate *c, enum diag_level level, const char *file,
                    const char *consequence)
{
    diag_note(o->diag, level, c->dir.name, DIAG_NO_OFFSET, "no usable %s: %s", file, consequence);
}

enum kind { INFO, SAMPLE, START };

static json_t *own_file(const struct candidate *c, enum kind kind)
{
    return kind == INFO ? c->files.info : kind == SAMPLE ? c->files.sample : c->files.start;
}

static bool usable(const json_t *file, enum kind kind)
{
    return kind == START ? metadata_start_usable(file) : file != NULL;
}

/* The file of that kind for c: its own, else that of a sibling, of a device first (of the host first for start_info,
 * as the collection is begun there). */
static json_t *file_for(const struct opening *o, const struct candidate *c, enum kind kind)
{
    static const char *const names[] = {[INFO] = "info.json", [SAMPLE] = "sample.json", [START] = "start_info"};
    if (usable(own_file(c, kind), kind)) return own_file(c, kind);
    for (size_t i = 0; i < o->all.n; i++) {
        const struct candidate *sibling = &o->all.at[kind == START ? o->all.n - 1 - i : i];
        if (!usable(own_file(sibling, kind), kind)) continue;
        char *consequence = mem_printf("that of %s is used", sibling->dir.name);
        missing(o, c, DIAG_WARNING, names[kind], consequence);
        free(consequence);
        return own_file(sibling, kind);
    }
    missing(o, c, DIAG_WARNING, names[kind],
            kind == START ? "times count from the start of the machine" : "what it tells is not known");
    return NULL;
}

static void find_chip(const struct opening *o, struct candidate *c)
{
    c->dir.chip = chip_find(c->dir.meta.platform_version);
    if (c->dir.chip) return;
    c->dir.chip = chip_unknown();
    if (c->dir.meta.info)
        diag_note(o->diag, DIAG_WARNING, c->dir.name, DIAG_NO_OFFSET,
                  "unknown chip (platform_version %d): device data cannot be decoded", c->dir.meta.platform_version);
}

/* --- clocks ------------------------------------------------------------------------------------------------------ */

/* The counter frequency of a device: its own, else that of another device, else the usual one of the chip. */
static uint64_t device_hz(const struct opening *o, const struct candidate *c)
{
    uint64_t hz = metadata_device_hz(c->files.info);
    if (hz) return hz;
    for (size_t i = 0; i < o->all.n && !hz; i++) hz = metadata_device_hz(o->all.at[i].files.info);
    if (!hz) hz = (uint64_t)(c->dir.chip->counter_mhz * 1e6 + 0.5);
    if (hz)
        diag_note(o->diag, DIAG_WARNING, c->dir.name, DIAG_NO_OFFSET,
                  "no usable hwts_frequency in info.json: %.6g MHz is assumed", (double)hz / 1e6);
    return hz;
}

static void set_host_frequency(const struct opening *o, struct candidate *c)
{
    struct clock *k = &c->dir.clock;
    k->host_hz = metadata_host_hz(c->dir.meta.info);
    if (!k->host_hz) {
        missing(o, c, DIAG_WARNING, "CPU frequency in info.json", "host counts are taken as ns");
        k->host_hz = 1000000000;
    }
    k->host_is_ns = k->host_hz == 1000000000;
}

/* The host's clock. Any device's host_start.log pairs the same two host clocks, if need be. */
static void set_host_clock(const struct opening *o, struct candidate *c)
{
    struct clock *k = &c->dir.clock;
    struct start_log log = c->files.host_start;
    set_host_frequency(o, c);
    for (size_t i = 0; i < o->all.n && !log.found && !k->host_is_ns; i++) {
        const struct candidate *sibling = &o->all.at[i];
        if (!sibling->files.host_start.found) continue;
        char *consequence = mem_printf("that of %s is used", sibling->dir.name);
        missing(o, c, DIAG_WARNING, "host_start.log", consequence);
        free(consequence);
        log = sibling->files.host_start;
        log.diff = 0;
    }
    if (!log.found && !k->host_is_ns) {
        missing(o, c, DIAG_WARNING, "host_start.log", "host counts are taken as ns");
        k->host_is_ns = true;
    }
    k->host_ref = log.counter;
    k->mono_ns = clock_reference_ns(log.mono_ns, log.diff, k->host_hz);
    k->device_hz = k->host_hz;
}

/* A device's clock. Returns false, with a note, when its times cannot be told. */
static bool set_device_clock(const struct opening *o, struct candidate *c)
{
    struct clock *k = &c->dir.clock;
    const struct metadata_files *f = &c->files;
    if (!f->dev_start.found || !f->host_start.found) {
        missing(o, c, DIAG_ERROR, f->dev_start.found ? "host_start.log" : "dev_start.log",
                "its times cannot be told, the device is left out");
        return false;
    }
    set_host_frequency(o, c);
    k->device_hz = device_hz(o, c);
    if (!k->device_hz) {
        missing(o, c, DIAG_ERROR, "hwts_frequency", "its times cannot be told, the device is left out");
        return false;
    }
    k->device_ref = f->dev_start.counter;
    k->device_mono_ns = f->dev_start.mono_ns;
    k->host_ref = f->host_start.counter;
    k->mono_ns = clock_reference_ns(f->host_start.mono_ns, f->host_start.diff, k->host_hz);
    k->mono_s = clock_reference_s(f->host_start.mono_ns, f->host_start.diff, k->host_hz);
    k->task_seconds = !c->dir.chip->native_tasks;
    return true;
}

/* Everything about one directory once all of them are read. Returns false when it cannot be used. */
static bool settle(const struct opening *o, struct candidate *c)
{
    metadata_fill(&c->dir.meta, file_for(o, c, INFO), file_for(o, c, SAMPLE), file_for(o, c, START), c->files.end);
    find_chip(o, c);
    const struct metadata *m = &c->dir.meta;
    c->dir.clock.epoch_offset_ns = m->start_ns - m->start_raw_ns;
    if (!c->dir.is_host) return set_device_clock(o, c);
    set_host_clock(o, c);
    return true;
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void add_candidate(struct opening *o, const char *path, const char *name)
{
    bool is_host = !strcmp(name, "host");
    int id = is_host ? HOST_ID : device_number(name);
    if (id < 0) {
        if (is_side(path, name))
            diag_note(o->diag, DIAG_WARNING, name, DIAG_NO_OFFSET, "left out: not named host or device_<number>");
        return;
    }
    if (!is_directory(path, name)) {
        diag_note(o->diag, DIAG_WARNING, name, DIAG_NO_OFFSET, "left out: not a directory");
        return;
    }
    if (!is_side(path, name)) {
        diag_note(o->diag, DIAG_WARNING, name, DIAG_NO_OFFSET, "left out: nothing in it");
        return;
    }
    array_push(&o->all, ((struct candidate){.dir = {.path = mem_printf("%s/%s", path, name),
                                                    .name = mem_strndup(name, strlen(name)),
                                                    .is_host = is_host,
                                                    .device_id = (uint16_t)id}}));
}

/* Find the directories; "device_0" and "device_00" are the same device. */
static int find_candidates(struct opening *o, const char *path, struct error *err)
{
    DIR *dir = opendir(path);
    if (!dir) return error_set(err, "cannot open %s: %s", path, strerror(errno));
    for (const struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) add_candidate(o, path, e->d_name);
    closedir(dir);
    if (!o->all.n) return error_set(err, "%s is no PROF directory: it has no host or device_<number> directory", path);
    qsort(o->all.at, o->all.n, sizeof *o->all.at, by_device_host_last);
    size_t kept = 0;
    for (size_t i = 0; i < o->all.n; i++) {
        struct candidate *c = &o->all.at[i], *before = kept ? &o->all.at[kept - 1] : NULL;
        if (before && before->dir.is_host == c->dir.is_host && before->dir.device_id == c->dir.device_id) {
            diag_note(o->diag, DIAG_WARNING, c->dir.name, DIAG_NO_OFFSET, "left out: same device as %s",
                      before->dir.name);
            candidate_free(c);
        } else {
            o->all.at[kept++] = *c;
        }
    }
    o->all.n = kept;
    qsort(o->all.at, kept, sizeof *o->all.at, by_name_host_last);
    return 0;
}

static void read_candidate(const struct opening *o, struct candidate *c)
{
    struct prof_dir *d = &c->dir;
    metadata_read(&c->files, d->path, d->name, d->is_host, d->device_id, o->diag);
}

/* Move a settled directory into the session. */
static void take(struct session *s, struct candidate *c, struct diag *diag)
{
    struct prof_dir *to = c->dir.is_host ? (s->host = mem_alloc(sizeof *s->host)) : &s->devices[s->n_devices++];
    char *path = mem_printf("%s/data", c->dir.path), *shown = mem_printf("%s/data", c->dir.name);
    *to = c->dir;
    c->dir = (struct prof_dir){0};
    s->input_bytes += inputs_scan(to->inputs, path, shown, to->is_host ? SIDE_HOST : SIDE_DEVICE, diag);
    free(path);
    free(shown);
}

static void fill_session(struct session *s)
{
    const struct prof_dir *record = s->host ? s->host : &s->devices[0];
    const struct prof_dir *first = s->n_devices ? &s->devices[0] : s->host;
    for (size_t i = 0; i < s->n_devices; i++) s->devices[i].position = i;
    if (s->host) s->host->position = s->n_devices;
    s->meta = &record->meta;
    s->chip = record->chip;
    s->start_ns = s->meta->start_ns;
    s->end_ns = s->meta->end_ns;
    s->has_end = s->meta->has_end;
    s->all_export = first->meta.drv_version >= UNIQUE_TASK_IDS_DRIVER && first->chip->can_export_all;
    s->script_summary = !s->chip->native_views;
    s->script_timeline = s->script_summary || !strcmp(s->meta->ai_core_mode, "sample-based");
}

struct session *session_open(const char *path, struct diag *diag, struct error *err)
{
    struct opening o = {.diag = diag};
    struct session *s = mem_zalloc(1, sizeof *s);
    s->path = trimmed(path);
    const char *slash = strrchr(s->path, '/');
    s->name = mem_printf("%s", slash && slash[1] ? slash + 1 : s->path);
    int failed = find_candidates(&o, s->path, err);
    if (!failed) {
        s->devices = mem_zalloc(o.all.n, sizeof *s->devices);
        for (size_t i = 0; i < o.all.n; i++) read_candidate(&o, &o.all.at[i]);
        for (size_t i = 0; i < o.all.n; i++) o.all.at[i].used = settle(&o, &o.all.at[i]);
        for (size_t i = 0; i < o.all.n; i++)
            if (o.all.at[i].used) take(s, &o.all.at[i], diag);
        if (s->host || s->n_devices) fill_session(s);
        else failed = error_set(err, "nothing in %s can be used: the times of its devices cannot be told", s->path);
    }
    for (size_t i = 0; i < o.all.n; i++) candidate_free(&o.all.at[i]);
    array_free(&o.all);
    if (!failed) return s;
    session_close(s);
    return NULL;
}

static void prof_dir_free(struct prof_dir *d)
{
    free(d->path);
    free(d->name);
    metadata_free(&d->meta);
    inputs_free(d->inputs);
}

void session_close(struct session *s)
{
    if (!s) return;
    if (s->host) prof_dir_free(s->host);
    free(s->host);
    for (size_t i = 0; i < s->n_devices; i++) prof_dir_free(&s->devices[i]);
    free(s->devices);
    free(s->path);
    free(s->name);
    free(s);
}

void session_leave_out(struct session *s, enum input_id id)
{
    if (s->host) s->input_bytes -= inputs_leave_out(s->host->inputs, id);
    for (size_t i = 0; i < s->n_devices; i++) s->input_bytes -= inputs_leave_out(s->devices[i].inputs, id);
}

const struct prof_dir *session_device(const struct session *s, uint16_t device_id)
{
    for (size_t i = 0; i < s->n_devices; i++)
        if (s->devices[i].device_id == device_id) return &s->devices[i];
    return NULL;
}

const struct input_files *prof_dir_files(const struct prof_dir *dir, enum input_id id)
{
    static const struct input_files none;
    return dir ? &dir->inputs[id] : &none;
}
