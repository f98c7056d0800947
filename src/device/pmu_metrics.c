/* Metric groups: which columns each of them has, and the formula of every column.
 *
 * A collection counts up to eight events per side of the core (cube side "aic", vector side "aiv"); the metric group
 * says what the counts mean. docs/formats/pmu.md has the same tables for people. A new group is a table of metrics and
 * a line in `groups`.
 *
 * Here are the groups of Atlas A2 and A3, and how the columns of any set are made; pmu_events.c has those of the other
 * chips. */
#include <stdio.h>
#include <strings.h>

#include "device/parts.h"
#include "device/pmu_groups.h"

#define ICACHE_MISS_RATE QUOTIENT("icache_miss_rate", BOTH, 0x55, 0x54)

static const struct pmu_metric pipe_utilization_exct[] = {
    PIPE("mac_time", "mac_ratio_extra", CUBE, {0x416, 1}, {0x417, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio_extra", CUBE, {0x302, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("fixpipe_time", "fixpipe_ratio", CUBE, {0x303, 1}),
    ICACHE_MISS_RATE,
    METRICS_END,
};

const struct pmu_metric pmu_pipe_utilization[] = {
    PIPE("vec_time", "vec_ratio", VECTOR, {0x8, 1}),
    PIPE("mac_time", "mac_ratio", CUBE, {0xa, 1}),
    PIPE("scalar_time", "scalar_ratio", BOTH, {0x9, 1}),
    PIPE("mte1_time", "mte1_ratio", CUBE, {0xb, 1}),
    PIPE("mte2_time", "mte2_ratio", BOTH, {0xc, 1}),
    PIPE("mte3_time", "mte3_ratio", BOTH, {0xd, 1}),
    ICACHE_MISS_RATE,
    METRICS_END,
};

const struct pmu_metric pmu_arithmetic[] = {
    ARITHMETIC_RATIOS,
    CUBE_OPERATIONS,
    FLOPS("vector_fops", VECTOR, {0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 64}, {0x4f, 32}),
    METRICS_END,
};

/* Integers and all else take four times, twice as long on these. */
const struct pmu_metric pmu_arithmetic_narrow[] = {
    ARITHMETIC_RATIOS,
    CUBE_OPERATIONS,
    FLOPS("vector_fops", VECTOR, {0x4c, 128}, {0x4d, 64}, {0x4b, 64}, {0x4e, 16}, {0x4f, 16}),
    METRICS_END,
};

static const struct pmu_metric memory[] = {
    BANDWIDTH("ub_read_bw", VECTOR, 0x15, 256, 4),
    BANDWIDTH("ub_write_bw", VECTOR, 0x16, 256, 4),
    BANDWIDTH("l1_read_bw", CUBE, 0x31, 256, 16),
    BANDWIDTH("l1_write_bw", CUBE, 0x32, 128, 8),
    BANDWIDTH("main_mem_read_bw", BOTH, 0x12, 8, 8),
    BANDWIDTH("main_mem_write_bw", BOTH, 0x13, 8, 8),
    BANDWIDTH("l2_read_bw", BOTH, 0xf, 256, 8),
    BANDWIDTH("l2_write_bw", BOTH, 0x10, 256, 8),
    METRICS_END,
};

const struct pmu_metric pmu_memory_l0[] = {
    BANDWIDTH("l0a_read_bw", CUBE, 0x1b, 256, 16),
    BANDWIDTH("l0a_write_bw", CUBE, 0x1c, 256, 16),
    BANDWIDTH("l0b_read_bw", CUBE, 0x21, 256, 16),
    BANDWIDTH("l0b_write_bw", CUBE, 0x22, 256, 8),
    BANDWIDTH("l0c_read_bw", VECTOR, 0x27, 256, 8),
    BANDWIDTH("l0c_write_bw", VECTOR, 0x29, 256, 8),
    BANDWIDTH("l0c_read_bw_cube", CUBE, 0x28, 256, 32),
    BANDWIDTH("l0c_write_bw_cube", CUBE, 0x2a, 256, 32),
    METRICS_END,
};

const struct pmu_metric pmu_resource_conflict_ratio[] = {
    RATIO("vec_bankgroup_cflt_ratio", VECTOR, {0x64, 1}),
    RATIO("vec_bank_cflt_ratio", VECTOR, {0x65, 1}),
    RATIO("vec_resc_cflt_ratio", VECTOR, {0x66, 1}),
    METRICS_END,
};

const struct pmu_metric pmu_l2_cache[] = {
    COUNT("write_cache_hit", BOTH, {0x500, 1}),
    COUNT("write_cache_miss_allocate", BOTH, {0x502, 1}),
    COUNT("r0_read_cache_hit", BOTH, {0x504, 1}),
    COUNT("r0_read_cache_miss_allocate", BOTH, {0x506, 1}),
    COUNT("r1_read_cache_hit", BOTH, {0x508, 1}),
    COUNT("r1_read_cache_miss_allocate", BOTH, {0x50a, 1}),
    METRICS_END,
};

static const struct pmu_metric memory_ub[] = {
    BANDWIDTH("ub_read_bw_vector", VECTOR, 0x43, 128, 2),
    BANDWIDTH("ub_write_bw_vector", VECTOR, 0x44, 128, 2),
    BANDWIDTH("ub_read_bw_scalar", BOTH, 0x37, 128, 1),
    BANDWIDTH("ub_write_bw_scalar", BOTH, 0x38, 128, 1),
    METRICS_END,
};

static const struct pmu_metric memory_access[] = {MEMORY_ACCESS(""), METRICS_END};

static const struct pmu_group groups[] = {
    {"PipeUtilization", pmu_pipe_utilization},
    {"PipeUtilizationExct", pipe_utilization_exct},
    {"ArithmeticUtilization", pmu_arithmetic},
    {"Memory", memory},
    {"MemoryL0", pmu_memory_l0},
    {"MemoryUB", memory_ub},
    {"ResourceConflictRatio", pmu_resource_conflict_ratio},
    {"L2Cache", pmu_l2_cache},
    {"MemoryAccess", memory_access},
};

const struct pmu_group_set pmu_groups_split = {
    COUNTED(groups),
    .all_events = true,
    .no_divisor = PMU_SHOW_ZERO,
};

const struct pmu_group_set *pmu_group_set(const struct chip *chip)
{
    static const struct pmu_group_set *const sets[] = {
        [PMU_GROUPS_SPLIT] = &pmu_groups_split,   [PMU_GROUPS_COMMON] = &pmu_groups_common,
        [PMU_GROUPS_NARROW] = &pmu_groups_narrow, [PMU_GROUPS_310] = &pmu_groups_310,
        [PMU_GROUPS_950] = &pmu_groups_950,
    };
    return sets[chip->pmu_groups];
}

/* What sample.json says of one side. */
struct side_config {
    bool aiv;
    bool split; /* the chip has another side */
    const char *prefix;
    const char *metrics;
    const uint32_t *events;
    unsigned n_events;
};

static bool is_custom(const char *metrics)
{
    return !strncmp(metrics, "Custom", 6);
}

static const struct pmu_group *find_group(const struct pmu_group_set *set, const char *name)
{
    for (unsigned i = 0; i < set->n_groups; i++)
        if (!strcmp(set->groups[i].name, name)) return &set->groups[i];
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

static bool has_column(const struct pmu *p, const struct side_config *side, const char *name)
{
    size_t prefix = strlen(side->prefix);
    for (size_t i = 0; i < p->columns.n; i++)
        if (p->columns.at[i].aiv == side->aiv && !strcmp(p->columns.at[i].name + prefix, name)) return true;
    return false;
}

/* Counter of an event, or -1 when the collection does not count it. */
static int find_slot(const struct side_config *side, uint32_t event)
{
    for (unsigned slot = 0; slot < side->n_events; slot++)
        if (side->events[slot] == event) return (int)slot;
    return -1;
}

static bool all_counted(const struct side_config *side, const struct pmu_metric *m)
{
    for (unsigned i = 0; i < PMU_TERMS; i++) {
        if (m->terms[i].event && find_slot(side, m->terms[i].event) < 0) return false;
        if (m->per[i] && find_slot(side, m->per[i]) < 0) return false;
    }
    return true;
}

static void add_term(struct pmu_column *c, const struct side_config *side, struct pmu_event_term term)
{
    c->terms[c->n_terms + c->n_per] = (struct pmu_term){(uint8_t)find_slot(side, term.event), term.factor};
}

static void add_metric(struct pmu *p, const struct side_config *side, const struct pmu_metric *m)
{
    struct pmu_column *c = add_column(p, side, m->name, m->kind, m->formula);
    bool of_side = !side->split || m->unit == BOTH || (m->unit == VECTOR) == side->aiv;
    c->in_summary = of_side && m->unit != NEITHER;
    for (unsigned i = 0; i < PMU_TERMS && m->terms[i].event; i++, c->n_terms++) add_term(c, side, m->terms[i]);
    for (unsigned i = 0; i < PMU_TERMS && m->per[i]; i++, c->n_per++)
        add_term(c, side, (struct pmu_event_term){m->per[i], 1});
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

/* The columns of the metric group. */
static const char *add_group(struct pmu *p, const struct side_config *side, const struct pmu_group_set *set)
{
    if (is_custom(side->metrics)) {
        add_custom(p, side);
        return NULL;
    }
    const struct pmu_group *g = find_group(set, side->metrics);
    if (!g) return "the metric group is not known";
    for (const struct pmu_metric *m = g->metrics; m->name; m++) {
        if (has_column(p, side, m->name)) continue;
        if (all_counted(side, m)) add_metric(p, side, m);
        else if (set->all_events) return "an event that the metric group needs was not counted";
    }
    return NULL;
}

static const char *add_side(struct pmu *p, const struct side_config *side, const struct pmu_group_set *set)
{
    add_column(p, side, "total_time", PMU_TOTAL_TIME, PMU_OF_TOTAL_TIME);
    add_column(p, side, "total_cycles", PMU_CYCLES, PMU_OF_CYCLES);
    return add_group(p, side, set);
}

static unsigned counted(unsigned n_events, const struct chip *chip)
{
    unsigned most = chip->pmu_counters < PMU_MAX_EVENTS ? chip->pmu_counters : PMU_MAX_EVENTS;
    return n_events < most ? n_events : most;
}

/* Index of the first column with one of the names, NONE. */
static uint32_t find_column(const struct pmu *p, const char *name, const char *other)
{
    for (size_t i = 0; i < p->columns.n; i++)
        if (!strcmp(p->columns.at[i].name, name) || !strcmp(p->columns.at[i].name, other)) return (uint32_t)i;
    return NONE;
}

/* The columns that further ones of op_summary are made of. */
static void find_derived(struct pmu *p, bool split)
{
    p->mac = p->vec = p->mte2 = NONE;
    if (split) {
        p->has_cube = find_column(p, "aic_mac_ratio", "aic_mac_ratio_extra") != NONE;
        return;
    }
    p->has_cube = find_column(p, "mac_ratio", "mac_ratio_extra") != NONE;
    p->mac = find_column(p, "mac_ratio", "mac_exe_ratio");
    if (p->mac == NONE) p->mac = find_column(p, "mac_ratio_extra", "");
    p->vec = find_column(p, "vec_ratio", "vec_exe_ratio");
    p->mte2 = find_column(p, "mte2_ratio", "mte2_exe_ratio");
}

/* Of units that a chip lacks there are counters all the same. */
static void mark_missing_units(struct pmu *p, const struct chip *chip)
{
    for (const char *const *name = chip->pmu_not_there; name && *name; name++)
        for (size_t i = 0; i < p->columns.n; i++)
            if (!strcmp(p->columns.at[i].name, *name)) p->columns.at[i].not_there = true;
}

static const char *set_up(struct pmu *p, const struct metadata *meta, const struct chip *chip,
                          const struct side_config *sides, unsigned n_sides)
{
    const struct pmu_group_set *set = pmu_group_set(chip);
    bool custom = is_custom(sides[0].metrics);
    p->aic_mhz = meta->aic_mhz;
    p->ai_core_num = meta->ai_core_num;
    p->aiv_num = meta->aiv_num;
    p->custom = custom;
    p->mac = p->vec = p->mte2 = NONE;
    if (!set) return "counters of this chip are not read";
    p->no_divisor = set->no_divisor;
    p->rounded_time = set->rounded_time || (set->all_events && custom);
    for (unsigned i = 0; i < n_sides; i++) {
        const char *why = add_side(p, &sides[i], set);
        if (!why) continue;
        p->columns.n = 0;
        return why;
    }
    find_derived(p, chip->mix_pmu);
    mark_missing_units(p, chip);
    return NULL;
}

const char *pmu_set_up(struct pmu *p, const struct metadata *meta, const struct chip *chip)
{
    bool split = chip->mix_pmu;
    const struct side_config sides[] = {
        {false, split, split ? "aic_" : "", meta->aic_metrics, meta->aic_events, counted(meta->n_aic_events, chip)},
        {true, split, "aiv_", meta->aiv_metrics, meta->aiv_events, counted(meta->n_aiv_events, chip)},
    };
    return set_up(p, meta, chip, sides, split ? 2 : 1);
}

const char *pmu_set_up_vector(struct pmu *p, const struct metadata *meta, const struct chip *chip)
{
    const struct side_config side = {
        false, false, "", meta->aiv_metrics, meta->aiv_events, counted(meta->n_aiv_events, chip)};
    return set_up(p, meta, chip, &side, 1);
}

const char *pmu_set_up_sampled(struct pmu *p, const struct metadata *meta, const struct chip *chip, bool vector)
{
    const struct pmu_group_set *set = pmu_sampled_set(chip);
    const struct side_config cube = {
        false, false, "", meta->aic_metrics, meta->aic_events, counted(meta->n_aic_events, chip)};
    const struct side_config vectors = {
        false, false, "", meta->aiv_metrics, meta->aiv_events, counted(meta->n_aiv_events, chip)};
    const struct side_config *side = vector ? &vectors : &cube;
    p->aic_mhz = vector ? meta->aiv_mhz : meta->aic_mhz;
    p->mac = p->vec = p->mte2 = NONE;
    p->custom = is_custom(side->metrics);
    p->no_divisor = PMU_SHOW_ZERO;
    if (!set) return "counters of this chip are not read";
    add_column(p, side, "total_time", PMU_TOTAL_TIME, PMU_OF_TOTAL_TIME)->in_summary = false;
    const char *why = add_group(p, side, set);
    if (why) p->columns.n = 0;
    find_derived(p, false);
    mark_missing_units(p, chip);
    return why;
}
