#include "base/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[201] = "0001020304050607080910111213141516171819"
                               "2021222324252627282930313233343536373839"
                               "4041424344454647484950515253545556575859"
                               "6061626364656667686970717273747576777879"
                               "8081828384858687888990919293949596979899";

char *format_u64(char *buf, uint64_t value)
{
    char tmp[FORMAT_U64], *p = tmp + sizeof tmp;
    for (; value >= 100; value /= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (value % 100), 2);
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + 2 * value, 2);
    } else {
        *--p = (char)('0' + value);
    }
    size_t n = (size_t)(tmp + sizeof tmp - p);
    memcpy(buf, p, n);
    return buf + n;
}

/* The sign goes out, the magnitude comes back. */
static uint64_t sign(char **buf, int64_t value)
{
    if (value >= 0) return (uint64_t)value;
    *(*buf)++ = '-';
    return 0 - (uint64_t)value;
}

char *format_i64(char *buf, int64_t value)
{
    uint64_t v = sign(&buf, value);
    return format_u64(buf, v);
}

static char *three_digits(char *buf, unsigned v)
{
    buf[0] = (char)('0' + v / 100);
    memcpy(buf + 1, pairs + 2 * (v % 100), 2);
    return buf + 3;
}

char *format_us(char *buf, int64_t ns)
{
    uint64_t v = sign(&buf, ns);
    buf = format_u64(buf, v / 1000);
    *buf++ = '.';
    return three_digits(buf, (unsigned)(v % 1000));
}

/* Drop zeros at the end, keeping `keep` digits behind the point; with keep 0 the point goes too. */
static char *trim_zeros(char *end, int keep)
{
    char *point = end;
    while (point[-1] != '.') point--;
    while (end > point + keep && end[-1] == '0') end--;
    return end == point ? point - 1 : end;
}

char *format_us_number(char *buf, int64_t ns)
{
    return trim_zeros(format_us(buf, ns), 1);
}

char *format_us_trim(char *buf, int64_t ns)
{
    return trim_zeros(format_us(buf, ns), 0);
}

/* The decimal digits of a finite value > 0 that identify it, and the place of the point: value = 0.digits * 10^point.
 */
static int shortest_digits(double value, char digits[18], int *point)
{
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (precision == 17 || strtod(text, NULL) == value) break;
    }
    int n = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        if (*p != '.') digits[n++] = *p;
    *point = atoi(p + 1) + 1;
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
}

/* digits[n] as d.ddd */
static char *mantissa(char *buf, const char *digits, int n)
{
    *buf++ = digits[0];
    if (n == 1) return buf;
    *buf++ = '.';
    memcpy(buf, digits + 1, (size_t)n - 1);
    return buf + n - 1;
}

/* value = 0.digits[n] * 10^point without an exponent. */
static char *plain(char *buf, const char *digits, int n, int point)
{
    if (point <= 0) {
        memcpy(buf, "0.", 2);
        memset(buf + 2, '0', (size_t)-point);
        buf += 2 - point;
        memcpy(buf, digits, (size_t)n);
        return buf + n;
    }
    if (point >= n) {
        memcpy(buf, digits, (size_t)n);
        memset(buf + n, '0', (size_t)(point - n));
        memcpy(buf + point, ".0", 2);
        return buf + point + 2;
    }
    memcpy(buf, digits, (size_t)point);
    buf[point] = '.';
    memcpy(buf + point + 1, digits + point, (size_t)(n - point));
    return buf + n + 1;
}

/* Sign and whole numbers below 1e15 are done with here: their end. NULL: *value is left, made positive. */
static char *sign_or_whole(char **buf, double *value)
{
    if (!isfinite(*value)) *value = 0;
    if (signbit(*value)) {
        *(*buf)++ = '-';
        *value = -*value;
    }
    if (*value >= 1e15 || *value != (double)(uint64_t)*value) return NULL;
    char *end = format_u64(*buf, (uint64_t)*value);
    memcpy(end, ".0", 2);
    return end + 2;
}

char *format_double(char *buf, double value)
{
    char *end = sign_or_whole(&buf, &value), digits[18] = {0};
    if (end) return end;
    int point, n = shortest_digits(value, digits, &point);
    if (point > -6 && point <= 21) return plain(buf, digits, n, point);
    buf = mantissa(buf, digits, n);
    *buf++ = 'e';
    return format_i64(buf, point - 1);
}

char *format_python(char *buf, double value)
{
    char *end = sign_or_whole(&buf, &value), digits[18] = {0};
    if (end) return end;
    int point, n = shortest_digits(value, digits, &point);
    if (point > -4 && point <= 16) return plain(buf, digits, n, point);
    buf = mantissa(buf, digits, n);
    *buf++ = 'e';
    *buf++ = point > 0 ? '+' : '-';
    unsigned exponent = (unsigned)(point > 0 ? point - 1 : 1 - point);
    if (exponent < 10) *buf++ = '0';
    return format_u64(buf, exponent);
}

char *format_fixed(char *buf, double value, int decimals)
{
    static const double scale[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    if (!isfinite(value)) value = 0;
    double magnitude = fabs(value);
    if (magnitude >= 1e12) { /* no 64-bit room for the scaled value */
        char tmp[400];
        int n = snprintf(tmp, sizeof tmp, "%.*f", decimals, value);
        if (n > FORMAT_DOUBLE) return format_double(buf, value);
        memcpy(buf, tmp, (size_t)n);
        return buf + n;
    }
    uint64_t unit = (uint64_t)scale[decimals];
    uint64_t scaled = (uint64_t)((long double)magnitude * unit + 0.5L);
    if (value < 0 && scaled) *buf++ = '-';
    buf = format_u64(buf, scaled / unit);
    if (!decimals) return buf;
    *buf++ = '.';
    uint64_t rest = scaled % unit;
    for (int i = decimals - 1; i >= 0; i--, rest /= 10) buf[i] = (char)('0' + rest % 10);
    return buf + decimals;
}

/* format_fixed, or the shortest text when the number is too large to have those decimals. */
static char *rounded(char *buf, double value, int decimals, int keep)
{
    if (fabs(value) >= 1e12 || !isfinite(value)) {
        char *end = format_double(buf, value);
        return memchr(buf, 'e', (size_t)(end - buf)) ? end : trim_zeros(end, keep);
    }
    return trim_zeros(format_fixed(buf, value, decimals), keep);
}

char *format_round(char *buf, double value, int decimals)
{
    return rounded(buf, value, decimals ? decimals : 1, 1);
}

char *format_round_trim(char *buf, double value, int decimals)
{
    return rounded(buf, value, decimals ? decimals : 1, 0);
}
