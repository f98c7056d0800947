/* Rows to records to a complete SQLite file.
 *
 * Handing millions of rows to SQLite one value at a time costs more than everything else of an export. Here a row is
 * put together in SQLite's record format and goes straight into the leaf page that is being filled (btree.c):
 *
 *     cell     payload length v | row id v | record
 *     record   header length v | type of every value v … | bodies of the values …       (v = varint)
 *     type     0 NULL (a key column: the row id says it) · 1-6 integer of 1, 2, 3, 4, 6, 8 bytes · 7 double ·
 *              8, 9 the integers 0 and 1 without body · 13 + 2n text of n bytes. Everything big endian
 *
 * A record that is too long for a leaf keeps its first part there, the rest is in a chain of overflow pages; the chain
 * is appended from its end, because a page is numbered when it is appended.
 *
 * Indexes: the indexed integers of every row are kept, sorted when the table ends, and written as a second tree whose
 * entries are records of (columns, row id).
 *
 * Page 1 has the file header and the table of all tables, sqlite_master, a table like any other; it comes last. */
#include "export/db/writer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/sort.h"
#include "export/db/btree.h"

#define SQLITE_VERSION_WRITTEN 3040001u /* of the format's feature set; readers only show it */

/* The part of a table that only this file knows. */
struct db_rows {
    struct btree tree;
    uint64_t n;
    uint64_t shown; /* rows counted as progress */
    int64_t last_rowid;
    unsigned index_columns;      /* 0 = no index */
    unsigned index_at[2];        /* the columns of the index */
    ARRAY(int64_t) index_values; /* index_columns per row */
};

struct db_file {
    struct pages pages;
    struct progress *progress;
    struct db_table *schema;
    uint64_t rows;
};

static const struct db_definition schema_definition = {
    .name = "sqlite_master",
    .columns =
        {{"type", DB_TEXT}, {"name", DB_TEXT}, {"tbl_name", DB_TEXT}, {"rootpage", DB_INTEGER}, {"sql", DB_TEXT}},
};

/* ---- tables ---- */

static void start_row(struct db_table *t)
{
    t->column = 0;
    t->types_end = t->types;
    t->body_end = t->body;
}

static unsigned column_of(const struct db_definition *d, const char *name)
{
    unsigned i = 0;
    while (strcmp(d->columns[i].name, name)) i++;
    return i;
}

struct db_table *db_table_begin(struct db_file *f, const struct db_definition *d)
{
    struct db_table *t = mem_zalloc(1, sizeof *t);
    t->file = f;
    t->definition = d;
    t->rows = mem_zalloc(1, sizeof *t->rows);
    while (d->columns[t->n_columns].name) t->n_columns++;
    while (t->key_column < t->n_columns && d->columns[t->key_column].type != DB_KEY) t->key_column++;
    t->body_room = DB_MAX_COLUMNS * 8 + 8;
    t->body = mem_alloc(t->body_room);
    start_row(t);
    while (d->index && t->rows->index_columns < 2 && d->indexed[t->rows->index_columns]) {
        t->rows->index_at[t->rows->index_columns] = column_of(d, d->indexed[t->rows->index_columns]);
        t->rows->index_columns++;
    }
    assert(!d->index || t->key_column == t->n_columns);
    btree_start(&t->rows->tree, &f->pages, BTREE_TABLE);
    return t;
}

static void table_free(struct db_table *t)
{
    btree_free(&t->rows->tree);
    array_free(&t->rows->index_values);
    free(t->rows);
    free(t->body);
    free(t);
}

/* ---- values ---- */

static void put_double(struct db_table *t, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bits = __builtin_bswap64(bits);
    memcpy(t->body_end, &bits, 8);
    t->body_end += 8;
    *t->types_end++ = 7;
    t->column++;
}

void db_real(struct db_table *t, double value)
{
    if (!isfinite(value)) value = 0;
    bool whole = value > -0x1p63 && value < 0x1p63 && value == (double)(int64_t)value;
    if (whole && t->definition->columns[t->column].type != DB_REAL) db_int(t, (int64_t)value);
    else put_double(t, value);
}

/* Room for `more` bytes and the integers that may follow. */
static void body_reserve(struct db_table *t, size_t more)
{
    size_t used = (size_t)(t->body_end - t->body), need = used + more + DB_MAX_COLUMNS * 8 + 8;
    if (need <= t->body_room) return;
    t->body_room = array_room(t->body_room, need);
    t->body = mem_resize(t->body, t->body_room, 1);
    t->body_end = t->body + used;
}

void db_text(struct db_table *t, const char *text, size_t length)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    assert(t->column < t->n_columns);
    length = strnlen(text, length);
    body_reserve(t, length * 3);
    const uint8_t *p = (const uint8_t *)text, *end = p + length;
    uint8_t *start = t->body_end, *at = start;
    while (p < end) {
        if (*p < 0x80) {
            *at++ = *p++;
            continue;
        }
        size_t n = utf8_length(p, (size_t)(end - p));
        memcpy(at, n ? (const char *)p : replacement, n ? n : 3);
        at += n ? n : 3;
        p += n ? n : 1;
    }
    t->body_end = at;
    t->types_end = varint_put(t->types_end, 13 + 2 * (uint64_t)(at - start));
    t->column++;
}

/* ---- rows ---- */

/* The record of the row as a whole, malloc'ed: for the rare ones that are split. */
static uint8_t *whole_record(const struct db_table *t, size_t header, size_t payload)
{
    uint8_t *record = mem_alloc(payload), *at = varint_put(record, header);
    memcpy(at, t->types, (size_t)(t->types_end - t->types));
    memcpy(record + header, t->body, payload - header);
    return record;
}

/* Append the overflow pages of data[n]; the number of the first. */
static uint32_t put_overflow(struct pages *p, const uint8_t *data, size_t n)
{
    size_t per_page = p->size - 4, last = (n - 1) / per_page;
    uint8_t *image = mem_zalloc(p->size, 1);
    uint32_t next = 0;
    for (size_t i = last + 1; i--;) {
        put_u32(image, next);
        memcpy(image + 4, data + i * per_page, i == last ? n - i * per_page : per_page);
        next = pages_append(p, image);
    }
    free(image);
    return next;
}

static void put_long_row(struct db_table *t, size_t header, size_t payload)
{
    size_t size = t->file->pages.size, shortest = (size - 12) * 32 / 255 - 23;
    size_t local = shortest + (payload - shortest) % (size - 4);
    if (local > size - 35) local = shortest;
    uint8_t *record = whole_record(t, header, payload);
    uint32_t chain = put_overflow(&t->file->pages, record + local, payload - local);
    size_t length = varint_length(payload) + varint_length((uint64_t)t->rowid) + local + 4;
    uint8_t *at = btree_row(&t->rows->tree, (unsigned)length, t->rows->last_rowid);
    at = varint_put(at, payload);
    at = varint_put(at, (uint64_t)t->rowid);
    memcpy(at, record, local);
    put_u32(at + local, chain);
    free(record);
}

static void put_row(struct db_table *t, size_t header, size_t payload)
{
    size_t length = varint_length(payload) + varint_length((uint64_t)t->rowid) + payload;
    uint8_t *at = btree_row(&t->rows->tree, (unsigned)length, t->rows->last_rowid);
    at = varint_put(at, payload);
    at = varint_put(at, (uint64_t)t->rowid);
    at = varint_put(at, header);
    size_t types = (size_t)(t->types_end - t->types);
    memcpy(at, t->types, types);
    memcpy(at + types, t->body, payload - header);
}

static void show_progress(struct db_table *t)
{
    progress_add(t->file->progress, t->rows->n - t->rows->shown);
    t->rows->shown = t->rows->n;
}

void db_row(struct db_table *t)
{
    struct db_rows *r = t->rows;
    assert(t->column == t->n_columns);
    if (t->key_column == t->n_columns) t->rowid++;
    assert(!r->n || t->rowid > r->last_rowid);
    size_t types = (size_t)(t->types_end - t->types);
    size_t header = types + (types + 1 < 0x80 ? 1 : 2), payload = header + (size_t)(t->body_end - t->body);
    if (payload <= t->file->pages.size - 35) put_row(t, header, payload);
    else put_long_row(t, header, payload);
    r->last_rowid = t->rowid;
    for (unsigned i = 0; i < r->index_columns; i++) array_push(&r->index_values, t->value[r->index_at[i]]);
    if (++r->n % 65536 == 0) show_progress(t);
    start_row(t);
}

/* ---- indexes ---- */

/* Signed order as unsigned order. */
static uint64_t ordered(int64_t value)
{
    return (uint64_t)value ^ (uint64_t)1 << 63;
}

/* Rows in the order of the index: by its columns, then by row id (their order here). */
static struct sort_key *index_order(const struct db_rows *r)
{
    struct sort_key *keys = mem_alloc(r->n * sizeof *keys);
    for (size_t i = 0; i < r->n; i++) keys[i].index = (uint32_t)i;
    for (unsigned c = r->index_columns; c--;) {
        for (size_t i = 0; i < r->n; i++)
            keys[i].key = ordered(r->index_values.at[(size_t)keys[i].index * r->index_columns + c]);
        sort_keys(keys, r->n);
    }
    return keys;
}

/* Write the tree of the index; its root page. `record` is a table of nothing but integers that serves to encode. */
static uint32_t put_index(struct db_table *t, struct db_table *record)
{
    struct db_rows *r = t->rows;
    struct sort_key *keys = index_order(r);
    struct btree tree;
    btree_start(&tree, &t->file->pages, BTREE_INDEX);
    for (size_t i = 0; i < r->n; i++) {
        size_t row = keys[i].index;
        start_row(record);
        for (unsigned c = 0; c < r->index_columns; c++) db_int(record, r->index_values.at[row * r->index_columns + c]);
        db_int(record, (int64_t)row + 1); /* its row id */
        size_t types = (size_t)(record->types_end - record->types), body = (size_t)(record->body_end - record->body);
        struct divider entry;
        uint8_t *at = entry.bytes;
        *at++ = (uint8_t)(1 + types + body);
        *at++ = (uint8_t)(1 + types);
        memcpy(at, record->types, types);
        memcpy(at + types, record->body, body);
        entry.length = (uint8_t)(2 + types + body);
        btree_entry(&tree, &entry);
    }
    free(keys);
    return btree_finish(&tree);
}

/* ---- the table of tables ---- */

static void put_schema(struct db_file *f, const char *type, const char *name, const char *table, uint32_t root,
                       const char *sql)
{
    struct db_table *s = f->schema;
    db_text(s, type, strlen(type));
    db_text(s, name, strlen(name));
    db_text(s, table, strlen(table));
    db_int(s, root);
    db_text(s, sql, strlen(sql));
    db_row(s);
}

static void put_table_schema(struct db_file *f, const struct db_definition *d, uint32_t root)
{
    static const char *const type[] = {
        [DB_INTEGER] = "INTEGER", [DB_NUMERIC] = "NUMERIC",         [DB_REAL] = "REAL",
        [DB_TEXT] = "TEXT",       [DB_KEY] = "INTEGER PRIMARY KEY",
    };
    char *sql = mem_printf("CREATE TABLE %s (", d->name);
    for (const struct db_column *c = d->columns; c->name; c++) {
        char *longer = mem_printf("%s%s%s %s", sql, c == d->columns ? "" : ", ", c->name, type[c->type]);
        free(sql);
        sql = longer;
    }
    char *whole = mem_printf("%s)", sql);
    put_schema(f, "table", d->name, d->name, root, whole);
    free(whole);
    free(sql);
}

static void put_index_schema(struct db_file *f, const struct db_definition *d, uint32_t root)
{
    char *sql = mem_printf("CREATE INDEX %s ON %s (%s%s%s)", d->index, d->name, d->indexed[0], d->indexed[1] ? "," : "",
                           d->indexed[1] ? d->indexed[1] : "");
    put_schema(f, "index", d->index, d->name, root, sql);
    free(sql);
}

uint64_t db_table_end(struct db_table *t)
{
    static const struct db_definition entry = {.columns = {{"", DB_INTEGER}, {"", DB_INTEGER}, {"", DB_INTEGER}}};
    uint64_t n = t->rows->n;
    if (n || t->definition->keep_empty) {
        put_table_schema(t->file, t->definition, btree_finish(&t->rows->tree));
        if (t->rows->index_columns) {
            struct db_table *record = db_table_begin(t->file, &entry);
            put_index_schema(t->file, t->definition, put_index(t, record));
            table_free(record);
        }
    }
    show_progress(t);
    t->file->rows += n;
    table_free(t);
    return n;
}

/* ---- the file ---- */

struct db_file *db_file_open(const char *path, uint32_t page_size, struct progress *progress, struct error *err)
{
    struct db_file *f = mem_zalloc(1, sizeof *f);
    if (pages_open(&f->pages, path, page_size, err)) {
        free(f);
        return NULL;
    }
    f->progress = progress;
    f->schema = db_table_begin(f, &schema_definition);
    return f;
}

static void put_file_header(uint8_t *first, uint32_t page_size, uint32_t pages)
{
    memcpy(first, "SQLite format 3", 16);
    put_u16(first + 16, page_size == PAGE_MAX ? 1 : page_size);
    first[18] = first[19] = 1; /* written and read by versions with rollback journals */
    first[21] = 64;            /* the payload fractions are fixed */
    first[22] = first[23] = 32;
    put_u32(first + 24, 1); /* change counter, the same as at 92: the page count is valid */
    put_u32(first + 28, pages);
    put_u32(first + 40, 1); /* schema cookie */
    put_u32(first + 44, 4); /* schema format: types 8 and 9 are allowed */
    put_u32(first + 56, 1); /* UTF-8 */
    put_u32(first + 92, 1);
    put_u32(first + 96, SQLITE_VERSION_WRITTEN);
}

int db_file_commit(struct db_file *f, uint64_t *bytes, uint64_t *rows, struct error *err)
{
    uint8_t *first = mem_zalloc(f->pages.size, 1);
    btree_finish_first(&f->schema->rows->tree, first);
    table_free(f->schema);
    put_file_header(first, f->pages.size, f->pages.n);
    *bytes = (uint64_t)f->pages.n * f->pages.size;
    *rows = f->rows;
    db_remove_leftovers(f->pages.out.temp.final_path);
    int failed = pages_commit(&f->pages, first, err);
    free(first);
    free(f);
    return failed;
}

void db_remove_leftovers(const char *path)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *name = mem_printf("%s%s", path, ends[i]);
        unlink(name);
        free(name);
    }
}

void db_file_discard(struct db_file *f)
{
    table_free(f->schema);
    pages_discard(&f->pages);
    free(f);
}
