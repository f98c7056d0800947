/* Voltage of the AI cores and of the bus, from lpmInfoConv (decode/lpm.h).
 *
 * Only the reference's scripts show it: as a line of repeated values. A change from before the reference count of the
 * device clock tells the voltage at the reference; without one it is 900 mV. */
#include <stdlib.h>

#include "decode/lpm.h"
#include "export/timeline/held.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

#define DEFAULT_MV 900

static const struct line {
    enum lpm_type type;
    const char *name;
} lines[] = {{LPM_CORE_VOLTAGE, "Aicore Voltage"}, {LPM_BUS_VOLTAGE, "Bus Voltage"}};
enum { LINES = sizeof lines / sizeof *lines };

struct voltage {
    ARRAY(struct held_value) values[LINES]; /* ascending */
};

struct reader {
    struct voltage *voltage;
    const struct clock *clock;
};

static void visit(uint32_t type, uint64_t time, uint32_t value, void *context)
{
    struct reader *r = context;
    for (int line = 0; line < LINES; line++) {
        if (lines[line].type != type) continue;
        struct held_value v = {clock_device_ns(r->clock, time), value};
        if (time < r->clock->device_ref) r->voltage->values[line].at[0].value = value;
        else array_push(&r->voltage->values[line], v);
    }
}

static void voltage_free(void *data)
{
    struct voltage *v = data;
    for (int line = 0; line < LINES; line++) array_free(&v->values[line]);
    free(v);
}

static uint64_t time_key(const void *value)
{
    return sample_time_key(((const struct held_value *)value)->time_ns);
}

static void *load(const struct metric_source *from)
{
    if (!from->model->session->script_timeline) return NULL;
    struct reader r = {mem_zalloc(1, sizeof *r.voltage), &from->dir->clock};
    struct held_value first = {clock_device_ns(r.clock, r.clock->device_ref), DEFAULT_MV};
    for (int line = 0; line < LINES; line++) array_push(&r.voltage->values[line], first);
    /* What is wrong with the files has been said where the clock is read from them. */
    lpm_each(prof_dir_files(from->dir, INPUT_LPM_INFO_CONV), NULL, NULL, visit, &r);
    for (int line = 0; line < LINES; line++)
        sample_sort(r.voltage->values[line].at, r.voltage->values[line].n, sizeof *r.voltage->values[line].at,
                    time_key);
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
