/* Floating point operations by type of operator, of one rank and one iteration.
 *
 * Their counters are those of the metric group ArithmeticUtilization: a kernel's operations are what its cube and its
 * vector units did. */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/round.h"
#include "cluster/parts.h"

#define METRICS   "ArithmeticUtilization"
#define MAX_TYPES 19 /* shown by name, the others as one */

struct type_sum {
    str_id type;
    uint64_t n;
    double operations;
};

struct operations {
    ARRAY(struct type_sum) types; /* operations descending */
    struct type_sum all;
    double us; /* of the kernels on their cores */
};

/* ---- counting ---- */

/* The columns that count, by their names without the prefix of a side. */
static bool is_named(const struct pmu_column *c, const char *name)
{
    size_t prefix = !strncmp(c->name, "aic_", 4) || !strncmp(c->name, "aiv_", 4) ? 4 : 0;
    return !strcmp(c->name + prefix, name);
}

struct counted {
    ARRAY(uint32_t) operations, times; /* columns */
};

static void find_columns(struct counted *c, const struct pmu *p)
{
    for (size_t i = 0; i < p->columns.n; i++) {
        const struct pmu_column *column = &p->columns.at[i];
        if (column->kind == PMU_TOTAL_TIME) array_push(&c->times, (uint32_t)i);
        else if (column->in_summary && (is_named(column, "cube_fops") || is_named(column, "vector_fops")))
            array_push(&c->operations, (uint32_t)i);
    }
}

/* NaN: nothing can be said. */
static double value_of(const struct pmu *p, size_t row, uint32_t column)
{
    double value = pmu_value(p, row, column);
    return isfinite(value) ? value : 0;
}

/* The two sides of a kernel work at the same time. */
static double time_of(const struct pmu *p, size_t row, const struct counted *c)
{
    double longest = 0;
    for (size_t i = 0; i < c->times.n; i++) longest = fmax(longest, value_of(p, row, c->times.at[i]));
    return longest;
}

static double operations_of(const struct pmu *p, size_t row, const struct counted *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->operations.n; i++) sum += value_of(p, row, c->operations.at[i]);
    return sum;
}

/* Types of equally many stay in the order in which they were seen. */
static int by_operations(const void *x, const void *y)
{
    const struct type_sum *a = *(const struct type_sum *const *)x, *b = *(const struct type_sum *const *)y;
    if (a->operations != b->operations) return a->operations > b->operations ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void sort_types(struct operations *of)
{
    size_t n = of->types.n;
    const struct type_sum **order = mem_alloc(n * sizeof *order);
    struct type_sum *sorted = mem_alloc(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) order[i] = &of->types.at[i];
    if (n) qsort(order, n, sizeof *order, by_operations);
    for (size_t i = 0; i < n; i++) sorted[i] = *order[i];
    free(order);
    free(of->types.at);
    of->types.at = sorted;
    of->types.room = n;
}

static void count(struct operations *of, const struct model *m, const struct device_model *d)
{
    const struct pmu *p = &d->data.pmu;
    struct counted columns = {0};
    struct map at = {0};
    find_columns(&columns, p);
    for (size_t i = 0; i < d->tasks.n && columns.operations.n; i++) {
        const struct task *t = &d->tasks.at[i];
        bool fresh;
        if (t->op == NONE || t->pmu == NONE) continue;
        str_id type = m->host.ops.at[t->op].type;
        uint32_t index = *map_put(&at, type, (uint32_t)of->types.n, &fresh);
        if (fresh) array_push(&of->types, ((struct type_sum){.type = type}));
        double operations = operations_of(p, t->pmu, &columns);
        of->types.at[index].operations += operations;
        of->types.at[index].n++;
        of->all.operations += operations;
        of->all.n++;
        of->us += time_of(p, t->pmu, &columns);
    }
    sort_types(of);
    map_free(&at);
    array_free(&columns.operations);
    array_free(&columns.times);
}

/* ---- writing ---- */

static double millions(double operations)
{
    return round_decimals(operations * (1.0 / 1000 / 1000), 1e6);
}

static double percent(const struct operations *of, const struct type_sum *t)
{
    return round_decimals(100 * t->operations / of->all.operations, 100);
}

static void put_type(struct out *o, const char *name, double ratio, const struct type_sum *t)
{
    out_char(o, '{');
    json_any_key(o, name, true);
    out_char(o, '{');
    json_key(o, "fops_ratio", true);
    json_number(o, ratio);
    json_int_member(o, "op_count", (int64_t)t->n);
    json_number_member(o, "fops", millions(t->operations));
    out_literal(o, "}}");
}

static void put_types(struct out *o, const struct model *m, const struct operations *of)
{
    struct type_sum other = {0};
    double other_ratio = 0;
    for (size_t i = 0; i < of->types.n; i++) {
        const struct type_sum *t = &of->types.at[i];
        if (i < MAX_TYPES) {
            if (i) out_literal(o, ", ");
            put_type(o, model_text(m, t->type), percent(of, t), t);
        } else {
            other.n += t->n;
            other.operations += t->operations;
            other_ratio += percent(of, t);
        }
    }
    if (!other.n) return;
    out_literal(o, ", ");
    put_type(o, "other", other_ratio, &other);
}

static void put_operations(struct out *o, const struct model *m, const struct operations *of)
{
    out_literal(o, "[{\"total_fops_info\": {");
    json_key(o, "total_fops", true);
    json_number(o, millions(of->all.operations));
    json_number_member(o, "total_time", round_decimals(of->us, 1e6));
    json_number_member(o, "total_fops_speed", round_decimals(of->all.operations / of->us * 1e-6, 1e6));
    json_int_member(o, "total_op_count", (int64_t)of->all.n);
    json_number_member(o, "total_fops_avg", millions(of->all.operations / (double)of->all.n));
    out_literal(o, "}}, {\"details\": [");
    put_types(o, m, of);
    out_literal(o, "]}]");
}

static int write_operations(struct asking *q, const struct model *m, const struct device_model *d)
{
    struct operations of = {0};
    struct out o;
    int status;
    count(&of, m, d);
    if (!(of.all.operations > 0) || !(of.us > 0)) {
        status = answer_fail(q, NPUPROF_OK, "no operations were counted in that iteration");
    } else {
        char *name = answer_name(q, "fops");
        if (!(status = answer_begin(q, &o, name))) {
            put_operations(&o, m, &of);
            status = answer_end(q, &o, name);
        }
        free(name);
    }
    array_free(&of.types);
    return status;
}

static int answer_device(struct asking *q, struct session *s, const struct prof_dir *dir)
{
    const struct npuprof_question *asked = q->question;
    if (strcmp(dir->meta.aic_metrics, METRICS))
        return answer_fail(q, NPUPROF_OK, "operations are only counted with the metrics " METRICS "; here they are %s",
                           *dir->meta.aic_metrics ? dir->meta.aic_metrics : "none");
    struct model m;
    struct selection selection = {asked->model_id, asked->iteration_id, 1};
    struct model_options options = {.threads = q->threads, .selection = &selection};
    s->script_tasks = s->script_timeline = s->script_summary = true; /* as an export of an iteration has it */
    model_build(&m, s, &options, q->diag);
    int status = write_operations(q, &m, &m.devices[dir->position]);
    model_free(&m);
    return status;
}

static bool has_iteration(const struct cluster_device *d, int64_t model_id, int64_t iteration_id)
{
    for (size_t i = 0; i < d->steps.n; i++)
        if (d->steps.at[i].model_id == model_id && d->steps.at[i].iteration_id == iteration_id) return true;
    return false;
}

int answer_operations(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    const struct prof_dir *dir;
    int status = answer_check_ids(q);
    if (status) return status;
    if (!asked->has_iteration_id)
        return answer_fail(q, NPUPROF_FAILED, "operations are told of one iteration: --iteration-id must be given");
    if ((status = answer_read_steps(q))) return status;
    const struct cluster_device *d = cluster_device(&q->cluster, asked->id);
    if (!d) return answer_fail(q, NPUPROF_OK, "there is no rank or device %lld", (long long)asked->id);
    if (!has_iteration(d, asked->model_id, asked->iteration_id))
        return answer_fail(q, NPUPROF_OK, "there is no iteration %lld of model %lld", (long long)asked->iteration_id,
                           (long long)asked->model_id);
    struct session *s = answer_session(q, d, &dir);
    if (!s) return NPUPROF_OK;
    status = answer_device(q, s, dir);
    session_close(s);
    return status;
}
