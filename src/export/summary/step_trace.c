/* step_trace: the training iterations that the devices saw, and the gradient reductions in each.
 *
 * Reductions belong to the iteration of the same model that ends when theirs does; they are looked up in an index that
 * is sorted by (end, model). Every row has as many pairs of columns as the iteration with most reductions needs; where
 * the reference's scripts make the report, only as many as it has itself, and N/A for what was not seen. */
#include "base/sort.h"
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id",          "Iteration ID",      "FP Start(us)",          "BP End(us)",         "Iteration End(us)",
    "Iteration Time(us)", "FP to BP Time(us)", "Iteration Refresh(us)", "Data Aug Bound(us)", "Model ID",
};
static const char *const reduce_columns[] = {"Reduce Start(us)", "Reduce Duration(us)"};

/* Pairs of columns at most: keeps the file in proportion to what was recorded. */
#define MAX_REDUCES 1000

/* The reductions of a device, ascending by (iteration end, model), table order within. */
struct reduces {
    const struct device_data *d;
    struct sort_key *order; /* key: iteration end */
};

/* Those of one step: order[from …]. */
struct range {
    size_t from, n;
};

static struct reduces reduces_of(const struct device_data *d)
{
    size_t n = d->reduces.n;
    struct reduces r = {d, mem_alloc(n * sizeof *r.order)};
    for (size_t i = 0; i < n; i++) r.order[i] = (struct sort_key){d->reduces.at[i].model_id, (uint32_t)i};
    sort_keys(r.order, n);
    for (size_t i = 0; i < n; i++) r.order[i].key = (uint64_t)d->reduces.at[r.order[i].index].iteration_end_ns;
    sort_keys(r.order, n);
    return r;
}

static const struct step_reduce *reduce_at(const struct reduces *r, size_t place)
{
    return &r->d->reduces.at[r->order[place].index];
}

/* Order of the reduction at a place against those of a step: < 0, 0 = it belongs to the step, > 0. */
static int compare(const struct reduces *r, size_t place, const struct step *s)
{
    uint64_t end = r->order[place].key, wanted = (uint64_t)s->iteration_end_ns;
    if (end != wanted) return end < wanted ? -1 : 1;
    uint32_t model = reduce_at(r, place)->model_id;
    return (model > s->model_id) - (model < s->model_id);
}

/* The first place whose reduction compares as at least `least` with those of the step. */
static size_t bound(const struct reduces *r, const struct step *s, int least)
{
    size_t low = 0, high = r->d->reduces.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (compare(r, mid, s) < least) low = mid + 1;
        else high = mid;
    }
    return low;
}

static struct range reduces_in(const struct reduces *r, const struct step *s)
{
    size_t from = bound(r, s, 0);
    return (struct range){from, bound(r, s, 1) - from};
}

/* Pairs of columns that the steps of a device need. */
static size_t most_reduces(const struct reduces *r, struct diag *diag)
{
    size_t most = 0;
    uint64_t lost = 0;
    for (size_t i = 0; i < r->d->steps.n; i++) {
        size_t n = reduces_in(r, &r->d->steps.at[i]).n;
        if (n > MAX_REDUCES) lost += n - MAX_REDUCES;
        if (n > most) most = n;
    }
    diag_count(diag, DIAG_WARNING, "", DIAG_NO_OFFSET, lost,
               "reductions left out of step_trace: an iteration has room for %d", MAX_REDUCES);
    return most > MAX_REDUCES ? MAX_REDUCES : most;
}

static void point(struct table *t, int64_t ns, bool scripts)
{
    if (scripts && !ns) table_na(t, 1);
    else table_time(t, ns);
}

static void duration(struct table *t, int64_t ns, bool scripts)
{
    if (scripts && !ns) table_na(t, 1);
    else table_us(t, ns);
}

static int write_step(struct table *t, uint16_t device_id, const struct step *s, const struct reduces *r)
{
    bool scripts = t->target->model->session->script_summary;
    table_u64(t, device_id);
    table_u64(t, s->iteration_id);
    point(t, s->fp_start_ns, scripts);
    point(t, s->bp_end_ns, scripts);
    table_time(t, s->iteration_end_ns);
    table_us(t, s->iteration_time_ns);
    duration(t, s->fp_bp_ns, scripts);
    duration(t, s->refresh_ns, scripts);
    duration(t, s->data_aug_ns, scripts);
    table_u64(t, s->model_id);
    struct range mine = reduces_in(r, s);
    for (size_t i = 0; i < mine.n && i < MAX_REDUCES; i++) {
        const struct step_reduce *reduce = reduce_at(r, mine.from + i);
        table_time(t, reduce->start_ns);
        table_us(t, reduce->duration_ns);
    }
    if (scripts) return table_end_short_row(t);
    table_na(t, t->n_columns - t->column);
    return table_end_row(t);
}

static int write_rows(struct export_target *target, const struct reduces *reduces, uint64_t rows, struct error *err)
{
    const struct model *m = target->model;
    size_t pairs = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        size_t most = most_reduces(&reduces[i], target->diag);
        if (most > pairs) pairs = most;
    }
    ARRAY(const char *) header = {0};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) array_push(&header, columns[i]);
    for (size_t i = 0; i < 2 * pairs; i++) array_push(&header, reduce_columns[i % 2]);
    struct table t;
    int status = table_open(&t, target, report_step_trace.stem, header.at, header.n, rows, err);
    if (!status) {
        for (size_t i = 0; i < m->n_devices && !t.failed; i++) {
            const struct device_model *d = &m->devices[i];
            for (size_t k = 0; k < d->data.steps.n; k++)
                if (write_step(&t, d->device_id, &d->data.steps.at[k], &reduces[i])) break;
        }
        status = table_close(&t);
    }
    array_free(&header);
    return status;
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    uint64_t rows = 0;
    for (size_t i = 0; i < m->n_devices; i++) rows += m->devices[i].data.steps.n;
    if (!rows) return 0;
    struct reduces *reduces = mem_alloc(m->n_devices * sizeof *reduces);
    for (size_t i = 0; i < m->n_devices; i++) reduces[i] = reduces_of(&m->devices[i].data);
    int status = write_rows(target, reduces, rows, err);
    for (size_t i = 0; i < m->n_devices; i++) free(reduces[i].order);
    free(reduces);
    return status;
}

const struct report report_step_trace = {
    .stem = "step_trace",
    .about = "Training iterations: forward and backward pass, iteration end, the time waited for data, and the\n"
             "gradient reductions of each.",
    .write = write,
};
