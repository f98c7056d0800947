/* Rounding to decimals. */
#ifndef BASE_ROUND_H
#define BASE_ROUND_H

#include <math.h>

/* The multiple of 1/scale (100: two decimals) nearest to the exact value; of two equally near ones the even. A product
 * that only looks like a tie, because it was rounded itself, is none: 23.045 is a little more than that. */
static inline double round_decimals(double value, double scale)
{
    double scaled = value * scale, whole = rint(scaled), lost = fma(value, scale, -scaled);
    if (fabs(scaled - whole) == 0.5 && lost != 0) whole = lost > 0 ? ceil(scaled) : floor(scaled);
    return whole / scale;
}

#endif
