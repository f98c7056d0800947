/* api_statistic: how often each API was called and how long its calls took.
 *
 * One pass over the calls; a group per (level, name) keeps whole numbers only, so that no order of the calls and no
 * rounding changes the result: the sum of the durations, and the sum of their squares for the variance. Durations are
 * exact where the reference's scripts make the report; its native part counts whole ns. */
#include "base/map.h"
#include "export/summary/summary.h"

#include <stdlib.h>

static const char *const columns[] = {
    "Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance",
};

struct group {
    const char *name_text; /* for sorting */
    str_id name;
    uint16_t level;
    uint64_t count;
    wide min, max; /* ps */
    wide sum;
    wide squares; /* ps²; may wrap, the variance still fits */
};

struct groups {
    ARRAY(struct group) all;
    struct map by_key; /* level << 32 | name -> index in all */
};

/* Variance of the durations around their average (ps), in thousandths of µs². The spread around a whole number,
 * Σ(d - a)², is one, too: Σd² - 2aΣd + na². */
static int64_t variance(const struct group *g, wide average)
{
    wide spread = g->squares + g->count * average * average - 2 * average * g->sum;
    return divide_round(spread, (wide)g->count * 1000000000);
}

/* Calls of some levels are known by what they were about. */
static bool is_named_by_item(const struct model *m, uint16_t level)
{
    if (level == LEVEL_COMMUNICATION || !m->session->script_summary) return level == LEVEL_COMMUNICATION;
    return level != LEVEL_ACL && level != LEVEL_MODEL && level != LEVEL_NODE && level != LEVEL_RUNTIME;
}

static const char *level_name(const struct model *m, uint16_t level, char buf[8])
{
    const char *name = host_level_name(level);
    if (!name) return m->session->script_summary ? host_script_level_name(level, buf) : "";
    return name;
}

static void add(struct groups *groups, const struct model *m, const struct api *a)
{
    str_id name = is_named_by_item(m, a->level) ? a->item : a->name;
    bool is_new;
    uint64_t key = (uint64_t)a->level << 32 | name;
    uint32_t index = *map_put(&groups->by_key, key, (uint32_t)groups->all.n, &is_new);
    if (is_new) {
        array_push(&groups->all, ((struct group){
                                     .name_text = model_text(m, name),
                                     .name = name,
                                     .level = a->level,
                                     .min = ~(wide)0,
                                 }));
    }
    struct group *g = &groups->all.at[index];
    wide ps = span_ps(a->start_ns, a->end_ns, m->session->script_summary ? a->rest_ps : 0);
    g->count++;
    g->sum += ps;
    g->squares += ps * ps;
    if (ps < g->min) g->min = ps;
    if (ps > g->max) g->max = ps;
}

static int by_name_then_level(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = strcmp(x->name_text, y->name_text);
    return order ? order : (x->level > y->level) - (x->level < y->level);
}

/* The order of the scripts: they know levels by their names only. */
static int by_name_then_level_name(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    char a_buf[8], b_buf[8];
    const char *p = host_script_level_name(x->level, a_buf), *q = host_script_level_name(y->level, b_buf);
    int order = strcmp(x->name_text, y->name_text);
    return order ? order : strcmp(p, q);
}

static int write_group(struct table *t, const struct prof_dir *dir, const struct group *g)
{
    char buf[8];
    const char *level = level_name(t->target->model, g->level, buf);
    bool scripts = t->target->model->session->script_summary;
    wide average = (g->sum + g->count / 2) / g->count;
    if (!scripts) average = (wide)divide_round(g->sum, g->count * (wide)1000) * 1000;
    report_row(t, dir);
    table_text(t, level, strlen(level));
    table_string(t, g->name);
    table_us_trim(t, divide_round(g->sum, 1000));
    table_u64(t, g->count);
    table_us_trim(t, divide_round(average, 1000));
    table_us_trim(t, divide_round(g->min, 1000));
    table_us_trim(t, divide_round(g->max, 1000));
    table_us_trim(t, variance(g, average));
    return table_end_row(t);
}

static int write_groups(struct export_target *target, const struct groups *groups, struct error *err)
{
    const struct prof_dir *dir;
    struct table t;
    uint64_t rows = 0;
    for (size_t d = 0; host_listed_under(target->model, d); d++) rows += groups->all.n;
    if (!rows) return 0;
    if (table_open(&t, target, report_api_statistic.stem, COLUMNS(columns), rows, err)) return -1;
    for (size_t d = 0; (dir = host_listed_under(target->model, d)) && !t.failed; d++)
        for (size_t i = 0; i < groups->all.n; i++)
            if (write_group(&t, dir, &groups->all.at[i])) break;
    return table_close(&t);
}

static int write(struct export_target *target, struct error *err)
{
    const struct model *m = target->model;
    struct groups groups = {0};
    for (size_t i = 0; i < m->host.apis.n; i++)
        if (api_counted(&m->host.apis.at[i], m->session->script_summary)) add(&groups, m, &m->host.apis.at[i]);
    if (groups.all.n)
        qsort(groups.all.at, groups.all.n, sizeof *groups.all.at,
              m->session->script_summary ? by_name_then_level_name : by_name_then_level);
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
