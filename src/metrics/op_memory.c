/* Operator memory: what the graph engine allocated and released for operators on devices.
 *
 * A record is one allocation (size > 0) or release (size < 0). A release belongs to the open allocation of the same
 * operator, address and device; what is never released stays open. memory_record and the database list the records,
 * operator_memory the allocations. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* docs/formats/sampled-metrics.md, "Operator memory" */
enum {
    RECORD = 256,
    R_THREAD = 8,
    R_TIME = 16, /* host counter */
    R_ADDRESS = 24,
    R_SIZE = 32,
    R_OPERATOR = 40,
    R_ALLOCATED = 48,
    R_RESERVED = 56,
    R_DEVICE = 64
};

struct event {
    int64_t time_ns;
    uint64_t address, allocated, reserved; /* totals after it, bytes */
    int64_t size;
    str_id op, name; /* name: empty when the dictionary does not have it; op: its number then */
    uint32_t thread_id, device_id, slice;
};

/* An allocation; its release is NONE while there is none. */
struct allocation {
    uint32_t made, released; /* indices in events */
};

struct op_memory {
    ARRAY(struct event) events;           /* by slice, in the order of the records within */
    ARRAY(struct allocation) allocations; /* those released in order of release, then the others as they were made */
};

struct reader {
    struct op_memory *memory;
    const struct metric_source *from;
};

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    struct reader *r = context;
    const struct host_data *host = &r->from->model->host;
    uint64_t hash = get_u64(p + R_OPERATOR);
    array_push(&r->memory->events, ((struct event){

                                       .time_ns = clock_host_ns(&r->from->dir->clock, get_u64(p + R_TIME)),
                                       .address = get_u64(p + R_ADDRESS),
                                       .allocated = get_u64(p + R_ALLOCATED),
                                       .reserved = get_u64(p + R_RESERVED),
                                       .size = (int64_t)get_u64(p + R_SIZE),
                                       .op = host_text(host, r->from->strings, hash),
                                       .name = map_get(&host->hash_texts, hash, STR_EMPTY),
                                       .thread_id = get_u32(p + R_THREAD),
                                       .device_id = get_u32(p + R_DEVICE),
                                       .slice = place->file->slice,
                                   }));
}

static uint64_t place_of(const struct event *e)
{
    return hash_u64(hash_u64(e->address) ^ ((uint64_t)e->op << 32 | e->device_id));
}

/* Slices of records that age and of those that are kept are numbered together: in the order of those numbers an
 * allocation comes before its release. */
static void sort_events(struct op_memory *memory)
{
    size_t n = memory->events.n;
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){memory->events.at[i].slice, (uint32_t)i};
    sort_keys(order, n);
    sort_permute(memory->events.at, sizeof *memory->events.at, order, n);
    free(order);
}

/* Pair releases with allocations. `open` maps a place to its open allocation + 1 in `made`, 0 = none. */
static void pair(struct op_memory *memory)
{
    struct map open = {0};
    ARRAY(struct allocation) made = {0};
    for (size_t i = 0; i < memory->events.n; i++) {
        const struct event *e = &memory->events.at[i];
        if (!e->size) continue;
        uint32_t *at = map_put(&open, place_of(e), 0, NULL);
        if (e->size > 0 && *at) {
            made.at[*at - 1].made = (uint32_t)i; /* the one before was never released, and is gone */
        } else if (e->size > 0) {
            array_push(&made, ((struct allocation){(uint32_t)i, NONE}));
            *at = (uint32_t)made.n;
        } else if (*at) {
            struct allocation *a = &made.at[*at - 1];
            a->released = (uint32_t)i;
            array_push(&memory->allocations, *a);
            *at = 0;
        }
    }
    for (size_t i = 0; i < made.n; i++)
        if (made.at[i].released == NONE) array_push(&memory->allocations, made.at[i]);
    array_free(&made);
    map_free(&open);
}

static void op_memory_free(void *data)
{
    struct op_memory *memory = data;
    array_free(&memory->events);
    array_free(&memory->allocations);
    free(memory);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.memory), from};
    records_each(prof_dir_files(from->dir, INPUT_TASK_MEMORY_INFO), RECORD, record_valid_host, from->diag,
                 from->progress, visit, &r);
    sort_events(r.memory);
    pair(r.memory);
    return r.memory;
}

static const struct op_memory *memory_of(const struct export_target *target)
{
    return metric_data(target->model, target->model->session->host, &metric_op_memory);
}

static void put_kb(struct table *t, double bytes)
{
    table_round(t, bytes / BYTES_PER_KB);
}

/* A device as a cell: NPU:<id>. */
static void put_device(struct table *t, uint32_t device_id)
{
    char text[4 + FORMAT_U64] = "NPU:", *end = format_u64(text + 4, device_id);
    table_text(t, text, (size_t)(end - text));
}

static void put_allocation(struct table *t, const struct op_memory *memory, const struct allocation *a)
{
    const struct event *made = &memory->events.at[a->made];
    const struct event *released = a->released == NONE ? NULL : &memory->events.at[a->released];
    table_string(t, made->name);
    put_kb(t, (double)made->size);
    table_time(t, made->time_ns);
    table_us(t, released ? span_ns(made->time_ns, released->time_ns) : 0);
    put_kb(t, (double)made->allocated);
    put_kb(t, (double)made->reserved);
    put_kb(t, released ? (double)released->allocated : 0);
    put_kb(t, released ? (double)released->reserved : 0);
    put_device(t, made->device_id);
}

static void put_event(struct table *t, const struct event *e)
{
    table_text(t, "GE", 2);
    table_time(t, e->time_ns);
    put_kb(t, (double)e->allocated);
    put_kb(t, (double)e->reserved);
    put_device(t, e->device_id);
}

/* The directory under whose Device_id the i-th copy of the rows stands: every device, as in the reference; the host
 * where there is none. */
static const struct prof_dir *listed_under(const struct session *s, size_t i)
{
    if (!s->n_devices) return i ? NULL : s->host;
    return i < s->n_devices ? &s->devices[i] : NULL;
}

enum rows_of { ALLOCATIONS, EVENTS };

static int write_report(struct export_target *target, const char *stem, const char *const *columns, size_t n_columns,
                        enum rows_of what, struct error *err)
{
    const struct session *s = target->model->session;
    const struct op_memory *memory = memory_of(target);
    if (!memory || !memory->allocations.n) return 0;
    size_t n = what == EVENTS ? memory->events.n : memory->allocations.n;
    /* In JSON once: all copies are alike but for the Device_id, which is not there. */
    size_t copies = s->n_devices && target->format != NPUPROF_JSON ? s->n_devices : 1;
    struct table t;
    if (table_open(&t, target, stem, columns, n_columns, n * copies, err)) return -1;
    if (copies == 1) table_of_one_directory(&t);
    const struct prof_dir *dir;
    bool go_on = true;
    for (size_t d = 0; go_on && d < copies && (dir = listed_under(s, d)); d++)
        for (size_t i = 0; go_on && i < n; i++) {
            report_row(&t, dir);
            if (what == EVENTS) put_event(&t, &memory->events.at[i]);
            else put_allocation(&t, memory, &memory->allocations.at[i]);
            go_on = report_row_end(&t);
        }
    return table_close(&t);
}

static int write_allocations(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {
        "Device_id",
        "Name",
        "Size(KB)",
        "Allocation Time(us)",
        "Duration(us)",
        "Allocation Total Allocated(KB)",
        "Allocation Total Reserved(KB)",
        "Release Total Allocated(KB)",
        "Release Total Reserved(KB)",
        "Device",
    };
    return write_report(target, "operator_memory", COLUMNS(columns), ALLOCATIONS, err);
}

static int write_events(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {
        "Device_id", "Component", "Timestamp(us)", "Total Allocated(KB)", "Total Reserved(KB)", "Device",
    };
    return write_report(target, "memory_record", COLUMNS(columns), EVENTS, err);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct op_memory *memory = data;
    for (size_t i = 0; i < memory->events.n; i++) {
        const struct event *e = &memory->events.at[i];
        if (sample_too_early(dir, e->time_ns)) continue;
        db_string(run, t, e->op);
        db_u64(t, e->address);
        db_string_z(run, t, e->size < 0 ? "release" : "allocate");
        db_u64(t, e->size < 0 ? 0 - (uint64_t)e->size : (uint64_t)e->size);
        db_int(t, e->time_ns);
        db_u64(t, (uint64_t)dir->meta.pid << 32 | e->thread_id);
        db_u64(t, e->allocated);
        db_u64(t, e->reserved);
        db_string_z(run, t, "GE");
        db_int(t, e->device_id);
        db_row(t);
    }
}

const struct metric metric_op_memory = {
    .name = "operator memory",
    METRIC_INPUTS(INPUT_TASK_MEMORY_INFO),
    .load = load,
    .free = op_memory_free,
    .reports =
        (const struct report[]){
            {.stem = "operator_memory",
             .about = "Memory of operators: every allocation, how long it was held, and the totals then.",
             .write = write_allocations},
            {.stem = "memory_record",
             .about = "Memory of operators: the totals after every allocation and release.",
             .write = write_events},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"NPU_OP_MEM",
                                                             {{"operatorName", DB_INTEGER},
                                                              {"addr", DB_INTEGER},
                                                              {"type", DB_INTEGER},
                                                              {"size", DB_INTEGER},
                                                              {"timestampNs", DB_INTEGER},
                                                              {"globalTid", DB_INTEGER},
                                                              {"totalAllocate", DB_NUMERIC},
                                                              {"totalReserve", DB_NUMERIC},
                                                              {"component", DB_INTEGER},
                                                              {"deviceId", DB_INTEGER}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
