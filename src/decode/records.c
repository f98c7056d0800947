/* Slices to records.
 *
 *     slice_4            slice_5            slice_6
 *     ..|rec|rec|rec|re  c|rec|rec|rec|rec  |rec|rec|re.
 *     ^ dropped front    ^ put together     cut tail ^
 *
 * One pass, file by file: the part of a record that a file ends with is carried into the next file. Where the first
 * whole record begins is decided anew at the start of a stream, after a missing slice, and in a slice whose first
 * records do not look like records (the one before was cut short). A file is mapped while it is read, and its pages are
 * given back window by window, so that what is in memory does not depend on how large the slices are. */
#include "decode/records.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/filemap.h"

#define PROBE_RECORDS 8u          /* records looked at to decide how a stream is aligned */
#define WINDOW        (4u << 20)  /* bytes after which pages are given back */
#define MAX_LINE      (16u << 20) /* longest line that is put together from two slices */

bool record_valid_host(const uint8_t *record)
{
    return get_u16(record) == 0x5A5A;
}

bool record_valid_stars(const uint8_t *record)
{
    return get_u16(record + 2) == 0x6BD3;
}

static void note(struct diag *diag, const struct record_place *place, uint64_t count, const char *why)
{
    diag_count(diag, DIAG_WARNING, place->file->shown, place->offset, count, "%s", why);
}

/* Map a file; an unreadable one is noted and counts as empty. */
static struct filemap map_file(const struct input_file *f, struct diag *diag)
{
    struct filemap m;
    struct error err;
    char text[ERROR_TEXT];
    if (filemap_open(&m, f->path, &err))
        diag_note(diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "not read: %s", error_text(&err, text, sizeof text));
    return m;
}

/* Give the pages of data[*done … upto) back, and tell the progress. *done moves to a page border. */
static void release(const struct filemap *m, size_t *done, size_t upto, struct progress *progress)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = upto / page * page;
    if (end <= *done) return;
    madvise((void *)(m->data + *done), end - *done, MADV_DONTNEED);
    progress_add(progress, end - *done);
    *done = end;
}

/* Unmap what is read to its end. */
static void finish(struct filemap *m, size_t done, struct progress *progress)
{
    progress_add(progress, m->size - done);
    filemap_close(m);
}

/* Does the stream begin (anew) with file i? */
static bool begins(const struct input_files *files, size_t i)
{
    return !i || files->at[i].gap || input_streams_differ(&files->at[i - 1], &files->at[i]);
}

/* --- alignment ------------------------------------------------------------------------------------------------- */

struct stream {
    const struct input_files *files;
    size_t size; /* of a record */
    record_valid valid;
    record_visit visit;
    void *context;
    struct diag *diag;
    struct progress *progress;
    uint8_t *carry; /* the beginning of a record that the last file ended with */
    size_t carried;
    struct record_place carry_place;
    size_t skip; /* bytes still to be left out before the first whole record: the front was longer than its file */
    bool broken; /* the last file could not be read */
};

/* The first bytes from file i on, at most `want`, without going into another stream. */
static size_t peek(const struct stream *s, size_t i, uint8_t *buf, size_t want)
{
    size_t n = 0;
    for (size_t k = i; k < s->files->n && n < want && (k == i || !begins(s->files, k)); k++) {
        struct filemap m;
        if (filemap_open(&m, s->files->at[k].path, NULL)) continue;
        size_t take = m.size < want - n ? m.size : want - n;
        if (take) memcpy(buf + n, m.data, take);
        n += take;
        filemap_close(&m);
    }
    return n;
}

/* How many of the first whole records of data[n] are valid when the first one begins at `at`. */
static unsigned score(const struct stream *s, const uint8_t *data, size_t n, size_t at)
{
    unsigned valid = 0;
    for (unsigned k = 0; k < PROBE_RECORDS && at + s->size <= n; k++, at += s->size) valid += s->valid(data + at);
    return valid;
}

/* Where the first whole record at or behind the start of file i is. `expected` (behind a front that was aged out, or
 * behind the rest of a carried record) and 0 (only the tail is cut) are tried first; when neither shows records, it is
 * wherever most records are seen. */
static size_t align(const struct stream *s, size_t i, size_t expected)
{
    if (!s->valid) return s->files->at[i].slice ? expected : 0; /* nothing can be gone before slice 0 */
    size_t want = (PROBE_RECORDS + 1) * s->size;
    uint8_t *head = mem_alloc(want);
    size_t n = peek(s, i, head, want), best = expected;
    unsigned enough = (unsigned)(n / s->size + 1) / 2;
    if (enough > PROBE_RECORDS / 2) enough = PROBE_RECORDS / 2;
    unsigned best_score = score(s, head, n, expected);
    for (size_t at = 0; at < s->size && (!at || best_score < enough); at++) {
        unsigned here = score(s, head, n, at);
        if (here <= best_score || here < enough) continue;
        best_score = here;
        best = at;
    }
    free(head);
    return best;
}

/* Bytes that do not belong to a whole record in the stream that begins with file i. */
static size_t remainder_of(const struct stream *s, size_t i)
{
    uint64_t total = 0;
    size_t k = i;
    do total += s->files->at[k].size;
    while (++k < s->files->n && !begins(s->files, k));
    return (size_t)(total % s->size);
}

/* --- records --------------------------------------------------------------------------------------------------- */

static void drop_carry(struct stream *s)
{
    if (s->carried) note(s->diag, &s->carry_place, 1, "record cut off: its rest is missing");
    s->carried = 0;
}

/* In a file in the middle of a stream: do records begin where they are expected? */
static bool as_expected(const struct stream *s, const struct filemap *m, size_t at)
{
    if (!s->valid || at + s->size > m->size) return true;
    size_t whole = (m->size - at) / s->size;
    return score(s, m->data, m->size, at) * 2 >= (whole < PROBE_RECORDS ? whole : PROBE_RECORDS);
}

/* Offset of the first record that begins in file i; decides what happens to the carried piece. */
static size_t first_record(struct stream *s, size_t i, const struct filemap *m)
{
    const struct input_file *f = &s->files->at[i];
    if (begins(s->files, i) || s->broken) {
        drop_carry(s);
        size_t at = align(s, i, remainder_of(s, i));
        diag_count(s->diag, DIAG_INFO, f->shown, 0, at > 0, "starts in the middle of a record (%zu bytes left out)",
                   at);
        return at;
    }
    size_t expected = s->carried ? s->size - s->carried : s->skip;
    if (as_expected(s, m, expected)) return expected;
    size_t at = align(s, i, expected);
    if (at != expected) {
        drop_carry(s);
        diag_note(s->diag, DIAG_WARNING, f->shown, 0, "does not continue the slice before it (%zu bytes left out)", at);
    }
    return at;
}

static void visit_one(const struct stream *s, const uint8_t *record, const struct record_place *place)
{
    if (!s->valid || s->valid(record)) s->visit(record, place, s->context);
    else note(s->diag, place, 1, "damaged record skipped");
}

/* All whole records from `at` to `end`; returns where the rest begins. */
static size_t walk(const struct stream *s, const struct filemap *m, size_t at, size_t end, struct record_place *place)
{
    uint64_t invalid = 0;
    struct record_place first = *place;
    for (; end - at >= s->size; at += s->size) {
        const uint8_t *record = m->data + at;
        place->offset = at;
        if (!s->valid || s->valid(record)) {
            s->visit(record, place, s->context);
        } else if (!invalid++) {
            first.offset = at;
        }
    }
    note(s->diag, &first, invalid, "damaged record skipped");
    return at;
}

/* Complete the carried record with the head of a file that has at least the bytes missing. */
static void complete_carry(struct stream *s, const struct filemap *m)
{
    memcpy(s->carry + s->carried, m->data, s->size - s->carried);
    s->carried = 0;
    visit_one(s, s->carry, &s->carry_place);
}

static void keep_rest(struct stream *s, const struct filemap *m, size_t at, const struct input_file *f)
{
    if (at >= m->size) return;
    if (!s->carried) s->carry_place = (struct record_place){f, at};
    memcpy(s->carry + s->carried, m->data + at, m->size - at);
    s->carried += m->size - at;
}

static void read_file(struct stream *s, size_t i)
{
    struct record_place place = {&s->files->at[i], 0};
    struct filemap m = map_file(place.file, s->diag);
    size_t done = 0, at = m.size ? first_record(s, i, &m) : 0;
    s->broken = !m.size;
    s->skip = at > m.size && !s->carried ? at - m.size : 0;
    if (at > m.size && s->carried) { /* smaller than what the record misses */
        keep_rest(s, &m, 0, place.file);
    } else if (s->carried && m.size) {
        complete_carry(s, &m);
    }
    while (at < m.size) {
        size_t window = WINDOW + s->size, end = m.size - at > window ? at + window : m.size;
        at = walk(s, &m, at, end, &place);
        if (end == m.size) {
            keep_rest(s, &m, at, place.file);
            break;
        }
        release(&m, &done, at, s->progress);
    }
    finish(&m, done, s->progress);
}

void records_each(const struct input_files *files, size_t record_size, record_valid valid, struct diag *diag,
                  struct progress *progress, record_visit visit, void *context)
{
    if (!files->n || !record_size) return;
    struct stream s = {
        .files = files,
        .size = record_size,
        .valid = valid,
        .visit = visit,
        .context = context,
        .diag = diag,
        .progress = progress,
        .carry = mem_alloc(record_size),
    };
    for (size_t i = 0; i < files->n; i++) read_file(&s, i);
    drop_carry(&s);
    free(s.carry);
}

/* --- lines ----------------------------------------------------------------------------------------------------- */

typedef void (*line_visit)(const char *line, size_t len, const struct record_place *place, void *context);

struct lines {
    ARRAY(char) carry; /* the beginning of a line that the last file ended with */
    struct record_place carry_place;
    line_visit visit;
    void *context;
    struct diag *diag;
};

static void carry_line(struct lines *l, const char *text, size_t len, const struct record_place *place)
{
    if (!len) return;
    if (!l->carry.n) l->carry_place = *place;
    if (len > MAX_LINE - l->carry.n) {
        note(l->diag, &l->carry_place, 1, "line too long");
        len = MAX_LINE - l->carry.n;
    }
    array_reserve(&l->carry, l->carry.n + len);
    memcpy(l->carry.at + l->carry.n, text, len);
    l->carry.n += len;
}

static void end_line(struct lines *l)
{
    if (l->carry.n) l->visit(l->carry.at, l->carry.n, &l->carry_place, l->context);
    l->carry.n = 0;
}

static void read_text(struct lines *l, const struct input_file *f, struct progress *progress)
{
    struct record_place place = {f, 0};
    struct filemap m = map_file(f, l->diag);
    const char *text = (const char *)m.data;
    size_t at = 0, done = 0;
    while (at < m.size) {
        const char *line = text + at, *end = memchr(line, '\n', m.size - at);
        size_t len = end ? (size_t)(end - line) : m.size - at;
        place.offset = at;
        if (!end || l->carry.n) {
            carry_line(l, line, len, &place);
            if (end) end_line(l);
        } else {
            l->visit(line, len, &place, l->context);
        }
        at += len + 1;
        if (at - done >= WINDOW && at <= m.size) release(&m, &done, at, progress);
    }
    finish(&m, done, progress);
}

void lines_each(const struct input_files *files, struct diag *diag, struct progress *progress, line_visit visit,
                void *context)
{
    struct lines l = {.visit = visit, .context = context, .diag = diag};
    for (size_t i = 0; i < files->n; i++) {
        if (begins(files, i)) end_line(&l);
        read_text(&l, &files->at[i], progress);
    }
    end_line(&l);
    array_free(&l.carry);
}
