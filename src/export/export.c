/* One export run: the output directory, the stamp that all its files carry, and the exporters side by side.
 *
 * Each exporter has a target of its own, so that none waits for another; their lists of files are put together
 * afterwards. An exporter that fails costs its own output only. */
#include "export/export.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/jobs.h"

#define OUTPUT_DIR  "mindstudio_profiler_output"
#define N_EXPORTERS 4

/* The one that takes longest comes first, so that no thread starts it when the others are done. */
static const struct exporter {
    enum npuprof_output output;
    const char *name;
    bool in_output_dir;
    int (*export)(struct export_target *t, struct error *err);
} exporters[N_EXPORTERS] = {
    {NPUPROF_DB, "database", false, db_export},
    {NPUPROF_TIMELINE, "timeline", true, timeline_export},
    {NPUPROF_SUMMARY, "summary", true, summary_export},
    {NPUPROF_FOUND, "list of what was found", false, found_export},
};

struct run {
    const struct exporter *chosen[N_EXPORTERS];
    struct export_target targets[N_EXPORTERS]; /* of chosen[] */
    size_t n;
    struct diag *diag;
};

char *export_path(const struct export_target *t, const char *stem, int slice, const char *ext)
{
    if (slice < 0) return mem_printf("%s/%s_%s.%s", t->output_dir, stem, t->stamp, ext);
    return mem_printf("%s/%s_slice_%d_%s.%s", t->output_dir, stem, slice, t->stamp, ext);
}

void export_wrote(struct export_target *t, const char *path, uint64_t bytes, uint64_t rows)
{
    const char *prof = t->model->session->path;
    size_t n = strlen(prof);
    if (!strncmp(path, prof, n) && path[n] == '/') path += n + 1;
    array_push(&t->written.files, ((struct written_file){mem_strndup(path, strlen(path)), bytes, rows}));
}

void written_free(struct written_list *w)
{
    for (size_t i = 0; i < w->files.n; i++) free(w->files.at[i].path);
    array_free(&w->files);
}

/* Does the directory hold a file of the run `stamp` ("…_<stamp>.…")? */
static bool has_stamp(const char *dir, const char *stamp)
{
    DIR *d = opendir(dir);
    if (!d) return false;
    char *part = mem_printf("_%s.", stamp);
    bool found = false;
    for (struct dirent *e; !found && (e = readdir(d));) found = strstr(e->d_name, part);
    free(part);
    closedir(d);
    return found;
}

static void choose_stamp(char stamp[15], const char *prof, const char *output_dir)
{
    time_t now = time(NULL);
    do {
        struct tm local;
        localtime_r(&now, &local);
        strftime(stamp, 15, "%Y%m%d%H%M%S", &local);
        now++;
    } while (has_stamp(output_dir, stamp) || has_stamp(prof, stamp));
}

int export_make_dir(const char *path, bool *made, struct error *err)
{
    struct stat st;
    *made = !mkdir(path, 0750);
    if (*made) return 0;
    int e = errno;
    if (e != EEXIST) return error_set(err, "cannot create the directory %s: %s", path, strerror(e));
    if (lstat(path, &st) || !S_ISDIR(st.st_mode)) return error_set(err, "%s is in the way: not a directory", path);
    return 0;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void note_error(struct diag *diag, const struct error *err)
{
    char text[ERROR_DEPTH * ERROR_TEXT];
    diag_note(diag, DIAG_ERROR, "", DIAG_NO_OFFSET, "%s", error_text(err, text, sizeof text));
}

static void run_exporter(size_t i, void *context)
{
    struct run *r = context;
    struct error err = {0};
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (r->chosen[i]->export(&r->targets[i], &err)) {
        error_wrap(&err, "%s not complete", r->chosen[i]->name);
        note_error(r->diag, &err);
    }
    diag_note(r->diag, DIAG_INFO, "", DIAG_NO_OFFSET, "%s written in %.2f s", r->chosen[i]->name,
              seconds_since(&start));
}

/* README.txt describes what this run put into the output directory. */
static void write_readme(struct run *r, struct export_target *t)
{
    struct error err = {0};
    if (readme_write(t->output_dir, &err)) {
        note_error(r->diag, &err);
        return;
    }
    struct stat st;
    char *path = mem_printf("%s/README.txt", t->output_dir);
    if (!stat(path, &st)) export_wrote(t, path, (uint64_t)st.st_size, 0);
    free(path);
}

static int by_path(const void *x, const void *y)
{
    const struct written_file *a = x, *b = y;
    return strcmp(a->path, b->path);
}

static void gather(struct run *r, struct written_list *written)
{
    for (size_t i = 0; i < r->n; i++) {
        struct written_list *from = &r->targets[i].written;
        for (size_t k = 0; k < from->files.n; k++) array_push(&written->files, from->files.at[k]);
        array_free(&from->files); /* the paths have moved */
    }
    if (written->files.n) qsort(written->files.at, written->files.n, sizeof *written->files.at, by_path);
}

/* The exporters that are asked for and can run; makes the output directory if one of them needs it. */
static void choose_exporters(struct run *r, unsigned outputs, const char *output_dir, bool *made)
{
    bool wants_dir = outputs & (NPUPROF_TIMELINE | NPUPROF_SUMMARY), has_dir = false;
    struct error err = {0};
    if (wants_dir) has_dir = !export_make_dir(output_dir, made, &err);
    if (wants_dir && !has_dir) {
        error_wrap(&err, "timeline and summary not written");
        note_error(r->diag, &err);
    }
    for (size_t i = 0; i < N_EXPORTERS; i++)
        if ((outputs & exporters[i].output) && (has_dir || !exporters[i].in_output_dir))
            r->chosen[r->n++] = &exporters[i];
}

/* About how many rows and events there are to write, for the progress display: what each output has most of. */
static uint64_t rows_expected(const struct model *m, unsigned outputs)
{
    uint64_t apis = m->host.apis.n, tasks = 0, counters = 0, rows = 0;
    for (size_t i = 0; i < m->n_devices; i++) {
        const struct device_model *d = &m->devices[i];
        tasks += d->tasks.n;
        counters += (uint64_t)d->data.pmu.rows.n * d->data.pmu.columns.n;
    }
    if (outputs & NPUPROF_TIMELINE) rows += apis + 3 * tasks; /* and both ends of an arrow */
    if (outputs & NPUPROF_SUMMARY) rows += 2 * tasks;
    if (outputs & NPUPROF_DB) rows += apis + 2 * tasks + counters;
    return rows;
}

void export_run(const struct model *model, const struct export_options *options, struct diag *diag,
                struct progress *progress, struct written_list *written)
{
    struct run r = {.diag = diag};
    char *output_dir = mem_printf("%s/" OUTPUT_DIR, model->session->path);
    bool made = false;
    choose_exporters(&r, options->outputs, output_dir, &made);
    char stamp[15];
    choose_stamp(stamp, model->session->path, output_dir);
    for (size_t i = 0; i < r.n; i++) {
        r.targets[i] = (struct export_target){
            .model = model,
            .output_dir = output_dir,
            .format = options->format,
            .with_timelines = options->outputs & NPUPROF_TIMELINE,
            .reports = options->reports,
            .slice_bytes = options->slice_bytes,
            .diag = diag,
            .progress = progress,
        };
        memcpy(r.targets[i].stamp, stamp, sizeof stamp);
    }
    progress_phase(progress, "writing", rows_expected(model, options->outputs), 0);
    jobs_each(options->threads, r.n, run_exporter, &r);
    for (size_t i = 0; i < r.n; i++)
        if (r.chosen[i]->output == NPUPROF_SUMMARY && r.targets[i].written.files.n) write_readme(&r, &r.targets[i]);
    gather(&r, written);
    if (made) rmdir(output_dir); /* only goes when nothing was written into it */
    free(output_dir);
}
