/* SoC PMU: how often the address translation of a task's accesses was in the TLB (SMMU), and the page faults of tasks.
 *
 * The file mixes kinds of records: those of the L2 cache belong to l2_cache.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/task_ops.h"

/* docs/formats/sampled-metrics.md, "SoC PMU"; UNIQUE_: where task ids take four bytes */
enum { RECORD = 80, R_STREAM = 10, R_TASK = 12, R_KIND = 14, R_UNIQUE_KIND = 6, R_COUNTERS = 16, COUNTERS = 8 };
enum { KIND_SMMU = 2, KIND_PAGE_FAULT = 4 };

/* Events of the SMMU. */
enum { MISS = 0x2, REQUEST = 0x8a, HIT = 0x8c, HIT_TOO = 0x8d };

struct page_fault {
    uint32_t stream, task;
    uint64_t number;
    str_id op;
};

struct soc_pmu {
    struct task_rates rates; /* must be first: the report of rates sees this only */
    ARRAY(struct page_fault) faults;
};

struct reader {
    struct soc_pmu *pmu;
    struct task_ops first_ops;       /* of the page faults */
    int miss, request, hit, hit_too; /* counters of the events, -1 = not listed */
    bool unique;
};

/* The list behind "SMMU:" in npuEvents, which has a group of events per unit. */
static const char *smmu_events(const struct prof_dir *dir)
{
    const char *at = sample_setting(dir, "npuEvents");
    while (at && strncasecmp(at, "SMMU:", 5)) {
        at = strchr(at, ';');
        if (at) at++;
    }
    return at ? at + 5 : "";
}

static int slot_of(const uint32_t *events, unsigned n, uint32_t event)
{
    for (unsigned i = 0; i < n; i++)
        if (events[i] == event) return (int)i;
    return -1;
}

static void find_events(struct reader *r, const struct prof_dir *dir)
{
    uint32_t events[COUNTERS];
    unsigned n = event_list(smmu_events(dir), events, COUNTERS);
    if (n > COUNTERS) n = 0;
    r->miss = slot_of(events, n, MISS);
    r->request = slot_of(events, n, REQUEST);
    r->hit = slot_of(events, n, HIT);
    r->hit_too = slot_of(events, n, HIT_TOO);
}

static double counter(const uint8_t *p, int slot)
{
    return (double)get_u64(p + R_COUNTERS + 8 * slot);
}

static void add_rates(struct reader *r, const uint8_t *p, uint32_t stream, uint32_t task)
{
    if (r->miss < 0 || r->request < 0 || r->hit < 0 || r->hit_too < 0) return;
    double requests = counter(p, r->request);
    struct task_rate row = {.stream = stream, .task = task};
    if (requests > 0) {
        row.first = (counter(p, r->hit) + counter(p, r->hit_too)) / requests;
        row.second = counter(p, r->miss) / requests;
    }
    array_push(&r->pmu->rates.rows, row);
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint16_t kind = get_u16(p + (r->unique ? R_UNIQUE_KIND : R_KIND));
    uint32_t stream = get_u16(p + R_STREAM), task = r->unique ? get_u32(p + R_TASK) : get_u16(p + R_TASK);
    if (kind == KIND_SMMU) add_rates(r, p, stream, task);
    if (kind != KIND_PAGE_FAULT) return;
    str_id op = task_ops_name(&r->first_ops, stream, task);
    array_push(&r->pmu->faults, ((struct page_fault){stream, task, get_u64(p + R_COUNTERS), op}));
}

static void soc_pmu_free(void *data)
{
    struct soc_pmu *pmu = data;
    array_free(&pmu->faults);
    task_rates_free(data);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {.pmu = mem_zalloc(1, sizeof *r.pmu), .unique = from->dir->chip->unique_task_ids};
    find_events(&r, from->dir);
    task_ops_build(&r.first_ops, from, false);
    records_each(prof_dir_files(from->dir, INPUT_SOC_PMU), RECORD, NULL, from->diag, from->progress, visit, &r);
    map_free(&r.first_ops.names);
    task_rates_name(&r.pmu->rates, from);
    return r.pmu;
}

static int write_rates(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {"Device_id",    "Stream Id",     "Task Id",
                                          "TLB Hit Rate", "TLB Miss Rate", "Op Name"};
    return task_rates_write(target, "soc_pmu", columns, &metric_soc_pmu, err);
}

/* Only the reference's native part has this report; its first column is spelled differently. */
static int write_faults(struct export_target *target, struct error *err)
{
    static const char *const columns[] = {"Device Id", "Stream Id", "Task Id", "Page Fault Num", "Op Name"};
    const struct model *m = target->model;
    uint64_t n = 0;
    bool go_on = true;
    for (size_t d = 0; d < m->n_devices; d++) {
        const struct soc_pmu *pmu = metric_data(m, m->devices[d].dir, &metric_soc_pmu);
        n += pmu ? pmu->faults.n : 0;
    }
    struct table t;
    if (!n || m->session->script_summary) return 0;
    if (table_open(&t, target, "page_fault", COLUMNS(columns), n, err)) return -1;
    for (size_t d = 0; go_on && d < m->n_devices; d++) {
        const struct soc_pmu *pmu = metric_data(m, m->devices[d].dir, &metric_soc_pmu);
        for (size_t i = 0; go_on && pmu && i < pmu->faults.n; i++) {
            const struct page_fault *f = &pmu->faults.at[i];
            report_row(&t, m->devices[d].dir);
            table_u64(&t, f->stream);
            table_u64(&t, f->task);
            table_u64(&t, f->number);
            table_string(&t, f->op);
            go_on = report_row_end(&t);
        }
    }
    return table_close(&t);
}

const struct metric metric_soc_pmu = {
    .name = "SoC PMU",
    .chips = SAMPLE_SOC_PMU,
    METRIC_INPUTS(INPUT_SOC_PMU),
    .load = load,
    .free = soc_pmu_free,
    .reports =
        (const struct report[]){
            {.stem = "soc_pmu",
             .about = "Address translation, per task: how often it was in the TLB, and how often not.",
             .write = write_rates},
            {.stem = "page_fault", .about = "Page faults of tasks.", .write = write_faults},
            {.stem = NULL}},
};
