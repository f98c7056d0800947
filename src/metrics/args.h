/* Args of a slice that two outputs show: the timeline as members of its args, the database as the text of a JSON array
 * of keys and values in turn. */
#ifndef METRICS_ARGS_H
#define METRICS_ARGS_H

#include "metrics/metric.h"

#define ARGS_MAX 24

struct arg {
    const char *key; /* needs no escaping */
    enum { ARG_COUNT, ARG_DOUBLE, ARG_TEXT } kind;
    union {
        uint64_t count;
        double number;
        const char *text; /* must live as long as the args */
    };
};

struct args {
    struct arg at[ARGS_MAX];
    unsigned n;
};

void args_count(struct args *a, const char *key, uint64_t value);
void args_double(struct args *a, const char *key, double value);
void args_text(struct args *a, const char *key, const char *text);

/* As args of the event that has been begun. */
void args_trace(struct trace *t, const struct args *a);

/* As a value of a column that refers to STRING_IDS. */
void args_db(struct db_run *run, struct db_table *t, const struct args *a);

#endif
