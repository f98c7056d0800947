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

static const struct command commands[] = {
    {"export", command_export, export_table_at,
     "write timeline JSON, summary tables and the database of PROF directories"},
    {"import", command_import, import_table_at, "check that all data can be read, and say what there is"},
    {"query", command_query, query_table_at, "list the devices, models and iterations of a collection"},
    {"analyze", command_analyze, analyze_table_at,
     "write what communication spent its time on, and what went over each link"},
};

#define N_COMMANDS (sizeof commands / sizeof *commands)

const struct command *command_at(size_t i)
{
    return i < N_COMMANDS ? &commands[i] : NULL;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

int command_run(const char *name, int argc, char **argv)
{
    return find_command(name)->run(argc, argv);
}

void command_list_help(void)
{
    options_help(&frontend_table, stdout);
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
    static const char generate_option[] = "--generate="; /* for those who build packages: in no help */
    if (argc < 2) {
        command_list_help();
        return EXIT_FAILED;
    }
    const struct command *command = find_command(argv[1]);
    if (command) return command->run(argc - 2, argv + 2);
    if (argc == 2 && !strncmp(argv[1], generate_option, sizeof generate_option - 1))
        return generate(argv[1] + sizeof generate_option - 1);
    if (argv[1][0] == '-') return frontend_run(argc - 1, argv + 1);
    char error[OPTIONS_ERROR_TEXT];
    snprintf(error, sizeof error, "unknown command '%.100s'", argv[1]);
    return options_usage_error(&frontend_table, error);
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
