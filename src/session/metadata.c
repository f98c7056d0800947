/* The small text files beside data/: info.json, sample.json, start_info, end_info (JSON objects) and host_start.log,
 * dev_start.log ("key: value" lines). Each may carry the device number as suffix. Writers differ in what is a number
 * and what is a text, and interrupted collections leave files half written, so nothing is taken for granted. */
#include "session/metadata.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_FILE   (16 << 20)               /* bytes; real files have a few KB */
#define DEFAULT_NS (30ll * 60 * 1000000000) /* length of a collection whose end is not known */

/* --- values ------------------------------------------------------------------------------------------------------ */

/* The number that `text` is as a whole, blanks around it aside. */
static bool parse_i64(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || errno) return false;
    while (isspace((unsigned char)*end)) end++;
    if (*end) return false;
    *value = v;
    return true;
}

static bool parse_f64(const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || !isfinite(v)) return false;
    while (isspace((unsigned char)*end)) end++;
    if (*end) return false;
    *value = v;
    return true;
}

int64_t meta_i64(const json_t *object, const char *key, int64_t missing)
{
    const json_t *v = json_object_get(object, key);
    int64_t number;
    double real;
    if (json_is_integer(v)) return json_integer_value(v);
    if (json_is_string(v) && parse_i64(json_string_value(v), &number)) return number;
    if (json_is_string(v) && !parse_f64(json_string_value(v), &real)) return missing;
    if (json_is_real(v)) real = json_real_value(v);
    else if (!json_is_string(v)) return missing;
    return fabs(real) < 9.2e18 ? (int64_t)real : missing;
}

double meta_f64(const json_t *object, const char *key, double missing)
{
    const json_t *v = json_object_get(object, key);
    double number;
    if (json_is_number(v)) return json_number_value(v);
    return json_is_string(v) && parse_f64(json_string_value(v), &number) ? number : missing;
}

char *meta_text(const json_t *object, const char *key, const char *missing)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_string(v)) return mem_strndup(json_string_value(v), json_string_length(v));
    if (json_is_integer(v)) return mem_printf("%lld", (long long)json_integer_value(v));
    if (json_is_real(v)) return mem_printf("%.17g", json_real_value(v));
    return mem_strndup(missing, strlen(missing));
}

bool meta_on(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && !strcmp(text, "on");
}

static uint64_t u64_or_0(const json_t *object, const char *key)
{
    int64_t v = meta_i64(object, key, 0);
    return v > 0 ? (uint64_t)v : 0;
}

static uint32_t u32_or_0(const json_t *object, const char *key)
{
    int64_t v = meta_i64(object, key, 0);
    return v > 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static uint64_t mhz_to_hz(double mhz)
{
    return mhz > 0 && mhz * 1e6 <= CLOCK_MAX_HZ ? (uint64_t)llround(mhz * 1e6) : 0;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"info.json", "sample.json",    "start_info",
                                    "end_info",  "host_start.log", "dev_start.log"};

/* What follows `base` in `name`, NULL when it is no data file of that kind. */
static const char *suffix(const char *name, const char *base)
{
    static const char *const markers[] = {".done", ".complete", ".zip"};
    size_t n = strlen(name), b = strlen(base);
    if (strncmp(name, base, b)) return NULL;
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        size_t m = strlen(markers[i]);
        if (n >= b + m && !strcmp(name + n - m, markers[i])) return NULL;
    }
    return name + b;
}

bool metadata_is_file(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (suffix(name, names[i])) return true;
    return false;
}

/* Lower is better: the suffix of this very device, none, another number, anything else. */
static int rank(const char *end, bool is_host, uint16_t device_id)
{
    int64_t number;
    bool numbered = *end == '.' && parse_i64(end + 1, &number);
    if (!*end) return is_host ? 0 : 1;
    if (numbered && !is_host && number == device_id) return 0;
    return numbered ? 2 : 3;
}

/* The name of the file of a kind in the directory, the best if there are several; NULL = none. free() it. */
static char *pick(const char *path, const char *base, bool is_host, uint16_t device_id)
{
    char *best = NULL;
    int best_rank = 0;
    DIR *dir = opendir(path);
    if (!dir) return NULL;
    for (const struct dirent *e; (e = readdir(dir));) {
        const char *end = suffix(e->d_name, base);
        if (!end) continue;
        int r = rank(end, is_host, device_id);
        if (best && (r > best_rank || (r == best_rank && strcmp(e->d_name, best) > 0))) continue;
        free(best);
        best = mem_strndup(e->d_name, strlen(e->d_name));
        best_rank = r;
    }
    closedir(dir);
    return best;
}

/* Contents of a small regular file, NUL terminated; NULL with *why set when it cannot be had. */
static char *read_small(const char *path, size_t *size, const char **why)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        *why = errno == ELOOP ? "not a regular file" : strerror(errno);
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) *why = "not a regular file";
    else if (st.st_size > MAX_FILE) *why = "too large";
    else {
        size_t n = 0;
        text = mem_alloc((size_t)st.st_size + 1);
        for (ssize_t got; n < (size_t)st.st_size && (got = read(fd, text + n, (size_t)st.st_size - n)) > 0;)
            n += (size_t)got;
        text[n] = '\0';
        *size = n;
    }
    close(fd);
    return text;
}

/* Read the file of a kind. *shown_file (free() it) is its name for messages, NULL when there is no such file. */
static char *read_kind(const char *path, const char *shown, const char *base, bool is_host, uint16_t device_id,
                       size_t *size, char **shown_file, struct diag *diag)
{
    char *name = pick(path, base, is_host, device_id), *text = NULL;
    *shown_file = NULL;
    if (!name) return NULL;
    const char *why = "";
    char *full = mem_printf("%s/%s", path, name);
    *shown_file = mem_printf("%s/%s", shown, name);
    text = read_small(full, size, &why);
    if (!text) diag_note(diag, DIAG_WARNING, *shown_file, DIAG_NO_OFFSET, "not read: %s", why);
    free(full);
    free(name);
    return text;
}

/* A JSON object out of text. Numbers beyond 64 bits and bytes that are no UTF-8, both seen in real files (command lines
 * of the profiled program), must not cost the whole file. */
static json_t *parse_object(char *text, size_t size, json_error_t *error)
{
    size_t flags = JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL;
    json_t *value = json_loadb(text, size, flags, error);
    if (!value) value = json_loadb(text, size, flags | JSON_DECODE_INT_AS_REAL, error);
    if (!value) {
        for (size_t i = 0; i < size; i++)
            if ((unsigned char)text[i] >= 0x80) text[i] = '?';
        value = json_loadb(text, size, flags | JSON_DECODE_INT_AS_REAL, error);
    }
    if (value && !json_is_object(value)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *read_object(const char *path, const char *shown, const char *base, bool is_host, uint16_t device_id,
                           struct diag *diag)
{
    size_t size;
    char *file;
    json_error_t error = {.text = "not an object"};
    json_t *object = NULL;
    char *text = read_kind(path, shown, base, is_host, device_id, &size, &file, diag);
    if (text) {
        object = parse_object(text, size, &error);
        if (!object)
            diag_note(diag, DIAG_WARNING, file, error.position > 0 ? (uint64_t)error.position : 0,
                      "not used: no JSON object (%s)", error.text);
    }
    free(text);
    free(file);
    return object;
}

/* One "key: value" line. */
static void log_line(char *line, struct start_log *log, unsigned *seen)
{
    int64_t value;
    char *colon = strchr(line, ':');
    if (!colon) return;
    *colon = '\0';
    while (isspace((unsigned char)*line)) line++;
    if (!parse_i64(colon + 1, &value)) return;
    if (!strcmp(line, "clock_monotonic_raw")) {
        log->mono_ns = value;
        *seen |= 1;
    } else if (!strcmp(line, "cntvct") && value >= 0) {
        log->counter = (uint64_t)value;
        *seen |= 2;
    } else if (!strcmp(line, "cntvct_diff")) {
        log->diff = value;
    }
}

static struct start_log read_log(const char *path, const char *shown, const char *base, bool is_host,
                                 uint16_t device_id, struct diag *diag)
{
    struct start_log log = {0};
    size_t size;
    unsigned seen = 0;
    char *file, *rest = NULL;
    char *text = read_kind(path, shown, base, is_host, device_id, &size, &file, diag);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        log_line(line, &log, &seen);
    log.found = seen == 3;
    if (text && !log.found)
        diag_note(diag, DIAG_WARNING, file, DIAG_NO_OFFSET, "not used: no clock_monotonic_raw and cntvct in it");
    free(text);
    free(file);
    return log;
}

void metadata_read(struct metadata_files *files, const char *path, const char *shown, bool is_host, uint16_t device_id,
                   struct diag *diag)
{
    *files = (struct metadata_files){
        .info = read_object(path, shown, "info.json", is_host, device_id, diag),
        .sample = read_object(path, shown, "sample.json", is_host, device_id, diag),
        .start = read_object(path, shown, "start_info", is_host, device_id, diag),
        .end = read_object(path, shown, "end_info", is_host, device_id, diag),
        .host_start = read_log(path, shown, "host_start.log", is_host, device_id, diag),
    };
    if (!is_host) files->dev_start = read_log(path, shown, "dev_start.log", is_host, device_id, diag);
}

void metadata_files_free(struct metadata_files *files)
{
    json_decref(files->info);
    json_decref(files->sample);
    json_decref(files->start);
    json_decref(files->end);
    *files = (struct metadata_files){0};
}

/* --- facts ------------------------------------------------------------------------------------------------------- */

uint64_t metadata_device_hz(const json_t *info)
{
    return mhz_to_hz(meta_f64(json_array_get(json_object_get(info, "DeviceInfo"), 0), "hwts_frequency", 0));
}

uint64_t metadata_host_hz(const json_t *info)
{
    const json_t *cpus = json_object_get(info, "CPU");
    size_t n = json_array_size(cpus);
    const json_t *cpu = n ? json_array_get(cpus, n - 1) : NULL;
    const char *text = json_string_value(json_object_get(cpu, "Frequency"));
    if (text && !*text) return 1000000000;
    return mhz_to_hz(meta_f64(cpu, "Frequency", 0));
}

/* "7.0.0" */
static void fill_version(struct metadata *m, const json_t *info)
{
    char *text = meta_text(info, "cannVersion", ""), *end;
    m->cann_major = m->cann_minor = -1;
    long major = strtol(text, &end, 10);
    if (end > text && *end == '.' && isdigit((unsigned char)end[1]) && major >= 0 && major < 10000) {
        long minor = strtol(end + 1, &end, 10);
        if (minor >= 0 && minor < 10000) {
            m->cann_major = (int)major;
            m->cann_minor = (int)minor;
        }
    }
    free(text);
}

static void fill_info(struct metadata *m, const json_t *info)
{
    int64_t version = meta_i64(info, "platform_version", -1);
    m->platform_version = version >= 0 && version <= 10000 ? (int)version : -1;
    m->drv_version = u64_or_0(info, "drvVersion");
    fill_version(m, info);
    m->pid = u32_or_0(info, "pid");
    m->pid_name = meta_text(info, "pid_name", "");
    m->rank_id = meta_i64(info, "rank_id", -1);
    m->hostname = meta_text(info, "hostname", "");
    m->host_uid = meta_text(info, "hostUid", "0");
    const json_t *device = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    m->aic_mhz = meta_f64(device, "aic_frequency", 0);
    m->aiv_mhz = meta_f64(device, "aiv_frequency", 0);
    m->ai_core_num = u32_or_0(device, "ai_core_num");
    m->aiv_num = u32_or_0(device, "aiv_num");
}

/* "0x416,0x417": the codes, as many as there is room for. Returns how many were given. */
static unsigned fill_events(uint32_t events[PMU_MAX_EVENTS], const json_t *sample, const char *key)
{
    char *text = meta_text(sample, key, ""), *rest = NULL;
    unsigned n = 0;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest), n++) {
        unsigned long code = strtoul(one, NULL, 16);
        if (n < PMU_MAX_EVENTS) events[n] = code <= UINT32_MAX ? (uint32_t)code : 0;
    }
    free(text);
    return n;
}

/* Collectors have one of two names for it; profLevel counts where it is there, even empty. */
static bool is_level0(const json_t *sample)
{
    char *level = meta_text(sample, json_object_get(sample, "profLevel") ? "profLevel" : "prof_level", "");
    bool yes = !strcmp(level, "l0") || !strcmp(level, "level0");
    free(level);
    return yes;
}

static void fill_sample(struct metadata *m, const json_t *sample)
{
    m->ai_core_mode = meta_text(sample, "ai_core_profiling_mode", "");
    m->aic_metrics = meta_text(sample, "ai_core_metrics", "");
    m->aiv_metrics = meta_text(sample, "aiv_metrics", "");
    m->n_aic_events = fill_events(m->aic_events, sample, "ai_core_profiling_events");
    m->n_aiv_events = fill_events(m->aiv_events, sample, "aiv_profiling_events");
    m->level0 = is_level0(sample);
    m->dynamic = meta_on(sample, "dynamic");
    m->task_block = meta_on(sample, "taskBlock");
}

/* A positive number of µs as ns, 0 = missing or absurd. */
static int64_t us_key_ns(const json_t *object, const char *key)
{
    int64_t us = meta_i64(object, key, 0);
    return us > 0 && us < INT64_MAX / 1000 ? us * 1000 : 0;
}

bool metadata_start_usable(const json_t *start)
{
    int64_t ns = us_key_ns(start, "collectionTimeBegin"), raw = meta_i64(start, "clockMonotonicRaw", -1);
    return ns > 0 && raw >= 0 && raw <= ns;
}

static void fill_times(struct metadata *m, const json_t *start, const json_t *end)
{
    int64_t end_ns = us_key_ns(end, "collectionTimeEnd");
    m->start_date = meta_text(start, "collectionDateBegin", "");
    m->has_start = metadata_start_usable(start);
    if (m->has_start) {
        m->start_ns = us_key_ns(start, "collectionTimeBegin");
        m->start_raw_ns = meta_i64(start, "clockMonotonicRaw", 0);
    }
    m->has_end = end_ns > 0 && end_ns >= m->start_ns;
    if (m->has_end) m->end_ns = end_ns;
    else m->end_ns = m->start_ns < INT64_MAX - DEFAULT_NS ? m->start_ns + DEFAULT_NS : INT64_MAX;
}

void metadata_fill(struct metadata *m, json_t *info, json_t *sample, const json_t *start, const json_t *end)
{
    *m = (struct metadata){.info = json_incref(info), .sample = json_incref(sample)};
    fill_info(m, info);
    fill_sample(m, sample);
    fill_times(m, start, end);
}

void metadata_free(struct metadata *m)
{
    const char *const texts[] = {m->pid_name,    m->hostname,    m->host_uid,  m->ai_core_mode,
                                 m->aic_metrics, m->aiv_metrics, m->start_date};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free((char *)texts[i]);
    json_decref(m->info);
    json_decref(m->sample);
    *m = (struct metadata){0};
}
