/* The option parser: the forms that scripts for the reference tool use, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/options.c"

enum { ONE = 1, TWO = 2 };

static const struct option options[] = {
    {"collection-dir", "dir", OPTION_PATH, "PATH", offsetof(struct option_values, dir), ONE | TWO, "where it is"},
    {"jobs", NULL, OPTION_COUNT, "N", offsetof(struct option_values, jobs), ONE | TWO, "threads"},
    {"clear", NULL, OPTION_FLAG, NULL, offsetof(struct option_values, clear), ONE, "first line\nsecond line"},
    {"quiet", "q", OPTION_FLAG, NULL, offsetof(struct option_values, quiet), ONE | TWO, "say less"},
    {"help", "h", OPTION_HELP, NULL, 0, ONE | TWO, "this help"},
    {"version", NULL, OPTION_VERSION, NULL, 0, ONE | TWO, "the version"},
    {"iteration-id", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_id), ONE, "first iteration"},
    {"iteration-count", NULL, OPTION_NUMBER, "N", offsetof(struct option_values, iteration_count), ONE, "how many"},
    {"format", NULL, OPTION_CHOICE, "csv|json|jsonl", offsetof(struct option_values, format), ONE, "form"},
};

static const struct option_table one = {.command = "tool one",
                                        .arguments = "-dir PATH [options]",
                                        .about = "Does one.\n",
                                        .more = "The end.\n",
                                        .options = options,
                                        .n_options = sizeof options / sizeof *options,
                                        .scope = ONE};

static char error[OPTIONS_ERROR_TEXT];
static struct option_values values;

/* Parse the words of a line. */
static enum options_result parse(const char *line)
{
    static char words[512];
    char *argv[32];
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) argv[argc++] = w;
    option_values_free(&values);
    error[0] = 0;
    return options_parse(&one, argc, argv, &values, error);
}

static void refuses(const char *line, const char *why)
{
    assert_int_equal(parse(line), OPTIONS_ERROR);
    if (!strstr(error, why)) fail_msg("'%s' was refused with '%s', not '%s'", line, error, why);
}

static int end(void **state)
{
    (void)state;
    option_values_free(&values);
    return 0;
}

static void every_form_of_a_path_is_understood(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "-dir a/b",
        "-dir=a/b",
        "-dir==a/b",
        "-dir =a/b",
        "--collection-dir a/b",
        "--collection-dir=a/b",
        "--collection-dir===a/b",
        "--coll a/b",
        "--col=a/b",
        "-d a/b",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(parse(lines[i]), OPTIONS_OK);
        assert_string_equal(values.dir, "a/b");
    }
}

static void a_leading_tilde_is_the_home_directory(void **state)
{
    (void)state;
    setenv("HOME", "/home/me", 1);
    assert_int_equal(parse("-dir=~/x"), OPTIONS_OK);
    assert_string_equal(values.dir, "/home/me/x");
    assert_int_equal(parse("-dir ~"), OPTIONS_OK);
    assert_string_equal(values.dir, "/home/me");
    assert_int_equal(parse("-dir a~b"), OPTIONS_OK);
    assert_string_equal(values.dir, "a~b");
    unsetenv("HOME");
    assert_int_equal(parse("-dir ~/x"), OPTIONS_OK);
    assert_string_equal(values.dir, "~/x");
}

static void the_last_of_repeated_options_counts(void **state)
{
    (void)state;
    assert_int_equal(parse("-dir a --jobs 3 -dir=b --jobs=7"), OPTIONS_OK);
    assert_string_equal(values.dir, "b");
    assert_int_equal(values.jobs, 7);
}

static void an_empty_value_is_a_value(void **state)
{
    (void)state;
    assert_int_equal(parse("-dir="), OPTIONS_OK);
    assert_string_equal(values.dir, "");
}

static void a_missing_value_is_refused(void **state)
{
    (void)state;
    refuses("-dir", "-dir needs a value: PATH");
    refuses("-dir -q", "-dir needs a value");
    refuses("--jobs", "--jobs needs a value: N");
}

static void flags_take_no_value(void **state)
{
    (void)state;
    assert_int_equal(parse("-q --clear"), OPTIONS_OK);
    assert_true(values.quiet && values.clear);
    refuses("--quiet=yes", "--quiet takes no value");
}

static void counts_are_checked(void **state)
{
    (void)state;
    assert_int_equal(parse("--jobs 1024"), OPTIONS_OK);
    assert_int_equal(values.jobs, 1024);
    refuses("--jobs 0", "must be a number from 1");
    refuses("--jobs 1025", "must be a number from 1");
    refuses("--jobs 99999999999999999999", "must be a number from 1");
    refuses("--jobs 3x", "not '3x'");
    refuses("--jobs=", "not ''");
}

static void only_unique_prefixes_are_understood(void **state)
{
    (void)state;
    assert_int_equal(parse("--q"), OPTIONS_OK);
    assert_true(values.quiet);
    refuses("--c", "ambiguous option --c: could be --collection-dir or --clear");
    refuses("--iteration", "ambiguous option --iteration");
    refuses("--", "ambiguous");
}

static void what_does_not_exist_is_refused(void **state)
{
    (void)state;
    refuses("--nothing", "unknown option --nothing");
    refuses("-x", "unknown option -x");
    refuses("--dir a", "unknown option --dir");
    refuses("-collection-dir a", "unknown option -collection-dir");
    refuses("-dir a b", "unexpected argument 'b'");
    refuses("-dir a -", "unexpected argument '-'");
}

static void options_of_other_commands_do_not_exist(void **state)
{
    (void)state;
    struct option_table two = one;
    two.scope = TWO;
    char *argv[] = {"--clear"};
    struct option_values v = {0};
    assert_int_equal(options_parse(&two, 1, argv, &v, error), OPTIONS_ERROR);
    assert_non_null(strstr(error, "unknown option --clear"));
    argv[0] = "--c"; /* only one candidate is left */
    assert_int_equal(options_parse(&two, 1, argv, &v, error), OPTIONS_ERROR);
    assert_non_null(strstr(error, "--collection-dir needs a value"));
}

static void numbers_are_whole_and_may_be_negative(void **state)
{
    (void)state;
    assert_int_equal(parse("--iteration-count 4294967295"), OPTIONS_OK);
    assert_true(values.iteration_count.given && !values.iteration_id.given);
    assert_int_equal(values.iteration_count.value, 4294967295);
    assert_int_equal(parse("--iteration-id -3 --iteration-count=+2"), OPTIONS_OK);
    assert_int_equal(values.iteration_id.value, -3);
    assert_int_equal(values.iteration_count.value, 2);
    refuses("--iteration-id x", "--iteration-id must be a whole number, not 'x'");
    refuses("--iteration-id 1.5", "--iteration-id must be a whole number");
    refuses("--iteration-id=", "--iteration-id must be a whole number");
    refuses("--iteration-id -", "--iteration-id must be a whole number");
    refuses("--iteration-id 99999999999999999999", "--iteration-id must be a whole number");
    refuses("--iteration-id --iteration-count", "--iteration-id needs a value");
}

static void a_choice_is_one_of_the_words(void **state)
{
    (void)state;
    assert_int_equal(parse(""), OPTIONS_OK);
    assert_int_equal(values.format, 0);
    assert_int_equal(parse("--format json"), OPTIONS_OK);
    assert_int_equal(values.format, 1);
    assert_int_equal(parse("--format=jsonl"), OPTIONS_OK);
    assert_int_equal(values.format, 2);
    refuses("--format xml", "--format must be one of csv|json|jsonl, not 'xml'");
    refuses("--format js", "--format must be one of");
    refuses("--format=", "--format must be one of");
    refuses("--format csv|json", "--format must be one of");
}

static void help_and_version_come_before_what_follows(void **state)
{
    (void)state;
    assert_int_equal(parse("-dir a -h --nothing"), OPTIONS_HELP);
    assert_int_equal(parse("--version --nothing"), OPTIONS_VERSION);
    refuses("--nothing -h", "unknown option");
}

static void the_help_lists_what_the_table_has(void **state)
{
    (void)state;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    options_help(&one, f);
    fclose(f);
    assert_string_equal(text, "usage: tool one -dir PATH [options]\n"
                              "\n"
                              "Does one.\n"
                              "\n"
                              "options:\n"
                              "  -dir PATH, --collection-dir PATH  where it is\n"
                              "  --jobs N                          threads\n"
                              "  --clear                           first line\n"
                              "                                    second line\n"
                              "  -q, --quiet                       say less\n"
                              "  -h, --help                        this help\n"
                              "  --version                         the version\n"
                              "  --iteration-id N                  first iteration\n"
                              "  --iteration-count N               how many\n"
                              "  --format csv|json|jsonl           form\n"
                              "\n"
                              "The end.\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_form_of_a_path_is_understood, end),
        cmocka_unit_test_teardown(a_leading_tilde_is_the_home_directory, end),
        cmocka_unit_test_teardown(the_last_of_repeated_options_counts, end),
        cmocka_unit_test_teardown(an_empty_value_is_a_value, end),
        cmocka_unit_test_teardown(a_missing_value_is_refused, end),
        cmocka_unit_test_teardown(flags_take_no_value, end),
        cmocka_unit_test_teardown(counts_are_checked, end),
        cmocka_unit_test_teardown(only_unique_prefixes_are_understood, end),
        cmocka_unit_test_teardown(what_does_not_exist_is_refused, end),
        cmocka_unit_test_teardown(options_of_other_commands_do_not_exist, end),
        cmocka_unit_test_teardown(numbers_are_whole_and_may_be_negative, end),
        cmocka_unit_test_teardown(a_choice_is_one_of_the_words, end),
        cmocka_unit_test_teardown(help_and_version_come_before_what_follows, end),
        cmocka_unit_test(the_help_lists_what_the_table_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
