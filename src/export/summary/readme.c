/* README.txt: what the files in the output folder are.
 *
 * The names in the folder are cut down to their stems (op_summary_slice_0_20240701130000.csv -> op_summary), and each
 * stem gets an entry: the timelines first, then the tables. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "export/summary/summary.h"

/* What is said of the timelines; the reports speak for themselves. */
static const struct {
    const char *stem, *about;
} timelines[] = {
    {"msprof", "The timeline of the whole collection: API calls of the host, tasks and communication of every device,\n"
               "what overlaps what, the AI core frequency. Open it with MindStudio Insight, chrome://tracing or\n"
               "https://ui.perfetto.dev. A timeline with _slice_ in its name is one part of several."},
    {"step_trace",
     "The training iterations as a timeline: forward and backward pass, gradient reductions, waiting for\n"
     "data."},
};

static const struct part {
    const char *title, *ext;
} parts[] = {
    {"Timeline file description:", ".json"},
    {"Summary file description:", ".csv"},
};

struct names {
    ARRAY(char *) list; /* owned, sorted, distinct */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Does the part that tells files of one kind apart begin here: _<digits>, or _slice_<digits>_<digits>? */
static bool begins_suffix(const char *p)
{
    static const char slice[] = "_slice_";
    if (p[0] != '_') return false;
    if (is_digit(p[1])) return true;
    if (strncmp(p, slice, sizeof slice - 1) != 0) return false;
    p += sizeof slice - 1;
    if (!is_digit(*p)) return false;
    while (is_digit(*p)) p++;
    return p[0] == '_' && is_digit(p[1]);
}

/* "invalid" when the name has no such part. Control characters of foreign names become question marks. */
static char *stem_of(const char *name)
{
    for (const char *p = name; *p; p++) {
        if (!begins_suffix(p)) continue;
        char *stem = mem_strndup(name, (size_t)(p - name));
        for (char *c = stem; *c; c++)
            if ((unsigned char)*c < ' ') *c = '?';
        return stem;
    }
    return mem_strndup("invalid", 7);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

/* The stems of all files of the folder with that extension; hidden files are unfinished or nobody's business. */
static int read_stems(struct names *stems, const char *dir, const char *ext, struct error *err)
{
    DIR *d = opendir(dir);
    if (!d) return error_set(err, "cannot read %s: %s", dir, strerror(errno));
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && ends_with(e->d_name, ext)) array_push(&stems->list, stem_of(e->d_name));
    closedir(d);
    if (stems->list.n) qsort(stems->list.at, stems->list.n, sizeof *stems->list.at, by_text);
    return 0;
}

static const char *about(const char *stem, const char *ext)
{
    size_t length = strlen(stem) - (ends_with(stem, TABLE_SUFFIX) ? strlen(TABLE_SUFFIX) : 0);
    const struct report *r = report_find(stem, length); /* as CSV, or as JSON beside the timelines */
    for (size_t i = 0; i < sizeof timelines / sizeof *timelines && !strcmp(ext, ".json"); i++)
        if (!strcmp(timelines[i].stem, stem)) return timelines[i].about;
    return r ? r->about : NULL;
}

/* "1.op_summary.csv:" and the text, further lines of which are indented. */
static void write_entry(struct out *o, unsigned number, const char *stem, const char *ext)
{
    out_u64(o, number);
    out_char(o, '.');
    out_text(o, stem);
    out_text(o, ext);
    out_char(o, ':');
    const char *text = about(stem, ext);
    if (!text) {
        out_literal(o, "There is no description of ");
        out_text(o, stem);
        out_literal(o, " here; see the documentation of the program that wrote it.");
        text = "";
    }
    for (const char *p = text; *p; p++) {
        out_char(o, *p);
        if (*p == '\n') out_char(o, '\t');
    }
    out_char(o, '\n');
}

static int write_part(struct out *o, const char *dir, const struct part *s, struct error *err)
{
    struct names stems = {0};
    if (read_stems(&stems, dir, s->ext, err)) return -1;
    out_text(o, s->title);
    out_char(o, '\n');
    unsigned number = 0;
    for (size_t i = 0; i < stems.list.n; i++)
        if (!i || strcmp(stems.list.at[i], stems.list.at[i - 1]) != 0)
            write_entry(o, ++number, stems.list.at[i], s->ext);
    out_char(o, '\n');
    for (size_t i = 0; i < stems.list.n; i++) free(stems.list.at[i]);
    array_free(&stems.list);
    return 0;
}

int readme_write(const char *output_dir, struct error *err)
{
    char *path = mem_printf("%s/README.txt", output_dir);
    struct out o;
    int status = out_open(&o, path, err);
    free(path);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++) {
        status = write_part(&o, output_dir, &parts[i], err);
        if (status) out_discard(&o);
    }
    if (!status) status = out_commit(&o, err);
    return status ? error_wrap(err, "writing README.txt") : 0;
}
