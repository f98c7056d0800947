/* The narrow interface through which tables get into the database: begin a table, give it rows value by value, end it.
 *
 *     struct db_table *t = db_table_begin(file, &definition);
 *     for (…) {
 *         db_int(t, start_ns);        // one call per column, in their order
 *         db_real(t, bandwidth);
 *         db_row(t);
 *     }
 *     db_table_end(t);                // a table that got no row is not in the file, unless keep_empty
 *
 * Values are stored as SQLite would: see db_int, db_real, db_text. */
#ifndef EXPORT_DB_WRITER_H
#define EXPORT_DB_WRITER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/progress.h"

#define DB_PAGE_SIZE   4096u
#define DB_MAX_COLUMNS 40

enum db_type {
    DB_INTEGER,
    DB_NUMERIC,
    DB_REAL,
    DB_TEXT,
    DB_KEY, /* INTEGER PRIMARY KEY: rows must come with ascending values, each once */
};

struct db_column {
    const char *name;
    enum db_type type;
};

/* What a table is. */
struct db_definition {
    const char *name;
    struct db_column columns[DB_MAX_COLUMNS + 1]; /* up to one without name */
    const char *index;                            /* name of its index, NULL = none; not with a key column */
    const char *indexed[2];                       /* one or two columns of integers */
    bool keep_empty;                              /* in the file also without rows */
};

/* A database that is being written. */
struct db_file;

/* Start a database that will be called `path`. page_size: a power of two, 512 … 65536. Every row counts as a unit of
 * `progress` (may be NULL). NULL with *err set when the file cannot be created. */
struct db_file *db_file_open(const char *path, uint32_t page_size, struct progress *progress, struct error *err);

/* Complete the file and give it its name; *bytes and *rows (of all tables) are set. Returns 0, or -1 with *err set and
 * no file left. Frees f in both cases. */
int db_file_commit(struct db_file *f, uint64_t *bytes, uint64_t *rows, struct error *err);
void db_file_discard(struct db_file *f);

/* Remove what a program that had the database `path` open may have left beside it: a foreign journal would be played
 * into the next one of that name. db_file_commit does so. */
void db_remove_leftovers(const char *path);

/* A table that is being filled. Its members belong to the functions below. */
struct db_table {
    struct db_file *file;
    const struct db_definition *definition;
    struct db_rows *rows;
    unsigned n_columns;
    unsigned column;               /* the next value's */
    unsigned key_column;           /* n_columns = none */
    int64_t rowid;                 /* of the row that is being filled (key) or the last one (no key) */
    int64_t value[DB_MAX_COLUMNS]; /* integers of the row, for the index */
    uint8_t *types_end, *body_end; /* the record so far */
    uint8_t types[DB_MAX_COLUMNS * 9];
    uint8_t *body;
    size_t body_room;
};

struct db_table *db_table_begin(struct db_file *f, const struct db_definition *d);

/* Rows it got. */
uint64_t db_table_end(struct db_table *t);

/* The row is complete. */
void db_row(struct db_table *t);

/* A double. In INTEGER and NUMERIC columns a whole number within 64 bits is stored as an integer, as SQLite does. NaN
 * and infinities become 0. */
void db_real(struct db_table *t, double value);

/* A text: up to its first NUL, each byte that is not part of valid UTF-8 becomes U+FFFD (readers refuse other texts).
 */
void db_text(struct db_table *t, const char *text, size_t length);

/* NULL. Not for key or indexed columns. */
static inline void db_null(struct db_table *t)
{
    assert(t->column < t->n_columns);
    *t->types_end++ = 0;
    t->column++;
}

/* An integer, in as few bytes as it needs. */
static inline void db_int(struct db_table *t, int64_t value)
{
    static const struct {
        uint8_t type, bytes;
    } form[9] = {{1, 1}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 6}, {5, 6}, {6, 8}, {6, 8}};
    assert(t->column < t->n_columns);
    t->value[t->column] = value;
    if (t->column++ == t->key_column) {
        t->rowid = value;
        *t->types_end++ = 0; /* the value is the row id */
    } else if (value == 0 || value == 1) {
        *t->types_end++ = (uint8_t)(8 + value);
    } else {
        unsigned bits = 65 - (unsigned)__builtin_clzll((uint64_t)(value ^ value >> 63) | 1);
        unsigned bytes = form[(bits + 7) / 8].bytes;
        *t->types_end++ = form[(bits + 7) / 8].type;
        uint64_t big_endian = __builtin_bswap64((uint64_t)value << (64 - 8 * bytes));
        __builtin_memcpy(t->body_end, &big_endian, 8); /* the body always has room for that */
        t->body_end += bytes;
    }
}

#endif
