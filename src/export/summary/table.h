/* Writing a report, as CSV or JSON: rows of typed cells under a header, in files of at most TABLE_SLICE rows.
 *
 *     struct table t;
 *     if (table_open(&t, target, "fusion_op", columns, n_columns, n_rows, err)) return -1;
 *     for (…) {
 *         table_string(&t, row->name);          one call per column, left to right
 *         table_u64(&t, row->model_id);
 *         if (table_end_row(&t)) break;
 *     }
 *     return table_close(&t);
 *
 * A report says what a cell is; how it looks in the file is decided here and nowhere else. */
#ifndef SUMMARY_TABLE_H
#define SUMMARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "export/export.h"

#define TABLE_SUFFIX "_table" /* of a JSON file whose report is called like a timeline of the same run */
#define TABLE_SLICE  1000000  /* rows of a file; a report with more is cut into <stem>_slice_<n> */

struct table {
    struct out out;
    struct export_target *target;
    struct error *err;
    const char *stem;
    const char *const *columns;
    size_t n_columns;
    uint64_t rows;       /* of the whole report */
    uint64_t done;       /* rows ended */
    uint64_t slice_rows; /* rows ended in the open file */
    uint64_t piece_from; /* where the piece being recorded begins: byte of the file … */
    size_t piece_column; /* … and column */
    uint64_t first_at;   /* byte of the file where the first cell of the row begins */
    char *path;          /* of the open file, NULL = none */
    size_t column;       /* of the next cell */
    int slice;           /* number of the open file, -1 = the report is one file */
    bool failed;         /* *err is set */
    bool json;           /* else CSV */
    bool hide_first;     /* the first cell of each row is left out */
};

/* Start the report `stem` (op_summary …) of exactly `rows` > 0 rows. The columns must outlive the table. Returns 0, or
 * -1 with *err set (nothing to close then). */
int table_open(struct table *t, struct export_target *target, const char *stem, const char *const *columns,
               size_t n_columns, uint64_t rows, struct error *err);

/* End a row, in which every column must have got its cell. Returns 0, or -1 when a file could not be finished or begun:
 * stop, and call table_close. */
int table_end_row(struct table *t);

/* The same before the last columns have got their cells: the row is shorter than the header. */
int table_end_short_row(struct table *t);

/* Finish the last file. Returns 0, or -1 with *err set: the file that failed is not there, earlier slices are. */
int table_close(struct table *t);

/* All rows are of one directory: JSON, which is for readers that expect a file per directory, leaves Device_id out. To
 * be said before the first row. */
void table_of_one_directory(struct table *t);

/* Cells. */
void table_text(struct table *t, const char *text, size_t len);
void table_string(struct table *t, str_id id); /* of the model's strings */
void table_shapes(struct table *t, str_id id); /* a text that is shown between double quotes */
void table_na(struct table *t, size_t cells);  /* N/A, in so many cells */
void table_none(struct table *t);              /* nothing: an empty cell, null */
void table_u64(struct table *t, uint64_t value);
void table_i64(struct table *t, int64_t value);
void table_time(struct table *t, int64_t ns);       /* epoch ns as µs with three decimals, and a TAB */
void table_us(struct table *t, int64_t ns);         /* ns as µs with three decimals */
void table_us_long(struct table *t, int64_t ns);    /* ns as µs with six decimals */
void table_us_trim(struct table *t, int64_t ns);    /* ns as µs, without trailing zeros */
void table_round(struct table *t, double value);    /* three decimals, trailing zeros dropped but one: "50.0" */
void table_trim(struct table *t, double value);     /* three decimals, trailing zeros dropped: "50" */
void table_fixed(struct table *t, double value);    /* three decimals: "50.000" */
void table_shortest(struct table *t, double value); /* the shortest text of the same number: "0.9765625" */

/* Cells that many rows share, remembered as they stand in the file. */
struct table_piece {
    char *bytes; /* NULL = nothing remembered; free() it */
    size_t len;
    size_t cells;
};

/* Remember the cells written between the two calls, which must be of one row and not its first. What is longer than a
 * few KB is not remembered. */
void table_record(struct table *t);
void table_recorded(struct table *t, struct table_piece *piece);

/* Write the cells of a piece, at the column at which it was recorded. Returns false when it holds nothing. */
bool table_replay(struct table *t, const struct table_piece *piece);

#endif
