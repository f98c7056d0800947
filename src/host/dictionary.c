/* Lines "<hash>:<text>" and "<level>_<type>:<name>"; everything behind the first colon belongs to the text. A key that
 * comes twice has its last text. */
#include "host/dictionary.h"

#include <stdbool.h>

#include "base/jobs.h"
#include "decode/records.h"

#define TYPE_BITS 48 /* types that do not fit have no name */

/* What every collection calls these two, named or not. */
static const struct {
    uint64_t type;
    const char *name;
} builtin_types[] = {{27, "DYNAMIC_ENABLE"}, {28, "DYNAMIC_DISABLE"}};

/* The decimal number text[0 … len) is, if it is one and fits. */
static bool parse_number(const char *text, size_t len, uint64_t *value)
{
    uint64_t v = 0;
    if (!len) return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return false;
    }
    *value = v;
    return true;
}

struct load {
    struct dictionary *d;
    const struct prof_dir *host;
    struct diag *diag;
    struct progress *progress;
};

static void bad_line(const struct load *l, const struct record_place *place, size_t len)
{
    if (!len) return;
    diag_note(l->diag, DIAG_WARNING, place->file->shown, place->offset, "lines that are no dictionary entry");
}

static void hash_line(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct load *l = context;
    const char *colon = memchr(line, ':', len);
    uint64_t hash;
    size_t blanks = 0;
    while (blanks < len && line[blanks] == ' ') blanks++;
    if (!colon || !parse_number(line + blanks, (size_t)(colon - line) - blanks, &hash)) {
        bad_line(l, place, len);
        return;
    }
    str_id text = strpool_add(l->d->strings, colon + 1, (size_t)(line + len - colon - 1));
    *map_put(&l->d->hashes, hash, text, NULL) = text;
}

static uint64_t type_key(uint64_t level, uint64_t type)
{
    return level << TYPE_BITS | type;
}

static void type_line(const char *line, size_t len, const struct record_place *place, void *context)
{
    struct load *l = context;
    const char *colon = memchr(line, ':', len);
    const char *bar = colon ? memchr(line, '_', (size_t)(colon - line)) : NULL;
    uint64_t level, type;
    if (!bar || !parse_number(line, (size_t)(bar - line), &level) ||
        !parse_number(bar + 1, (size_t)(colon - bar - 1), &type) || level > UINT16_MAX || type >> TYPE_BITS) {
        bad_line(l, place, len);
        return;
    }
    str_id name = strpool_add(l->d->strings, colon + 1, (size_t)(line + len - colon - 1));
    *map_put(&l->d->types, type_key(level, type), name, NULL) = name;
    map_put(&l->d->levels, level, 1, NULL);
}

static const struct {
    enum input_id input;
    void (*visit)(const char *line, size_t len, const struct record_place *place, void *context);
} files[] = {{INPUT_HASH_DIC, hash_line}, {INPUT_TYPE_INFO_DIC, type_line}};

static void load_file(size_t item, void *context)
{
    struct load *l = context;
    lines_each(prof_dir_files(l->host, files[item].input), l->diag, l->progress, files[item].visit, l);
}

/* The built-in names belong to levels that the dictionary has. */
static void add_builtin(struct dictionary *d)
{
    for (size_t i = 0; d->levels.slots && i <= d->levels.mask; i++) {
        if (!d->levels.slots[i].used) continue;
        for (size_t b = 0; b < sizeof builtin_types / sizeof *builtin_types; b++)
            map_put(&d->types, type_key(d->levels.slots[i].key, builtin_types[b].type),
                    strpool_add_z(d->strings, builtin_types[b].name), NULL);
    }
}

void dictionary_load(struct dictionary *d, const struct prof_dir *host, struct strpool *strings, unsigned threads,
                     struct diag *diag, struct progress *progress)
{
    *d = (struct dictionary){.strings = strings};
    struct load l = {d, host, diag, progress};
    jobs_each(threads, sizeof files / sizeof *files, load_file, &l);
    add_builtin(d);
}

void dictionary_free(struct dictionary *d)
{
    map_free(&d->hashes);
    map_free(&d->types);
    map_free(&d->levels);
}

str_id dictionary_find(const struct dictionary *d, uint64_t hash, str_id missing)
{
    return map_get(&d->hashes, hash, missing);
}

str_id dictionary_text(const struct dictionary *d, uint64_t hash)
{
    str_id text = map_get(&d->hashes, hash, UINT32_MAX);
    return text != UINT32_MAX ? text : strpool_add_u64(d->strings, hash);
}

str_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type)
{
    str_id name = type >> TYPE_BITS ? UINT32_MAX : map_get(&d->types, type_key(level, type), UINT32_MAX);
    return name != UINT32_MAX ? name : strpool_add_u64(d->strings, type);
}
