/* npuprof export [timeline | summary | db] -dir PATH
 *
 * A kind is a row of a table: what it writes, and which options it has. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

#define MAX_ITERATIONS 5 /* of one export */

enum kind_scope { ALL = 1, TIMELINE = 2, SUMMARY = 4, DB = 8, EVERY = ALL | TIMELINE | SUMMARY | DB };

static const struct option export_options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), EVERY,
     "a PROF_XXX directory, or a directory that holds some (required)"},
    {"jobs", NULL, OPTION_COUNT, "N", offsetof(struct option_values, jobs), EVERY,
     "threads to work with (default: one per processor);\nthe outputs do not depend on it"},
    {"format", NULL, OPTION_CHOICE, "csv|json", offsetof(struct option_values, format), ALL | SUMMARY,
     "of the tables (default: csv)"},
    {"reports", "reports", OPTION_PATH, "FILE", offsetof(struct option_values, reports), ALL | TIMELINE,
     "JSON file that switches parts of the timeline on and off"},
    {"slice-size", NULL, OPTION_COUNT, "MB", offsetof(struct option_values, slice), ALL | TIMELINE,
     "cut a larger timeline into files of about that size, by time:\nmsprof_slice_<n>_<time>.json"},
    {"model-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, model_id), ALL | TIMELINE | SUMMARY,
     "only what belongs to iterations of this model: with\n--iteration-id; 4294967295 = steps marked by the program"},
    {"iteration-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_id), ALL | TIMELINE | SUMMARY,
     "the first of these iterations: with --model-id"},
    {"iteration-count", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_count),
     ALL | TIMELINE | SUMMARY, "how many iterations, 1 (default) to 5"},
    {"clear", NULL, OPTION_FLAG, NULL, offsetof(struct option_values, clear), ALL | TIMELINE | SUMMARY,
     "accepted for scripts written for msprof.py: there are no\nintermediate files to remove"},
    {"quiet", "q", OPTION_FLAG, NULL, offsetof(struct option_values, quiet), EVERY,
     "no progress, no closing summary; only warnings and errors"},
    {"verbose", "v", OPTION_FLAG, NULL, offsetof(struct option_values, verbose), EVERY,
     "also infos, times of each phase, and every file in the summary"},
    {"version", NULL, OPTION_VERSION, NULL, 0, EVERY, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, EVERY, "show this help"},
};

#define EXIT_STATUS_HELP                                                                                               \
    "exit status: 0 all well, 1 something asked for could not be exported, 2 wrong command line or no PROF "           \
    "directory\n"

#define PROF "PROF_000001_20240701130000123_ABCDEFGH"

#define KIND_TABLE(name, about_text, more_text, example_text, bit)                                                     \
    {                                                                                                                  \
        .command = "npuprof export" name, .arguments = "-dir PATH [options]", .about = about_text, .more = more_text,  \
        .examples = example_text, .options = export_options,                                                           \
        .n_options = sizeof export_options / sizeof *export_options, .scope = bit,                                     \
    }

static const struct kind {
    const char *name;
    unsigned outputs; /* enum npuprof_output */
    struct option_table table;
} kinds[] = {
    {"", NPUPROF_ALL,
     KIND_TABLE("", "Reads the raw data once and writes timeline, summary and database.\n",
                "To write one kind only: npuprof export timeline | summary | db -dir PATH [options]\n"
                "('npuprof export timeline -h' explains it).\n" EXIT_STATUS_HELP,
                "npuprof export -dir " PROF "\n"
                "npuprof export --jobs 8 -q -dir /data/job42\n",
                ALL)},
    {"timeline", NPUPROF_TIMELINE | NPUPROF_DB,
     KIND_TABLE(" timeline",
                "Writes the timeline, PROF_XXX/mindstudio_profiler_output/msprof_<time>.json (open it with "
                "chrome://tracing,\nPerfetto or MindStudio Insight), and the database.\n",
                EXIT_STATUS_HELP,
                "npuprof export timeline --slice-size 200 -dir " PROF "\n"
                "npuprof export timeline --model-id 4294967295 --iteration-id 2 -dir " PROF "\n",
                TIMELINE)},
    {"summary", NPUPROF_SUMMARY | NPUPROF_DB,
     KIND_TABLE(" summary",
                "Writes the tables, PROF_XXX/mindstudio_profiler_output/<report>_<time>.csv, and the database.\n",
                EXIT_STATUS_HELP, "npuprof export summary --format json -dir " PROF "\n", SUMMARY)},
    {"db", NPUPROF_DB,
     KIND_TABLE(" db", "Writes the database, PROF_XXX/msprof_<time>.db (SQLite). It takes the place of an older one.\n",
                EXIT_STATUS_HELP, "npuprof export db -dir " PROF "\n", DB)},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 1; i < N_KINDS; i++)
        if (!strcmp(kinds[i].name, name)) return &kinds[i];
    return NULL;
}

/* A model without an iteration, or the other way round, selects nothing. */
static int check_selection(const struct option_values *values)
{
    if (values->model_id.given != values->iteration_id.given) {
        fprintf(stderr, "npuprof: error: --model-id and --iteration-id belong together: %s is missing\n",
                values->model_id.given ? "--iteration-id" : "--model-id");
        return -1;
    }
    int64_t count = values->iteration_count.given ? values->iteration_count.value : 1;
    if (values->model_id.given && (count < 1 || count > MAX_ITERATIONS)) {
        fprintf(stderr, "npuprof: error: --iteration-count must be 1 to %d\n", MAX_ITERATIONS);
        return -1;
    }
    if (!values->model_id.given && count != 1)
        fprintf(stderr, "npuprof: warning: --iteration-count means nothing without --model-id and --iteration-id\n");
    return 0;
}

/* Characters that no path may have, so that what works here works with the scripts around the reference tool too. */
int check_path(const char *path)
{
    static const char refused[] = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`";
    static const char escapes[] = "nfrbtv";
    if (!*path) {
        fprintf(stderr, "npuprof: error: the path given with -dir is empty\n");
        return -1;
    }
    const char *bad = path + strcspn(path, refused);
    if (!*bad) return 0;
    size_t which = (size_t)(strchr(refused, *bad) - refused);
    if (*bad == 0x7f) fprintf(stderr, "npuprof: error: -dir must not contain the character \\x7f\n");
    else
        fprintf(stderr, "npuprof: error: -dir must not contain the character \\%c\n",
                which < sizeof escapes - 1 ? escapes[which] : *bad);
    return -1;
}

static int export_dir(const struct kind *kind, const struct option_values *values)
{
    if (check_path(values->dir) || check_selection(values)) return EXIT_FAILED;
    struct npuprof_options options;
    npuprof_options_init(&options);
    options.outputs = kind->outputs;
    options.jobs = values->jobs;
    options.has_selection = values->model_id.given;
    options.model_id = values->model_id.value;
    options.iteration_id = values->iteration_id.value;
    options.iteration_count = values->iteration_count.given ? values->iteration_count.value : 1;
    options.slice_mb = values->slice;
    options.format = values->format;
    if (values->reports && *values->reports) options.reports_file = values->reports;
    if (!values->quiet && isatty(STDERR_FILENO)) options.on_progress = display_progress;
    struct npuprof_report *report;
    int status = npuprof_export(values->dir, &options, &report);
    display_clear();
    display_messages(report, values->verbose);
    if (!values->quiet && status != NPUPROF_BAD_PATH) display_summary(report, values->verbose);
    if (!values->quiet) display_advice(report);
    npuprof_report_free(report);
    return status == NPUPROF_OK ? EXIT_ALL_WELL : status == NPUPROF_BAD_PATH ? EXIT_USAGE : EXIT_FAILED;
}

const struct option_table *export_table_at(size_t i)
{
    return i < N_KINDS ? &kinds[i].table : NULL;
}

int command_export(int argc, char **argv)
{
    const struct kind *kind = &kinds[0];
    if (!argc) {
        options_help(&kind->table, stdout);
        return EXIT_FAILED;
    }
    char error[OPTIONS_ERROR_TEXT];
    if (argv[0][0] != '-') {
        kind = find_kind(argv[0]);
        if (!kind) {
            snprintf(error, sizeof error, "cannot export '%.100s': choose timeline, summary or db", argv[0]);
            return options_usage_error(&kinds[0].table, error);
        }
        argc--;
        argv++;
    }
    struct option_values values = {0};
    int status = EXIT_ALL_WELL;
    switch (options_parse(&kind->table, argc, argv, &values, error)) {
    case OPTIONS_HELP: options_help(&kind->table, stdout); break;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); break;
    case OPTIONS_ERROR: status = options_usage_error(&kind->table, error); break;
    case OPTIONS_OK:
        status = values.dir ? export_dir(kind, &values) : options_usage_error(&kind->table, "-dir is required");
    }
    option_values_free(&values);
    return status;
}
