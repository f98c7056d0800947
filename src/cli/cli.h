/* What the files of the command line share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "npuprof.h"

enum exit_status {
    EXIT_ALL_WELL = 0,
    EXIT_FAILED = 1, /* something asked for could not be done */
    EXIT_USAGE = 2,  /* the command line makes no sense, or names no PROF directory */
    /* other statuses of a command are those of its library function */
};

/* A command gets the arguments behind its name and returns the exit status. */
int command_export(int argc, char **argv);
int command_import(int argc, char **argv);
int command_query(int argc, char **argv);
int command_analyze(int argc, char **argv);

/* The table of commands. */
struct option_table;
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const struct option_table *(*table)(size_t i); /* of its i-th kind, the first is without a kind; NULL = no more */
    const char *help;
};
const struct command *command_at(size_t i); /* NULL = no more */

const struct option_table *export_table_at(size_t i);
const struct option_table *import_table_at(size_t i);
const struct option_table *query_table_at(size_t i);
const struct option_table *analyze_table_at(size_t i);

/* Run the command called `name`, which exists. */
int command_run(const char *name, int argc, char **argv);

/* The help of the program: its options and commands. */
void command_list_help(void);

/* Options instead of a command: those of CANN's msprof front-end, which stand for commands. Returns the exit status. */
extern const struct option_table frontend_table;
int frontend_run(int argc, char **argv);

/* Write "man", "bash", "zsh" or "fish": the manual page or the completion of a shell, made from the tables of options.
 * Returns the exit status. */
int generate(const char *what);

/* Is this a path that may be given with -dir? Returns 0, or -1 and says why not. */
int check_path(const char *path);

/* npuprof_options.on_progress: draws one line on stderr, which display_clear removes. */
void display_progress(const struct npuprof_progress *progress, void *context);
void display_clear(void);

/* The same from a signal handler. */
void display_clear_in_signal(void);

/* Everything the report says was lost, skipped or failed, a line each on stderr; infos only when `verbose`. */
void display_messages(const struct npuprof_report *report, bool verbose);

/* The closing summary on stdout: files, how it went with each of several PROF directories, sizes, time. Long lists are
 * shortened to a line per directory unless `verbose`. */
void display_summary(const struct npuprof_report *report, bool verbose);

/* What the export of a cluster advises, on stdout; nothing when it advises nothing. */
void display_advice(const struct npuprof_report *report);

#endif
