/* What people see: the progress line and the messages on stderr, the closing summary on stdout.
 *
 * Texts from the data (file names, dictionary words) go through print_plain, so that they cannot talk to the
 * terminal. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

#define SUMMARY_LINES 24 /* a longer list of files is shown as a line per directory */
#define WARNING_LINES 50 /* more than these are counted */
#define COLUMNS_MAX   200

static atomic_int drawn; /* columns of the progress line on the terminal */

static void print_plain(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        putc(c < 0x20 || c == 0x7f ? '?' : c, to);
    }
}

/* "1.2 GB" into buf. */
static const char *size_text(char *buf, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    unsigned unit = 0;
    for (; bytes >= 999.5 && unit < 5; unit++) bytes /= 1000;
    snprintf(buf, size, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return buf;
}

#define COUNT_TEXT 27

/* 1234567 -> "1,234,567" into buf[COUNT_TEXT]. */
static const char *count_text(char *buf, uint64_t n)
{
    char digits[21];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *to = buf;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return buf;
}

static int terminal_columns(void)
{
    struct winsize w;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 20) return 80;
    return w.ws_col < COLUMNS_MAX ? w.ws_col : COLUMNS_MAX;
}

/* " 45 %  430.1 MB/s  0:03 left", as much of it as is known. */
static void phase_text(char *buf, size_t size, const struct npuprof_progress *p)
{
    char number[32];
    double rate = p->elapsed_seconds > 0 ? (double)p->done / p->elapsed_seconds : 0;
    size_t n = 0;
    buf[0] = 0;
    if (p->total) {
        unsigned percent = p->done < p->total ? (unsigned)((double)p->done * 100 / (double)p->total) : 100;
        if (percent == 100 && !p->units_are_bytes) percent = 99; /* rows are an estimate */
        n += (size_t)snprintf(buf, size, "  %3u %%", percent);
    } else if (p->done && !p->units_are_bytes) {
        n += (size_t)snprintf(buf, size, "  %s rows", count_text(number, p->done));
    }
    if (p->done && p->units_are_bytes && rate > 0)
        n += (size_t)snprintf(buf + n, size - n, "  %s/s", size_text(number, sizeof number, rate));
    if (p->total && p->done && p->done < p->total && p->elapsed_seconds > 0.5) {
        unsigned left = (unsigned)((double)(p->total - p->done) / rate + 0.5);
        snprintf(buf + n, size - n, "  %u:%02u left", left / 60, left % 60);
    }
}

void display_progress(const struct npuprof_progress *p, void *context)
{
    (void)context;
    char phase[128], line[COLUMNS_MAX + 1];
    phase_text(phase, sizeof phase, p);
    int columns = terminal_columns() - 1;
    char count[48] = "";
    if (p->profs > 1) snprintf(count, sizeof count, "%zu of %zu done, ", p->profs_done, p->profs);
    int room = columns - (int)strlen(count) - (int)strlen(p->phase) - (int)strlen(phase) - 3;
    int n = room > 8 ? snprintf(line, sizeof line, "%s%.*s: %s%s", count, room, p->prof, p->phase, phase)
                     : snprintf(line, sizeof line, "%s%s", p->phase, phase);
    if (n > columns) line[n = columns] = 0;
    int before = atomic_exchange(&drawn, n);
    putc('\r', stderr);
    print_plain(stderr, line);
    if (before > n) {
        fprintf(stderr, "%*s\r", before - n, "");
        print_plain(stderr, line);
    }
    fflush(stderr);
}

void display_clear(void)
{
    int n = atomic_exchange(&drawn, 0);
    if (n) fprintf(stderr, "\r%*s\r", n, "");
}

void display_clear_in_signal(void)
{
    if (atomic_load(&drawn) && write(STDERR_FILENO, "\n", 1) < 0) return;
}

static void print_message(const struct npuprof_message *m)
{
    static const char *const severities[] = {
        [NPUPROF_INFO] = "info", [NPUPROF_WARNING] = "warning", [NPUPROF_ERROR] = "error"};
    fprintf(stderr, "npuprof: %s: ", severities[m->severity]);
    print_plain(stderr, m->prof);
    if (*m->prof && *m->file) putc('/', stderr);
    print_plain(stderr, m->file);
    if (m->has_offset) fprintf(stderr, ", byte %llu", (unsigned long long)m->offset);
    if (*m->prof || *m->file) fputs(": ", stderr);
    print_plain(stderr, m->text);
    char times[COUNT_TEXT];
    if (m->count > 1) fprintf(stderr, " (%s times)", count_text(times, m->count));
    putc('\n', stderr);
}

void display_messages(const struct npuprof_report *report, bool verbose)
{
    const struct npuprof_message *m;
    size_t warnings = 0;
    for (size_t n = npuprof_report_messages(report, &m); n; n--, m++) {
        if (m->severity == NPUPROF_INFO && !verbose) continue;
        if (m->severity == NPUPROF_WARNING && ++warnings > WARNING_LINES && !verbose) continue;
        print_message(m);
    }
    if (warnings > WARNING_LINES && !verbose)
        fprintf(stderr, "npuprof: warning: %zu more warnings, -v shows them\n", warnings - WARNING_LINES);
}

/* Length of the directory part of a path, without the slash. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static bool same_directory(const struct npuprof_file *a, const struct npuprof_file *b)
{
    size_t n = directory_length(a->path);
    return n == directory_length(b->path) && !strncmp(a->path, b->path, n);
}

/* What the rows of a file are. */
static const char *unit_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || strcmp(dot, ".json") != 0) return "rows";
    return strncmp(name, "communication", 13) ? "events" : "operators"; /* of analyze */
}

static void print_file(const struct npuprof_file *f, int width)
{
    char size[32];
    const char *name = f->path + directory_length(f->path);
    name += *name == '/';
    printf("  %-*s  %8s", width, name, size_text(size, sizeof size, (double)f->bytes));
    if (f->rows) {
        char rows[COUNT_TEXT];
        printf("  %12s %s", count_text(rows, f->rows), unit_of(name));
    }
    putchar('\n');
}

/* The n files of one directory. */
static void print_directory(const struct npuprof_file *files, size_t n, bool each, int width)
{
    char size[32];
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += files[i].bytes;
    size_t len = directory_length(files->path);
    printf("%.*s%s", (int)len, files->path, len ? "" : ".");
    if (!each) printf(": %zu file%s, %s", n, n == 1 ? "" : "s", size_text(size, sizeof size, (double)bytes));
    putchar('\n');
    for (size_t i = 0; each && i < n; i++) print_file(&files[i], width);
}

static void print_totals(const struct npuprof_report *report, const struct npuprof_file *files, size_t n_files)
{
    char size[32], read[32], rate[32];
    uint64_t bytes = 0;
    for (size_t i = 0; i < n_files; i++) bytes += files[i].bytes;
    double seconds = npuprof_report_seconds(report), input = (double)npuprof_report_input_bytes(report);
    printf("%zu file%s, %s, in %.2f s", n_files, n_files == 1 ? "" : "s", size_text(size, sizeof size, (double)bytes),
           seconds);
    printf(" from %s of raw data", size_text(read, sizeof read, input));
    if (seconds > 0) printf(" (%s/s)", size_text(rate, sizeof rate, input / seconds));
    const struct npuprof_message *m;
    size_t n_messages = npuprof_report_messages(report, &m), counts[NPUPROF_ERROR + 1] = {0};
    for (size_t i = 0; i < n_messages; i++) counts[m[i].severity]++;
    if (counts[NPUPROF_ERROR]) printf(", %zu error%s", counts[NPUPROF_ERROR], counts[NPUPROF_ERROR] == 1 ? "" : "s");
    if (counts[NPUPROF_WARNING])
        printf(", %zu warning%s", counts[NPUPROF_WARNING], counts[NPUPROF_WARNING] == 1 ? "" : "s");
    putchar('\n');
}

/* How it went with each PROF directory. */
static void print_profs(const struct npuprof_prof *profs, size_t n)
{
    int width = 4;
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        int len = (int)strlen(profs[i].name);
        if (len > width) width = len;
        failed += profs[i].errors > 0;
    }
    printf("\n%-*s  %-6s  %5s  %8s  %8s\n", width, "PROF", "result", "files", "size", "time");
    for (size_t i = 0; i < n; i++) {
        const struct npuprof_prof *p = &profs[i];
        char size[32];
        print_plain(stdout, p->name);
        printf("%*s  %-6s  %5zu  %8s  %6.2f s", width - (int)strlen(p->name), "", p->errors ? "failed" : "ok", p->files,
               size_text(size, sizeof size, (double)p->bytes), p->seconds);
        if (p->errors) fputs("  ", stdout);
        print_plain(stdout, p->error);
        if (p->errors > 1) printf(" (and %zu more)", p->errors - 1);
        putchar('\n');
    }
    if (failed) printf("%zu of %zu PROF directories failed\n", failed, n);
    putchar('\n');
}

void display_summary(const struct npuprof_report *report, bool verbose)
{
    const struct npuprof_file *files;
    size_t n = npuprof_report_files(report, &files);
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        int len = (int)(strlen(files[i].path) - directory_length(files[i].path)) - 1;
        if (len > width) width = len;
    }
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && same_directory(&files[i], &files[next]);) next++;
        print_directory(&files[i], next - i, verbose || n <= SUMMARY_LINES, width);
    }
    const struct npuprof_prof *profs;
    size_t n_profs = npuprof_report_profs(report, &profs);
    if (n_profs > 1) print_profs(profs, n_profs);
    print_totals(report, files, n);
}

void display_advice(const struct npuprof_report *report)
{
    const char *const *lines;
    size_t n = npuprof_report_advice(report, &lines);
    if (n) putchar('\n');
    for (size_t i = 0; i < n; i++) {
        const char *text = lines[i] + (*lines[i] == '\t');
        if (text != lines[i]) putchar('\t');
        print_plain(stdout, text);
        putchar('\n');
    }
}
