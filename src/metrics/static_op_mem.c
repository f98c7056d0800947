/* Static operator memory: what the graph compiler planned for the operators of static graphs. */
#include <stdlib.h>

#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"

/* docs/formats/sampled-metrics.md, "Static operator memory" */
enum { RECORD = 256, R_SIZE = 24, R_OPERATOR = 32, R_LIFE_START = 40, R_LIFE_END = 48, R_ROOT = 64, R_GRAPH = 72 };

#define LIFE_WHOLE_GRAPH 4294967294u /* shown as the next larger number */

struct plan {
    str_id op, model;
    uint64_t life_start, life_end; /* node indices */
    int64_t bytes;
    uint32_t graph_id;
};

struct static_op_mem {
    ARRAY(struct plan) plans; /* in the order of the records */
};

struct reader {
    struct static_op_mem *mem;
    const struct metric_source *from;
};

static str_id text_of(const struct reader *r, uint64_t hash, const char *of_zero)
{
    return hash ? host_text(&r->from->model->host, r->from->strings, hash) : strpool_add_z(r->from->strings, of_zero);
}

static void visit(const uint8_t *p, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    uint64_t life_end = get_u64(p + R_LIFE_END);
    array_push(&r->mem->plans, ((struct plan){
                                   .op = text_of(r, get_u64(p + R_OPERATOR), "TOTAL"),
                                   .model = text_of(r, get_u64(p + R_ROOT), "0"),
                                   .life_start = get_u64(p + R_LIFE_START),
                                   .life_end = life_end == LIFE_WHOLE_GRAPH ? life_end + 1 : life_end,
                                   .bytes = (int64_t)get_u64(p + R_SIZE),
                                   .graph_id = get_u32(p + R_GRAPH),
                               }));
}

static void static_op_mem_free(void *data)
{
    struct static_op_mem *mem = data;
    array_free(&mem->plans);
    free(mem);
}

static void *load(const struct metric_source *from)
{
    struct reader r = {mem_zalloc(1, sizeof *r.mem), from};
    records_each(prof_dir_files(from->dir, INPUT_STATIC_OP_MEM), RECORD, record_valid_host, from->diag, from->progress,
                 visit, &r);
    return r.mem;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    return ((const struct static_op_mem *)data)->plans.n;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    const struct static_op_mem *mem = data;
    for (size_t i = 0; i < mem->plans.n; i++) {
        const struct plan *p = &mem->plans.at[i];
        report_row(t, dir);
        table_string(t, p->op);
        table_string(t, p->model);
        table_u64(t, p->graph_id);
        table_u64(t, p->life_start);
        table_u64(t, p->life_end);
        table_shortest(t, (double)p->bytes / BYTES_PER_KB);
        if (!report_row_end(t)) return;
    }
}

const struct metric metric_static_op_mem = {
    .name = "static operator memory",
    METRIC_INPUTS(INPUT_STATIC_OP_MEM),
    .load = load,
    .free = static_op_mem_free,
    .reports =
        (const struct report[]){
            {.stem = "static_op_mem",
             .about = "Memory planned for the operators of static graphs, and from which node to which it\n"
                      "is needed.",
             .columns = (const char *const[]){"Op Name", "Model Name", "Graph ID", "Node Index Start", "Node Index End",
                                              "Size(KB)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
};
