/* Doubles to digits the way of the reference: Grisu2.
 *
 * A double stands for all numbers up to half way to its neighbours. Scaled by a power of ten so that its integer part
 * has at most ten digits, digits of the upper boundary are taken until what is left lies within the interval: that is
 * as short as it gets. Where the last digit comes from the integer part or soon behind the point it is then lowered
 * towards the value, further behind it stays. Only numbers inside a text need this: everywhere else the nearest is as
 * good. */
#include "metrics/digits.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"

/* f * 2^e; f has its highest bit set. */
struct scaled {
    uint64_t f;
    int e;
};

#define POWER_FIRST (-28)
#define POWER_STEP  8

static const struct scaled powers[] = {
    {0xfd87b5f28300ca0eu, -157}, /* 10^-28 */
    {0xbce5086492111aebu, -130}, /* 10^-20 */
    {0x8cbccc096f5088ccu, -103}, /* 10^-12 */
    {0xd1b71758e219652cu, -77},  /* 10^-4 */
    {0x9c40000000000000u, -50},  /* 10^4 */
    {0xe8d4a51000000000u, -24},  /* 10^12 */
    {0xad78ebc5ac620000u, 3},    /* 10^20 */
    {0x813f3978f8940984u, 30},   /* 10^28 */
    {0xc097ce7bc90715b3u, 56},   /* 10^36 */
};

#define POWERS (sizeof powers / sizeof *powers)

#define LOWERED_DIGITS 9 /* behind the point */

/* Numbers that the powers above suffice for. */
#define LEAST 1e-9
#define MOST  1e21

static struct scaled normalized(uint64_t f, int e)
{
    int shift = __builtin_clzll(f);
    return (struct scaled){f << shift, e - shift};
}

__extension__ typedef unsigned __int128 uint128;

static struct scaled product(struct scaled a, struct scaled b)
{
    uint128 p = (uint128)a.f * b.f;
    uint64_t high = (uint64_t)(p >> 64);
    return (struct scaled){high + ((uint64_t)p >> 63), a.e + b.e + 64};
}

/* The digits so far, and the power of ten of the last one. */
struct digits {
    char text[24];
    int n, exponent;
};

static void add_digit(struct digits *d, uint64_t digit)
{
    if (digit || d->n) d->text[d->n++] = (char)('0' + digit);
}

/* Lower the last digit while that comes nearer to the value. */
static void lower(struct digits *d, uint64_t width, uint64_t rest, uint64_t unit, uint64_t distance)
{
    while (rest < distance && width - rest >= unit &&
           (rest + unit < distance || distance - rest > rest + unit - distance)) {
        d->text[d->n - 1]--;
        rest += unit;
    }
}

/* Digits of `high`, until at most `width` is left of it; the value is `distance` below it. */
static void take_digits(struct digits *d, struct scaled high, uint64_t width, uint64_t distance)
{
    int point = -high.e;
    uint64_t one = 1ull << point, whole = high.f >> point, part = high.f & (one - 1), unit = 1;
    int left = 1;
    for (; whole / unit >= 10; unit *= 10) left++;
    for (; left > 0; unit /= 10) {
        add_digit(d, whole / unit);
        whole %= unit;
        left--;
        uint64_t rest = (whole << point) + part;
        if (rest > width) continue;
        d->exponent += left;
        lower(d, width, rest, unit << point, distance);
        return;
    }
    for (;;) {
        part *= 10;
        width *= 10;
        add_digit(d, part >> point);
        part &= one - 1;
        left--;
        if (left >= -LOWERED_DIGITS) distance *= 10;
        if (part >= width) continue;
        d->exponent += left;
        lower(d, width, part, one, -left < LOWERED_DIGITS ? distance : 0);
        return;
    }
}

static struct digits find_digits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t f = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    int e = (int)(bits >> 52 & 0x7FF) - 1075;
    struct scaled high = normalized((f << 1) + 1, e - 1);
    bool power_of_two = f == 1ull << 52;
    uint64_t low = power_of_two ? (f << 2) - 1 : (f << 1) - 1;
    low <<= (power_of_two ? e - 2 : e - 1) - high.e;

    /* The power of ten that leaves the product between 2^-60 and 2^-32. */
    double exact = (-61 - high.e) * 0.30102999566398114 + 347;
    int k = (int)exact;
    if (exact > k) k++;
    int power = -348 + ((k >> 3) + 1) * POWER_STEP;
    struct scaled scale = powers[(power - POWER_FIRST) / POWER_STEP];
    struct scaled middle = product(normalized(f, e), scale), from = product((struct scaled){low, high.e}, scale);
    high = product(high, scale);
    from.f++;
    high.f--;
    struct digits d = {.exponent = -power};
    take_digits(&d, high, high.f - from.f, high.f - middle.f);
    return d;
}

static char *put_zeros(char *p, int n)
{
    memset(p, '0', (size_t)n);
    return p + n;
}

static char *put_digits(char *p, const char *digits, int n)
{
    memcpy(p, digits, (size_t)n);
    return p + n;
}

char *digits_double(char *buf, double value)
{
    if (!(value >= LEAST && value < MOST)) return format_double(buf, value);
    struct digits d = find_digits(value);
    int whole = d.n + d.exponent; /* digits before the point */
    if (whole < -5) return format_double(buf, value);
    char *p = buf;
    if (d.exponent >= 0) {
        p = put_zeros(put_digits(p, d.text, d.n), d.exponent);
        return put_digits(p, ".0", 2);
    }
    if (whole <= 0) {
        p = put_zeros(put_digits(p, "0.", 2), -whole);
        return put_digits(p, d.text, d.n);
    }
    p = put_digits(p, d.text, whole);
    *p++ = '.';
    return put_digits(p, d.text + whole, d.n - whole);
}
