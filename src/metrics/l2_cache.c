/* L2 cache: how often tasks found their data there, and how often they pushed other data out.
 *
 * A record has eight counters of a task, of the events that sample.json lists. Which events are requests, hits and
 * victims is a matter of the chip. */
#include <stdlib.h>

#include "base/map.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/task_ops.h"

/* docs/formats/sampled-metrics.md, "L2 cache" and "SoC PMU" */
enum { RECORD = 72, R_STREAM = 2, R_TASK = 4, R_COUNTERS = 8, COUNTERS = 8 };
enum {
    SOC_RECORD = 80,
    SOC_COUNTERS = 16,
    SOC_STREAM = 10,
    SOC_TASK = 12,
    SOC_KIND = 14,
    SOC_UNIQUE_KIND = 6, /* where task ids take four bytes */
    KIND_L2 = 1,
};

#define TERMS 6

struct term {
    uint16_t event;
    int8_t sign; /* 0 = no further term */
};

/* Sums of counters by the events of a family of chips. */
static const struct formula {
    struct term request[TERMS], hit[TERMS], victim[TERMS];
} formulas[] = {
    [L2_EVENTS_910] = {{{0x59, 1}}, {{0x5b, 1}}, {{0x5c, 1}}},
    [L2_EVENTS_310P] = {{{0x78, 1}, {0x79, 1}}, {{0x6a, 1}}, {{0x71, 1}}},
    [L2_EVENTS_STARS] = {{{0xfb, 1}, {0xfc, 1}}, {{0x90, 1}, {0x91, 1}}, {{0x9c, 1}}},
    [L2_EVENTS_950] = {{{0x00, 1}},
                       {{0x00, 1}, {0x81, -1}, {0x82, -1}, {0x83, -1}, {0x74, -1}, {0x75, -1}},
                       {{0x74, 1}, {0x75, 1}}},
};

struct reader {
    struct task_rates *rates;
    const struct formula *formula;
    uint32_t events[COUNTERS];
    unsigned n_events;
    bool unique;
};

static int slot_of(const struct reader *r, uint16_t event)
{
    for (unsigned i = 0; i < r->n_events; i++)
        if (r->events[i] == event) return (int)i;
    return -1;
}

static bool has_events(const struct reader *r, const struct term *terms)
{
    for (int i = 0; i < TERMS && terms[i].sign; i++)
        if (slot_of(r, terms[i].event) < 0) return false;
    return true;
}

static double sum(const struct reader *r, const struct term *terms, const uint8_t *counters)
{
    double total = 0;
    for (int i = 0; i < TERMS && terms[i].sign; i++)
        total += terms[i].sign * (double)get_u64(counters + 8 * slot_of(r, terms[i].event));
    return total;
}

static void add_row(struct reader *r, uint32_t stream, uint32_t task, const uint8_t *counters)
{
    double requests = sum(r, r->formula->request, counters);
    struct task_rate row = {.stream = stream, .task = task};
    if (requests != 0) {
        row.first = sum(r, r->formula->hit, counters) / requests;
        row.second = sum(r, r->formula->victim, counters) / requests;
    }
    array_push(&r->rates->rows, row);
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    add_row(context, get_u16(p + R_STREAM), get_u16(p + R_TASK), p + R_COUNTERS);
}

static void visit_soc(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    if (get_u16(p + (r->unique ? SOC_UNIQUE_KIND : SOC_KIND)) != KIND_L2) return;
    add_row(r, get_u16(p + SOC_STREAM), r->unique ? get_u32(p + SOC_TASK) : get_u16(p + SOC_TASK), p + SOC_COUNTERS);
}

/* Are the events those of the formula, and no more than a record has counters? */
static bool find_events(struct reader *r, const struct prof_dir *dir)
{
    r->formula = &formulas[dir->chip->l2_events];
    r->n_events = event_list(sample_setting(dir, "l2CacheTaskProfilingEvents"), r->events, COUNTERS);
    return r->n_events && r->n_events <= COUNTERS && has_events(r, r->formula->request) &&
           has_events(r, r->formula->hit) && has_events(r, r->formula->victim);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {.rates = mem_zalloc(1, sizeof *r.rates), .unique = from->dir->chip->unique_task_ids};
    r.rates->no_first = from->dir->chip->stars;
    if (find_events(&r, from->dir)) {
        records_each(prof_dir_files(from->dir, INPUT_L2_CACHE), RECORD, NULL, from->diag, from->progress, visit, &r);
        if (from->dir->chip->samples & SAMPLE_SOC_PMU)
            records_each(prof_dir_files(from->dir, INPUT_SOC_PMU), SOC_RECORD, NULL, from->diag, from->progress,
                         visit_soc, &r);
    } else if (prof_dir_files(from->dir, INPUT_L2_CACHE)->n) {
        diag_note(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET,
                  "L2 cache counters left out: sample.json does not list the events that its rates need");
    }
    task_rates_name(r.rates, from);
    return r.rates;
}

static int write_report(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {"Device_id", "Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"};
    return task_rates_write(target, "l2_cache", columns, &metric_l2_cache, err);
}

const struct metric metric_l2_cache = {
    .name = "L2 cache",
    .chips = SAMPLE_L2_CACHE,
    METRIC_INPUTS(INPUT_L2_CACHE, INPUT_SOC_PMU),
    .load = load,
    .free = task_rates_free,
    .reports =
        (const struct report[]){
            {.stem = "l2_cache",
             .about = "L2 cache, per task: how often data was there, and how often other data was pushed out.",
             .write = write_report},
            {.stem = NULL}},
};
