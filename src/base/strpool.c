/* The strings live in chunks of an arena that never move; a table of fixed blocks maps an id to its text, so that
 * readers need no lock while a writer adds. An open-addressing table of ids finds a text. */
#include "base/strpool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/format.h"
#include "base/hash.h"

#define BLOCK_BITS  12
#define BLOCK_SIZE  (1u << BLOCK_BITS)
#define MAX_BLOCKS  (1u << 16) /* 2^28 strings: string ids in the database must stay below that too */
#define CHUNK_BYTES (1u << 16)

struct entry {
    const char *text;
    uint32_t length;
    uint32_t hash;
};

struct strpool {
    pthread_mutex_t lock;
    _Atomic(struct entry *) blocks[MAX_BLOCKS];
    _Atomic uint32_t count;
    uint32_t *table; /* id + 1, 0 = free */
    uint32_t table_mask;
    char *chunk;
    size_t chunk_left;
    ARRAY(char *) chunks;
};

static struct entry *entry_of(const struct strpool *p, str_id id)
{
    return &atomic_load_explicit(&p->blocks[id >> BLOCK_BITS], memory_order_acquire)[id & (BLOCK_SIZE - 1)];
}

struct strpool *strpool_new(void)
{
    struct strpool *p = mem_zalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    p->table_mask = 1023;
    p->table = mem_zalloc(p->table_mask + 1, sizeof *p->table);
    strpool_add(p, "", 0);
    strpool_add(p, "N/A", 3);
    return p;
}

void strpool_free(struct strpool *p)
{
    if (!p) return;
    for (uint32_t i = 0; i < MAX_BLOCKS && p->blocks[i]; i++) free(p->blocks[i]);
    for (size_t i = 0; i < p->chunks.n; i++) free(p->chunks.at[i]);
    array_free(&p->chunks);
    free(p->table);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static char *keep(struct strpool *p, const char *text, size_t len)
{
    if (len + 1 > p->chunk_left) {
        size_t size = len + 1 > CHUNK_BYTES ? len + 1 : CHUNK_BYTES;
        p->chunk = mem_alloc(size);
        p->chunk_left = size;
        array_push(&p->chunks, p->chunk);
    }
    char *at = p->chunk;
    memcpy(at, text, len);
    at[len] = '\0';
    p->chunk += len + 1;
    p->chunk_left -= len + 1;
    return at;
}

static void grow_table(struct strpool *p)
{
    uint32_t mask = p->table_mask * 2 + 1, count = p->count;
    uint32_t *table = mem_zalloc((size_t)mask + 1, sizeof *table);
    for (uint32_t id = 0; id < count; id++) {
        uint32_t at = entry_of(p, id)->hash & mask;
        while (table[at]) at = (at + 1) & mask;
        table[at] = id + 1;
    }
    free(p->table);
    p->table = table;
    p->table_mask = mask;
}

str_id strpool_add(struct strpool *p, const char *text, size_t len)
{
    uint32_t hash = (uint32_t)hash_bytes(text, len);
    pthread_mutex_lock(&p->lock);
    uint32_t at = hash & p->table_mask;
    for (; p->table[at]; at = (at + 1) & p->table_mask) {
        const struct entry *e = entry_of(p, p->table[at] - 1);
        if (e->hash == hash && e->length == len && !memcmp(e->text, text, len)) {
            str_id id = p->table[at] - 1;
            pthread_mutex_unlock(&p->lock);
            return id;
        }
    }
    uint32_t id = p->count;
    if (id >> BLOCK_BITS >= MAX_BLOCKS) { /* a hostile dictionary: everything further looks like N/A */
        pthread_mutex_unlock(&p->lock);
        return STR_NA;
    }
    if (!(id & (BLOCK_SIZE - 1)))
        atomic_store_explicit(&p->blocks[id >> BLOCK_BITS], mem_zalloc(BLOCK_SIZE, sizeof(struct entry)),
                              memory_order_release);
    *entry_of(p, id) = (struct entry){keep(p, text, len), (uint32_t)len, hash};
    atomic_store_explicit(&p->count, id + 1, memory_order_release);
    p->table[at] = id + 1;
    if (p->count > p->table_mask / 2) grow_table(p);
    pthread_mutex_unlock(&p->lock);
    return id;
}

str_id strpool_add_z(struct strpool *p, const char *text)
{
    return strpool_add(p, text, strlen(text));
}

str_id strpool_add_u64(struct strpool *p, uint64_t value)
{
    char buf[FORMAT_U64];
    return strpool_add(p, buf, (size_t)(format_u64(buf, value) - buf));
}

const char *strpool_text(const struct strpool *p, str_id id)
{
    return entry_of(p, id)->text;
}

size_t strpool_length(const struct strpool *p, str_id id)
{
    return entry_of(p, id)->length;
}

uint32_t strpool_count(const struct strpool *p)
{
    return atomic_load_explicit(&((struct strpool *)p)->count, memory_order_acquire);
}
