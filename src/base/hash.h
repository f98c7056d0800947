/* Hash functions for in-memory tables; not stable across versions, never stored. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Spread the bits of x over the whole word (the finaliser of a multiply-xor hash). */
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return x ^ x >> 32;
}

static inline uint64_t hash_bytes(const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t h = 0x243F6A8885A308D3u ^ len, word;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&word, p, 8);
        h = hash_u64(h ^ word);
    }
    if (len) {
        word = 0;
        memcpy(&word, p, len);
        h = hash_u64(h ^ word ^ (uint64_t)len << 56);
    }
    return h;
}

#endif
