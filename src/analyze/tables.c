/* communication_analyzer.db: the same facts as the JSON files, one row each, without the totals.
 *
 * The file is written as a whole. A run of one rule has nothing for the tables of the other, so their rows come from
 * the database that is there already: it may be anybody's, and is read by SQLite with nothing in it trusted. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/parts.h"
#include "base/format.h"
#include "export/db/writer.h"

struct comm_table {
    struct db_definition definition;
    enum npuprof_rule rule;
    void (*write)(const struct analysis *a, struct db_table *t);
};

static void put_text(const struct analysis *a, struct db_table *t, str_id text)
{
    db_text(t, strpool_text(a->strings, text), strpool_length(a->strings, text));
}

/* ---- rows ---- */

/* Epoch µs as near as a double can be: whole µs are exact, ns are not. */
static double as_us(int64_t ns)
{
    int64_t us = ns / 1000;
    return (double)us + (double)(ns - us * 1000) / 1e3;
}

static void write_time(const struct analysis *a, struct db_table *t)
{
    for (size_t i = 0; i < a->operators.n; i++) {
        const struct op_facts *op = &a->operators.at[i];
        int64_t busy = sum_of(op->times.transit.value, op->times.wait.value);
        put_text(a, t, op->name);
        put_text(a, t, op->group);
        db_real(t, as_us(op->times.start_ns));
        db_real(t, as_ms(op->times.elapsed.value));
        db_real(t, as_ms(op->times.transit.value));
        db_real(t, as_ms(op->times.wait.value));
        db_real(t, as_ms(op->times.synchronization.value));
        db_real(t, as_ms(difference(op->times.elapsed.value, busy)));
        db_row(t);
    }
}

/* A row of traffic with one of its packets, NULL = it has none of its own. */
static void put_traffic(const struct analysis *a, struct db_table *t, const struct op_facts *op, enum traffic kind,
                        const struct packet *p)
{
    struct traffic_sum sum = traffic_shown(op, kind);
    put_text(a, t, op->name);
    put_text(a, t, op->group);
    db_text(t, traffic_names[kind], strlen(traffic_names[kind]));
    db_real(t, as_mb(sum.bytes.value));
    db_real(t, as_ms(sum.ns.value));
    db_real(t, bandwidth_gbs(sum.bytes.value, sum.ns.value));
    db_real(t, kind == TRAFFIC_SDMA ? 0 : share_of((double)sum.large, (double)sum.bytes.terms));
    db_real(t, p ? as_mb(p->bytes) : 0);
    db_int(t, p ? (int64_t)p->count : 0);
    db_real(t, p ? as_ms(p->ns) : 0);
    db_row(t);
}

static void write_bandwidth(const struct analysis *a, struct db_table *t)
{
    for (size_t i = 0; i < a->operators.n; i++) {
        const struct op_facts *op = &a->operators.at[i];
        const struct packet *packets = a->packets.at + op->first_packet;
        for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
            struct traffic_sum sum = traffic_shown(op, (enum traffic)kind);
            if (!sum.bytes.value && !sum.ns.value) continue;
            bool any = false;
            for (uint32_t k = 0; k < op->n_packets; k++) {
                if (packets[k].kind != kind) continue;
                put_traffic(a, t, op, (enum traffic)kind, &packets[k]);
                any = true;
            }
            if (!any) put_traffic(a, t, op, (enum traffic)kind, NULL);
        }
    }
}

static void put_rank(struct db_table *t, uint32_t rank)
{
    char text[FORMAT_U64];
    db_text(t, text, (size_t)(format_u64(text, rank) - text));
}

static void write_matrix(const struct analysis *a, struct db_table *t)
{
    link_list links = {0};
    analysis_links(a, &links);
    for (size_t i = 0; i < links.n; i++) {
        const struct link *l = &links.at[i];
        put_text(a, t, a->operators.at[l->op].name);
        put_text(a, t, a->operators.at[l->op].group);
        put_rank(t, l->src_rank);
        put_rank(t, l->dst_rank);
        if (l->transport) db_text(t, l->transport, strlen(l->transport));
        else db_null(t);
        db_real(t, as_mb(l->bytes));
        db_real(t, as_ms(l->ns));
        db_real(t, bandwidth_gbs(l->bytes, l->ns));
        db_row(t);
    }
    array_free(&links);
}

static const struct comm_table tables[] = {
    {{.name = "CommAnalyzerTime",
      .columns = {{"hccl_op_name", DB_TEXT},
                  {"group_name", DB_TEXT},
                  {"start_timestamp", DB_NUMERIC},
                  {"elapse_time", DB_NUMERIC},
                  {"transit_time", DB_NUMERIC},
                  {"wait_time", DB_NUMERIC},
                  {"synchronization_time", DB_NUMERIC},
                  {"idle_time", DB_NUMERIC}},
      .keep_empty = true},
     NPUPROF_COMMUNICATION,
     write_time},
    {{.name = "CommAnalyzerBandwidth",
      .columns = {{"hccl_op_name", DB_TEXT},
                  {"group_name", DB_TEXT},
                  {"transport_type", DB_TEXT},
                  {"transit_size", DB_NUMERIC},
                  {"transit_time", DB_NUMERIC},
                  {"bandwidth", DB_NUMERIC},
                  {"large_packet_ratio", DB_NUMERIC},
                  {"package_size", DB_NUMERIC},
                  {"count", DB_NUMERIC},
                  {"total_duration", DB_NUMERIC}},
      .keep_empty = true},
     NPUPROF_COMMUNICATION,
     write_bandwidth},
    {{.name = "CommAnalyzerMatrix",
      .columns = {{"hccl_op_name", DB_TEXT},
                  {"group_name", DB_TEXT},
                  {"src_rank", DB_TEXT},
                  {"dst_rank", DB_TEXT},
                  {"transport_type", DB_TEXT},
                  {"transit_size", DB_NUMERIC},
                  {"transit_time", DB_NUMERIC},
                  {"bandwidth", DB_NUMERIC}},
      .keep_empty = true},
     NPUPROF_COMMUNICATION_MATRIX,
     write_matrix},
};

#define N_TABLES (sizeof tables / sizeof *tables)

/* ---- the database that is there already ---- */

static void complain(struct diag *diag, sqlite3 *old)
{
    diag_note(diag, DIAG_WARNING, "", DIAG_NO_OFFSET,
              "the older communication_analyzer.db cannot be read (%s): the tables of the other rule are lost",
              sqlite3_errmsg(old));
}

/* NULL when there is none that could be read. */
static sqlite3 *open_old(const char *path)
{
    struct stat st;
    sqlite3 *old = NULL;
    if (lstat(path, &st) || !S_ISREG(st.st_mode)) return NULL;
    if (sqlite3_open_v2(path, &old, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        sqlite3_exec(old, "PRAGMA trusted_schema = OFF", NULL, NULL, NULL);
    return old;
}

/* A real table of that name; views could ask for any amount of work. */
static bool has_table(sqlite3 *old, const char *name, struct diag *diag)
{
    sqlite3_stmt *q = NULL;
    bool found = false;
    if (!old) return false;
    if (sqlite3_prepare_v2(old, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", -1, &q, NULL) ||
        sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC)) {
        complain(diag, old);
    } else {
        found = sqlite3_step(q) == SQLITE_ROW;
    }
    sqlite3_finalize(q);
    return found;
}

static void take_value(struct db_table *t, sqlite3_stmt *q, int column)
{
    switch (sqlite3_column_type(q, column)) {
    case SQLITE_INTEGER: db_int(t, sqlite3_column_int64(q, column)); break;
    case SQLITE_FLOAT: db_real(t, sqlite3_column_double(q, column)); break;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(q, column);
        db_text(t, text ? text : "", text ? (size_t)sqlite3_column_bytes(q, column) : 0);
        break;
    }
    default: db_null(t);
    }
}

static char *select_all(const struct db_definition *d)
{
    char *sql = mem_printf("SELECT ");
    for (const struct db_column *c = d->columns; c->name; c++) {
        char *longer = mem_printf("%s%s%s", sql, c == d->columns ? "" : ", ", c->name);
        free(sql);
        sql = longer;
    }
    char *whole = mem_printf("%s FROM %s", sql, d->name);
    free(sql);
    return whole;
}

static void take_over(sqlite3 *old, struct db_table *t, struct diag *diag)
{
    char *sql = select_all(t->definition);
    sqlite3_stmt *q = NULL;
    int status = sqlite3_prepare_v2(old, sql, -1, &q, NULL);
    while (!status && (status = sqlite3_step(q)) == SQLITE_ROW) {
        for (unsigned c = 0; c < t->n_columns; c++) take_value(t, q, (int)c);
        db_row(t);
        status = SQLITE_OK;
    }
    if (status != SQLITE_DONE) complain(diag, old);
    sqlite3_finalize(q);
    free(sql);
}

/* ---- the file ---- */

int tables_write(const struct analysis *a, unsigned rules, const char *path, struct diag *diag, uint64_t *bytes,
                 uint64_t *rows, struct error *err)
{
    struct db_file *f = db_file_open(path, DB_PAGE_SIZE, NULL, err);
    if (!f) return -1;
    sqlite3 *old = rules == (NPUPROF_COMMUNICATION | NPUPROF_COMMUNICATION_MATRIX) ? NULL : open_old(path);
    for (size_t i = 0; i < N_TABLES; i++) {
        bool own = rules & tables[i].rule;
        if (!own && !has_table(old, tables[i].definition.name, diag)) continue;
        struct db_table *t = db_table_begin(f, &tables[i].definition);
        if (own) tables[i].write(a, t);
        else take_over(old, t, diag);
        db_table_end(t);
    }
    sqlite3_close(old);
    return db_file_commit(f, bytes, rows, err);
}
