/* npuprof analyze --rule RULE[,RULE] -dir PATH
 *
 * What scripts for msprof.py look for on standard output, a line of JSON per file of JSON, is there before the closing
 * summary. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

static const struct option analyze_options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), 1,
     "a PROF_XXX directory, or a directory that holds some, which\nare analyzed together (required)"},
    {"rule", "r", OPTION_TEXT, "RULE[,RULE]", offsetof(struct option_values, rule), 1,
     "communication: times and bandwidths of operators;\ncommunication_matrix: what went over each link (required)"},
    {"type", NULL, OPTION_CHOICE, "text|db", offsetof(struct option_values, type), 1,
     "text (default): JSON files and database; db: only the database"},
    {"jobs", NULL, OPTION_COUNT, "N", offsetof(struct option_values, jobs), 1,
     "threads to work with (default: one per processor);\nthe outputs do not depend on it"},
    {"clear", NULL, OPTION_FLAG, NULL, offsetof(struct option_values, clear), 1,
     "accepted for scripts written for msprof.py: there are no\nintermediate files to remove"},
    {"quiet", "q", OPTION_FLAG, NULL, offsetof(struct option_values, quiet), 1,
     "no progress, no closing summary; only warnings and errors"},
    {"verbose", "v", OPTION_FLAG, NULL, offsetof(struct option_values, verbose), 1,
     "also infos, and times of each phase"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
};

static const struct option_table analyze_table = {
    .command = "npuprof analyze",
    .arguments = "--rule RULE[,RULE] -dir PATH [options]",
    .about = "Reads the communication of PROF directories from their raw data and writes PATH/analyze/: "
             "communication.json,\n"
             "communication_matrix.json and communication_analyzer.db. Nothing has to be exported before.\n",
    .more = "exit status: 0 all well, 1 something asked for could not be written, 2 wrong command line or no PROF "
            "directory,\n3 all communication ran before the collection, 8 communication.json not written because the "
            "times of "
            "some\noperators cannot be told\n",
    .examples = "npuprof analyze --rule communication,communication_matrix -dir /data/job42\n"
                "npuprof analyze -r communication --type db -dir PROF_000001_20240701130000123_ABCDEFGH\n",
    .options = analyze_options,
    .n_options = sizeof analyze_options / sizeof *analyze_options,
    .scope = 1,
};

/* "communication,communication_matrix" as enum npuprof_rule; 0 when one of them is no rule. */
static unsigned parse_rules(const char *text)
{
    static const struct {
        const char *name;
        enum npuprof_rule rule;
    } known[] = {{"communication", NPUPROF_COMMUNICATION}, {"communication_matrix", NPUPROF_COMMUNICATION_MATRIX}};
    unsigned rules = 0;
    for (;; text++) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < 2 && (strlen(known[i].name) != n || memcmp(known[i].name, text, n))) i++;
        if (i == 2) return 0;
        rules |= known[i].rule;
        text += n;
        if (!*text) return rules;
    }
}

static void print_status_lines(const struct npuprof_report *report)
{
    const struct npuprof_file *files;
    size_t n = npuprof_report_files(report, &files);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(files[i].path);
        if (length > 5 && !strcmp(files[i].path + length - 5, ".json"))
            printf("{\"status\": 0, \"info\": \"\", \"data\": \"%s\"}\n", files[i].path);
    }
}

static int analyze_dir(const struct option_values *values, unsigned rules)
{
    if (check_path(values->dir)) return EXIT_FAILED;
    struct npuprof_options options;
    npuprof_options_init(&options);
    options.rules = rules;
    options.only_db = values->type == 1;
    options.jobs = values->jobs;
    if (!values->quiet && isatty(STDERR_FILENO)) options.on_progress = display_progress;
    struct npuprof_report *report;
    int status = npuprof_analyze(values->dir, &options, &report);
    display_clear();
    display_messages(report, values->verbose);
    print_status_lines(report);
    if (!values->quiet && status != NPUPROF_BAD_PATH) display_summary(report, values->verbose);
    npuprof_report_free(report);
    return status;
}

static int run(const struct option_values *values)
{
    char error[OPTIONS_ERROR_TEXT];
    if (!values->rule) return options_usage_error(&analyze_table, "--rule is required");
    unsigned rules = parse_rules(values->rule);
    if (!rules) {
        snprintf(error, sizeof error,
                 "--rule must be communication, communication_matrix or both with a comma, not '%.80s'", values->rule);
        return options_usage_error(&analyze_table, error);
    }
    if (!values->dir) return options_usage_error(&analyze_table, "-dir is required");
    return analyze_dir(values, rules);
}

const struct option_table *analyze_table_at(size_t i)
{
    return i ? NULL : &analyze_table;
}

int command_analyze(int argc, char **argv)
{
    struct option_values values = {0};
    char error[OPTIONS_ERROR_TEXT];
    int status = EXIT_ALL_WELL;
    switch (options_parse(&analyze_table, argc, argv, &values, error)) {
    case OPTIONS_HELP: options_help(&analyze_table, stdout); break;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); break;
    case OPTIONS_ERROR: status = options_usage_error(&analyze_table, error); break;
    case OPTIONS_OK: status = run(&values);
    }
    option_values_free(&values);
    return status;
}
