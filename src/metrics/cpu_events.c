/* Events of CPUs, and the two reports that all CPUs have: counts per event, and the functions that took the cycles. */
#include "metrics/cpu_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Events of the Arm architecture and of the cores that Ascend devices have, as reports show them. */
static const char *const names[] = {
    [0x00] = "Sw_incr",
    [0x01] = "L1i_cache_refill",
    [0x02] = "L1i_tlb_refill",
    [0x03] = "L1d_cache_refill",
    [0x04] = "L1d_cache",
    [0x05] = "L1d_tlb_refill",
    [0x06] = "Ld_retired",
    [0x07] = "St_retired",
    [0x08] = "Inst_retired",
    [0x09] = "Exc_taken",
    [0x0a] = "Exc_return",
    [0x0b] = "Cid_write_retired",
    [0x0c] = "Pc_write_retired",
    [0x0d] = "Br_immed_retired",
    [0x0e] = "Br_return_retired",
    [0x0f] = "Unaligned_ldst_retired",
    [0x10] = "Br_mis_pred",
    [0x11] = "Cpu_cycles",
    [0x12] = "Br_pred",
    [0x13] = "Mem_access",
    [0x14] = "L1i_cache",
    [0x15] = "L1d_cache_wb",
    [0x16] = "L2d_cache",
    [0x17] = "L2d_cache_refill",
    [0x18] = "L2d_cache_wb",
    [0x19] = "Bus_access",
    [0x1a] = "Memory_error",
    [0x1b] = "Inst_spec",
    [0x1c] = "Ttbr_write_retired",
    [0x1d] = "Bus_cycles",
    [0x1e] = "Chain",
    [0x20] = "L2d_cache_allocate",
    [0x21] = "Br_retired",
    [0x22] = "Br__mis_pred_retired",
    [0x23] = "Stall_frontend",
    [0x24] = "Stall_backend",
    [0x25] = "L1d_tlb",
    [0x26] = "L1i_tlb",
    [0x2d] = "L2d_tlb_refill",
    [0x2f] = "L2d_tlb",
    [0x34] = "Dtlb_walk",
    [0x35] = "Itlb_walk",
    [0x36] = "Ll_cache_rd",
    [0x37] = "Ll_cache_miss_rd",
    [0x38] = "Remote_access_rd",
    [0x40] = "L1d_cache_ld",
    [0x41] = "L1d_cache_st",
    [0x42] = "L1d_cache_refill_ld",
    [0x43] = "L1d_cache_refill_st",
    [0x44] = "L1d_cache_refill_inner",
    [0x45] = "L1d_cache_refill_outer",
    [0x50] = "L2d_cache_ld",
    [0x51] = "L2d_cache_st",
    [0x52] = "L2d_cache_refill_ld",
    [0x53] = "L2d_cache_refill_st",
    [0x60] = "Bus_access_ld",
    [0x61] = "Bus_access_st",
    [0x66] = "Mem_access_ld",
    [0x67] = "Mem_access_st",
    [0x70] = "Ld_spec",
    [0x71] = "St_spec",
    [0x72] = "Ldst_spec",
    [0x73] = "Dp_spec",
    [0x74] = "Ase_spec",
    [0x75] = "Vfp_spec",
    [0x76] = "Pc_write_spec",
    [0x77] = "Crypto_spec",
    [0x78] = "Br_immed_spec",
    [0x79] = "Br_return_spec",
    [0x7a] = "Br_indirect_spec",
    [0x86] = "Exc_irq",
    [0x87] = "Exc_fiq",
    [0xc1] = "L2d_cache_refill_prefetch",
    [0xc2] = "L1d_cache_refill_prefetch",
    [0xc3] = "L2d_ws_mode",
    [0xc4] = "L1d_ws_mode_entry",
    [0xc5] = "L1d_ws_mode",
    [0xc6] = "Predecode_error",
    [0xc9] = "Br_cond_pred",
    [0xca] = "Br_indirect_mis_pred",
    [0xcb] = "Br_indirect_addr_mis_pred",
    [0xcc] = "Br_cond_mis_pred",
    [0xcd] = "Br_indirect_addr_pred",
    [0xce] = "Br_return_addr_pred",
    [0xcf] = "Br_return_addr_mis_pred",
    [0xd0] = "L2d_llwalk_tlb",
    [0xd1] = "L2d_llwalk_tlb_refill",
    [0xd2] = "L2d_l2walk_tlb",
    [0xd3] = "L2d_l2walk_tlb_refill",
    [0xd4] = "L2d_s2_tlb",
    [0xd5] = "L2d_s2_tlb_refill",
    [0xd6] = "L2d_cache_stash_dropped",
    [0xe1] = "Stall_frontend_cache",
    [0xe2] = "Stall_frontend_tlb",
    [0xe3] = "Stall_frontend_pderr",
    [0xe4] = "Stall_backend_ilock",
    [0xe5] = "Stall_backend_ilock_agu",
    [0xe6] = "Stall_backend_ilock_fpu",
    [0xe7] = "Stall_backend_ld",
    [0xe8] = "Stall_backend_st",
    [0xe9] = "Stall_backend_ld_cache",
    [0xea] = "Stall_backend_ld_tlb",
    [0xeb] = "Stall_backend_st_stb",
    [0xec] = "Stall_backend_st_tlb",
};

static const char *name_of(uint32_t event)
{
    const char *name = event < sizeof names / sizeof *names ? names[event] : NULL;
    return name ? name : "";
}

void cpu_counts_add(struct cpu_counts *c, uint32_t event, uint64_t count)
{
    bool fresh;
    uint32_t at = *map_put(&c->event_at, event, (uint32_t)c->events.n, &fresh);
    if (fresh) array_push(&c->events, ((struct cpu_event_count){event, 0}));
    c->events.at[at].count += count;
}

void cpu_counts_add_cycles(struct cpu_counts *c, str_id function, str_id module, uint64_t cycles)
{
    bool fresh;
    uint32_t at = *map_put(&c->function_at, (uint64_t)function << 32 | module, (uint32_t)c->functions.n, &fresh);
    if (fresh) array_push(&c->functions, ((struct cpu_function){function, module, 0}));
    c->functions.at[at].cycles += cycles;
    c->cycles += cycles;
}

/* Largest first; equal ones in the order in which they were met. */
static void sort_by_count(void *elements, size_t size, struct sort_key *order, size_t n)
{
    sort_keys(order, n);
    sort_permute(elements, size, order, n);
    free(order);
}

void cpu_counts_sort(struct cpu_counts *c)
{
    struct sort_key *order = mem_alloc(c->events.n * sizeof *order);
    for (size_t i = 0; i < c->events.n; i++) order[i] = (struct sort_key){~c->events.at[i].count, (uint32_t)i};
    sort_by_count(c->events.at, sizeof *c->events.at, order, c->events.n);
    order = mem_alloc(c->functions.n * sizeof *order);
    for (size_t i = 0; i < c->functions.n; i++) order[i] = (struct sort_key){~c->functions.at[i].cycles, (uint32_t)i};
    sort_by_count(c->functions.at, sizeof *c->functions.at, order, c->functions.n);
}

void cpu_counts_free(void *data)
{
    struct cpu_counts *c = data;
    array_free(&c->events);
    array_free(&c->functions);
    map_free(&c->event_at);
    map_free(&c->function_at);
    free(c);
}

uint64_t cpu_events_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct cpu_counts *)data)->events.n;
}

/* A number as a text cell, which is how some reports of the reference have it. */
static void number_as_text(struct table *t, uint64_t value)
{
    char text[FORMAT_U64];
    table_text(t, text, (size_t)(format_u64(text, value) - text));
}

void cpu_events_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct cpu_counts *c = data;
    for (size_t i = 0; i < c->events.n; i++) {
        const struct cpu_event_count *e = &c->events.at[i];
        char event[16];
        int n = snprintf(event, sizeof event, "0x%x", e->event);
        report_row(t, dir);
        table_text(t, event, (size_t)n);
        table_text(t, name_of(e->event), strlen(name_of(e->event)));
        if (c->counts_are_text) number_as_text(t, e->count);
        else table_u64(t, e->count);
        if (!report_row_end(t)) return;
    }
}

static size_t shown_functions(const struct cpu_counts *c)
{
    return c->top && c->functions.n > c->top ? c->top : c->functions.n;
}

uint64_t cpu_functions_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    const struct cpu_counts *c = data;
    return c->cycles ? shown_functions(c) : 0;
}

static void put_share(struct table *t, double percent, bool as_text)
{
    char text[FORMAT_DOUBLE];
    if (as_text) table_text(t, text, (size_t)(format_round(text, percent, 3) - text));
    else table_round(t, percent);
}

void cpu_functions_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct cpu_counts *c = data;
    for (size_t i = 0; c->cycles && i < shown_functions(c); i++) {
        const struct cpu_function *f = &c->functions.at[i];
        report_row(t, dir);
        table_string(t, f->name);
        if (c->with_modules) table_string(t, f->module);
        table_u64(t, f->cycles);
        put_share(t, (double)f->cycles / (double)c->cycles * 100, c->with_modules);
        if (!report_row_end(t)) return;
    }
}
