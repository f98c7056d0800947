/* Disk usage of the profiled process on the host, from the lines of `iotop -b`.
 *
 * The lines have no time of their own that could be used: the i-th line of the process stands for the i-th sampling
 * interval since start_time. Rates are given with their units. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"
#include "metrics/usage.h"

/* Fields of a line. */
enum { F_PID = 1, F_READ = 4, F_READ_UNIT, F_WRITE, F_WRITE_UNIT, F_SWAP, F_IO = 10, F_LEAST = 8, F_ALL = 11 };

struct sample {
    double read_kb, write_kb; /* KB/s */
    double percent;           /* time spent waiting for the disk */
};

struct host_disk {
    double start_ns, step_ns;     /* raw time of the first sample, interval */
    ARRAY(struct sample) samples; /* in the order of the lines */
};

static const struct unit {
    const char *name;
    double kb;
} units[] = {{"B/s", 1 / 1024.0}, {"K/s", 1}, {"M/s", 1024}, {"G/s", 1024.0 * 1024}};

static double rate(struct text_field number, struct text_field unit)
{
    double value;
    if (!text_f64(number, &value)) return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_is(unit, units[i].name)) return value * units[i].kb;
    return value;
}

static void visit(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* the headings of iotop are lines too */
    struct host_disk *disk = context;
    struct text_field f[F_ALL];
    uint64_t number;
    size_t n = text_split(line, len, f, F_ALL);
    if (n == 2 && text_is(f[0], "start_time") && text_u64(f[1], &number)) disk->start_ns = (double)number;
    if (n < F_LEAST || !text_u64(f[F_PID], &number)) return;
    struct sample s = {rate(f[F_READ], f[F_READ_UNIT]), rate(f[F_WRITE], f[F_WRITE_UNIT]), 0};
    bool unavailable = n < F_ALL || memmem(line, len, "unavailable", strlen("unavailable"));
    if (!unavailable && !text_f64(f[F_IO], &s.percent)) s.percent = 0;
    array_push(&disk->samples, s);
}

static double sampling_hz(const struct prof_dir *dir)
{
    double hz = json_number_value(json_object_get(dir->meta.sample, "host_disk_freq"));
    return hz > 0 ? hz : 0;
}

static bool knows_interval(const struct prof_dir *dir)
{
    return sampling_hz(dir) > 0;
}

static void host_disk_free(void *data)
{
    struct host_disk *disk = data;
    array_free(&disk->samples);
    free(disk);
}

static void *load(const struct metric_source *from)
{
    struct host_disk *disk = mem_zalloc(1, sizeof *disk);
    disk->step_ns = 1e9 / sampling_hz(from->dir);
    lines_each(prof_dir_files(from->dir, INPUT_HOST_DISK), from->diag, from->progress, visit, disk);
    return disk;
}

static int64_t time_of(const struct prof_dir *dir, const struct host_disk *disk, size_t i)
{
    double raw = disk->start_ns + disk->step_ns * (double)i;
    return usage_time(dir, raw < 0x1p63 ? (uint64_t)raw : INT64_MAX);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct host_disk *disk = data;
    for (size_t i = 0; i < disk->samples.n; i++) {
        int64_t time_ns = time_of(dir, disk, i);
        if (!sample_too_early(dir, time_ns)) usage_counter(t, pid, "Disk Usage", time_ns, disk->samples.at[i].percent);
    }
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct host_disk *)data)->samples.n ? 1 : 0;
}

static void put_peak(struct table *t, const struct host_disk *disk, bool write)
{
    size_t n = disk->samples.n;
    double *values = mem_alloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = write ? disk->samples.at[i].write_kb : disk->samples.at[i].read_kb;
    usage_cells(t, usage_peak(values, n), false);
    free(values);
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct host_disk *disk = data;
    if (!disk->samples.n) return;
    report_row(t, dir);
    put_peak(t, disk, false);
    put_peak(t, disk, true);
    report_row_end(t);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct host_disk *disk = data;
    for (size_t i = 0; i < disk->samples.n; i++) {
        int64_t time_ns = time_of(dir, disk, i);
        if (sample_too_early(dir, time_ns)) continue;
        db_int(t, time_ns);
        db_real(t, disk->samples.at[i].read_kb * BYTES_PER_KB);
        db_real(t, disk->samples.at[i].write_kb * BYTES_PER_KB);
        db_real(t, disk->samples.at[i].percent);
        db_row(t);
    }
}

const struct metric metric_host_disk = {
    .name = "host disk usage",
    METRIC_INPUTS(INPUT_HOST_DISK),
    .on = knows_interval,
    .load = load,
    .free = host_disk_free,
    .layers = (const struct layer[]){{.key = "disk_usage",
                                      .name = "Disk Usage",
                                      .sort_index = 12,
                                      .script_index = 12,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "host_disk_usage",
             .about = "Disks of the host: the highest rates, and what a machine for this job should reach.",
             .columns = (const char *const[]){"Peak Disk Read(KB/s)", "Recommend Disk Read(KB/s)",
                                              "Peak Disk Write(KB/s)", "Recommend Disk Write(KB/s)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"HOST_DISK_USAGE",
                                                             {{"timestampNs", DB_NUMERIC},
                                                              {"readRate", DB_NUMERIC},
                                                              {"writeRate", DB_NUMERIC},
                                                              {"usage", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
