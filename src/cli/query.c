/* npuprof query -dir PATH
 *
 * The table is for people and for scripts that cut it into columns: cells padded with blanks to the widest of their
 * column, each followed by a TAB, an empty line after each row. The other form, --data-type, is how scripts ask about
 * clusters: each line of the answer is a JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

#define DATA_TYPES 10 /* the last one */

static const struct option query_options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), 1,
     "a PROF_XXX directory, its host or one of its devices, or a cluster:\nthe directory that holds those of all ranks "
     "(required)"},
    {"data-type", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, data_type), 1,
     "a question, answered with a line of JSON; all but 0 are about\na cluster after 'import --cluster' and write "
     "files "
     "to PATH/query\n"
     "0: can PATH be a cluster (1) or not (0)?  1: iterations\n"
     "2: operations (FLOP) by type of operator  3: queues of training data\n"
     "4, 5: communication beside computation    6, 7: communication, links\n"
     "8: CPU and memory of the host             9, 10: 6, 7 of the critical path"},
    {"id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, id), 1,
     "rank (device where there are no ranks), -1: all; for --data-type"},
    {"model-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, model_id), 1, "model, for --data-type"},
    {"iteration-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_id), 1,
     "iteration, for --data-type"},
    {"jobs", NULL, OPTION_COUNT, "N", offsetof(struct option_values, jobs), 1,
     "threads to work with (default: one per processor)"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
};

static const struct option_table query_table = {
    .command = "npuprof query",
    .arguments = "-dir PATH [options]",
    .about = "Lists the devices of a collection, and the models and iterations that they ran. The ids are those that\n"
             "'npuprof export' takes with --model-id and --iteration-id. Models are listed once the collection was\n"
             "imported or exported; of a directory of many PROF directories, after 'npuprof import --cluster'.\n",
    .more = "exit status: 0 answered, also that there is no such data, 1 the question makes no sense, 2 wrong command\n"
            "line or no PROF directory, 11 no cluster, 12 a database of the cluster is missing\n",
    .examples = "npuprof query -dir PROF_000001_20240701130000123_ABCDEFGH\n"
                "npuprof query -dir CLUSTER --data-type 1 --id 0 --model-id 1\n",
    .options = query_options,
    .n_options = sizeof query_options / sizeof *query_options,
    .scope = 1,
};

enum { COLUMNS = 8, CELL = 32 };

static const char *const header[COLUMNS] = {
    "Job Info", "Device ID",        "Dir Name",           "Collection Time",
    "Model ID", "Iteration Number", "Top Time Iteration", "Rank ID",
};

/* The cells of a row; numbers are written into `numbers`. */
static void cells_of(const struct npuprof_query_row *row, const char *cells[COLUMNS], char numbers[3][CELL])
{
    snprintf(numbers[0], CELL, "%" PRIu32, row->model_id);
    snprintf(numbers[1], CELL, "%" PRIu32, row->iterations);
    snprintf(numbers[2], CELL, "%" PRId64, row->rank);
    cells[0] = row->job;
    cells[1] = row->device;
    cells[2] = row->dir;
    cells[3] = row->time;
    cells[4] = row->has_model ? numbers[0] : "N/A";
    cells[5] = row->has_model ? numbers[1] : "N/A";
    cells[6] = row->has_model ? row->longest : "N/A";
    cells[7] = numbers[2];
}

static void print_cells(const char *const cells[COLUMNS], const int widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        int written = 0;
        for (const char *p = cells[i]; *p; p++, written++) putchar((unsigned char)*p < 0x20 ? '?' : *p);
        printf("%*s\t", widths[i] - written, "");
    }
    printf("\n\n");
}

static void print_table(const struct npuprof_query *query)
{
    const struct npuprof_query_row *rows;
    size_t n = npuprof_query_rows(query, &rows);
    int widths[COLUMNS];
    const char *cells[COLUMNS];
    char numbers[3][CELL];
    for (int k = 0; k < COLUMNS; k++) widths[k] = (int)strlen(header[k]);
    for (size_t i = 0; i < n; i++) {
        cells_of(&rows[i], cells, numbers);
        for (int k = 0; k < COLUMNS; k++)
            if ((int)strlen(cells[k]) > widths[k]) widths[k] = (int)strlen(cells[k]);
    }
    if (n) print_cells(header, widths);
    for (size_t i = 0; i < n; i++) {
        cells_of(&rows[i], cells, numbers);
        print_cells(cells, widths);
    }
}

/* A JSON string: texts may hold anything that a path may. */
static void print_json(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') printf("\\%c", *p);
        else if (*p < 0x20) printf("\\u%04x", *p);
        else putchar(*p);
    }
    putchar('"');
}

static void print_answer(const struct npuprof_answer *answer)
{
    const struct npuprof_answer_line *lines;
    size_t n = npuprof_answer_lines(answer, &lines);
    for (size_t i = 0; i < n; i++) {
        printf("{\"status\": %d, \"info\": ", lines[i].failed);
        print_json(lines[i].info);
        printf(", \"data\": ");
        print_json(lines[i].data);
        printf("}\n");
    }
}

static int exit_status(int status)
{
    return status == NPUPROF_OK ? EXIT_ALL_WELL : status == NPUPROF_BAD_PATH ? EXIT_USAGE : status;
}

/* What is wrong with the question or its cluster is for people, too. */
static int ask(const struct option_values *values)
{
    struct npuprof_question question = {
        .data_type = (int)values->data_type.value,
        .has_id = values->id.given,
        .has_model_id = values->model_id.given,
        .has_iteration_id = values->iteration_id.given,
        .id = values->id.value,
        .model_id = values->model_id.value,
        .iteration_id = values->iteration_id.value,
        .jobs = values->jobs,
    };
    struct npuprof_answer *answer;
    const struct npuprof_answer_line *lines;
    int status = npuprof_ask(values->dir, &question, &answer);
    size_t n = npuprof_answer_lines(answer, &lines);
    print_answer(answer);
    for (size_t i = 0; i < n && status; i++)
        if (lines[i].failed == 1) fprintf(stderr, "npuprof: error: %s\n", lines[i].info);
    npuprof_answer_free(answer);
    return exit_status(status);
}

static int list(const struct option_values *values)
{
    struct npuprof_query *query;
    int is_parent, status = npuprof_query(values->dir, &query, &is_parent);
    if (status == NPUPROF_OK && is_parent)
        fprintf(stderr,
                "npuprof: warning: %s holds PROF directories: query one of them, or all after 'npuprof import "
                "--cluster'\n",
                values->dir);
    if (status == NPUPROF_OK) print_table(query);
    else fprintf(stderr, "npuprof: error: %s\n", npuprof_query_error(query));
    npuprof_query_free(query);
    return exit_status(status);
}

static int query_dir(const struct option_values *values)
{
    if (check_path(values->dir)) return EXIT_FAILED;
    if (values->data_type.given) return ask(values);
    if (values->id.given || values->model_id.given || values->iteration_id.given) {
        fprintf(stderr, "npuprof: error: --id, --model-id and --iteration-id need --data-type\n");
        return EXIT_FAILED;
    }
    return list(values);
}

const struct option_table *query_table_at(size_t i)
{
    return i ? NULL : &query_table;
}

int command_query(int argc, char **argv)
{
    char error[OPTIONS_ERROR_TEXT];
    struct option_values values = {0};
    int status = EXIT_ALL_WELL;
    switch (options_parse(&query_table, argc, argv, &values, error)) {
    case OPTIONS_HELP: options_help(&query_table, stdout); break;
    case OPTIONS_VERSION: printf("npuprof %s\n", npuprof_version()); break;
    case OPTIONS_ERROR: status = options_usage_error(&query_table, error); break;
    case OPTIONS_OK:
        if (!values.dir) status = options_usage_error(&query_table, "-dir is required");
        else if (values.data_type.given && (values.data_type.value < 0 || values.data_type.value > DATA_TYPES))
            status = options_usage_error(&query_table, "--data-type must be 0 to 10");
        else status = query_dir(&values);
    }
    option_values_free(&values);
    return status;
}
