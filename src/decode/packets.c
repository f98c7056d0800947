/* Slices to packets. Like records.c, but with nothing to align by: a stream is read from its first byte, and what a
 * file ends with in the middle of a packet is carried into the next one. */
#include "decode/packets.h"

#include "base/array.h"
#include "base/filemap.h"

struct stream {
    size_t header; /* bytes that hold the length */
    size_t length_at;
    packet_visit visit;
    void *context;
    struct diag *diag;
    ARRAY(uint8_t) carry; /* the beginning of a packet that the last file ended with */
    struct record_place carry_place;
};

static void drop_carry(struct stream *s)
{
    if (s->carry.n)
        diag_note(s->diag, DIAG_WARNING, s->carry_place.file->shown, s->carry_place.offset,
                  "record cut off: its rest is missing");
    s->carry.n = 0;
}

static void keep(struct stream *s, const uint8_t *data, size_t n)
{
    array_reserve(&s->carry, s->carry.n + n);
    if (n) memcpy(s->carry.at + s->carry.n, data, n);
    s->carry.n += n;
}

/* Fill the carry up to `want` bytes from data[size) at *at. Returns whether it has them. */
static bool fill(struct stream *s, const uint8_t *data, size_t size, size_t *at, size_t want)
{
    size_t missing = want > s->carry.n ? want - s->carry.n : 0, take = missing < size - *at ? missing : size - *at;
    keep(s, data + *at, take);
    *at += take;
    return take == missing;
}

static bool length_makes_sense(struct stream *s, size_t length, const struct record_place *place)
{
    if (length >= s->header) return true;
    diag_note(s->diag, DIAG_WARNING, place->file->shown, place->offset,
              "record without a length: the rest of the file is left out");
    return false;
}

/* Complete the carried packet. Returns where the next one begins; `size` when there is none. */
static size_t complete_carry(struct stream *s, const uint8_t *data, size_t size)
{
    size_t at = 0;
    if (!s->carry.n || !fill(s, data, size, &at, s->header)) return at;
    size_t length = get_u16(s->carry.at + s->length_at);
    if (!length_makes_sense(s, length, &s->carry_place)) {
        s->carry.n = 0;
        return size;
    }
    if (!fill(s, data, size, &at, length)) return size;
    s->visit(s->carry.at, length, &s->carry_place, s->context);
    s->carry.n = 0;
    return at;
}

static void read_packets(struct stream *s, const struct input_file *f, const uint8_t *data, size_t size)
{
    struct record_place place = {f, 0};
    for (size_t at = complete_carry(s, data, size); at < size;) {
        place.offset = at;
        size_t length = size - at < s->header ? s->header : get_u16(data + at + s->length_at);
        if (!length_makes_sense(s, length, &place)) return;
        if (length > size - at || size - at < s->header) {
            s->carry_place = place;
            keep(s, data + at, size - at);
            return;
        }
        s->visit(data + at, length, &place, s->context);
        at += length;
    }
}

void packets_each(const struct input_files *files, size_t length_at, struct diag *diag, struct progress *progress,
                  packet_visit visit, void *context)
{
    struct stream s = {.header = length_at + sizeof(uint16_t),
                       .length_at = length_at,
                       .visit = visit,
                       .context = context,
                       .diag = diag};
    for (size_t i = 0; i < files->n; i++) {
        const struct input_file *f = &files->at[i];
        struct filemap m;
        struct error err;
        char text[ERROR_TEXT];
        if (i && (f->gap || input_streams_differ(&files->at[i - 1], f))) drop_carry(&s);
        if (filemap_open(&m, f->path, &err)) {
            diag_note(diag, DIAG_WARNING, f->shown, DIAG_NO_OFFSET, "not read: %s",
                      error_text(&err, text, sizeof text));
            drop_carry(&s);
            continue;
        }
        if (m.size) read_packets(&s, f, m.data, m.size);
        progress_add(progress, m.size);
        filemap_close(&m);
    }
    drop_carry(&s);
    array_free(&s.carry);
}
