/* NPU module memory: how much memory of the device each component of its software has reserved.
 *
 * A record is a component, a count of the host and the bytes. All ones means that the amount is not known. */
#include <stdio.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

enum { MODULE = 0, HOST_COUNT = 8, BYTES = 16 };

#define AML 74u /* its name in reports of the scripts; everywhere else it is AMP */

struct sample {
    int64_t time_ns;
    uint64_t bytes;
    uint32_t module;
};

struct module_mem {
    ARRAY(struct sample) samples; /* by module, ascending time */
};

struct reader {
    struct module_mem *mem;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    array_push(&r->mem->samples, ((struct sample){.time_ns = clock_host_ns(&r->dir->clock, get_u64(p + HOST_COUNT)),
                                                  .bytes = get_u64(p + BYTES),
                                                  .module = get_u32(p + MODULE)}));
}

static uint64_t time_key(const void *sample)
{
    return sample_time_key(((const struct sample *)sample)->time_ns);
}

static uint64_t module_key(const void *sample)
{
    return ((const struct sample *)sample)->module;
}

static void module_mem_free(void *data)
{
    struct module_mem *m = data;
    array_free(&m->samples);
    free(m);
}

static void *load(const struct metric_source *from)
{
    struct module_mem *m = mem_zalloc(1, sizeof *m);
    struct reader r = {m, from->dir};
    records_each(prof_dir_files(from->dir, INPUT_NPU_MODULE_MEM), input_kind(INPUT_NPU_MODULE_MEM)->record_size, NULL,
                 from->diag, from->progress, visit, &r);
    sample_sort(m->samples.at, m->samples.n, sizeof *m->samples.at, time_key);
    sample_sort(m->samples.at, m->samples.n, sizeof *m->samples.at, module_key);
    return m;
}

/* --- report: native parts of the reference sort all devices together, its scripts each ---------------------------- */

struct row {
    const struct sample *sample;
    const struct prof_dir *dir;
};

typedef ARRAY(struct row) row_array;

static uint64_t row_time_key(const void *row)
{
    return time_key(((const struct row *)row)->sample);
}

static uint64_t row_module_key(const void *row)
{
    return module_key(((const struct row *)row)->sample);
}

static row_array rows_of(const struct model *m)
{
    const struct prof_dir *dir;
    bool scripted = m->session->script_summary;
    row_array rows = {0};
    for (size_t d = 0; (dir = metric_dir(m, d)); d++) {
        const struct module_mem *mem = metric_data(m, dir, &metric_npu_module_mem);
        for (size_t i = 0; mem && i < mem->samples.n; i++)
            if (scripted || !sample_too_early(dir, mem->samples.at[i].time_ns))
                array_push(&rows, ((struct row){&mem->samples.at[i], dir}));
    }
    if (!scripted) {
        sample_sort(rows.at, rows.n, sizeof *rows.at, row_time_key);
        sample_sort(rows.at, rows.n, sizeof *rows.at, row_module_key);
    }
    return rows;
}

static void put_row(struct table *t, const struct prof_dir *dir, const struct sample *s)
{
    bool scripted = t->target->model->session->script_summary;
    const char *module = scripted && s->module == AML ? "AML" : db_module_name(s->module);
    char device[32];
    if (!module) module = scripted ? "other" : "Unknown";
    report_row(t, dir);
    table_text(t, module, strlen(module));
    table_time(t, s->time_ns);
    if (!scripted) table_u64(t, s->bytes / 1024);
    else if (s->bytes > INT64_MAX) table_text(t, "-1", 2);
    else table_round(t, (double)s->bytes / BYTES_PER_KB);
    table_text(t, device, (size_t)snprintf(device, sizeof device, "NPU:%u", dir->device_id));
}

static int write_report(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {"Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"};
    row_array rows = rows_of(target->model);
    struct table t;
    int status = 0;
    if (rows.n && !(status = table_open(&t, target, "npu_module_mem", COLUMNS(columns), rows.n, err))) {
        for (size_t i = 0; i < rows.n; i++) {
            put_row(&t, rows.at[i].dir, rows.at[i].sample);
            if (table_end_row(&t)) break;
        }
        status = table_close(&t);
    }
    array_free(&rows);
    return status;
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    (void)run;
    const struct module_mem *m = data;
    for (size_t i = 0; i < m->samples.n; i++) {
        const struct sample *s = &m->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        db_int(t, s->module);
        db_int(t, s->time_ns);
        db_int(t, s->bytes > INT64_MAX ? -1 : (int64_t)s->bytes);
        db_int(t, dir->device_id);
        db_row(t);
    }
}

const struct metric metric_npu_module_mem = {
    .name = "NPU module memory",
    .chips = SAMPLE_NPU_MODULE_MEM,
    METRIC_INPUTS(INPUT_NPU_MODULE_MEM),
    .load = load,
    .free = module_mem_free,
    .reports = (const struct report[]){{.stem = "npu_module_mem",
                                        .about = "Memory that the components of the device's software have reserved, "
                                                 "over time.",
                                        .write = write_report},
                                       {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"NPU_MODULE_MEM",
                                                             {{"moduleId", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"totalReserved", DB_NUMERIC},
                                                              {"deviceId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
