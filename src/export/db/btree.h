/* The pages of an SQLite database file, and B-trees written bottom-up into them. See btree.c. */
#ifndef EXPORT_DB_BTREE_H
#define EXPORT_DB_BTREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"

#define PAGE_MIN         512u
#define PAGE_MAX         65536u
#define PAGE_FILE_HEADER 100u /* page 1 begins with the header of the file */

/* A file that pages are appended to. A page gets its number when it is complete. */
struct pages {
    struct out out;
    uint32_t size; /* bytes of a page: a power of two, PAGE_MIN … PAGE_MAX */
    uint32_t n;    /* pages so far = number of the last one; page 1 is there from the start */
};

/* Start a file that will be called `path`. Returns 0, or -1 with *err set. */
int pages_open(struct pages *p, const char *path, uint32_t size, struct error *err);

/* Append a complete page; its number. I/O errors show at pages_commit. */
uint32_t pages_append(struct pages *p, const uint8_t *image);

/* Put page 1 in place, give the file its name. Returns 0, or -1 with *err set and no file left. */
int pages_commit(struct pages *p, const uint8_t *first, struct error *err);
void pages_discard(struct pages *p);

#define BTREE_LEVELS  12 /* more than 2^32 pages of 512 bytes can need */
#define BTREE_DIVIDER 48 /* bytes of the longest divider: an index entry of two columns and the row id */

/* A key that stands between two children (or the one entry of an index that is promoted from the leaves). */
struct divider {
    uint8_t length;
    uint8_t bytes[BTREE_DIVIDER];
};

/* The page of a level that is being filled, from its end downwards. */
struct btree_level {
    uint8_t *image;
    unsigned n;   /* cells */
    unsigned top; /* offset of the last cell */
    bool waiting; /* a cell has found no room: it is in the two members below */
    uint32_t child;
    struct divider divider;
};

enum btree_kind { BTREE_TABLE, BTREE_INDEX };

struct btree {
    struct pages *pages;
    enum btree_kind kind;
    unsigned n_levels; /* in use; [0] are the leaves */
    struct btree_level level[BTREE_LEVELS];
};

void btree_start(struct btree *t, struct pages *pages, enum btree_kind kind);

/* Table trees: `length` bytes for the next cell, which is to be filled at once. `last_rowid` is the row id of the cell
 * before it (anything for the first). length is at most what a leaf can hold. */
uint8_t *btree_row(struct btree *t, unsigned length, int64_t last_rowid);

/* Index trees: the next entry, as a cell of a leaf. */
void btree_entry(struct btree *t, const struct divider *entry);

/* Complete the tree: the page number of its root. */
uint32_t btree_finish(struct btree *t);

/* The same for the tree whose root is page 1: fills the part of first[page size], zeroed, that is
 * behind the header of the file. */
void btree_finish_first(struct btree *t, uint8_t *first);

/* Give up or clean up: pages already appended stay. */
void btree_free(struct btree *t);

/* Variable length integers: 7 bits per byte, the highest first, all but the last byte marked; a ninth byte has 8 bits.
 */
unsigned varint_length_slow(uint64_t v);
uint8_t *varint_put_slow(uint8_t *at, uint64_t v);

static inline unsigned varint_length(uint64_t v)
{
    return v < 0x80 ? 1 : v < 0x4000 ? 2 : v < 0x200000 ? 3 : varint_length_slow(v);
}

/* Write one at `at`; its end. */
static inline uint8_t *varint_put(uint8_t *at, uint64_t v)
{
    if (v >= 0x80) return varint_put_slow(at, v);
    *at = (uint8_t)v;
    return at + 1;
}

static inline uint8_t *put_u16(uint8_t *at, unsigned v)
{
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
    return at + 2;
}

static inline uint8_t *put_u32(uint8_t *at, uint32_t v)
{
    put_u16(at, v >> 16);
    return put_u16(at + 2, v & 0xFFFF);
}

#endif
