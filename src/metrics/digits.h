/* Doubles inside texts of the database, digit by digit as the reference writes them. */
#ifndef METRICS_DIGITS_H
#define METRICS_DIGITS_H

/* Like format_double (base/format.h), at most FORMAT_DOUBLE bytes, and always a text that reads back as the same
 * double; of several such texts that are equally short it is not always the nearest one. */
char *digits_double(char *buf, double value);

#endif
