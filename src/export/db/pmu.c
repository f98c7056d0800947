/* AI Core counters, one row per task and counter: all counters of a task together, tasks in the order of their counter
 * records. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/db/tables.h"

/* A column of the counters as the database shows it. */
struct shown_column {
    uint32_t name; /* id in STRING_IDS */
    double factor;
};

/* The unit at the end of a column's name, and what makes it the database's: ns, bytes per second. The first that fits
 * counts. */
static const struct unit {
    const char *suffix;
    double factor;
    bool removed;
} units[] = {
    {"_time", 1000, false}, /* µs */
    {"(ms)", 1e6, true},    /* ms */
    {"(GB/s)", 1073741824.0, true},
};

static bool ends_in(const char *name, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length >= n && !memcmp(name + length - n, suffix, n);
}

static struct shown_column shown_column(struct db_run *run, const struct pmu_column *c)
{
    size_t length = strnlen(c->name, sizeof c->name);
    double factor = 1;
    if (ends_in(c->name, length, "_extra")) length -= strlen("_extra");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!ends_in(c->name, length, units[i].suffix)) continue;
        factor = units[i].factor;
        if (units[i].removed) length -= strlen(units[i].suffix);
        break;
    }
    return (struct shown_column){ids_string(&run->ids, strpool_add(run->ids.strings, c->name, length)), factor};
}

/* globalTaskId of each row of counters + 1, 0 = of no task. */
static uint32_t *task_ids(struct db_run *run, const struct device_model *device)
{
    uint32_t *ids = mem_zalloc(device->data.pmu.rows.n, sizeof *ids);
    for (size_t i = 0; i < device->tasks.n; i++) {
        const struct task *k = &device->tasks.at[i];
        if (k->pmu == NONE) continue;
        uint32_t batch_id = device->data.pmu.no_batch ? NONE : k->batch_id;
        struct db_task_key key = {device->device_id, k->stream_id, k->task_id, k->context_id, batch_id};
        ids[k->pmu] = ids_task(&run->ids, key) + 1;
    }
    for (size_t i = 0; i < device->data.pmu.orphans.n; i++) {
        const struct pmu_orphan *o = &device->data.pmu.orphans.at[i];
        struct db_task_key key = {device->device_id, o->stream_id, o->task_id, o->context_id, o->batch_id};
        ids[o->row] = ids_task(&run->ids, key) + 1;
    }
    return ids;
}

static void write_device(struct db_run *run, struct db_table *t, const struct device_model *device)
{
    const struct pmu *pmu = &device->data.pmu;
    if (!pmu->rows.n || !device->dir->chip->counters_in_db) return;
    struct shown_column *columns = mem_alloc(pmu->columns.n * sizeof *columns);
    for (size_t c = 0; c < pmu->columns.n; c++) columns[c] = shown_column(run, &pmu->columns.at[c]);
    uint32_t *ids = task_ids(run, device);
    for (size_t row = 0; row < pmu->rows.n; row++) {
        for (size_t c = 0; ids[row] && c < pmu->columns.n; c++) {
            db_int(t, (int64_t)ids[row] - 1);
            db_int(t, columns[c].name);
            db_real(t, pmu_value(pmu, row, c) * columns[c].factor);
            db_row(t);
        }
    }
    free(ids);
    free(columns);
}

static void write_task_pmu_info(struct db_run *run, struct db_table *t)
{
    for (size_t d = 0; d < run->model->n_devices; d++) write_device(run, t, run->model->by_number[d]);
}

const struct db_table_kind table_task_pmu_info = {
    .definition = {"TASK_PMU_INFO", {{"globalTaskId", DB_INTEGER}, {"name", DB_INTEGER}, {"value", DB_NUMERIC}}},
    .write = write_task_pmu_info,
};
