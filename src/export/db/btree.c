/* B-trees in SQLite's file format, written in one pass without ever reading or changing a page.
 *
 * Rows come in the order of their keys, so a tree grows only at its right edge: one page per level is being filled.
 *
 *     level 2            [ c c … ]            interior pages: cells (child page, divider), and a last child
 *     level 1      [ full ] [ c c c … ]
 *     level 0    [full][full] … [ cells … ]   leaves: rows of a table, entries of an index
 *
 * A page that is full is appended to the file, thereby gets its number, and becomes a cell of the level above. A page
 * does not hold its own number, so nothing has to be reserved or patched, and pages of several trees may interleave.
 *
 * A table's dividers are row ids (the largest of the child on the left); its rows are all in the leaves. An index has
 * every entry once: the one that finds no room in a leaf becomes the divider above. In both kinds an interior page must
 * not end up without a cell, so a cell that finds no room waits until the next one comes (then the page is closed in
 * front of it) or the tree ends (then the last cell of the page is given up to make two pages out of one).
 *
 *     leaf or interior page:  type u8 | 0 u16 | cells u16 | offset of the cells u16 | 0 u8 | (interior) last child u32
 *                             cell offsets u16 … ascending keys → free space ← cells */
#include "export/db/btree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define LOCK_BYTE (1u << 30) /* the page of this byte is for file locks and never used */

unsigned varint_length_slow(uint64_t v)
{
    unsigned n = 1;
    while (n < 9 && v >> 7 * n) n++;
    return n;
}

uint8_t *varint_put_slow(uint8_t *at, uint64_t v)
{
    unsigned n = varint_length(v);
    if (n == 9) {
        at[8] = (uint8_t)v;
        v >>= 8;
        for (unsigned i = 8; i--; v >>= 7) at[i] = (uint8_t)(v & 0x7F) | 0x80;
        return at + 9;
    }
    for (unsigned i = n; i--; v >>= 7) at[i] = (uint8_t)(v & 0x7F) | (i == n - 1 ? 0 : 0x80);
    return at + n;
}

/* ---- pages ---- */

int pages_open(struct pages *p, const char *path, uint32_t size, struct error *err)
{
    assert(size >= PAGE_MIN && size <= PAGE_MAX && !(size & (size - 1)));
    *p = (struct pages){.size = size};
    if (out_open(&p->out, path, err)) return -1;
    memset(out_room(&p->out, size), 0, size); /* page 1, see pages_commit */
    p->out.at += size;
    p->n = 1;
    return 0;
}

uint32_t pages_append(struct pages *p, const uint8_t *image)
{
    if (p->n == LOCK_BYTE / p->size) {
        memset(out_room(&p->out, p->size), 0, p->size);
        p->out.at += p->size;
        p->n++;
    }
    out_bytes(&p->out, image, p->size);
    return ++p->n;
}

int pages_commit(struct pages *p, const uint8_t *first, struct error *err)
{
    out_flush(&p->out);
    for (size_t done = 0; done < p->size && !p->out.failed_errno;) {
        ssize_t wrote = pwrite(p->out.fd, first + done, p->size - done, (off_t)done);
        if (wrote >= 0) done += (size_t)wrote;
        else if (errno != EINTR) p->out.failed_errno = errno;
    }
    return out_commit(&p->out, err);
}

void pages_discard(struct pages *p)
{
    out_discard(&p->out);
}

/* ---- one page ---- */

static bool is_leaf(const struct btree *t, const struct btree_level *l)
{
    return l == t->level;
}

static unsigned header_length(const struct btree *t, const struct btree_level *l)
{
    return is_leaf(t, l) ? 8 : 12;
}

static struct btree_level *level(struct btree *t, unsigned i)
{
    if (i == t->n_levels) {
        assert(i < BTREE_LEVELS);
        t->level[i] = (struct btree_level){.image = mem_zalloc(t->pages->size, 1), .top = t->pages->size};
        t->n_levels++;
    }
    return &t->level[i];
}

/* Room for a cell of that length, NULL when there is none. */
static inline uint8_t *new_cell(const struct btree *t, struct btree_level *l, unsigned length)
{
    unsigned front = header_length(t, l) + 2 * l->n;
    if (front + 2 + length > l->top) return NULL;
    l->top -= length;
    put_u16(l->image + front, l->top);
    l->n++;
    return l->image + l->top;
}

/* Write the header; nothing old stays in the free space. */
static void seal(const struct btree *t, struct btree_level *l, uint32_t last_child)
{
    static const uint8_t type[2][2] = {[BTREE_TABLE] = {0x05, 0x0D}, [BTREE_INDEX] = {0x02, 0x0A}};
    uint8_t *at = l->image;
    *at++ = type[t->kind][is_leaf(t, l)];
    at = put_u16(at, 0); /* no free blocks */
    at = put_u16(at, l->n);
    at = put_u16(at, l->top & 0xFFFF); /* 65536 is written as 0 */
    *at++ = 0;
    if (!is_leaf(t, l)) put_u32(at, last_child);
    unsigned front = header_length(t, l) + 2 * l->n;
    memset(l->image + front, 0, l->top - front);
}

static uint32_t close_page(struct btree *t, struct btree_level *l, uint32_t last_child)
{
    seal(t, l, last_child);
    l->n = 0;
    l->top = t->pages->size;
    return pages_append(t->pages, l->image);
}

/* ---- levels of cells (child, divider); leaves of an index have no child ---- */

static bool put_cell(const struct btree *t, struct btree_level *l, uint32_t child, const struct divider *d)
{
    unsigned pointer = is_leaf(t, l) ? 0 : 4;
    uint8_t *cell = new_cell(t, l, pointer + d->length);
    if (!cell) return false;
    if (pointer) put_u32(cell, child);
    memcpy(cell + pointer, d->bytes, d->length);
    return true;
}

/* Take the last cell of a page off again. */
static uint32_t pop_cell(const struct btree *t, struct btree_level *l, struct divider *d)
{
    unsigned pointer = is_leaf(t, l) ? 0 : 4, front = header_length(t, l) + 2 * --l->n, end = t->pages->size;
    if (l->n) end = (unsigned)l->image[front - 2] << 8 | l->image[front - 1];
    const uint8_t *cell = l->image + l->top;
    d->length = (uint8_t)(end - l->top - pointer);
    memcpy(d->bytes, cell + pointer, d->length);
    l->top = end;
    return pointer ? (uint32_t)cell[0] << 24 | (uint32_t)cell[1] << 16 | (uint32_t)cell[2] << 8 | cell[3] : 0;
}

static void add(struct btree *t, unsigned i, uint32_t child, const struct divider *d)
{
    struct btree_level *l = level(t, i);
    if (l->waiting) {
        l->waiting = false;
        add(t, i + 1, close_page(t, l, l->child), &l->divider);
    }
    if (put_cell(t, l, child, d)) return;
    l->waiting = true;
    l->child = child;
    l->divider = *d;
}

/* Close all levels from i up but the page of the root, which is sealed and left in its level. */
static struct btree_level *finish_levels(struct btree *t, unsigned i, uint32_t last_child)
{
    struct btree_level *l = level(t, i);
    if (l->waiting) {
        struct divider d;
        uint32_t child = pop_cell(t, l, &d);
        add(t, i + 1, close_page(t, l, child), &d);
        put_cell(t, l, l->child, &l->divider);
    }
    if (i + 1 < t->n_levels) return finish_levels(t, i + 1, close_page(t, l, last_child));
    seal(t, l, last_child);
    return l;
}

/* ---- trees ---- */

static void row_divider(struct divider *d, int64_t rowid)
{
    d->length = (uint8_t)(varint_put(d->bytes, (uint64_t)rowid) - d->bytes);
}

void btree_start(struct btree *t, struct pages *pages, enum btree_kind kind)
{
    *t = (struct btree){.pages = pages, .kind = kind};
    level(t, 0);
}

uint8_t *btree_row(struct btree *t, unsigned length, int64_t last_rowid)
{
    uint8_t *cell = new_cell(t, &t->level[0], length);
    if (cell) return cell;
    struct divider d;
    row_divider(&d, last_rowid);
    add(t, 1, close_page(t, &t->level[0], 0), &d);
    return new_cell(t, &t->level[0], length);
}

void btree_entry(struct btree *t, const struct divider *entry)
{
    add(t, 0, 0, entry);
}

uint32_t btree_finish(struct btree *t)
{
    uint32_t root = pages_append(t->pages, finish_levels(t, 0, 0)->image);
    btree_free(t);
    return root;
}

/* The front part of a page moves behind the header of the file. Where that has no room the root gets a page like any
 * other and page 1 points to it: an interior page without cells, which SQLite allows only there. */
void btree_finish_first(struct btree *t, uint8_t *first)
{
    struct btree_level *root = finish_levels(t, 0, 0);
    if (header_length(t, root) + 2 * root->n + PAGE_FILE_HEADER > root->top) {
        uint32_t child = pages_append(t->pages, root->image);
        root = level(t, t->n_levels);
        seal(t, root, child);
    }
    unsigned front = header_length(t, root) + 2 * root->n, size = t->pages->size;
    memcpy(first + PAGE_FILE_HEADER, root->image, front);
    memcpy(first + root->top, root->image + root->top, size - root->top);
    btree_free(t);
}

void btree_free(struct btree *t)
{
    for (unsigned i = 0; i < t->n_levels; i++) free(t->level[i].image);
    t->n_levels = 0;
}
