/* What went wrong, with its causes: the outermost sentence first, each deeper one telling what was being done. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#define ERROR_DEPTH 6
#define ERROR_TEXT  512

struct error {
    int n;                               /* causes recorded, 0 = no error */
    char cause[ERROR_DEPTH][ERROR_TEXT]; /* [0] is the innermost */
};

/* Record the innermost cause (drops what was there). Always returns -1, so that `return error_set(…)` reads well. */
int error_set(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put a sentence around the causes so far. Always returns -1. */
int error_wrap(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "outermost: …: innermost" into buf[size]; empty when there is no error. Returns buf. */
const char *error_text(const struct error *e, char *buf, int size);

#endif
