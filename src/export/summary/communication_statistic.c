/* communication_statistic: communication operators by type, how many ran and how long they took. */
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id", "OP Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)",
};

struct row {
    uint16_t device_id;
    uint32_t place; /* among the rows of its device */
    const struct comm_statistic *s;
};

/* Longest total first; of equal ones the lower device, then the order in the device. */
static int by_total(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->s->total_ns != y->s->total_ns) return x->s->total_ns > y->s->total_ns ? -1 : 1;
    if (x->device_id != y->device_id) return x->device_id < y->device_id ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int write_row(struct table *t, const struct row *r)
{
    int64_t n = r->s->count ? (int64_t)r->s->count : 1;
    table_u64(t, r->device_id);
    table_string(t, r->s->op_type);
    table_u64(t, r->s->count);
    table_us_trim(t, r->s->total_ns);
    table_us_trim(t, r->s->min_ns);
    table_us_trim(t, r->s->total_ns / n + (r->s->total_ns % n >= n - n / 2));
    table_us_trim(t, r->s->max_ns);
    table_trim(t, r->s->ratio);
    return table_end_row(t);
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    ARRAY(struct row) rows = {0};
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        for (size_t k = 0; k < d->comm_statistics.n; k++)
            array_push(&rows, ((struct row){d->device_id, (uint32_t)k, &d->comm_statistics.at[k]}));
    }
    if (!rows.n) return 0;
    if (!m->session->script_summary) qsort(rows.at, rows.n, sizeof *rows.at, by_total); /* else device by device */
    struct table t;
    int status = table_open(&t, target, report_communication_statistic.stem, COLUMNS(columns), rows.n, err);
    if (!status) {
        for (size_t i = 0; i < rows.n; i++)
            if (write_row(&t, &rows.at[i])) break;
        status = table_close(&t);
    }
    array_free(&rows);
    return status;
}

const struct report report_communication_statistic = {
    .stem = "communication_statistic",
    .about = "Communication operators by type: how many ran on a device, and how long they took.",
    .needs_ops = true,
    .write = write,
};
