/* The two dictionaries of a collection: texts of hashes, and names of (level, type). Read-only once loaded. */
#ifndef HOST_DICTIONARY_H
#define HOST_DICTIONARY_H

#include "base/map.h"
#include "base/progress.h"
#include "base/strpool.h"
#include "session/session.h"

struct dictionary {
    struct strpool *strings;
    struct map hashes; /* hash -> str_id */
    struct map types;  /* level << 48 | type -> str_id */
    struct map levels; /* levels that have any name */
};

void dictionary_load(struct dictionary *d, const struct prof_dir *host, struct strpool *strings, unsigned threads,
                     struct diag *diag, struct progress *progress);
void dictionary_free(struct dictionary *d);

/* Text of a hash; its decimal digits when the dictionary does not have it. Safe from several threads. */
str_id dictionary_text(const struct dictionary *d, uint64_t hash);

/* The same, but `missing` when the dictionary does not have it. */
str_id dictionary_find(const struct dictionary *d, uint64_t hash, str_id missing);

/* Name of a type of a level, its decimal digits when it has none. */
str_id dictionary_type(const struct dictionary *d, uint16_t level, uint64_t type);

#endif
