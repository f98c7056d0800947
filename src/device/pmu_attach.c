/* The second half of the counters: once the host has said how many blocks a kernel has, matches become rows. */
#include "device/pmu_records.h"
#include "device/task_runs.h"

static double total_us(const struct pmu *p, uint64_t cycles, double mhz, uint32_t blocks, uint32_t cores)
{
    return mhz > 0 ? pmu_total_us(p, (double)cycles * 1e6 / (mhz * 1e6), blocks, cores, 0) : 0;
}

/* Does some run have more blocks than may count? (A limit of 0 needs no second look: nothing counts.) */
static bool too_many_blocks(const struct pmu_pending *pending, const struct device_blocks *blocks)
{
    for (size_t i = 0; i < pending->summer.sums.n; i++) {
        const struct block_sum *sum = &pending->summer.sums.at[i];
        uint32_t limit = block_limit(&blocks[sum->task]);
        if (limit && sum->blocks > limit) return true;
    }
    return false;
}

static void limit_blocks(struct pmu_pending *pending, const struct prof_dir *dir, const struct device_blocks *blocks)
{
    if (!too_many_blocks(pending, blocks)) return;
    pending->summer.limits = blocks;
    pmu_sum_blocks_again(&pending->summer, dir);
}

static bool main_is_vector(enum accelerator a)
{
    return a == ACCELERATOR_AIV || a == ACCELERATOR_MIX_AIV;
}

static uint32_t cores_of(const struct pmu *p, bool vector)
{
    return vector ? p->aiv_num : p->ai_core_num;
}

/* Make the slave side of a match; NONE when it has none. */
static uint32_t slave_side(struct device_data *d, const struct pmu_pending *pending, const struct pmu_match *m,
                           const struct device_blocks *blocks)
{
    if (m->accelerator != ACCELERATOR_MIX_AIC && m->accelerator != ACCELERATOR_MIX_AIV) return NONE;
    uint64_t key = (uint64_t)m->task * 2 + (m->accelerator == ACCELERATOR_MIX_AIV);
    uint32_t sum = map_get(&pending->summer.sum_of, key, NONE);
    uint32_t limit = block_limit(blocks);
    if (sum == NONE || !limit) return NONE;
    struct pmu_side side = pending->summer.sums.at[sum].side;
    side.total_us = total_us(&d->pmu, side.cycles, m->mhz, limit, cores_of(&d->pmu, !main_is_vector(m->accelerator)));
    array_push(&d->pmu.sides, side);
    return (uint32_t)d->pmu.sides.n - 1;
}

static void add_row(struct device_data *d, const struct pmu_pending *pending, const struct pmu_match *m,
                    const struct device_blocks *blocks)
{
    bool vector = main_is_vector(m->accelerator);
    struct pmu_side *main = &d->pmu.sides.at[m->side];
    main->total_us = total_us(&d->pmu, main->cycles, m->mhz, blocks->block_num, cores_of(&d->pmu, vector));
    uint32_t slave = slave_side(d, pending, m, blocks);
    d->tasks.at[m->task].pmu = (uint32_t)d->pmu.rows.n;
    array_push(&d->pmu.rows, vector ? ((struct pmu_row){slave, m->side}) : ((struct pmu_row){m->side, slave}));
}

static void add_orphan(struct device_data *d, const struct pmu_left_over *o, const struct device_blocks *blocks)
{
    bool vector = main_is_vector(o->match.accelerator);
    struct pmu_side *main = &d->pmu.sides.at[o->match.side];
    main->total_us = total_us(&d->pmu, main->cycles, o->match.mhz, blocks->block_num, cores_of(&d->pmu, vector));
    array_push(&d->pmu.orphans, o->orphan);
    d->pmu.orphans.at[d->pmu.orphans.n - 1].row = (uint32_t)d->pmu.rows.n;
    uint32_t side = o->match.side;
    array_push(&d->pmu.rows, vector ? ((struct pmu_row){NONE, side}) : ((struct pmu_row){side, NONE}));
}

struct device_orphan *device_orphans(const struct device_data *d, size_t *n)
{
    const struct pmu_pending *pending = d->pending;
    *n = pending ? pending->left_over.n : 0;
    if (!*n) return NULL;
    struct device_orphan *orphans = mem_alloc(*n * sizeof *orphans);
    for (size_t i = 0; i < *n; i++) {
        const struct pmu_left_over *o = &pending->left_over.at[i];
        orphans[i] = (struct device_orphan){o->orphan.stream_id, o->orphan.task_id, o->orphan.context_id, o->nth};
    }
    return orphans;
}

void device_attach_pmu(struct device_data *d, const struct prof_dir *dir, const struct device_blocks *blocks,
                       const struct device_blocks *orphans, struct diag *diag)
{
    struct pmu_pending *pending = d->pending;
    pmu_whole_attach(d, blocks, diag, dir->name);
    if (!pending) return;
    limit_blocks(pending, dir, blocks);
    array_reserve(&d->pmu.rows, pending->matches.n);
    for (size_t i = 0; i < pending->matches.n; i++) {
        const struct pmu_match *m = &pending->matches.at[i];
        add_row(d, pending, m, &blocks[m->task]);
    }
    for (size_t i = 0; i < pending->left_over.n; i++) add_orphan(d, &pending->left_over.at[i], &orphans[i]);
    array_trim(&d->pmu.sides);
    pmu_free_pending(d);
}
