/* Metric groups: which columns each of them has, and the formula of every column.
 *
 * A collection counts up to eight events per side of the core (cube side "aic", vector side "aiv"); the metric group
 * says what the counts mean. docs/formats/pmu.md has the same tables for people. A new group is a table of metrics and
 * a line in `groups`. */
#include <stdio.h>
#include <strings.h>

#include "device/parts.h"

/* Which side a metric is about; the other side has the column too, but reports do not show it. */
enum unit { BOTH, CUBE, VECTOR };

struct event_term {
    uint16_t event;
    double factor;
};

struct metric {
    const char *name;
    enum unit unit;
    enum pmu_kind kind;
    enum pmu_formula formula;
    struct event_term terms[PMU_TERMS]; /* event 0 = end */
};

/* A pipe has two columns: the time it was busy and the share of the cycles. */
#define PIPE(time_name, ratio_name, unit, ...)                                                                         \
    {time_name, unit, PMU_TIME, PMU_OF_TIME, {__VA_ARGS__}},                                                           \
    {                                                                                                                  \
        ratio_name, unit, PMU_RATIO, PMU_OF_RATIO,                                                                     \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define RATIO(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_RATIO, PMU_OF_RATIO,                                                                           \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define COUNT(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_VALUE, PMU_OF_COUNTERS,                                                                        \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
#define FLOPS(name, unit, ...)                                                                                         \
    {                                                                                                                  \
        name, unit, PMU_VALUE, PMU_OF_OPERATIONS,                                                                      \
        {                                                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }
/* `bits` per count in one pipe, `pipes` of them */
#define BANDWIDTH(name, unit, event, bits, pipes)                                                                      \
    {                                                                                                                  \
        name, unit, PMU_BANDWIDTH, PMU_OF_BANDWIDTH,                                                                   \
        {                                                                                                              \
            {                                                                                                          \
                event, (double)(bits) * (pipes)                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ICACHE_MISS_RATE                                                                                               \
    {                                                                                                                  \
        "icache_miss_rate", BOTH, PMU_RATIO, PMU_OF_QUOTIENT,                                                          \
        {                                                                                                              \
            {0x55, 1},                                                                                                 \
            {                                                                                                          \
                0x54, 1                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

static const struct metric pipe_utilization_exct[] = {
    PIPE("mac_time", "mac_ratio_extra", CUBE, {0x416, 1}, {0x417, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio_extra", CUBE, {0x302, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("fixpipe_time", "fixpipe_ratio", CUBE, {0x303, 1}),
    ICACHE_MISS_RATE,
    END,
};

static const struct metric pipe_utilization[] = {
    PIPE("vec_time", "vec_ratio", VECTOR, {0x8, 1}),
    PIPE("mac_time", "mac_ratio", CUBE, {0xa, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio", CUBE, {0xb, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("mte3_time", "mte3_ratio", BOTH, {0xd, 1}),
    ICACHE_MISS_RATE,
    END,
};

static const struct metric arithmetic_utilization[] = {
    RATIO("mac_fp16_ratio", CUBE, {0x49, 1}),
    RATIO("mac_int8_ratio", CUBE, {0x4a, 1}),
    RATIO("vec_fp32_ratio", VECTOR, {0x4b, 1}),
    RATIO("vec_fp16_ratio", VECTOR, {0x4c, 1}, {0x4d, 1}),
    RATIO("vec_int32_ratio", VECTOR, {0x4e, 1}),
    RATIO("vec_misc_ratio", VECTOR, {0x4f, 1}),
    FLOPS("cube_fops", CUBE, {0x49, 8192}, {0x4a, 16384}),
    FLOPS("vector_fops", VECTOR, {0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}),
    END,
};

static const struct metric memory[] = {
    BANDWIDTH("ub_read_bw", VECTOR, 0x15, 256, 4),
    BANDWIDTH("ub_write_bw", VECTOR, 0x16, 256, 4),
    BANDWIDTH("l1_read_bw", CUBE, 0x31, 256, 16),
    BANDWIDTH("l1_write_bw", CUBE, 0x32, 128, 8),
    BANDWIDTH("main_mem_read_bw", BOTH, 0x12, 8, 8),
    BANDWIDTH("main_mem_write_bw", BOTH, 0x13, 8, 8),
    BANDWIDTH("l2_read_bw", BOTH, 0xf, 256, 8),
    BANDWIDTH("l2_write_bw", BOTH, 0x10, 256, 8),
    END,
};

static const struct metric memory_l0[] = {
    BANDWIDTH("l0a_read_bw", CUBE, 0x1b, 256, 16),
    BANDWIDTH("l0a_write_bw", CUBE, 0x1c, 256, 16),
    BANDWIDTH("l0b_read_bw", CUBE, 0x21, 256, 16),
    BANDWIDTH("l0b_write_bw", CUBE, 0x22, 256, 8),
    BANDWIDTH("l0c_read_bw", VECTOR, 0x27, 256, 8),
    BANDWIDTH("l0c_write_bw", VECTOR, 0x29, 256, 8),
    BANDWIDTH("l0c_read_bw_cube", CUBE, 0x28, 256, 32),
    BANDWIDTH("l0c_write_bw_cube", CUBE, 0x2a, 256, 32),
    END,
};

static const struct metric memory_ub[] = {
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x43, 128, 2),
    BANDWIDTH("ub_write_bw_vector", VECTOR, 0x44, 128, 2),
    BANDWIDTH("ub_read_bw_scalar", BOTH, 0x37, 128, 1),
    BANDWIDTH("ub_write_bw_scalar", BOTH, 0x38, 128, 1),
    END,
};

static const struct metric resource_conflict_ratio[] = {
    RATIO("vec_bankgroup_cflt_ratio", VECTOR, {0x64, 1}),
    RATIO("vec_bank_cflt_ratio", VECTOR, {0x65, 1}),
    RATIO("vec_resc_cflt_ratio", VECTOR, {0x66, 1}),
    END,
};

static const struct metric l2_cache[] = {
    COUNT("write_cache_hit", BOTH, {0x500, 1}),
    COUNT("write_cache_miss_allocate", BOTH, {0x502, 1}),
    COUNT("r0_read_cache_hit", BOTH, {0x504, 1}),
    COUNT("r0_read_cache_miss_allocate", BOTH, {0x506, 1}),
    COUNT("r1_read_cache_hit", BOTH, {0x508, 1}),
    COUNT("r1_read_cache_miss_allocate", BOTH, {0x50a, 1}),
    END,
};

/* KB: counts are of 128 or 256 bytes, moves that one counter sees and another names are taken off. */
static const struct metric memory_access[] = {
    COUNT("read_main_memory_datas", BOTH, {0x50d, 0.125}, {0x50e, 0.125}),
    COUNT("write_main_memory_datas", BOTH, {0x50c, 0.125}),
    COUNT("GM_to_L1_datas", BOTH, {0x32, 0.25}, {0x206, -0.25}),
    COUNT("L0C_to_L1_datas", BOTH, {0x206, 0.125}),
    COUNT("L0C_to_GM_datas", BOTH, {0x20c, 0.125}, {0x206, -0.125}),
    COUNT("GM_to_UB_datas", BOTH, {0x3e, 0.125}),
    COUNT("UB_to_GM_datas", BOTH, {0x3d, 0.125}),
    END,
};

static const struct group {
    const char *name; /* ai_core_metrics, aiv_metrics */
    const struct metric *metrics;
    bool cube_utilization; /* op_summary can tell how busy the cube units were */
} groups[] = {
    {"PipeUtilization", pipe_utilization, true},
    {"PipeUtilizationExct", pipe_utilization_exct, true},
    {"ArithmeticUtilization", arithmetic_utilization, false},
    {"Memory", memory, false},
    {"MemoryL0", memory_l0, false},
    {"MemoryUB", memory_ub, false},
    {"ResourceConflictRatio", resource_conflict_ratio, false},
    {"L2Cache", l2_cache, false},
    {"MemoryAccess", memory_access, false},
};

/* What sample.json says of one side. */
struct side_config {
    bool aiv;
    const char *prefix;
    const char *metrics;
    const uint32_t *events;
    unsigned n_events;
};

static bool is_custom(const char *metrics)
{
    return !strncmp(metrics, "Custom", 6);
}

static const struct group *find_group(const char *name)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(groups[i].name, name)) return &groups[i];
    return NULL;
}

static struct pmu_column *add_column(struct pmu *p, const struct side_config *side, const char *name,
                                     enum pmu_kind kind, enum pmu_formula formula)
{
    struct pmu_column *c = array_add(&p->columns);
    *c = (struct pmu_column){.kind = kind, .aiv = side->aiv, .in_summary = true, .formula = formula};
    snprintf(c->name, sizeof c->name, "%s%s", side->prefix, name);
    return c;
}

/* Returns false when the collection does not count the event. */
static bool add_term(struct pmu_column *c, const struct side_config *side, struct event_term term)
{
    for (unsigned slot = 0; slot < side->n_events; slot++) {
        if (side->events[slot] != term.event) continue;
        c->terms[c->n_terms++] = (struct pmu_term){(uint8_t)slot, term.factor};
        return true;
    }
    return false;
}

static bool add_metric(struct pmu *p, const struct side_config *side, const struct metric *m)
{
    struct pmu_column *c = add_column(p, side, m->name, m->kind, m->formula);
    c->in_summary = m->unit == BOTH || (m->unit == VECTOR) == side->aiv;
    for (unsigned i = 0; i < PMU_TERMS && m->terms[i].event; i++)
        if (!add_term(c, side, m->terms[i])) return false;
    return true;
}

/* Raw counters under their event codes. */
static void add_custom(struct pmu *p, const struct side_config *side)
{
    for (unsigned slot = 0; slot < side->n_events; slot++) {
        char name[16];
        snprintf(name, sizeof name, "r%x", side->events[slot]);
        struct pmu_column *c = add_column(p, side, name, PMU_VALUE, PMU_OF_COUNTERS);
        c->terms[c->n_terms++] = (struct pmu_term){(uint8_t)slot, 1};
    }
}

static const char *add_side(struct pmu *p, const struct side_config *side)
{
    add_column(p, side, "total_time", PMU_TOTAL_TIME, PMU_OF_TOTAL_TIME);
    add_column(p, side, "total_cycles", PMU_CYCLES, PMU_OF_CYCLES);
    if (is_custom(side->metrics)) {
        add_custom(p, side);
        return NULL;
    }
    const struct group *g = find_group(side->metrics);
    if (!g) return "the metric group is not known";
    for (const struct metric *m = g->metrics; m->name; m++)
        if (!add_metric(p, side, m)) return "an event that the metric group needs was not counted";
    if (!side->aiv) p->has_cube = g->cube_utilization;
    return NULL;
}

static unsigned counted(unsigned n_events, const struct chip *chip)
{
    unsigned most = chip->pmu_counters < PMU_MAX_EVENTS ? chip->pmu_counters : PMU_MAX_EVENTS;
    return n_events < most ? n_events : most;
}

const char *pmu_set_up(struct pmu *p, const struct metadata *meta, const struct chip *chip)
{
    p->aic_mhz = meta->aic_mhz;
    p->ai_core_num = meta->ai_core_num;
    p->aiv_num = meta->aiv_num;
    p->custom = is_custom(meta->aic_metrics);
    struct side_config sides[] = {
        {false, "aic_", meta->aic_metrics, meta->aic_events, counted(meta->n_aic_events, chip)},
        {true, "aiv_", meta->aiv_metrics, meta->aiv_events, counted(meta->n_aiv_events, chip)},
    };
    const char *why = chip->mix_pmu ? NULL : "counters of this chip are not read";
    for (unsigned i = 0; i < 2 && !why; i++) why = add_side(p, &sides[i]);
    if (why) p->columns.n = 0;
    return why;
}
