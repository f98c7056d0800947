/* npuprof --export=on --output=DIR …: the spelling of CANN's msprof front-end, for scripts written for it.
 *
 * A mode (--export=on …) is a row of a table: the options that mean something with it, those that it refuses, and the
 * commands that do the work. A command's arguments are made from the options in the same way: a row per option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/options.h"

#define PATH_MAX_LENGTH 1024

enum { PARSE, QUERY, EXPORT, ANALYZE, OUTPUT, TYPE, FORMAT, REPORTS, MODEL, ITERATION, RULE, CLEAR, PYTHON };

#define BIT(option) (1u << (option))

#define AT(field) offsetof(struct option_values, field)

static const struct option frontend_options[] = {
    [PARSE] = {"parse", NULL, OPTION_CHOICE, "off|on", AT(modes[PARSE]), 1, "on: import, then query"},
    [QUERY] = {"query", NULL, OPTION_CHOICE, "off|on", AT(modes[QUERY]), 1, "on: query"},
    [EXPORT] = {"export", NULL, OPTION_CHOICE, "off|on", AT(modes[EXPORT]), 1,
                "on: export everything, or with --type=db the database"},
    [ANALYZE] = {"analyze", NULL, OPTION_CHOICE, "off|on", AT(modes[ANALYZE]), 1, "on: analyze"},
    [OUTPUT] = {"output", NULL, OPTION_PATH, "PATH", AT(dir), 1,
                "a PROF_XXX directory, or a directory that holds some (required)"},
    [TYPE] = {"type", NULL, OPTION_CHOICE, "text|db", AT(type), 1, "text (default): everything; db: only the database"},
    [FORMAT] = {"summary-format", NULL, OPTION_CHOICE, "csv|json", AT(format), 1, "of the tables (default: csv)"},
    [REPORTS] = {"reports", NULL, OPTION_PATH, "FILE", AT(reports), 1,
                 "JSON file that switches parts of the timeline on and off"},
    [MODEL] = {"model-id", NULL, OPTION_NUMBER, "N", AT(model_id), 1, "only one iteration of this model"},
    [ITERATION] = {"iteration-id", NULL, OPTION_NUMBER, "N", AT(iteration_id), 1, "which one"},
    [RULE] = {"rule", NULL, OPTION_TEXT, "RULE[,RULE]", AT(rule), 1,
              "communication, communication_matrix (default: both)"},
    [CLEAR] = {"clear", NULL, OPTION_CHOICE, "off|on", AT(clear_on), 1, "accepted, there is nothing to remove"},
    [PYTHON] = {"python-path", NULL, OPTION_TEXT, "PATH", AT(python), 1, "accepted, no Python is needed"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
};

const struct option_table frontend_table = {
    .command = "npuprof",
    .arguments = "COMMAND … | --export=on --output=PATH [options]",
    .about = "Turns raw profiling data of Ascend NPU jobs (PROF_XXX directories) into what people and tools read.\n"
             "The options are those of CANN's msprof, for scripts written for it; commands say the same and more.\n",
    .examples = "npuprof export -dir PROF_000001_20240701130000123_ABCDEFGH\n"
                "npuprof --export=on --output=PROF_000001_20240701130000123_ABCDEFGH\n",
    .options = frontend_options,
    .n_options = sizeof frontend_options / sizeof *frontend_options,
    .scope = 1,
};

/* How an option of the front-end begins when it is said to a command; its value follows, that of a switch does not. */
static const char *const said[] = {
    [OUTPUT] = "-dir=",      [TYPE] = "--type=",      [FORMAT] = "--format=",
    [REPORTS] = "-reports=", [MODEL] = "--model-id=", [ITERATION] = "--iteration-id=",
    [RULE] = "--rule=",      [CLEAR] = "--clear",
};

#define N_SAID (sizeof said / sizeof *said)

struct step {
    const char *command, *kind; /* kind NULL = none */
    unsigned options;           /* that it is told */
};

/* Modes by precedence. */
static const struct mode {
    unsigned option;
    unsigned useful;          /* options, beside its own and those that all modes have */
    unsigned refused;         /* options that must not be given with it */
    unsigned refused_with_db; /* and those with --type=db */
    struct step steps[2];
    struct step db_step; /* with --type=db, instead of the steps; no command = the same steps */
} modes[] = {
    {PARSE, .steps = {{"import", NULL, BIT(OUTPUT)}, {"query", NULL, BIT(OUTPUT)}}},
    {QUERY, .steps = {{"query", NULL, BIT(OUTPUT)}}},
    {EXPORT, .useful = BIT(TYPE) | BIT(FORMAT) | BIT(REPORTS) | BIT(MODEL) | BIT(ITERATION) | BIT(CLEAR),
     .refused = BIT(PARSE) | BIT(QUERY) | BIT(ANALYZE) | BIT(RULE),
     .refused_with_db = BIT(FORMAT) | BIT(REPORTS) | BIT(MODEL) | BIT(ITERATION) | BIT(CLEAR),
     .steps = {{"export", NULL, BIT(OUTPUT) | BIT(FORMAT) | BIT(REPORTS) | BIT(MODEL) | BIT(ITERATION) | BIT(CLEAR)}},
     .db_step = {"export", "db", BIT(OUTPUT)}},
    {ANALYZE, .useful = BIT(TYPE) | BIT(RULE) | BIT(CLEAR),
     .steps = {{"analyze", NULL, BIT(OUTPUT) | BIT(TYPE) | BIT(RULE) | BIT(CLEAR)}}},
};

#define N_MODES (sizeof modes / sizeof *modes)

static bool is_switch(const struct option *o)
{
    return o->type == OPTION_CHOICE && !strcmp(o->value, "off|on");
}

/* Options that were given, without switches that are off. */
static unsigned options_set(const struct option_values *values)
{
    unsigned set = 0;
    for (unsigned i = 0; i <= PYTHON; i++) {
        const struct option *o = &frontend_options[i];
        bool off = is_switch(o) && !*(const unsigned *)((const char *)values + o->at);
        if (values->given >> i & 1 && !off) set |= BIT(i);
    }
    return set;
}

static const char *name_of(unsigned options)
{
    unsigned i = 0;
    while (!(options >> i & 1)) i++;
    return frontend_options[i].name;
}

static int refuse(const char *what, const char *with)
{
    char error[OPTIONS_ERROR_TEXT];
    snprintf(error, sizeof error, "--%s cannot be given with --%s", what, with);
    return options_usage_error(&frontend_table, error);
}

/* 0, or the exit status when the options do not fit together. */
static int check(const struct option_values *values, unsigned set)
{
    for (size_t i = 0; i < N_MODES; i++) {
        const struct mode *m = &modes[i];
        if (!(set & BIT(m->option))) continue;
        if (set & m->refused) return refuse(name_of(set & m->refused), name_of(BIT(m->option)));
        if (values->type && set & m->refused_with_db) return refuse(name_of(set & m->refused_with_db), "type=db");
    }
    if (!(set & BIT(OUTPUT))) return options_usage_error(&frontend_table, "--output is required");
    if (strlen(values->dir) > PATH_MAX_LENGTH)
        return options_usage_error(&frontend_table, "the path given with --output is too long");
    if (values->model_id.value < 0 || values->iteration_id.value < 0)
        return options_usage_error(&frontend_table, "--model-id and --iteration-id must not be negative");
    return 0;
}

static void warn_of_useless(const struct mode *mode, unsigned set)
{
    unsigned useless = set & ~(mode->useful | BIT(mode->option) | BIT(OUTPUT) | BIT(PYTHON));
    for (; useless; useless &= useless - 1)
        fprintf(stderr, "npuprof: warning: --%s means nothing with --%s=on\n", name_of(useless),
                name_of(BIT(mode->option)));
}

/* The argument that tells a command the option; free it. */
static char *argument(unsigned option, const struct option_values *values)
{
    const struct option *o = &frontend_options[option];
    const void *at = (const char *)values + o->at;
    const char *word = o->value;
    if (is_switch(o)) return mem_printf("%s", said[option]);
    if (o->type == OPTION_NUMBER)
        return mem_printf("%s%lld", said[option], (long long)((const struct option_number *)at)->value);
    if (o->type != OPTION_CHOICE) return mem_printf("%s%s", said[option], *(char *const *)at);
    for (unsigned i = *(const unsigned *)at; i; i--) word += strcspn(word, "|") + 1;
    return mem_printf("%s%.*s", said[option], (int)strcspn(word, "|"), word);
}

static int run_step(const struct step *step, const struct option_values *values, unsigned set)
{
    char *argv[N_SAID + 1];
    int argc = 0;
    if (step->kind) argv[argc++] = mem_printf("%s", step->kind);
    for (unsigned i = 0; i < N_SAID; i++)
        if (set & step->options & BIT(i)) argv[argc++] = argument(i, values);
    int status = command_run(step->command, argc, argv);
    while (argc) free(argv[--argc]);
    return status;
}

/* Every step is done; the status is that of the first that failed. */
static int run_mode(const struct mode *mode, struct option_values *values, unsigned set)
{
    static const char both[] = "communication,communication_matrix";
    warn_of_useless(mode, set);
    if (!values->rule) values->rule = mem_strndup(both, sizeof both - 1);
    set |= BIT(RULE);
    if (values->type && mode->db_step.command) return run_step(&mode->db_step, values, set);
    int status = EXIT_ALL_WELL;
    for (size_t i = 0; i < 2 && mode->steps[i].command; i++) {
        int got = run_step(&mode->steps[i], values, set);
        if (status == EXIT_ALL_WELL) status = got;
    }
    return status;
}

static int run(struct option_values *values)
{
    unsigned set = options_set(values);
    int status = check(values, set);
    if (status) return status;
    for (size_t i = 0; i < N_MODES; i++)
        if (set & BIT(modes[i].option)) return run_mode(&modes[i], values, set);
    return options_usage_error(&frontend_table, "nothing to do: --export=on, --parse=on, --query=on or --analyze=on");
}

int frontend_run(int argc, char **argv)
{
    char error[OPTIONS_ERROR_TEXT];
    struct option_values values = {0};
    int status = EXIT_ALL_WELL;
    switch (options_parse(&frontend_table, argc, argv, &values, error)) {
    case OPTIONS_HELP: command_list_help(); break;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); break;
    case OPTIONS_ERROR: status = options_usage_error(&frontend_table, error); break;
    case OPTIONS_OK: status = run(&values); break;
    }
    option_values_free(&values);
    return status;
}
