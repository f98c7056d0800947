/* An argument is looked up by its name (the part before '='): `--x` among the long names, `-x` among the single-dash
 * names. A full match wins, else the only name that it is a prefix of. What the option does with its value is one
 * function per type. */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HELP_COLUMN 36 /* where the explanations start */

void option_values_free(struct option_values *v)
{
    free(v->dir);
    free(v->reports);
    free(v->rule);
    free(v->python);
    *v = (struct option_values){0};
}

static bool is_here(const struct option_table *table, const struct option *o)
{
    return o->scopes & table->scope;
}

static const char *name_of(const struct option *o, bool is_long)
{
    return is_long ? o->name : o->other;
}

/* The option called name[len], in full or shortened. Returns NULL and says why in `error` when there is none. */
static const struct option *find(const struct option_table *table, const char *arg, const char *name, size_t len,
                                 bool is_long, char *error)
{
    const struct option *found = NULL;
    for (size_t i = 0; i < table->n_options; i++) {
        const struct option *o = &table->options[i];
        const char *candidate = name_of(o, is_long);
        if (!candidate || !is_here(table, o) || strncmp(candidate, name, len)) continue;
        if (!candidate[len]) return o;
        if (found) {
            snprintf(error, OPTIONS_ERROR_TEXT, "ambiguous option %.*s: could be %s%s or %s%s",
                     (int)(name - arg + (long)len), arg, is_long ? "--" : "-", name_of(found, is_long),
                     is_long ? "--" : "-", candidate);
            return NULL;
        }
        found = o;
    }
    if (!found) snprintf(error, OPTIONS_ERROR_TEXT, "unknown option %.150s", arg);
    return found;
}

/* `text` without a leading run of '=', `~` and `~/…` with the home directory in its place. */
static char *path_value(const char *text)
{
    while (*text == '=') text++;
    const char *home = getenv("HOME");
    if (text[0] == '~' && (text[1] == '/' || !text[1]) && home) return mem_printf("%s%s", home, text + 1);
    return mem_strndup(text, strlen(text));
}

static bool count_value(const char *text, unsigned *count)
{
    unsigned n = 0;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9' || n > OPTION_COUNT_MAX) return false;
        n = n * 10 + (unsigned)(*p - '0');
    }
    *count = n;
    return n >= 1 && n <= OPTION_COUNT_MAX;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool number_value(const char *text, struct option_number *number)
{
    char *end;
    if (!is_digit(text[text[0] == '-' || text[0] == '+'])) return false;
    errno = 0;
    *number = (struct option_number){true, strtoll(text, &end, 10)};
    return !*end && !errno;
}

/* The place of `text` among the words of `choices`, "csv|json". */
static bool choice_value(const char *choices, const char *text, unsigned *which)
{
    size_t len = strlen(text);
    unsigned n = 0;
    for (const char *word = choices;; n++) {
        size_t word_len = strcspn(word, "|");
        if (word_len == len && !memcmp(word, text, len)) break;
        if (!word[word_len]) return false;
        word += word_len + 1;
    }
    *which = n;
    return true;
}

static enum options_result store(const struct option *o, const char *name, const char *value,
                                 struct option_values *values, char *error)
{
    void *at = (char *)values + o->at;
    switch (o->type) {
    case OPTION_FLAG: *(bool *)at = true; break;
    case OPTION_PATH:
        free(*(char **)at);
        *(char **)at = path_value(value);
        break;
    case OPTION_TEXT:
        free(*(char **)at);
        *(char **)at = mem_strndup(value, strlen(value));
        break;
    case OPTION_COUNT:
        if (count_value(value, at)) break;
        snprintf(error, OPTIONS_ERROR_TEXT, "%s must be a number from 1 to %d, not '%.100s'", name, OPTION_COUNT_MAX,
                 value);
        return OPTIONS_ERROR;
    case OPTION_NUMBER:
        if (number_value(value, at)) break;
        snprintf(error, OPTIONS_ERROR_TEXT, "%s must be a whole number, not '%.100s'", name, value);
        return OPTIONS_ERROR;
    case OPTION_CHOICE:
        if (choice_value(o->value, value, at)) break;
        snprintf(error, OPTIONS_ERROR_TEXT, "%s must be one of %s, not '%.80s'", name, o->value, value);
        return OPTIONS_ERROR;
    case OPTION_HELP: return OPTIONS_HELP;
    case OPTION_VERSION: return OPTIONS_VERSION;
    }
    return OPTIONS_OK;
}

/* Could this argument be an option, so that it is not taken as the value of the one before? Negative numbers are not.
 */
static bool looks_like_option(const char *arg)
{
    return arg[0] == '-' && arg[1] && !is_digit(arg[1]);
}

enum options_result options_parse(const struct option_table *table, int argc, char *const *argv,
                                  struct option_values *values, char error[OPTIONS_ERROR_TEXT])
{
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        if (!looks_like_option(arg)) {
            snprintf(error, OPTIONS_ERROR_TEXT, "unexpected argument '%.150s'", arg);
            return OPTIONS_ERROR;
        }
        bool is_long = arg[1] == '-';
        const char *name = arg + 1 + is_long;
        size_t len = strcspn(name, "=");
        const struct option *o = find(table, arg, name, len, is_long, error);
        if (!o) return OPTIONS_ERROR;
        char full_name[64];
        snprintf(full_name, sizeof full_name, "%s%s", is_long ? "--" : "-", name_of(o, is_long));
        const char *value = name[len] ? name + len + 1 : NULL;
        if (value && !o->value) {
            snprintf(error, OPTIONS_ERROR_TEXT, "%s takes no value", full_name);
            return OPTIONS_ERROR;
        }
        if (!value && o->value) {
            if (i + 1 == argc || looks_like_option(argv[i + 1])) {
                snprintf(error, OPTIONS_ERROR_TEXT, "%s needs a value: %s", full_name, o->value);
                return OPTIONS_ERROR;
            }
            value = argv[++i];
        }
        enum options_result result = store(o, full_name, value, values, error);
        if (result != OPTIONS_OK) return result;
        values->given |= UINT64_C(1) << (o - table->options);
    }
    return OPTIONS_OK;
}

static void help_line(const struct option *o, FILE *to)
{
    char left[96];
    int n = 0;
    if (o->other) n = snprintf(left, sizeof left, "-%s%s%s, ", o->other, o->value ? " " : "", o->value ? o->value : "");
    snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    fprintf(to, "  %-*s", HELP_COLUMN - 2, left);
    for (const char *line = o->help; *line;) {
        size_t len = strcspn(line, "\n");
        fprintf(to, "%*s%.*s\n", line == o->help ? 0 : HELP_COLUMN, "", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void usage_line(const struct option_table *table, FILE *to)
{
    fprintf(to, "usage: %s %s\n", table->command, table->arguments);
}

void options_help(const struct option_table *table, FILE *to)
{
    usage_line(table, to);
    fprintf(to, "\n%s\noptions:\n", table->about);
    for (size_t i = 0; i < table->n_options; i++)
        if (is_here(table, &table->options[i])) help_line(&table->options[i], to);
    if (table->more) fprintf(to, "\n%s", table->more);
    if (table->examples) fputs("\nexamples:\n", to);
    for (const char *line = table->examples; line && *line; line += strcspn(line, "\n") + 1)
        fprintf(to, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

int options_usage_error(const struct option_table *table, const char *error)
{
    fprintf(stderr, "%s: error: %s\n", table->command, error);
    usage_line(table, stderr);
    fprintf(stderr, "see '%s -h'\n", table->command);
    return 2;
}
