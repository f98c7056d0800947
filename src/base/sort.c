#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGIT   11
#define BUCKETS (1u << DIGIT)

static int in_order(const struct sort_key *k, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (k[i - 1].key > k[i].key) return 0;
    return 1;
}

static void insertion(struct sort_key *k, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sort_key x = k[i];
        size_t j = i;
        for (; j && k[j - 1].key > x.key; j--) k[j] = k[j - 1];
        k[j] = x;
    }
}

/* Least significant digit first; digits in which all keys agree are passed over. */
void sort_keys(struct sort_key *keys, size_t n)
{
    if (in_order(keys, n)) return;
    if (n <= 48) {
        insertion(keys, n);
        return;
    }
    uint64_t low = keys[0].key, high = low;
    for (size_t i = 1; i < n; i++) {
        if (keys[i].key < low) low = keys[i].key;
        if (keys[i].key > high) high = keys[i].key;
    }
    struct sort_key *tmp = mem_alloc(n * sizeof *tmp), *from = keys, *to = tmp;
    size_t *count = mem_alloc(BUCKETS * sizeof *count);
    for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT) {
        memset(count, 0, BUCKETS * sizeof *count);
        for (size_t i = 0; i < n; i++) count[(from[i].key - low) >> shift & (BUCKETS - 1)]++;
        size_t sum = 0;
        for (unsigned b = 0; b < BUCKETS; b++) {
            size_t c = count[b];
            count[b] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++) to[count[(from[i].key - low) >> shift & (BUCKETS - 1)]++] = from[i];
        struct sort_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys) memcpy(keys, from, n * sizeof *keys);
    free(count);
    free(tmp);
}

void sort_keys_then(struct sort_key *keys, size_t n, const uint32_t *high)
{
    sort_keys(keys, n);
    uint64_t *saved = mem_alloc(n * sizeof *saved);
    struct sort_key *second = mem_alloc(n * sizeof *second);
    for (size_t i = 0; i < n; i++) {
        saved[i] = keys[i].key;
        second[i] = (struct sort_key){high[keys[i].index], (uint32_t)i};
    }
    sort_keys(second, n);
    struct sort_key *out = mem_alloc(n * sizeof *out);
    for (size_t i = 0; i < n; i++) out[i] = (struct sort_key){saved[second[i].index], keys[second[i].index].index};
    memcpy(keys, out, n * sizeof *keys);
    free(out);
    free(second);
    free(saved);
}

void sort_permute(void *elements, size_t size, const struct sort_key *keys, size_t n)
{
    size_t i = 0;
    while (i < n && keys[i].index == i) i++;
    if (i == n) return;
    char *from = elements, *to = mem_alloc(n * size);
    for (i = 0; i < n; i++) memcpy(to + i * size, from + keys[i].index * size, size);
    memcpy(elements, to, n * size);
    free(to);
}
