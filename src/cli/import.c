/* npuprof import -dir PATH: reads everything, writes no output but a list of what there is. */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

static const struct option import_options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), 1,
     "a PROF_XXX directory, or a directory that holds some (required)"},
    {"cluster", NULL, OPTION_FLAG, NULL, offsetof(struct option_values, cluster), 1,
     "PATH holds the PROF directories of all ranks of a job: make the\ndatabases that 'npuprof query' answers from"},
    {"jobs", NULL, OPTION_COUNT, "N", offsetof(struct option_values, jobs), 1,
     "threads to work with (default: one per processor)"},
    {"quiet", "q", OPTION_FLAG, NULL, offsetof(struct option_values, quiet), 1,
     "no progress, no list on the terminal; only warnings and errors"},
    {"verbose", "v", OPTION_FLAG, NULL, offsetof(struct option_values, verbose), 1, "also infos, times of each phase"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
};

static const struct option_table import_table = {
    .command = "npuprof import",
    .arguments = "-dir PATH [options]",
    .about =
        "Reads all raw data as an export does, says what there is and what could not be used, and keeps the list in\n"
        "PROF_XXX/mindstudio_profiler_log/import_<time>.log. Exports need no import: this is for scripts written\n"
        "for msprof.py, and to check that a copy is complete.\n"
        "With --cluster it writes PATH/sqlite/cluster_*.db instead: the ranks of a job and their iterations.\n",
    .more = "exit status: 0 all well, 1 something could not be read, 2 wrong command line or no PROF directory,\n"
            "11 --cluster, and it is no directory of PROF directories of one cluster\n",
    .examples = "npuprof import -dir PROF_000001_20240701130000123_ABCDEFGH\n"
                "npuprof import --cluster -dir CLUSTER\n",
    .options = import_options,
    .n_options = sizeof import_options / sizeof *import_options,
    .scope = 1,
};

/* The lists that were written. */
static void print_found(const struct npuprof_report *report)
{
    const struct npuprof_file *files;
    size_t n = npuprof_report_files(report, &files);
    for (size_t i = 0; i < n; i++) {
        char buffer[4096];
        FILE *f = fopen(files[i].path, "r");
        printf("%s\n", files[i].path);
        for (size_t got; f && (got = fread(buffer, 1, sizeof buffer, f));) fwrite(buffer, 1, got, stdout);
        if (f) fclose(f);
    }
}

static int import_dir(const struct option_values *values)
{
    if (check_path(values->dir)) return EXIT_FAILED;
    struct npuprof_options options;
    npuprof_options_init(&options);
    options.outputs = NPUPROF_FOUND;
    options.jobs = values->jobs;
    if (!values->quiet && isatty(STDERR_FILENO)) options.on_progress = display_progress;
    struct npuprof_report *report;
    int status = values->cluster ? npuprof_import_cluster(values->dir, &options, &report)
                                 : npuprof_export(values->dir, &options, &report);
    display_clear();
    display_messages(report, values->verbose);
    if (!values->quiet && values->cluster) display_summary(report, values->verbose);
    else if (!values->quiet) print_found(report);
    npuprof_report_free(report);
    return status == NPUPROF_OK ? EXIT_ALL_WELL : status == NPUPROF_BAD_PATH ? EXIT_USAGE : status;
}

const struct option_table *import_table_at(size_t i)
{
    return i ? NULL : &import_table;
}

int command_import(int argc, char **argv)
{
    char error[OPTIONS_ERROR_TEXT];
    struct option_values values = {0};
    int status = EXIT_ALL_WELL;
    switch (options_parse(&import_table, argc, argv, &values, error)) {
    case OPTIONS_HELP: options_help(&import_table, stdout); break;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); break;
    case OPTIONS_ERROR: status = options_usage_error(&import_table, error); break;
    case OPTIONS_OK: status = values.dir ? import_dir(&values) : options_usage_error(&import_table, "-dir is required");
    }
    option_values_free(&values);
    return status;
}
