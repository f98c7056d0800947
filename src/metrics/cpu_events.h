/* Counters of CPUs of a device: AI CPU, control CPU, task scheduler. */
#ifndef METRICS_CPU_EVENTS_H
#define METRICS_CPU_EVENTS_H

#include "base/map.h"
#include "metrics/metric.h"

#define CPU_CYCLES 0x11u

struct cpu_event_count {
    uint32_t event;
    uint64_t count;
};

struct cpu_function {
    str_id name, module;
    uint64_t cycles;
};

/* What such a metric loads from a device. */
struct cpu_counts {
    ARRAY(struct cpu_event_count) events; /* count descending, once sorted */
    ARRAY(struct cpu_function) functions; /* cycles descending, once sorted */
    struct map event_at, function_at;
    uint64_t cycles; /* of all functions */
    size_t top;      /* functions that are shown, 0 = all */
    bool with_modules;
    bool counts_are_text; /* as the reference's JSON has them */
};

void cpu_counts_add(struct cpu_counts *c, uint32_t event, uint64_t count);
void cpu_counts_add_cycles(struct cpu_counts *c, str_id function, str_id module, uint64_t cycles);
void cpu_counts_sort(struct cpu_counts *c);
void cpu_counts_free(void *data);

/* For the reports: Event,Name,Count and Function[,Module],Cycles,Cycles(%). */
uint64_t cpu_events_rows(const struct prof_dir *dir, const void *data);
void cpu_events_fill(struct table *t, const struct prof_dir *dir, const void *data);
uint64_t cpu_functions_rows(const struct prof_dir *dir, const void *data);
void cpu_functions_fill(struct table *t, const struct prof_dir *dir, const void *data);

#endif
