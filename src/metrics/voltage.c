/* Voltage of the AI cores and of the bus, from lpmInfoConv: records of up to 55 changes of one of the two.
 *
 * Only the reference's scripts show it: as a line of repeated values. A change from before the reference count of the
 * device clock tells the voltage at the reference; without one it is 900 mV. */
#include <stdlib.h>

#include "base/sort.h"
#include "decode/records.h"
#include "export/timeline/held.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* docs/formats/device-records.md, "lpmInfoConv" */
enum { RECORD = 888, CHANGES = 55, R_COUNT = 0, R_TYPE = 4, R_CHANGES = 8, CHANGE_SIZE = 16, R_VALUE = 8 };

#define DEFAULT_MV 900

static const struct line {
    uint32_t type;
    const char *name;
} lines[] = {{1, "Aicore Voltage"}, {2, "Bus Voltage"}};
enum { LINES = sizeof lines / sizeof *lines };

struct voltage {
    ARRAY(struct held_value) values[LINES]; /* ascending */
};

struct reader {
    struct voltage *voltage;
    const struct clock *clock;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint32_t type = get_u32(p + R_TYPE), count = get_u32(p + R_COUNT);
    for (int line = 0; line < LINES; line++) {
        if (lines[line].type != type) continue;
        for (uint32_t i = 0; i < count && i < CHANGES; i++) {
            const uint8_t *change = p + R_CHANGES + i * CHANGE_SIZE;
            struct held_value v = {clock_device_ns(r->clock, get_u64(change)), get_u32(change + R_VALUE)};
            if (get_u64(change) < r->clock->device_ref) r->voltage->values[line].at[0].value = v.value;
            else array_push(&r->voltage->values[line], v);
        }
    }
}

static void voltage_free(void *data)
{
    struct voltage *v = data;
    for (int line = 0; line < LINES; line++) array_free(&v->values[line]);
    free(v);
}

static void sort_values(struct held_value *values, size_t n)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){(uint64_t)values[i].time_ns ^ 1ull << 63, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(values, sizeof *values, order, n);
    free(order);
}

static void *load(const struct metric_source *from)
{
    if (!from->model->session->script_timeline) return NULL;
    struct reader r = {mem_zalloc(1, sizeof *r.voltage), &from->dir->clock};
    struct held_value first = {clock_device_ns(r.clock, r.clock->device_ref), DEFAULT_MV};
    for (int line = 0; line < LINES; line++) array_push(&r.voltage->values[line], first);
    records_each(prof_dir_files(from->dir, INPUT_LPM_INFO_CONV), RECORD, NULL, from->diag, from->progress, visit, &r);
    for (int line = 0; line < LINES; line++) sort_values(r.voltage->values[line].at, r.voltage->values[line].n);
    return r.voltage;
}

static void put(struct trace *t, uint32_t pid, const char *name, int64_t time_ns, uint32_t mv)
{
    trace_begin(t);
    out_text(&t->out, name);
    trace_counter(t, pid, 0, time_ns);
    trace_arg_u64(t, "mV", mv);
    trace_end(t);
}

static void put_core(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t mv)
{
    put(t, pid, lines[0].name, time_ns, mv);
}

static void put_bus(struct trace *t, uint32_t pid, int64_t time_ns, uint32_t mv)
{
    put(t, pid, lines[1].name, time_ns, mv);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct voltage *v = data;
    held_line(t, pid, dir, v->values[0].at, v->values[0].n, put_core);
    held_line(t, pid, dir, v->values[1].at, v->values[1].n, put_bus);
}

const struct metric metric_voltage = {
    .name = "voltage",
    .chips = SAMPLE_VOLTAGE,
    METRIC_INPUTS(INPUT_LPM_INFO_CONV),
    .load = load,
    .free = voltage_free,
    .layers = (const struct layer[]){{.key = "voltage",
                                      .name = "Voltage Info",
                                      .sort_index = 16,
                                      .script_index = 16,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
};
