/* The program: a table of commands, and what concerns the process as a whole: permissions of new files, signals, the
 * exit status. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"export", command_export, "write timeline JSON, summary tables and the database of PROF directories"},
    {"import", command_import, "check that all data can be read, and say what there is"},
    {"query", command_query, "list the devices, models and iterations of a collection"},
    {"analyze", command_analyze, "write what communication spent its time on, and what went over each link"},
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

static const struct option main_options[] = {
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
};

static const struct option_table main_table = {
    .command = "npuprof",
    .arguments = "COMMAND …",
    .about = "Turns raw profiling data of Ascend NPU jobs (PROF_XXX directories) into what people and tools read.\n",
    .options = main_options,
    .n_options = sizeof main_options / sizeof *main_options,
    .scope = 1,
};

static void main_help(void)
{
    options_help(&main_table, stdout);
    printf("\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++) printf("  %-12s%s\n", commands[i].name, commands[i].help);
    printf("\n'npuprof COMMAND -h' explains a command.\n");
}

/* An interrupted run leaves no unfinished files. */
static void on_signal(int number)
{
    npuprof_abort();
    display_clear_in_signal();
    if (number == SIGBUS) {
        static const char text[] = "npuprof: error: raw data could not be read: a file was cut while it was being "
                                   "read, or its disk failed\n";
        ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
        (void)n;
        _exit(EXIT_FAILED);
    }
    _exit(128 + number);
}

static void set_up_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction old, action = {.sa_handler = on_signal};
        sigfillset(&action.sa_mask);
        if (!sigaction(caught[i], NULL, &old) && old.sa_handler == SIG_IGN) continue; /* nohup, background jobs */
        sigaction(caught[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of the write, with a message */
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        main_help();
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i].name, argv[1])) return commands[i].run(argc - 2, argv + 2);
    char error[OPTIONS_ERROR_TEXT];
    struct option_values none = {0};
    switch (argv[1][0] == '-' ? options_parse(&main_table, argc - 1, argv + 1, &none, error) : OPTIONS_OK) {
    case OPTIONS_HELP: main_help(); return EXIT_ALL_WELL;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); return EXIT_ALL_WELL;
    case OPTIONS_ERROR: return options_usage_error(&main_table, error);
    case OPTIONS_OK: break;
    }
    snprintf(error, sizeof error, "unknown command '%.100s'", argv[1]);
    return options_usage_error(&main_table, error);
}

int main(int argc, char **argv)
{
    umask(027);
    set_up_signals();
    int status = run(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "npuprof: error: cannot write to standard output: %s\n", strerror(errno));
        if (status == EXIT_ALL_WELL) status = EXIT_FAILED;
    }
    return status;
}
