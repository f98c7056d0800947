/* api_statistic: how often each API was called and how long its calls took.
 *
 * One pass over the calls; a group per (level, name) keeps whole numbers only, so that no order of the calls and no
 * rounding changes the result: the sum of the durations, and the sum of their squares for the variance. */
#include "base/map.h"
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance",
};

__extension__ typedef unsigned __int128 wide;

struct group {
    const char *name_text; /* for sorting */
    str_id name;
    uint16_t level;
    uint64_t count;
    int64_t min_ns, max_ns;
    wide sum;     /* ns */
    wide squares; /* ns² */
};

struct groups {
    ARRAY(struct group) all;
    struct map by_key; /* level << 32 | name -> index in all */
};

/* The quotient rounded half up, at most an int64_t. */
static int64_t divide(wide a, wide b)
{
    wide q = (a + b / 2) / b;
    return q > INT64_MAX ? INT64_MAX : (int64_t)q;
}

/* Variance of the durations around their average in thousandths of µs². The spread around a rounded average,
 * Σ(d - a)², is a whole number: Σd² - 2aΣd + na². */
static int64_t variance(const struct group *g, int64_t average_ns)
{
    wide a = (wide)average_ns;
    return divide(g->squares + g->count * a * a - 2 * a * g->sum, (wide)g->count * 1000);
}

static void add(struct groups *groups, const struct model *m, const struct api *a)
{
    str_id name = a->level == LEVEL_COMMUNICATION ? a->item : a->name;
    bool is_new;
    uint64_t key = (uint64_t)a->level << 32 | name;
    uint32_t index = *map_put(&groups->by_key, key, (uint32_t)groups->all.n, &is_new);
    if (is_new) {
        array_push(&groups->all, ((struct group){
                                     .name_text = model_text(m, name),
                                     .name = name,
                                     .level = a->level,
                                     .min_ns = INT64_MAX,
                                 }));
    }
    struct group *g = &groups->all.at[index];
    int64_t ns = span_ns(a->start_ns, a->end_ns);
    g->count++;
    g->sum += (wide)ns;
    g->squares += (wide)ns * (wide)ns;
    if (ns < g->min_ns) g->min_ns = ns;
    if (ns > g->max_ns) g->max_ns = ns;
}

static int by_name_then_level(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = strcmp(x->name_text, y->name_text);
    return order ? order : (x->level > y->level) - (x->level < y->level);
}

static int write_group(struct table *t, const struct group *g)
{
    const char *level = host_level_name(g->level);
    int64_t average_ns = divide(g->sum, g->count);
    if (!level) level = "";
    table_text(t, "host", 4);
    table_text(t, level, strlen(level));
    table_string(t, g->name);
    table_us_trim(t, divide(g->sum, 1));
    table_u64(t, g->count);
    table_us_trim(t, average_ns);
    table_us_trim(t, g->min_ns);
    table_us_trim(t, g->max_ns);
    table_us_trim(t, variance(g, average_ns));
    return table_end_row(t);
}

static int write_groups(struct export_target *target, const struct groups *groups, struct error *err)
{
    struct table t;
    if (!groups->all.n) return 0;
    if (table_open(&t, target, report_api_statistic.stem, COLUMNS(columns), groups->all.n, err)) return -1;
    for (size_t i = 0; i < groups->all.n; i++)
        if (write_group(&t, &groups->all.at[i])) break;
    return table_close(&t);
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    struct groups groups = {0};
    for (size_t i = 0; i < m->host.apis.n; i++)
        if (m->host.apis.at[i].flags & API_EXPORTED) add(&groups, m, &m->host.apis.at[i]);
    if (groups.all.n) qsort(groups.all.at, groups.all.n, sizeof *groups.all.at, by_name_then_level);
    int status = write_groups(target, &groups, err);
    map_free(&groups.by_key);
    array_free(&groups.all);
    return status;
}

const struct report report_api_statistic = {
    .stem = "api_statistic",
    .about =
        "Calls of the host's software layers (acl, model, node, communication, runtime) by API: how many, and how\n"
        "long they took.",
    .write = write,
};
