/* The option parser of all commands. One table says what a command accepts; parsing and help both read it.
 *
 * Forms: `--name VALUE`, `--name=VALUE`, `-name VALUE`, `-name=VALUE`. A name may be shortened to any prefix that fits
 * only one option (a full name always wins). An option given twice: the last one counts. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A whole number that may not have been given. */
struct option_number {
    bool given;
    int64_t value;
};

/* What the options of a command line say; commands use the fields that their table has. */
struct option_values {
    char *dir;       /* -dir: owned, NULL = not given */
    char *reports;   /* -reports: owned, NULL = not given */
    char *rule;      /* --rule: owned, NULL = not given */
    char *python;    /* --python-path: owned, NULL = not given */
    unsigned jobs;   /* --jobs: 0 = not given */
    unsigned slice;  /* --slice-size: MB, 0 = not given */
    unsigned format; /* --format: enum npuprof_format */
    unsigned type;   /* --type */
    struct option_number model_id, iteration_id, iteration_count, id, data_type;
    unsigned modes[4], clear_on; /* of the front-end: 0 off, 1 on */
    bool quiet, verbose, clear, cluster;
    uint64_t given; /* a bit per option of the table */
};

void option_values_free(struct option_values *v);

enum option_type {
    OPTION_FLAG,    /* bool, takes no value */
    OPTION_PATH,    /* char *, leading '=' dropped, leading ~ expanded */
    OPTION_TEXT,    /* char *, as it is */
    OPTION_COUNT,   /* unsigned, 1 … OPTION_COUNT_MAX */
    OPTION_NUMBER,  /* struct option_number, any whole number of 64 bits */
    OPTION_CHOICE,  /* unsigned: the place among the words of `value`, "csv|json" */
    OPTION_HELP,    /* show the help and do nothing else */
    OPTION_VERSION, /* show the version and do nothing else */
};

#define OPTION_COUNT_MAX 1024

struct option {
    const char *name;  /* long name without dashes: "collection-dir" */
    const char *other; /* name behind a single dash: "dir", "q"; NULL = none */
    enum option_type type;
    const char *value; /* how the help calls the value; NULL = takes none */
    size_t at;         /* offset in struct option_values, where the type stores something */
    unsigned scopes;   /* commands that accept it: bits of the caller's choice */
    const char *help;  /* one line, or several separated by '\n' */
};

struct option_table {
    const char *command;   /* "npuprof export timeline" */
    const char *arguments; /* what follows it in the usage line: "-dir PATH [options]" */
    const char *about;     /* what the command does; ends with '\n' */
    const char *more;      /* shown after the options, NULL = nothing */
    const char *examples;  /* command lines, a line each; NULL = none */
    const struct option *options;
    size_t n_options;
    unsigned scope; /* the bit of this command: options without it do not exist here */
};

enum options_result { OPTIONS_OK, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_ERROR };

#define OPTIONS_ERROR_TEXT 256

/* Parse argv[0 … argc - 1] into *values, which the caller zeroed and frees in any case. Stops at the first option that
 * asks for help or the version. On OPTIONS_ERROR `error` says what is wrong. */
enum options_result options_parse(const struct option_table *table, int argc, char *const *argv,
                                  struct option_values *values, char error[OPTIONS_ERROR_TEXT]);

/* The help of a command, made from its table. */
void options_help(const struct option_table *table, FILE *to);

/* "command: error: …", the usage line and where the help is, on stderr. Returns the exit status 2. */
int options_usage_error(const struct option_table *table, const char *error);

#endif
