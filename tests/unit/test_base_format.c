/* Numbers as text: exact, and the text other tools print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/round.h"

static char text[64];

#define TEXT(call) (memset(text, '#', sizeof text), *(call) = '\0', assert_true(strlen(text) <= FORMAT_DOUBLE), text)

static void whole_numbers(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 9, 10, 99, 100, 101, 999, 1000, 123456789, UINT32_MAX, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        assert_string_equal(TEXT(format_u64(text, values[i])), expected);
        snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
        assert_string_equal(TEXT(format_i64(text, (int64_t)values[i])), expected);
    }
    assert_string_equal(TEXT(format_i64(text, INT64_MIN)), "-9223372036854775808");
    assert_int_equal(strlen(TEXT(format_i64(text, INT64_MIN))), FORMAT_I64);
    assert_int_equal(strlen(TEXT(format_u64(text, UINT64_MAX))), FORMAT_U64);
}

static void microseconds(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *fixed, *number, *trimmed;
    } cases[] = {
        {0, "0.000", "0.0", "0"},
        {5, "0.005", "0.005", "0.005"},
        {2250, "2.250", "2.25", "2.25"},
        {5000, "5.000", "5.0", "5"},
        {100000, "100.000", "100.0", "100"},
        {1719838800133956000, "1719838800133956.000", "1719838800133956.0", "1719838800133956"},
        {-1, "-0.001", "-0.001", "-0.001"},
        {-2200, "-2.200", "-2.2", "-2.2"},
        {INT64_MIN, "-9223372036854775.808", "-9223372036854775.808", "-9223372036854775.808"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(TEXT(format_us(text, cases[i].ns)), cases[i].fixed);
        assert_string_equal(TEXT(format_us_number(text, cases[i].ns)), cases[i].number);
        assert_string_equal(TEXT(format_us_trim(text, cases[i].ns)), cases[i].trimmed);
        assert_true(strlen(text) <= FORMAT_US);
    }
}

static void doubles_read_back(void **state)
{
    (void)state;
    assert_string_equal(TEXT(format_double(text, 1800)), "1800.0");
    assert_string_equal(TEXT(format_double(text, 2.25)), "2.25");
    assert_string_equal(TEXT(format_double(text, 0.1)), "0.1");
    assert_string_equal(TEXT(format_double(text, -0.000001)), "-0.000001");
    assert_string_equal(TEXT(format_double(text, 1e-7)), "1e-7");
    assert_string_equal(TEXT(format_double(text, 1.5e300)), "1.5e300");
    assert_string_equal(TEXT(format_double(text, 1e20)), "100000000000000000000.0");
    assert_string_equal(TEXT(format_double(text, NAN)), "0.0");
    assert_string_equal(TEXT(format_double(text, -INFINITY)), "0.0");
    uint64_t bits = 0x9E3779B97F4A7C15;
    for (int i = 0; i < 20000; i++) {
        double value;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        assert_true(strtod(TEXT(format_double(text, value)), NULL) == value);
        assert_non_null(strpbrk(text, ".e"));
    }
}

static void doubles_as_python_writes_them(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {50, "50.0"},
        {0.6, "0.6"},
        {0.0001, "0.0001"},
        {1e-5, "1e-05"},
        {1.5e-7, "1.5e-07"},
        {2.5e-123, "2.5e-123"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1.25e100, "1.25e+100"},
        {-0.25, "-0.25"},
        {1719838800143460.2, "1719838800143460.2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(TEXT(format_python(text, cases[i].value)), cases[i].text);
}

static void rounding(void **state)
{
    (void)state;
    assert_string_equal(TEXT(format_round(text, 0.65168, 3)), "0.652");
    assert_string_equal(TEXT(format_round(text, 50, 3)), "50.0");
    assert_string_equal(TEXT(format_round(text, 0.0004, 3)), "0.0");
    assert_string_equal(TEXT(format_round(text, -0.0004, 3)), "0.0");
    assert_string_equal(TEXT(format_round(text, 999.9996, 3)), "1000.0");
    assert_string_equal(TEXT(format_round(text, -2.5, 0)), "-2.5");
    assert_string_equal(TEXT(format_round_trim(text, 50, 3)), "50");
    assert_string_equal(TEXT(format_round_trim(text, 2.2, 3)), "2.2");
    assert_string_equal(TEXT(format_round_trim(text, 0, 3)), "0");
    assert_string_equal(TEXT(format_fixed(text, 2.5, 0)), "3");
    assert_string_equal(TEXT(format_fixed(text, -1.25, 1)), "-1.3");
    assert_string_equal(TEXT(format_fixed(text, 1.0 / 3, 6)), "0.333333");
    assert_string_equal(TEXT(format_fixed(text, 0.05, 3)), "0.050");
    assert_string_equal(TEXT(format_fixed(text, NAN, 2)), "0.00");
}

static void huge_values_keep_their_room(void **state)
{
    (void)state;
    static const double values[] = {1e12,    1.5e15, -1e21, 1e22, 1.7976931348623157e308, -1.7976931348623157e308,
                                    INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int decimals = 0; decimals <= 6; decimals++) {
            TEXT(format_fixed(text, values[i], decimals));
            TEXT(format_round(text, values[i], decimals));
            TEXT(format_round_trim(text, values[i], decimals));
        }
    assert_string_equal(TEXT(format_round(text, 1.5e15, 3)), "1500000000000000.0");
    assert_string_equal(TEXT(format_round_trim(text, 1.5e15, 3)), "1500000000000000");
}

static void values_are_rounded_as_their_decimal_text(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 100000;
         i += 7) { /* …5 and nothing else behind the second decimal: never a tie in binary */
        double value = (i * 10 + 5) / 1000.0;
        snprintf(text, sizeof text, "%.2f", value);
        assert_true(round_decimals(value, 100) == strtod(text, NULL));
    }
    assert_true(round_decimals(0.125, 100) == 0.12); /* a tie: to the even one */
    assert_true(round_decimals(0.375, 100) == 0.38);
    assert_true(round_decimals(-23.045, 100) == -23.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(microseconds),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(doubles_as_python_writes_them),
        cmocka_unit_test(rounding),
        cmocka_unit_test(values_are_rounded_as_their_decimal_text),
        cmocka_unit_test(huge_values_keep_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
