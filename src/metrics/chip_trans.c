/* Stars Chip Trans: traffic over PCIe and over the links between chips (PA links).
 *
 * A sample says in its upper bits which of the two it is; on the Ascend 950 all are PCIe, and the bits are the die. */
#include <stdlib.h>

#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/stars_samples.h"

/* docs/formats/sampled-metrics.md, "Stars Chip Trans" */
enum { R_ID = 18, ID_BITS = 63, R_FIRST = 32, R_SECOND = 40, R_BY_DIE_WRITE = 16, R_BY_DIE_READ = 24 };
enum { PA_LINK = 63, PCIE = 34, PCIE_TOO = 17 /* taken for PCIe, too */ };

/* Threads of the track. */
enum { THREAD_PCIE = 100010, THREAD_PA_LINK = 111111 };

enum kind { KIND_PCIE, KIND_PA_LINK, KIND_PCIE_OF_DIE };

struct sample {
    int64_t time_ns;
    enum kind kind;
    uint32_t id;            /* of the link; of the die */
    uint64_t first, second; /* written and read; received and sent */
};

struct chip_trans {
    ARRAY(struct sample) samples; /* in the order of the records */
};

struct reader {
    struct chip_trans *trans;
    const struct prof_dir *dir;
};

static void visit(const uint8_t *p, void *context)
{
    struct reader *r = context;
    unsigned type = stars_upper_bits(p);
    struct sample s = {.time_ns = stars_time(r->dir, p), .kind = KIND_PCIE_OF_DIE, .id = type};
    if (stars_by_die(r->dir)) {
        s.first = get_u64(p + R_BY_DIE_WRITE);
        s.second = get_u64(p + R_BY_DIE_READ);
        if (s.first == UINT64_MAX || s.second == UINT64_MAX) return;
    } else {
        if (type != PA_LINK && type != PCIE && type != PCIE_TOO) return;
        s.kind = type == PA_LINK ? KIND_PA_LINK : KIND_PCIE;
        s.id = get_u16(p + R_ID) & ID_BITS;
        s.first = get_u64(p + R_FIRST);
        s.second = get_u64(p + R_SECOND);
    }
    array_push(&r->trans->samples, s);
}

static void chip_trans_free(void *data)
{
    struct chip_trans *trans = data;
    array_free(&trans->samples);
    free(trans);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.trans), from->dir};
    stars_samples_each(from, STARS_CHIP_TRANS, visit, &r);
    if (r.trans->samples.n) return r.trans;
    chip_trans_free(r.trans);
    return NULL;
}

static void put(struct trace *t, uint32_t pid, int32_t tid, const struct sample *s, const char *name, uint64_t value,
                const char *id_key)
{
    char die[6 + FORMAT_U64 + 1] = "U-Die";
    trace_begin(t);
    out_text(&t->out, name);
    trace_counter(t, pid, tid, s->time_ns);
    if (id_key) {
        sample_series_u64(t, name, value);
        sample_series_u64(t, id_key, s->id);
    } else {
        *format_u64(die + 5, s->id) = '\0';
        sample_series_u64(t, die, value);
    }
    trace_end(t);
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct chip_trans *trans = data;
    bool script = t->model->session->script_timeline;
    bool threads[2] = {false, false};
    uint64_t before = t->events;
    for (size_t i = 0; i < trans->samples.n; i++) {
        const struct sample *s = &trans->samples.at[i];
        if (sample_too_early(dir, s->time_ns)) continue;
        const char *id_key = s->kind == KIND_PA_LINK ? "PA Link ID" : s->kind == KIND_PCIE ? "PCIE ID" : NULL;
        if (s->kind == KIND_PA_LINK) {
            put(t, pid, THREAD_PA_LINK, s, "PA Link Rx", s->first, id_key);
            put(t, pid, THREAD_PA_LINK, s, "PA Link Tx", s->second, id_key);
        } else {
            put(t, pid, THREAD_PCIE, s, "PCIE Read Bandwidth", s->second, id_key);
            put(t, pid, THREAD_PCIE, s, "PCIE Write Bandwidth", s->first, id_key);
        }
        threads[s->kind == KIND_PA_LINK] = true;
    }
    if (!script || (t->limited && t->events == before)) return;
    if (threads[1]) trace_thread_name(t, pid, THREAD_PA_LINK, "PA Link");
    if (threads[0]) trace_thread_name(t, pid, THREAD_PCIE, "PCIE");
}

const struct metric metric_chip_trans = {
    .name = "Stars Chip Trans",
    .chips = SAMPLE_STARS,
    METRIC_INPUTS(INPUT_STARS_SOC_PROFILE),
    .load = load,
    .free = chip_trans_free,
    .layers =
        (const struct layer[]){
            {.key = "stars_chip_trans", .name = "Stars Chip Trans", .sort_index = 26, .files = IN_MSPROF, .show = show},
            {.key = NULL}},
};
