/* docs/products.md: which data of which product becomes what, made from the registries (chips, inputs, metrics, layers,
 * reports, tables). The page must be what the registries say; to write it anew:
 *
 *     build/tests/test_products --print >docs/products.md
 *
 * Metrics say everything about themselves. What is no metric (tasks, operators …) is read by several rooms; which
 * inputs lead to which of its outputs stands in `kinds` below, and no output may be missing there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"
#include "session/chips.h"

#define PAGE TEST_DOCS "/products.md"

/* --- data that is no metric --------------------------------------------------------------------------------------- */

static bool on_all(const struct chip *c)
{
    (void)c;
    return true;
}

static bool on_stars(const struct chip *c)
{
    return c->task_log == TASK_LOG_STARS;
}

static bool on_hwts(const struct chip *c)
{
    return c->task_log == TASK_LOG_HWTS;
}

static bool on_timeline(const struct chip *c)
{
    return c->task_log == TASK_LOG_TIMELINE;
}

static bool on_task_log(const struct chip *c)
{
    return c->task_log != TASK_LOG_NONE;
}

static bool on_unique(const struct chip *c)
{
    return c->unique_task_ids;
}

static bool on_clock(const struct chip *c)
{
    return c->freq_in_timeline && !c->freq_of_dies;
}

static bool on_clock_of_dies(const struct chip *c)
{
    return c->freq_of_dies;
}

static bool on_copies(const struct chip *c)
{
    return c->copies_from_ts && !on_timeline(c);
}

#define MAX_LIST 16

struct kind {
    const char *name;
    bool (*on)(const struct chip *c);
    int inputs[MAX_LIST]; /* enum input_id + 1, 0 = end */
    const char *layers[MAX_LIST], *reports[MAX_LIST], *tables[MAX_LIST];
};

#define IN(id) (INPUT_##id + 1)

static const struct kind kinds[] = {
    {"the collection",
     on_all,
     {0},
     {0},
     {0},
     {"META_DATA", "SESSION_TIME_INFO", "HOST_INFO", "NPU_INFO", "RANK_DEVICE_MAP", "ENUM_*", "STRING_IDS"}},
    {"calls of the host",
     on_all,
     {IN(API_EVENT), IN(HASH_DIC), IN(TYPE_INFO_DIC)},
     {"cann"},
     {"api_statistic"},
     {"CANN_API"}},
    {"operators and their launches",
     on_all,
     {IN(TASK_TRACK), IN(NODE_BASIC_INFO), IN(NODE_ATTR_INFO), IN(TENSOR_INFO), IN(CONTEXT_ID_INFO),
      IN(CAPTURE_STREAM_INFO), IN(CAPTURE_OP_INFO), IN(CAPTURE_OP_INFO_VARIABLE), IN(EXPAND_STREAM_SPEC),
      IN(LOGIC_STREAM_INFO)},
     {0},
     {"op_summary", "op_statistic"},
     {"COMPUTE_TASK_INFO"}},
    {"copies", on_all, {IN(MEMCPY_INFO)}, {"ascend"}, {0}, {"MEMCPY_INFO"}},
    {"models and fused operators", on_all, {IN(FUSION_OP_INFO), IN(GRAPH_ID_MAP)}, {0}, {"fusion_op"}, {0}},
    {"tasks, logged by STARS",
     on_stars,
     {IN(STARS_SOC)},
     {"ascend", "overlap_analyse"},
     {"task_time", "op_summary", "op_statistic"},
     {"TASK", "OVERLAP_ANALYSIS"}},
    {"tasks, logged by HWTS",
     on_hwts,
     {IN(HWTS), IN(HWTS_AIV)},
     {"ascend", "overlap_analyse"},
     {"task_time", "op_summary", "op_statistic"},
     {"TASK", "OVERLAP_ANALYSIS"}},
    {"tasks and their counters, logged by the scheduler",
     on_timeline,
     {IN(TS_TRACK)},
     {"ascend", "overlap_analyse"},
     {"task_time", "op_summary", "op_statistic"},
     {"TASK", "OVERLAP_ANALYSIS"}},
    {"copies of the scheduler", on_copies, {IN(TS_TRACK)}, {"ascend"}, {"task_time"}, {0}},
    {"counters of tasks", on_stars, {IN(FFTS_PROFILE)}, {0}, {"op_summary"}, {"TASK_PMU_INFO"}},
    {"counters of whole tasks", on_hwts, {IN(AICORE), IN(AI_VECTOR_CORE)}, {0}, {"op_summary"}, {0}},
    {"blocks of kernels", on_unique, {IN(FFTS_PROFILE)}, {"block_detail"}, {0}, {0}},
    {"parts of fused tasks", on_unique, {IN(STARS_SOC)}, {"fusion_task"}, {0}, {0}},
    {"steps (iterations)", on_task_log, {IN(TS_TRACK)}, {"step_trace"}, {"step_trace"}, {0}},
    {"marks on devices", on_task_log, {IN(TS_TRACK)}, {"device_tx"}, {0}, {"TASK"}},
    {"clock of the AI cores", on_clock, {IN(LPM_FREQ_CONV), IN(LPM_INFO_CONV)}, {"freq"}, {0}, {"AICORE_FREQ"}},
    {"clock of the AI cores of each die", on_clock_of_dies, {IN(STARS_SOC_PROFILE)}, {"freq"}, {0}, {"AICORE_FREQ"}},
    {"communication",
     on_all,
     {IN(HCCL_INFO), IN(HCCL_OP_INFO), IN(MC2_COMM_INFO), IN(AICPU)},
     {"communication"},
     {"communication_statistic", "op_summary"},
     {"COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"}},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

/* --- the page ------------------------------------------------------------------------------------------------------
 */

static const struct chip *chips(unsigned *n)
{
    return chip_all(n);
}

static const char *const task_logs[] = {
    [TASK_LOG_NONE] = "–", [TASK_LOG_STARS] = "STARS", [TASK_LOG_HWTS] = "HWTS", [TASK_LOG_TIMELINE] = "scheduler"};

static void products(FILE *f)
{
    unsigned n;
    const struct chip *c = chips(&n);
    fprintf(f, "## Products\n\n`platform_version` of info.json is the number of the chip.\n\n"
               "| chip | product | task log | reference reads tasks with | reference exports with |\n"
               "| --- | --- | --- | --- | --- |\n");
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "| %d | %s, `%s` | %s | %s | %s |\n", c[i].id, c[i].product, c[i].name, task_logs[c[i].task_log],
                c[i].native_tasks ? "native part" : "scripts", c[i].native_views ? "native part" : "scripts");
}

static void chip_header(FILE *f)
{
    unsigned n;
    const struct chip *c = chips(&n);
    fprintf(f, "| data |");
    for (unsigned i = 0; i < n; i++) fprintf(f, " %d |", c[i].id);
    fprintf(f, "\n| --- |");
    for (unsigned i = 0; i < n; i++) fprintf(f, " --- |");
    fputc('\n', f);
}

static void chip_row(FILE *f, const char *name, bool (*on)(const struct chip *c), uint32_t samples)
{
    unsigned n;
    const struct chip *c = chips(&n);
    fprintf(f, "| %s |", name);
    for (unsigned i = 0; i < n; i++) {
        bool there = on ? on(&c[i]) : !samples || c[i].samples & samples;
        fprintf(f, there ? " ● |" : "   |");
    }
    fputc('\n', f);
}

static void matrix(FILE *f)
{
    fprintf(
        f,
        "\n## Data of each product\n\nWhat of a collection of that chip is read and shown, if it was collected. Data "
        "of hosts is the same for all.\n\n");
    chip_header(f);
    for (size_t i = 0; i < N_KINDS; i++) chip_row(f, kinds[i].name, kinds[i].on, 0);
    for (size_t i = 0; i < n_metrics; i++) chip_row(f, metrics[i]->name, NULL, metrics[i]->chips);
}

static void item(FILE *f, unsigned *n, const char *before, const char *text, const char *after)
{
    fprintf(f, "%s%s%s%s", (*n)++ ? ", " : " ", before, text, after);
}

static void no_more(FILE *f, unsigned n)
{
    fprintf(f, n ? " |" : " – |");
}

static const char *layer_name(const char *key)
{
    size_t n;
    const struct layer *own = timeline_own_layers(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(own[i].key, key)) return own[i].name;
    return NULL;
}

/* Tags of files; two kinds of files may share one. */
static void file_item(FILE *f, unsigned *n, const char **last, enum input_id id)
{
    const char *tag = input_kind(id)->tag;
    if (!*n || strcmp(tag, *last)) item(f, n, "`", tag, "`");
    *last = tag;
}

static void kind_outputs(FILE *f, const struct kind *k)
{
    unsigned n = 0;
    const char *last = NULL;
    fprintf(f, "| %s |", k->name);
    for (size_t i = 0; i < MAX_LIST && k->inputs[i]; i++) file_item(f, &n, &last, (enum input_id)(k->inputs[i] - 1));
    no_more(f, n);
    n = 0;
    for (size_t i = 0; i < MAX_LIST && k->layers[i]; i++) item(f, &n, "", layer_name(k->layers[i]), "");
    no_more(f, n);
    n = 0;
    for (size_t i = 0; i < MAX_LIST && k->reports[i]; i++) item(f, &n, "", k->reports[i], "");
    no_more(f, n);
    n = 0;
    for (size_t i = 0; i < MAX_LIST && k->tables[i]; i++) item(f, &n, "", k->tables[i], "");
    no_more(f, n);
    fputc('\n', f);
}

static void metric_outputs(FILE *f, const struct metric *m)
{
    unsigned n = 0;
    const char *last = NULL;
    fprintf(f, "| %s |", m->name);
    for (size_t i = 0; i < m->n_inputs; i++) file_item(f, &n, &last, m->inputs[i]);
    no_more(f, n);
    n = 0;
    for (const struct layer *l = m->layers; l && l->key; l++)
        if (l == m->layers || strcmp(l->name, l[-1].name)) item(f, &n, "", l->name, "");
    no_more(f, n);
    n = 0;
    for (const struct report *r = m->reports; r && r->stem; r++) item(f, &n, "", r->stem, "");
    no_more(f, n);
    n = 0;
    for (const struct db_table_kind *t = m->tables; t && t->fill; t++) item(f, &n, "", t->definition.name, "");
    no_more(f, n);
    fputc('\n', f);
}

static void outputs(FILE *f)
{
    fprintf(f, "\n## Outputs of each kind of data\n\n"
               "| data | files | timeline | summary | database |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < N_KINDS; i++) kind_outputs(f, &kinds[i]);
    for (size_t i = 0; i < n_metrics; i++) metric_outputs(f, metrics[i]);
}

static bool is_read(enum input_id id)
{
    for (size_t k = 0; k < N_KINDS; k++)
        for (size_t i = 0; i < MAX_LIST && kinds[k].inputs[i]; i++)
            if (kinds[k].inputs[i] == (int)id + 1) return true;
    for (size_t k = 0; k < n_metrics; k++)
        for (size_t i = 0; i < metrics[k]->n_inputs; i++)
            if (metrics[k]->inputs[i] == id) return true;
    return false;
}

/* Read by src/cluster. */
static bool is_of_clusters(enum input_id id)
{
    return id == INPUT_DEVICE_QUEUE || id == INPUT_DATASET_ITERATOR || id == INPUT_PARALLEL_STRATEGY;
}

static void not_read(FILE *f, bool of_clusters, const char *what)
{
    unsigned n = 0;
    for (int id = 0; id < INPUT_COUNT; id++) {
        if (is_read((enum input_id)id) || is_of_clusters((enum input_id)id) != of_clusters) continue;
        if (!n) fprintf(f, "\n%s:", what);
        item(f, &n, "`", input_kind((enum input_id)id)->tag, "`");
    }
    if (n) fprintf(f, ".\n");
}

static char *page(void)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f) abort();
    fprintf(
        f, "# Products, data, outputs\n\nMade from the registries by `build/tests/test_products --print`; do not edit. "
           "What the outputs hold is described in\n[outputs](outputs/), the raw data in [formats](formats/).\n\n");
    products(f);
    matrix(f);
    outputs(f);
    not_read(f, true, "Files that only [clusters](outputs/cluster-answers.md) read");
    not_read(f, false, "Files that are known but not shown");
    fclose(f);
    return text;
}

/* --- tests ---------------------------------------------------------------------------------------------------------
 */

static void the_page_is_what_the_registries_say(void **state)
{
    (void)state;
    char *expected = page(), *found = calloc(1, strlen(expected) + 2);
    FILE *f = fopen(PAGE, "rb");
    assert_non_null(f);
    size_t n = fread(found, 1, strlen(expected) + 1, f);
    fclose(f);
    found[n] = '\0';
    if (strcmp(found, expected)) fail_msg("docs/products.md is not up to date: build/tests/test_products --print");
    free(found);
    free(expected);
}

static bool lists(const char *const *list, const char *name)
{
    for (size_t i = 0; i < MAX_LIST && list[i]; i++) {
        size_t length = strlen(list[i]);
        bool family = list[i][length - 1] == '*';
        if (family ? !strncmp(list[i], name, length - 1) : !strcmp(list[i], name)) return true;
    }
    return false;
}

static void every_output_belongs_to_a_kind_of_data(void **state)
{
    (void)state;
    size_t n_layers, n_reports;
    const struct layer *layers = timeline_own_layers(&n_layers);
    const struct report *const *reports = reports_own(&n_reports);
    for (size_t i = 0; i < n_layers; i++) {
        bool found = false;
        for (size_t k = 0; k < N_KINDS; k++) found |= lists(kinds[k].layers, layers[i].key);
        if (!found) fail_msg("no kind of data has the layer %s", layers[i].key);
    }
    for (size_t i = 0; i < n_reports; i++) {
        bool found = false;
        for (size_t k = 0; k < N_KINDS; k++) found |= lists(kinds[k].reports, reports[i]->stem);
        if (!found) fail_msg("no kind of data has the report %s", reports[i]->stem);
    }
    for (size_t i = 0; i < db_n_tables; i++) {
        bool found = false;
        for (size_t k = 0; k < N_KINDS; k++) found |= lists(kinds[k].tables, db_tables[i]->definition.name);
        if (!found) fail_msg("no kind of data has the table %s", db_tables[i]->definition.name);
    }
}

static void every_output_of_a_kind_is_there(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        for (size_t i = 0; i < MAX_LIST && kinds[k].layers[i]; i++) assert_non_null(layer_name(kinds[k].layers[i]));
        for (size_t i = 0; i < MAX_LIST && kinds[k].reports[i]; i++)
            assert_non_null(report_find(kinds[k].reports[i], strlen(kinds[k].reports[i])));
        for (size_t i = 0; i < MAX_LIST && kinds[k].tables[i]; i++) {
            const char *const one[MAX_LIST] = {kinds[k].tables[i]};
            bool found = false;
            for (size_t t = 0; t < db_n_tables; t++) found |= lists(one, db_tables[t]->definition.name);
            if (!found) fail_msg("there is no table %s", kinds[k].tables[i]);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--print")) {
        char *text = page();
        fputs(text, stdout);
        free(text);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_what_the_registries_say),
        cmocka_unit_test(every_output_belongs_to_a_kind_of_data),
        cmocka_unit_test(every_output_of_a_kind_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
