/* Values of counter columns.
 *
 * A column carries its formula with the counter slots already looked up, so that a value is one short loop over at most
 * five counters: the database asks for tens of millions of them. */
#include "device/pmu.h"

#include <math.h>
#include <string.h>

#include "base/round.h"

#include "host/host.h"

#define GIB_IN_BITS 8589934592.0 /* 2^33 */

static double sum_counters(const struct pmu_side *side, const struct pmu_column *c)
{
    double sum = 0;
    for (unsigned i = 0; i < c->n_terms; i++) sum += (double)side->counter[c->terms[i].slot] * c->terms[i].factor;
    return sum;
}

/* The value when there is nothing to divide by. */
static double undivided(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    if (p->no_divisor != PMU_SHOW_COUNTER) return p->no_divisor == PMU_SHOW_ZERO ? 0 : NAN;
    double sum = 0;
    for (unsigned i = 0; i < c->n_terms; i++)
        if (c->terms[i].factor > 0) sum += (double)side->counter[c->terms[i].slot];
    return sum;
}

static double per_ratio(const struct pmu_side *side, const struct pmu_column *c, double value)
{
    const struct pmu_term *per = &c->terms[c->n_terms];
    if (!c->n_per) return value;
    for (unsigned i = 0; i < c->n_per; i++)
        if (!side->counter[per[i].slot]) return value;
    double counter = (double)side->counter[per[0].slot];
    return value / (side->cycles ? counter / (double)side->cycles : counter);
}

static double ratio(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    double value = side->cycles ? sum_counters(side, c) / (double)side->cycles : undivided(p, side, c);
    return per_ratio(side, c, value);
}

static double quotient(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    uint64_t part = side->counter[c->terms[0].slot], whole = side->counter[c->terms[1].slot];
    if (!whole) return p->no_divisor == PMU_SHOW_NOTHING ? NAN : 0;
    if (p->no_divisor != PMU_SHOW_ZERO) return (double)part / (double)whole;
    if (!side->cycles) return 0;
    double cycles = (double)side->cycles;
    return ((double)part / cycles) / ((double)whole / cycles);
}

static double bandwidth(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    if (!side->cycles) return per_ratio(side, c, undivided(p, side, c));
    if (!(p->aic_mhz > 0)) return 0;
    double seconds = (double)side->cycles / (p->aic_mhz * 1e6);
    return per_ratio(side, c, sum_counters(side, c) / seconds / GIB_IN_BITS);
}

static double rate(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    if (!(side->total_us > 0)) return undivided(p, side, c);
    return sum_counters(side, c) / (side->total_us / 1e6) / GIB_IN_BITS;
}

static double operations_of_ratios(const struct pmu_side *side, const struct pmu_column *c)
{
    double sum = 0, cycles = (double)side->cycles;
    for (unsigned i = 0; i < c->n_terms && side->cycles; i++)
        sum += (double)side->counter[c->terms[i].slot] / cycles * cycles * c->terms[i].factor;
    return sum;
}

static double side_value(const struct pmu *p, const struct pmu_side *side, const struct pmu_column *c)
{
    switch (c->formula) {
    case PMU_OF_TOTAL_TIME: return side->total_us;
    case PMU_OF_CYCLES: return (double)side->cycles;
    case PMU_OF_COUNTERS: return sum_counters(side, c);
    case PMU_OF_RATIOS: return operations_of_ratios(side, c);
    case PMU_OF_OPERATIONS: return side->cycles ? sum_counters(side, c) : 0;
    case PMU_OF_RATIO: return ratio(p, side, c);
    case PMU_OF_TIME: return ratio(p, side, c) * side->total_us;
    case PMU_OF_QUOTIENT: return quotient(p, side, c);
    case PMU_OF_BANDWIDTH: return bandwidth(p, side, c);
    case PMU_OF_RATE: return rate(p, side, c);
    }
    return 0;
}

double pmu_total_us(const struct pmu *p, double busy_us, uint32_t blocks, uint32_t cores, double unknown)
{
    if (!blocks || !cores) return unknown;
    uint64_t rounds = ((uint64_t)blocks + cores - 1) / cores;
    double us = busy_us / blocks * (double)rounds;
    return p->rounded_time ? round_decimals(us, 100) : us;
}

double pmu_value(const struct pmu *p, size_t row, size_t column)
{
    const struct pmu_column *c = &p->columns.at[column];
    uint32_t side = c->aiv ? p->rows.at[row].aiv : p->rows.at[row].aic;
    return side < p->sides.n ? side_value(p, &p->sides.at[side], c) : 0;
}

/* A ratio as op_summary shows it. */
static double shown_ratio(const struct pmu *p, size_t row, uint32_t column)
{
    return round_decimals(pmu_value(p, row, column), 1000);
}

double pmu_memory_bound(const struct pmu *p, size_t row)
{
    double mac = shown_ratio(p, row, p->mac), vec = shown_ratio(p, row, p->vec), mte2 = shown_ratio(p, row, p->mte2);
    double most = mac > vec ? mac : vec;
    return most > 0 ? mte2 / most : most;
}

bool pmu_has_memory_bound(const struct pmu *p)
{
    return p->mac != NONE && p->vec != NONE && p->mte2 != NONE;
}

double pmu_cube_utilization(const struct pmu *p, size_t row, double duration_us)
{
    if (!(p->aic_mhz > 0) || !p->ai_core_num) return NAN;
    if (p->mac != NONE && !(shown_ratio(p, row, p->mac) > 0)) return 0;
    uint32_t side = p->rows.at[row].aic;
    double cycles = side < p->sides.n ? (double)p->sides.at[side].cycles : 0;
    return duration_us > 0 ? cycles / (p->aic_mhz * p->ai_core_num) * 100 / duration_us : 0;
}

bool pmu_has_cube(const struct pmu *p)
{
    return p->has_cube;
}

bool pmu_same_columns(const struct pmu *a, const struct pmu *b)
{
    if (a->columns.n != b->columns.n) return false;
    for (size_t i = 0; i < a->columns.n; i++)
        if (strcmp(a->columns.at[i].name, b->columns.at[i].name)) return false;
    return true;
}

void pmu_free(struct pmu *p)
{
    array_free(&p->sides);
    array_free(&p->rows);
    array_free(&p->orphans);
    array_free(&p->columns);
}
