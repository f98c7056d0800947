/* The manual page and the completions of shells, written from the tables that the command line is parsed with.
 *
 * `npuprof --generate=man` and so on are run when the program is built. A completion knows a word to complete by the
 * command line before it: the options of the command, the words of a choice, else file names. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"

/* Call `each` for the tables of all commands and, first, that of the program without a command. */
static void each_table(void (*each)(const struct option_table *, const struct command *))
{
    each(&frontend_table, NULL);
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)); i++) {
        const struct option_table *t;
        for (size_t k = 0; (t = c->table(k)); k++) each(t, c);
    }
}

/* The options that a table's command has. */
static const struct option *next_option(const struct option_table *t, const struct option *after)
{
    const struct option *o = after ? after + 1 : t->options, *end = t->options + t->n_options;
    while (o < end && !(o->scopes & t->scope)) o++;
    return o < end ? o : NULL;
}

#define EACH_OPTION(o, t) (const struct option *o = NULL; (o = next_option(t, o));)

/* What stands behind the program and the command: "timeline" of "npuprof export timeline", "" = nothing. */
static const char *kind_of(const struct option_table *t, const struct command *c)
{
    const char *kind = t->command + strlen("npuprof");
    if (c) kind += 1 + strlen(c->name);
    return *kind == ' ' ? kind + 1 : kind;
}

/* Text with `escape` in front of each character that is among `special`; line breaks become blanks. */
static void print_escaped(const char *text, const char *special, const char *escape)
{
    for (; *text; text++) {
        if (strchr(special, *text)) fputs(escape, stdout);
        putchar(*text == '\n' ? ' ' : *text);
    }
}

/* ---- the manual page, in the macros of man(7) */

static void roff(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\') fputs("\\e", stdout);
        else if (*text == '-') fputs("\\-", stdout);
        else putchar(*text);
        line_start = *text == '\n';
    }
}

static void roff_lines(const char *text)
{
    roff(text);
    if (*text && text[strlen(text) - 1] != '\n') putchar('\n');
}

static void roff_section(const struct option_table *t, const struct command *c)
{
    (void)c;
    if (t == &frontend_table) puts(".SH OPTIONS WITHOUT A COMMAND");
    else {
        fputs(".SH ", stdout);
        for (const char *p = t->command; *p; p++) putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
        putchar('\n');
    }
    printf(".B %s\n", t->command);
    roff_lines(t->arguments);
    puts(".PP");
    roff_lines(t->about);
    for
        EACH_OPTION(o, t)
        {
            fputs(".TP\n.B ", stdout);
            if (o->other) printf("\\-%s%s%s, ", o->other, o->value ? " " : "", o->value ? o->value : "");
            fputs("\\-\\-", stdout);
            roff(o->name);
            printf("%s%s\n", o->value ? " " : "", o->value ? o->value : "");
            roff_lines(o->help);
        }
    if (t->more) {
        puts(".PP");
        roff_lines(t->more);
    }
    if (t->examples) {
        puts(".PP\nExamples:\n.PP\n.nf\n.RS");
        roff_lines(t->examples);
        puts(".RE\n.fi");
    }
}

static void write_man(void)
{
    const struct command *c;
    printf(".\\\" made by npuprof --generate=man\n.TH NPUPROF 1 \"\" \"npuprof %s\" \"User Commands\"\n",
           npuprof_version());
    puts(".SH NAME\nnpuprof \\- export raw profiling data of Ascend NPU jobs\n.SH SYNOPSIS");
    for (size_t i = 0; (c = command_at(i)); i++) {
        printf("%s.B npuprof %s\n", i ? ".br\n" : "", c->name);
        roff_lines(c->table(0)->arguments);
    }
    puts(".br\n.B npuprof\n\\-\\-export=on \\-\\-output=PATH [options]\n.SH DESCRIPTION");
    roff_lines(frontend_table.about);
    for (size_t i = 0; (c = command_at(i)); i++) {
        printf(".TP\n.B %s\n", c->name);
        roff_lines(c->help);
    }
    puts(".PP\nA name of an option may be shortened as long as only one fits; \\-\\-name=VALUE and \\-\\-name VALUE "
         "are\n"
         "the same. An option given twice: the last one counts.");
    each_table(roff_section);
    puts(".SH ENVIRONMENT\n.TP\n.B HOME\nwhat a leading ~ of a path stands for\n.SH SEE ALSO\nsqlite3(1)");
}

/* ---- bash */

static void bash_words(const struct option_table *t, const struct command *c)
{
    printf("    '%s%s%s') words='", c ? c->name : "", *kind_of(t, c) ? " " : "", kind_of(t, c));
    const char *separator = "";
    for
        EACH_OPTION(o, t)
        {
            printf("%s--%s", separator, o->name);
            if (o->other) printf(" -%s", o->other);
            separator = " ";
        }
    if (!c)
        for (size_t i = 0; command_at(i); i++) printf(" %s", command_at(i)->name);
    else if (!*kind_of(t, c))
        for (size_t i = 1; c->table(i); i++) printf(" %s", kind_of(c->table(i), c));
    puts("' ;;");
}

/* "export timeline:--format|'export timeline':-f) values='csv json' ;;" */
static void bash_values(const struct option_table *t, const struct command *c)
{
    for
        EACH_OPTION(o, t)
        {
            if (!o->value) continue;
            printf("    '%s%s%s:--%s'", c ? c->name : "", *kind_of(t, c) ? " " : "", kind_of(t, c), o->name);
            if (o->other) printf("|'%s%s%s:-%s'", c ? c->name : "", *kind_of(t, c) ? " " : "", kind_of(t, c), o->other);
            fputs(") values='", stdout);
            for (const char *p = o->type == OPTION_CHOICE ? o->value : ""; *p; p++) putchar(*p == '|' ? ' ' : *p);
            printf("' files=%s ;;\n", o->type == OPTION_PATH ? "yes" : "");
        }
}

static void write_bash(void)
{
    puts("# bash completion of npuprof, made by npuprof --generate=bash\n"
         "_npuprof() {\n"
         "    local word=$2 before=$3 command='' words='' values=none files='' i\n"
         "    COMPREPLY=()\n"
         "    # bash cuts --name=value into three words\n"
         "    if [[ $word == = ]]; then word=''\n"
         "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "    fi\n"
         "    for ((i = 1; i < COMP_CWORD && i < 3; i++)); do\n"
         "        [[ ${COMP_WORDS[i]} == -* ]] && break\n"
         "        command+=${command:+ }${COMP_WORDS[i]}\n"
         "    done\n"
         "    case $command in");
    each_table(bash_words);
    puts("    esac\n"
         "    case $command:$before in");
    each_table(bash_values);
    puts("    esac\n"
         "    if [[ $values == none ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "    elif [[ $files ]]; then compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "    else COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
         "    fi\n"
         "}\n"
         "complete -F _npuprof npuprof");
}

/* ---- zsh */

static void zsh_case(const struct option_table *t, const struct command *c)
{
    printf("    '%s%s%s') options=(\n", c ? c->name : "", *kind_of(t, c) ? " " : "", kind_of(t, c));
    for
        EACH_OPTION(o, t)
        {
            for (int dashes = 2; dashes; dashes--) {
                const char *name = dashes == 2 ? o->name : o->other;
                if (!name) continue;
                printf("        '%s%s%s[", dashes == 2 ? "--" : "-", name, o->value ? "=" : "");
                for (const char *p = o->help; *p && *p != '\n'; p++)
                    if (*p != '\'' && *p != '[' && *p != ']' && *p != ':') putchar(*p);
                putchar(']');
                if (o->type == OPTION_PATH) fputs(":path:_files", stdout);
                else if (o->type == OPTION_CHOICE) {
                    fputs(":value:(", stdout);
                    for (const char *p = o->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
                    putchar(')');
                } else if (o->value) fputs(":value: ", stdout);
                puts("'");
            }
        }
    fputs("        ) kinds=(", stdout);
    if (!c)
        for (size_t i = 0; command_at(i); i++) printf("%s%s", i ? " " : "", command_at(i)->name);
    else if (!*kind_of(t, c))
        for (size_t i = 1; c->table(i); i++) printf("%s%s", i > 1 ? " " : "", kind_of(c->table(i), c));
    puts(") ;;");
}

static void write_zsh(void)
{
    puts("#compdef npuprof\n"
         "# zsh completion of npuprof, made by npuprof --generate=zsh\n"
         "_npuprof() {\n"
         "    local command='' i\n"
         "    local -a options kinds\n"
         "    for ((i = 2; i < CURRENT && i < 4; i++)); do\n"
         "        [[ $words[i] == -* ]] && break\n"
         "        command+=${command:+ }$words[i]\n"
         "    done\n"
         "    case $command in");
    each_table(zsh_case);
    puts("    esac\n"
         "    if [[ $words[CURRENT] != -* && $words[CURRENT-1] != -* && -n $kinds ]]; then compadd -a kinds\n"
         "    else _arguments '*: : ' $options\n"
         "    fi\n"
         "}\n"
         "_npuprof \"$@\"");
}

/* ---- fish */

static void fish_lines(const struct option_table *t, const struct command *c)
{
    const char *kind = kind_of(t, c);
    char when[128];
    if (!c) snprintf(when, sizeof when, "__fish_use_subcommand");
    else if (*kind)
        snprintf(when, sizeof when, "__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s", c->name,
                 kind);
    else snprintf(when, sizeof when, "__fish_seen_subcommand_from %s", c->name);
    if (c && *kind) printf("complete -c npuprof -n '__fish_seen_subcommand_from %s' -a %s\n", c->name, kind);
    else if (c) {
        printf("complete -c npuprof -n '__fish_use_subcommand' -a %s -d '", c->name);
        print_escaped(c->help, "\\'", "\\");
        puts("'");
    }
    for
        EACH_OPTION(o, t)
        {
            printf("complete -c npuprof -n '%s' -l %s", when, o->name);
            if (o->other) printf(" -%c %s", o->other[1] ? 'o' : 's', o->other);
            if (o->type == OPTION_PATH) fputs(" -r -F", stdout);
            else if (o->value) fputs(" -x", stdout);
            if (o->type == OPTION_CHOICE) {
                fputs(" -a '", stdout);
                for (const char *p = o->value; *p; p++) putchar(*p == '|' ? ' ' : *p);
                putchar('\'');
            }
            fputs(" -d '", stdout);
            print_escaped(o->help, "\\'", "\\");
            puts("'");
        }
}

static void write_fish(void)
{
    puts("# fish completion of npuprof, made by npuprof --generate=fish\ncomplete -c npuprof -f");
    each_table(fish_lines);
}

int generate(const char *what)
{
    static const struct {
        const char *name;
        void (*write)(void);
    } forms[] = {{"man", write_man}, {"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].name, what)) {
            forms[i].write();
            return EXIT_ALL_WELL;
        }
    fprintf(stderr, "npuprof: error: --generate must be man, bash, zsh or fish\n");
    return EXIT_USAGE;
}
