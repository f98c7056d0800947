/* The report writer, in two forms.
 *
 *     CSV     cells joined by commas, lines ended by \n, a cell in quotes only when it holds a comma, a quote or a line
 *             break
 *     JSON    one line: an array of objects, [{"Op Name": "Add", "Task Duration(us)": 1.500}, …]
 *
 * Epoch times are text that ends in a TAB, so that spreadsheets keep all digits. JSON rows leave the device out where
 * the collection has only one: that is how readers of the reference tool's JSON know them. */
#include "export/summary/table.h"

#include <assert.h>
#include <stdlib.h>

#define PIECE_MAX 8192 /* bytes of a piece worth remembering */
#define FIRST_MAX 1024 /* bytes of a first cell, at least: a device */

static const char na[] = "N/A";

static void begin_csv(struct table *t)
{
    for (size_t i = 0; i < t->n_columns; i++) {
        if (i) out_char(&t->out, ',');
        out_csv_cell(&t->out, t->columns[i], strlen(t->columns[i]));
    }
    out_char(&t->out, '\n');
}

/* Some tables are called like timelines. As JSON they would have the same file. */
static char *path_of(const struct table *t)
{
    if (!t->json || !t->target->with_timelines || !timeline_has_file(t->stem))
        return export_path(t->target, t->stem, t->slice, t->json ? "json" : "csv");
    char *stem = mem_printf("%s" TABLE_SUFFIX, t->stem), *path = export_path(t->target, stem, t->slice, "json");
    free(stem);
    return path;
}

static int open_file(struct table *t)
{
    t->path = path_of(t);
    t->slice_rows = 0;
    if (out_open(&t->out, t->path, t->err)) {
        t->failed = true;
        return -1;
    }
    if (t->json) out_char(&t->out, '[');
    else begin_csv(t);
    return 0;
}

static int close_file(struct table *t)
{
    if (t->json) out_char(&t->out, ']');
    uint64_t bytes = out_size(&t->out);
    if (out_commit(&t->out, t->err)) {
        t->failed = true;
        return -1;
    }
    export_wrote(t->target, t->path, bytes, t->slice_rows);
    progress_add(t->target->progress, t->slice_rows);
    free(t->path);
    t->path = NULL;
    return 0;
}

int table_open(struct table *t, struct export_target *target, const char *stem, const char *const *columns,
               size_t n_columns, uint64_t rows, struct error *err)
{
    *t = (struct table){
        .target = target,
        .err = err,
        .stem = stem,
        .columns = columns,
        .n_columns = n_columns,
        .rows = rows,
        .slice = rows > TABLE_SLICE ? 0 : -1,
        .json = target->format == NPUPROF_JSON,
    };
    t->hide_first = t->json && target->model->n_devices <= 1 && !strcmp(columns[0], "Device_id");
    if (!open_file(t)) return 0;
    return table_close(t);
}

void table_of_one_directory(struct table *t)
{
    t->hide_first = t->json && !strcmp(t->columns[0], "Device_id");
}

int table_end_row(struct table *t)
{
    assert(t->column == t->n_columns && t->done < t->rows);
    out_char(&t->out, t->json ? '}' : '\n');
    t->column = 0;
    t->done++;
    t->slice_rows++;
    if (t->slice_rows < TABLE_SLICE || t->done == t->rows) return 0;
    if (close_file(t)) return -1;
    t->slice++;
    return open_file(t);
}

int table_end_short_row(struct table *t)
{
    t->column = t->n_columns;
    return table_end_row(t);
}

int table_close(struct table *t)
{
    assert(t->failed || t->done == t->rows);
    if (!t->failed) close_file(t);
    free(t->path);
    t->path = NULL;
    return t->failed ? error_wrap(t->err, "writing the report %s", t->stem) : 0;
}

/* A first cell to be left out is written all the same, and taken back before the next. */
static void drop_first(struct table *t)
{
    if (t->hide_first && t->column == 1) t->out.at -= out_size(&t->out) - t->first_at;
}

/* A JSON row begins with its first cell. */
static void next_key(struct table *t)
{
    drop_first(t);
    size_t column = t->column++;
    if (!column) {
        out_text(&t->out, t->slice_rows ? ", {" : "{");
        out_room(&t->out, FIRST_MAX);
        t->first_at = out_size(&t->out);
    } else if (column > 1 || !t->hide_first) {
        out_literal(&t->out, ", ");
    }
    out_json_string(&t->out, t->columns[column], strlen(t->columns[column]));
    out_literal(&t->out, ": ");
}

/* Every cell begins here. */
static void next_cell(struct table *t)
{
    if (t->json) next_key(t);
    else if (t->column++) out_char(&t->out, ',');
}

void table_text(struct table *t, const char *text, size_t len)
{
    next_cell(t);
    if (t->json) out_json_string(&t->out, text, len);
    else out_csv_cell(&t->out, text, len);
}

void table_none(struct table *t)
{
    next_cell(t);
    if (t->json) out_literal(&t->out, "null");
}

void table_string(struct table *t, str_id id)
{
    const struct strpool *strings = t->target->model->strings;
    table_text(t, strpool_text(strings, id), strpool_length(strings, id));
}

void table_shapes(struct table *t, str_id id)
{
    size_t len = strpool_length(t->target->model->strings, id);
    char *quoted = mem_alloc(len + 2);
    quoted[0] = quoted[len + 1] = '"';
    memcpy(quoted + 1, strpool_text(t->target->model->strings, id), len);
    table_text(t, quoted, len + 2);
    free(quoted);
}

void table_na(struct table *t, size_t cells)
{
    while (cells--) table_text(t, na, sizeof na - 1);
}

void table_u64(struct table *t, uint64_t value)
{
    next_cell(t);
    out_u64(&t->out, value);
}

void table_i64(struct table *t, int64_t value)
{
    next_cell(t);
    out_i64(&t->out, value);
}

void table_time(struct table *t, int64_t ns)
{
    next_cell(t);
    if (t->json) out_char(&t->out, '"');
    out_us(&t->out, ns);
    if (t->json) out_literal(&t->out, "\\t\"");
    else out_char(&t->out, '\t');
}

void table_us(struct table *t, int64_t ns)
{
    next_cell(t);
    out_us(&t->out, ns);
}

void table_us_long(struct table *t, int64_t ns)
{
    table_us(t, ns);
    out_literal(&t->out, "000");
}

void table_us_trim(struct table *t, int64_t ns)
{
    next_cell(t);
    t->out.at = format_us_trim(out_room(&t->out, FORMAT_US), ns);
}

void table_round(struct table *t, double value)
{
    next_cell(t);
    if (value == 0) out_literal(&t->out, "0.0"); /* a side of the counters that did nothing: half of all values */
    else t->out.at = format_round(out_room(&t->out, FORMAT_DOUBLE), value, 3);
}

void table_trim(struct table *t, double value)
{
    next_cell(t);
    t->out.at = format_round_trim(out_room(&t->out, FORMAT_DOUBLE), value, 3);
}

void table_fixed(struct table *t, double value)
{
    next_cell(t);
    t->out.at = format_fixed(out_room(&t->out, FORMAT_DOUBLE), value, 3);
}

void table_shortest(struct table *t, double value)
{
    next_cell(t);
    out_double(&t->out, value);
}

void table_record(struct table *t)
{
    drop_first(t);
    out_room(&t->out, PIECE_MAX); /* so that a short piece is in the buffer as a whole */
    t->piece_from = out_size(&t->out);
    t->piece_column = t->column;
}

void table_recorded(struct table *t, struct table_piece *piece)
{
    uint64_t len = out_size(&t->out) - t->piece_from;
    if (len > PIECE_MAX) return;
    *piece = (struct table_piece){mem_strndup(t->out.at - len, (size_t)len), (size_t)len, t->column - t->piece_column};
}

bool table_replay(struct table *t, const struct table_piece *piece)
{
    if (!piece->bytes) return false;
    drop_first(t);
    out_bytes(&t->out, piece->bytes, piece->len);
    t->column += piece->cells;
    return true;
}
