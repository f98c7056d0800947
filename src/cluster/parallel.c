/* How a device works in parallel with others: what the framework says of it, and communication beside computation.
 *
 *     steps' records     |begin          end|      |begin        end|       operators of communication
 *     tasks          |core|   |core| |AI CPU|               |core|          computation, merged
 *                         └───┘pure           …
 *
 * What is computed until a moment is a sum over the merged sections before it, so that the computation beside anything
 * is the difference of two of them. */
#include <stdlib.h>

#include "base/filemap.h"
#include "base/map.h"
#include "cluster/parts.h"
#include "session/metadata.h"

#define MAX_TEXT (16u << 20) /* bytes of the framework's text; real ones have a few hundred */

bool parallel_is_told(const struct prof_dir *dir)
{
    return prof_dir_files(dir, INPUT_PARALLEL_STRATEGY)->n > 0;
}

/* ---- what the framework says ---- */

/* All slices as one text. */
static char *read_text(const struct input_files *files, size_t *size, struct diag *diag)
{
    char *text = mem_alloc(files->bytes);
    *size = 0;
    for (size_t i = 0; i < files->n; i++) {
        struct filemap map;
        struct error err = {0};
        if (filemap_open(&map, files->at[i].path, &err)) {
            char why[ERROR_DEPTH * ERROR_TEXT];
            diag_note(diag, DIAG_WARNING, files->at[i].shown, DIAG_NO_OFFSET, "%s", error_text(&err, why, sizeof why));
            continue;
        }
        size_t n = map.size < files->bytes - *size ? map.size : files->bytes - *size;
        if (n) memcpy(text + *size, map.data, n);
        *size += n;
        filemap_close(&map);
    }
    return text;
}

/* The JSON object, NULL when it is none; json_decref() it. */
static json_t *read_json(const struct prof_dir *dir, struct diag *diag)
{
    const struct input_files *files = prof_dir_files(dir, INPUT_PARALLEL_STRATEGY);
    json_error_t error = {.text = "too long"};
    json_t *json = NULL;
    size_t size;
    if (!files->n) return NULL;
    if (files->bytes <= MAX_TEXT) {
        char *text = read_text(files, &size, diag);
        json = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, &error);
        if (!json) json = json_loadb(text, size, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &error);
        free(text);
    }
    if (!json) diag_note(diag, DIAG_WARNING, files->at[0].shown, DIAG_NO_OFFSET, "not used: no JSON (%s)", error.text);
    return json;
}

static char *text_member(const json_t *config, const char *key)
{
    const json_t *v = json_object_get(config, key);
    return json_is_string(v) || json_is_number(v) ? meta_text(config, key, "") : NULL;
}

static bool number_member(const json_t *config, const char *key, int64_t *value)
{
    *value = meta_i64(config, key, INT64_MIN);
    return *value != INT64_MIN;
}

/* Ranks of a stage: a list, as it is written. */
static char *list_member(const json_t *config, const char *key)
{
    const json_t *v = json_object_get(config, key);
    return v && !json_is_null(v) ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
}

static enum parallel_mode mode_of(const struct parallel_strategy *s)
{
    const char *type = s->type ? s->type : "";
    if (!strcmp(type, "stand_alone")) return PARALLEL_STAND_ALONE;
    if (s->has_stages && s->stages > 1) return PARALLEL_PIPELINE;
    return !*type || !strcmp(type, "data_parallel") ? PARALLEL_DATA : PARALLEL_MODEL;
}

static void read_strategy(struct parallel_strategy *s, const struct prof_dir *dir, struct diag *diag)
{
    json_t *json = read_json(dir, diag);
    const json_t *config = json_object_get(json, "config");
    if (json_object_size(config)) {
        s->framework = text_member(config, "ai_framework_type");
        s->type = text_member(config, "parallelType");
        s->devices = list_member(config, "stageDevices");
        s->has_stages = number_member(config, "stage_num", &s->stages);
        s->has_rank = number_member(config, "rankId", &s->rank);
        s->has_stage = number_member(config, "stageId", &s->stage);
        s->mode = mode_of(s);
    } else if (json) {
        diag_note(diag, DIAG_WARNING, prof_dir_files(dir, INPUT_PARALLEL_STRATEGY)->at[0].shown, DIAG_NO_OFFSET,
                  "not used: it has no object 'config'");
    }
    json_decref(json);
}

/* ---- computation ---- */

struct computed {
    ARRAY(struct section) sections; /* merged, ascending */
    ARRAY(int64_t) before;          /* ns computed before each of them */
    int64_t ns;                     /* in all */
};

/* By what the operator says of itself, what the host launched, or what was logged. */
static bool on_cores(const char *type)
{
    static const char *const types[] = {
        "AI_CORE",       "AI_CPU",       "AI_VECTOR_CORE", "MIX_AIC",        "MIX_AIV",        "FFTS_PLUS", "FUSION",
        "KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU",   "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "AIV_SQE",   "AIC",
        "AIV",           "AICPU_H",      "AICPU_D",
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, types[i])) return true;
    return false;
}

/* Kernels of communication are none of it. */
static bool computes(const struct model *m, const struct task *t)
{
    const uint8_t others = OP_NOT_COMPUTE_TYPE | OP_AICPU_KERNEL | OP_AIV_KERNEL;
    const struct op *op = t->op == NONE ? NULL : &m->host.ops.at[t->op];
    if (t->end_ns <= t->start_ns || (op && op->flags & others) || model_is_kfc_stream(m, t->stream_id)) return false;
    return on_cores(model_text(m, op && op->task_type != STR_NA ? op->task_type : t->type));
}

static void find_computed(struct computed *c, const struct model *m, const struct device_model *d)
{
    for (size_t i = 0; i < d->tasks.n; i++) {
        const struct task *t = &d->tasks.at[i];
        struct section *last = c->sections.n ? &c->sections.at[c->sections.n - 1] : NULL;
        if (!computes(m, t)) continue;
        if (!last || t->start_ns > last->end_ns) array_push(&c->sections, ((struct section){t->start_ns, t->end_ns}));
        else if (t->end_ns > last->end_ns) last->end_ns = t->end_ns;
    }
    for (size_t i = 0; i < c->sections.n; i++) {
        array_push(&c->before, c->ns);
        c->ns += c->sections.at[i].end_ns - c->sections.at[i].start_ns;
    }
}

/* What is computed until a moment, ns. */
static int64_t computed_until(const struct computed *c, int64_t ns)
{
    size_t low = 0, high = c->sections.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (c->sections.at[mid].start_ns < ns) low = mid + 1;
        else high = mid;
    }
    if (!low) return 0;
    const struct section *s = &c->sections.at[low - 1];
    return c->before.at[low - 1] + (ns < s->end_ns ? ns : s->end_ns) - s->start_ns;
}

static int64_t computed_between(const struct computed *c, int64_t from_ns, int64_t to_ns)
{
    return computed_until(c, to_ns) - computed_until(c, from_ns);
}

/* ---- operators of communication ---- */

/* What the host launched for communication, in the order of everything but the type. */
struct launch {
    uint64_t key; /* stream, task */
    uint32_t model_id;
    int32_t iteration_id; /* 0: once for all */
    str_id type;
};

typedef ARRAY(struct launch) launches;

static int by_launch(const void *x, const void *y)
{
    const struct launch *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->model_id != b->model_id) return a->model_id < b->model_id ? -1 : 1;
    return a->iteration_id < b->iteration_id ? -1 : a->iteration_id > b->iteration_id;
}

static uint64_t launch_key(uint32_t stream_id, uint32_t task_id)
{
    return (uint64_t)stream_id << 32 | task_id;
}

static void find_launches(launches *found, const struct model *m, uint16_t device_id)
{
    for (size_t i = 0; i < m->host.tasks.n; i++) {
        const struct host_task *t = &m->host.tasks.at[i];
        if (t->op == NONE || t->device_id != device_id) continue;
        const struct op *op = &m->host.ops.at[t->op];
        if (strcmp(model_text(m, op->task_type), "COMMUNICATION")) continue;
        array_push(found, ((struct launch){launch_key(t->stream_id, t->task_id), t->model_id,
                                           t->request_id < 0 ? 0 : t->request_id, op->type}));
    }
    if (found->n) qsort(found->at, found->n, sizeof *found->at, by_launch);
}

/* The operator ran just before the task that marks its end. NULL = not known. */
static const struct launch *launch_of(const launches *all, const struct step_reduce *r)
{
    const int32_t iterations[] = {(int32_t)r->iteration_id, 0};
    for (size_t i = 0; i < 2 && all->n && r->end_task_id; i++) {
        struct launch wanted = {launch_key(r->stream_id, r->end_task_id - 1), r->model_id, iterations[i], 0};
        const struct launch *found = bsearch(&wanted, all->at, all->n, sizeof wanted, by_launch);
        if (found) return found;
    }
    return NULL;
}

static int by_iteration(const void *x, const void *y)
{
    const struct step_reduce *a = x, *b = y;
    if (a->model_id != b->model_id) return a->model_id < b->model_id ? -1 : 1;
    if (a->iteration_id != b->iteration_id) return a->iteration_id < b->iteration_id ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* ---- iterations ---- */

struct gather {
    const struct model *m;
    const struct device_model *d;
    struct computed computed;
    launches launches;
    struct map steps; /* model, iteration -> index of the step */
};

static double us(int64_t ns)
{
    return (double)ns / 1e3;
}

static uint64_t iteration_key(uint32_t model_id, uint32_t iteration_id)
{
    return (uint64_t)model_id << 32 | iteration_id;
}

static void find_steps(struct gather *g)
{
    for (size_t i = 0; i < g->d->data.steps.n; i++) {
        const struct step *s = &g->d->data.steps.at[i];
        if (!s->marked && s->iteration_time_ns > 0)
            map_put(&g->steps, iteration_key(s->model_id, s->iteration_id), (uint32_t)i, NULL);
    }
}

static void add_operator(struct parallel_iteration *p, const struct gather *g, const struct step_reduce *r)
{
    const struct launch *launch = launch_of(&g->launches, r);
    int64_t ns = r->end_ns - r->start_ns, pure = ns - computed_between(&g->computed, r->start_ns, r->end_ns);
    p->communication += us(ns);
    p->pure += us(pure);
    p->operators++;
    if (!launch) return;
    if (!strcmp(model_text(g->m, launch->type), "Receive")) p->pure_receive += us(pure);
    else p->pure_rest += us(pure);
}

/* The operators of an iteration, ascending start. */
static struct parallel_iteration iteration_of(const struct gather *g, const struct step_reduce *r, size_t n)
{
    struct parallel_iteration p = {.model_id = r->model_id, .iteration_id = r->iteration_id};
    int64_t gaps = 0, until = r->end_ns;
    for (size_t i = 0; i < n; i++) {
        add_operator(&p, g, &r[i]);
        if (r[i].start_ns > until) gaps += r[i].start_ns - until;
        if (r[i].end_ns > until) until = r[i].end_ns;
    }
    p.interval = us(gaps);
    uint32_t at = map_get(&g->steps, iteration_key(r->model_id, r->iteration_id), NONE);
    if (at == NONE) return p;
    const struct step *s = &g->d->data.steps.at[at];
    p.has_step = true;
    p.step = us(s->iteration_time_ns);
    p.computation = us(computed_between(&g->computed, s->iteration_end_ns - s->iteration_time_ns, s->iteration_end_ns));
    return p;
}

static void gather_iterations(struct cluster_device *d, const struct gather *g)
{
    ARRAY(struct step_reduce) reduces = {0};
    for (size_t i = 0; i < g->d->data.reduces.n; i++) {
        const struct step_reduce *r = &g->d->data.reduces.at[i];
        if (r->start_ns && r->end_ns > r->start_ns) array_push(&reduces, *r);
    }
    if (reduces.n) qsort(reduces.at, reduces.n, sizeof *reduces.at, by_iteration);
    for (size_t i = 0, end; i < reduces.n; i = end) {
        const struct step_reduce *first = &reduces.at[i];
        for (end = i + 1; end < reduces.n && reduces.at[end].model_id == first->model_id &&
                          reduces.at[end].iteration_id == first->iteration_id;)
            end++;
        array_push(&d->parallel, iteration_of(g, first, end - i));
    }
    array_free(&reduces);
}

void parallel_gather(struct cluster_device *d, const struct model *m, const struct device_model *device,
                     struct diag *diag)
{
    read_strategy(&d->strategy, device->dir, diag);
    if (d->strategy.mode < PARALLEL_DATA) return;
    struct gather g = {.m = m, .d = device};
    find_computed(&g.computed, m, device);
    if (g.computed.sections.n) {
        find_launches(&g.launches, m, device->device_id);
        find_steps(&g);
        gather_iterations(d, &g);
    } else {
        diag_note(diag, DIAG_WARNING, device->dir->name, DIAG_NO_OFFSET,
                  "communication beside computation is not told: no computation was recorded");
    }
    map_free(&g.steps);
    array_free(&g.launches);
    array_free(&g.computed.sections);
    array_free(&g.computed.before);
}
