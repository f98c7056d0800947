/* npuprof query -dir PATH
 *
 * The table is for people and for scripts that cut it into columns: cells padded with blanks to the widest of their
 * column, each followed by a TAB, an empty line after each row. The other form, --data-type, is how scripts ask what a
 * directory is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

#define DATA_TYPES 10 /* the last one */

static const struct option query_options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), 1,
     "a PROF_XXX directory, its host or one of its devices (required)"},
    {"data-type", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, data_type), 1,
     "0: does PATH hold PROF directories (1) or is it one (0)?\n1 to 10: data of clusters, which need 'import "
     "--cluster'"},
    {"id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, id), 1, "rank or device, for --data-type"},
    {"model-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, model_id), 1, "model, for --data-type"},
    {"iteration-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_id), 1,
     "iteration, for --data-type"},
    {"version", NULL, OPTION_VERSION, NULL, 0, 1, "show the version"},
    {"help", "h", OPTION_HELP, NULL, 0, 1, "show this help"},
};

static const struct option_table query_table = {
    .command = "npuprof query",
    .arguments = "-dir PATH [options]",
    .about = "Lists the devices of a collection, and the models and iterations that they ran. The ids are those that\n"
             "'npuprof export' takes with --model-id and --iteration-id. Models are listed once the collection was\n"
             "imported or exported.\n",
    .more = "exit status: 0 all well, 1 not answered, 2 wrong command line or no PROF directory\n",
    .examples = "npuprof query -dir PROF_000001_20240701130000123_ABCDEFGH\n",
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

static int refuse(const char *why)
{
    fprintf(stderr, "npuprof: error: %s\n", why);
    return EXIT_FAILED;
}

/* What a directory is; data of clusters is what this program does not keep. */
static int print_data(const struct option_values *values, bool is_parent)
{
    if (!values->data_type.given) return refuse("--id, --model-id and --iteration-id need --data-type");
    if (values->data_type.value) return refuse("there are no cluster databases: only --data-type 0 can be answered");
    printf("{\"status\": 0, \"info\": \"\", \"data\": \"%d\"}\n", is_parent);
    return EXIT_ALL_WELL;
}

static int print_answer(const struct option_values *values, const struct npuprof_query *query, bool is_parent)
{
    if (values->data_type.given || values->id.given || values->model_id.given || values->iteration_id.given)
        return print_data(values, is_parent);
    if (is_parent) fprintf(stderr, "npuprof: warning: %s holds PROF directories: query one of them\n", values->dir);
    print_table(query);
    return EXIT_ALL_WELL;
}

static int query_dir(const struct option_values *values)
{
    if (check_path(values->dir)) return EXIT_FAILED;
    struct npuprof_query *query;
    int is_parent, status = npuprof_query(values->dir, &query, &is_parent);
    if (status == NPUPROF_OK) status = print_answer(values, query, is_parent);
    else fprintf(stderr, "npuprof: error: %s\n", npuprof_query_error(query)), status = EXIT_USAGE;
    npuprof_query_free(query);
    return status;
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
