/* Numbers as text, without printf. Every function writes at buf, returns the end (no NUL) and needs the room stated. */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stdint.h>

#define FORMAT_U64    20 /* bytes for any uint64_t */
#define FORMAT_I64    20 /* bytes for any int64_t */
#define FORMAT_US     24 /* bytes for format_us, format_us_number */
#define FORMAT_DOUBLE 40 /* bytes for format_double, format_python, format_round */

char *format_u64(char *buf, uint64_t value);
char *format_i64(char *buf, int64_t value);

/* Nanoseconds as microseconds with exactly three decimals, exact: 5 -> "0.005", 1719838800133956000 ->
 * "1719838800133956.000". */
char *format_us(char *buf, int64_t ns);

/* Nanoseconds as the shortest JSON number of microseconds that is a floating point number: 2250 -> "2.25", 5000 ->
 * "5.0", 0 -> "0.0". */
char *format_us_number(char *buf, int64_t ns);

/* Nanoseconds as microseconds, rounded exactly to three decimals, trailing zeros and point dropped: 48000 -> "48", 2200
 * -> "2.2". */
char *format_us_trim(char *buf, int64_t ns);

/* The shortest decimal that reads back as the same double, always with a point or an exponent ("1800.0", "2.25",
 * "1e-7"): plain digits for 1e-6 <= |x| < 1e21. NaN and infinities, which JSON does not have, become 0.0. */
char *format_double(char *buf, double value);

/* The same as Python writes it: plain digits for 1e-4 <= |x| < 1e16, else an exponent of two digits at least, with its
 * sign: "1e-05", "1.5e+16". */
char *format_python(char *buf, double value);

/* value rounded half away from zero to `decimals` (0 … 6) places, trailing zeros dropped but at least one decimal left:
 * 0.65168 -> "0.652", 50 -> "50.0". This is the text of SQLite's ROUND(value, decimals). */
char *format_round(char *buf, double value, int decimals);

/* The same with all trailing zeros and a trailing point dropped: "50", "2.2", "0". */
char *format_round_trim(char *buf, double value, int decimals);

/* C's %.*f with `decimals` 0 … 6, rounded half away from zero. */
char *format_fixed(char *buf, double value, int decimals);

#endif
