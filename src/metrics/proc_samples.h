/* Samples of files of /proc, as collectors of hosts and devices write them: text, one sample behind the other.
 *
 *     TimeStamp:<ns>      CLOCK_MONOTONIC_RAW
 *     …                   lines of the file, of a process with "ProcessName:<name>"
 *     (an empty line)
 *
 * Lines that are something else are passed over. What a visitor is given is there during its visit only. */
#ifndef METRICS_PROC_SAMPLES_H
#define METRICS_PROC_SAMPLES_H

#include "base/diag.h"
#include "base/progress.h"
#include "metrics/text.h"
#include "session/inputs.h"

/* Clock ticks since boot per kind of work, in the order of /proc/stat. */
enum cpu_tick {
    CPU_USER,
    CPU_NICE,
    CPU_SYS,
    CPU_IDLE,
    CPU_IOWAIT,
    CPU_IRQ,
    CPU_SOFT,
    CPU_STEAL,
    CPU_GUEST,
    CPU_GUEST_NICE,
    CPU_TICKS
};

/* A line of /proc/stat. */
struct cpu_sample {
    uint64_t time_ns;       /* 0 = not told */
    struct text_field name; /* "cpu0"; "cpu": all of them together */
    double ticks[CPU_TICKS];
};

void cpu_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct cpu_sample *s, void *context), void *context);

/* What is read of /proc/meminfo. */
enum mem_value {
    MEM_TOTAL,
    MEM_FREE,
    MEM_BUFFERS,
    MEM_CACHED,
    MEM_SHARED,
    MEM_COMMIT_LIMIT,
    MEM_COMMITTED,
    MEM_HUGE_PAGES,
    MEM_HUGE_PAGES_FREE,
    MEM_VALUES
};

/* Sizes are in kB, huge pages are counted; 0 where it is not told. */
struct mem_sample {
    uint64_t time_ns;
    uint64_t values[MEM_VALUES];
};

/* A sample counts when the empty line behind it is there. */
void mem_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                      void (*visit)(const struct mem_sample *s, void *context), void *context);

/* Ticks that a process used, and all that went by in the same time. */
struct process_cpu_sample {
    uint64_t time_ns, pid;
    uint64_t user, sys, children_user, children_sys;
    double all;
    struct text_field name; /* length 0 = not told */
};

void process_cpu_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                              void (*visit)(const struct process_cpu_sample *s, void *context), void *context);

/* Pages of 4 KB of a process. */
enum process_pages { PAGES_SIZE, PAGES_RESIDENT, PAGES_SHARED, PROCESS_PAGES };

struct process_mem_sample {
    uint64_t time_ns;
    uint32_t pid; /* in the name of the file */
    uint64_t pages[PROCESS_PAGES];
    struct text_field name; /* length 0 = not told */
};

void process_mem_samples_each(const struct input_files *files, struct diag *diag, struct progress *progress,
                              void (*visit)(const struct process_mem_sample *s, void *context), void *context);

#endif
