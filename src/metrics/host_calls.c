/* What the profiled process asked of its operating system: system calls (perf trace) and pthread calls (ltrace).
 *
 *     191356412.597 ( 1.046 ms): python3/4242 recvfrom(fd: 0, …) = 10         ms since boot, duration
 *     [pid 4242] 1719838800.358896 python3->pthread_join(0x7f, 0x0) = 0 <0.061463>   seconds since the epoch, duration
 * in s
 *
 * Neither clock is that of the collection: the first call of each file kind is taken to have begun with it. Of the
 * system calls only those that can wait or move data are kept; the names are matched by what they contain. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sort.h"
#include "decode/records.h"
#include "metrics/all.h"
#include "metrics/sampling.h"
#include "metrics/text.h"

static const char *const kept_calls[] = {
    "accept",
    "acct",
    "alarm",
    "bind",
    "bpf",
    "brk",
    "chroot",
    "connect",
    "copy_file_range",
    "creat",
    "dup",
    "fallocate",
    "fcntl",
    "flock",
    "fork",
    "futex",
    "ioctl",
    "ioperm",
    "iopl",
    "kill",
    "listen",
    "membarrier",
    "mlock",
    "mmap",
    "mount",
    "move_pages",
    "mprotect",
    "mq_notify",
    "mq_receive",
    "mq_timedreceive",
    "mremap",
    "msgctl",
    "msgget",
    "msgrcv",
    "msgsnd",
    "munmap",
    "nanosleep",
    "nfsservctl",
    "open",
    "pause",
    "pipe",
    "pivot_root",
    "poll",
    "prctl",
    "ptrace",
    "read",
    "reboot",
    "recv",
    "rt_sigqueueinfo",
    "sched_yield",
    "seccomp",
    "select",
    "semctl",
    "semget",
    "semop",
    "semtimedop",
    "send",
    "shmat",
    "shmctl",
    "shmdt",
    "shmget",
    "shutdown",
    "sigaction",
    "sigsuspend",
    "socket",
    "splice",
    "swapoff",
    "swapon",
    "sync",
    "tee",
    "tgsigqueueinfo",
    "truncate",
    "unshare",
    "uselib",
    "vhangup",
    "wait",
    "write",
    "_sysctl",
};

struct call {
    int64_t start_ns;
    uint64_t dur_ns;
    str_id name;
    uint32_t thread_id;
};

struct host_calls {
    ARRAY(struct call) calls; /* pthread calls, then system calls; in the order of the lines */
    ARRAY(uint32_t) threads;  /* ascending */
};

struct reader {
    struct host_calls *calls;
    const struct metric_source *from;
    uint64_t first_ns; /* when the first call began, by the clock of the file */
    bool has_first;
};

/* Epoch ns of a time of the file. */
static int64_t call_time(struct reader *r, uint64_t ns)
{
    if (!r->has_first) r->first_ns = ns;
    r->has_first = true;
    int64_t since = (int64_t)(ns - r->first_ns), time_ns;
    return __builtin_add_overflow(r->from->dir->meta.start_ns, since, &time_ns) ? INT64_MAX : time_ns;
}

static void add_call(struct reader *r, int64_t start_ns, uint64_t dur_ns, struct text_field name, uint32_t thread_id)
{
    array_push(&r->calls->calls,
               ((struct call){start_ns, dur_ns, strpool_add(r->from->strings, name.at, name.len), thread_id}));
}

static bool is_kept(struct text_field name)
{
    for (size_t i = 0; i < sizeof kept_calls / sizeof *kept_calls; i++)
        if (memmem(name.at, name.len, kept_calls[i], strlen(kept_calls[i]))) return true;
    return false;
}

/* Text up to a character; false when it is not there. *rest is what stands behind the character. */
static bool cut(struct text_field f, char c, struct text_field *head, struct text_field *rest)
{
    const char *at = memchr(f.at, c, f.len);
    if (!at) return false;
    *head = (struct text_field){f.at, (size_t)(at - f.at)};
    *rest = (struct text_field){at + 1, f.len - head->len - 1};
    return true;
}

/* The number that a text begins with, blanks before it left out: thousandths of ns for ms, ns for s. */
static bool leading_number(struct text_field f, uint64_t *value)
{
    for (; f.len && f.at[0] == ' '; f.len--) f.at++;
    size_t n = 0;
    while (n < f.len && (isdigit((unsigned char)f.at[n]) || f.at[n] == '.')) n++;
    struct text_field number = {f.at, n};
    return n && memchr(number.at, '.', n) && text_seconds(number, value);
}

/* "comm/tid name" or "name". */
static struct text_field call_name(struct text_field who, uint32_t process, uint32_t *thread_id)
{
    struct text_field words[8], none = {"", 0}, comm, tid;
    uint64_t number;
    size_t n = text_split(who.at, who.len, words, 8);
    *thread_id = process;
    if (!n || n > 8) return none;
    const char *slash = memrchr(who.at, '/', who.len);
    if (!slash) return words[0];
    if (n < 2) return none;
    comm = words[n - 2];
    slash = memrchr(comm.at, '/', comm.len);
    if (!slash) return none;
    tid = (struct text_field){slash + 1, comm.len - (size_t)(slash - comm.at) - 1};
    if (!text_u64(tid, &number)) return none;
    *thread_id = (uint32_t)number;
    return words[n - 1];
}

static void visit_system_call(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place; /* lines about lost events and unfinished calls are normal */
    struct reader *r = context;
    struct text_field when, duration, rest, who;
    uint64_t start, dur; /* text_seconds takes ms for s: 1000 times too much */
    uint32_t thread_id;
    if (!cut((struct text_field){line, len}, '(', &when, &rest) || !cut(rest, ':', &duration, &rest)) return;
    if (!leading_number(when, &start) || !leading_number(duration, &dur)) return;
    int64_t start_ns = call_time(r, start / 1000);
    if (!cut(rest, '(', &who, &rest)) return;
    struct text_field name = call_name(who, r->from->dir->meta.pid, &thread_id);
    if (name.len && is_kept(name)) add_call(r, start_ns, dur / 1000, name, thread_id);
}

/* Fields of a line of ltrace. */
enum { F_THREAD = 1, F_TIME, F_CALL, F_RESUMED, F_LEAST, F_ROOM = 64 };

/* "exe->name(…", or the name in "<... name resumed>". */
static struct text_field pthread_name(const struct text_field *f)
{
    const char *arrow = memmem(f[F_CALL].at, f[F_CALL].len, "->", 2);
    if (!arrow) return f[F_RESUMED];
    struct text_field name = {arrow + 2, f[F_CALL].len - (size_t)(arrow + 2 - f[F_CALL].at)}, rest;
    cut(name, '(', &name, &rest);
    return name;
}

static void visit_pthread_call(const char *line, size_t len, const struct record_place *place, void *context)
{
    (void)place;
    struct reader *r = context;
    struct text_field f[F_ROOM];
    uint64_t thread_id, time_ns, dur_ns;
    size_t n = text_split(line, len, f, F_ROOM);
    if (n < F_LEAST || n > F_ROOM) return;
    struct text_field last = f[n - 1], tid = f[F_THREAD];
    if (last.len < 3 || last.at[0] != '<' || last.at[last.len - 1] != '>') return;
    last = (struct text_field){last.at + 1, last.len - 2};
    if (tid.at[tid.len - 1] == ']') tid.len--;
    if (!leading_number(last, &dur_ns) || !text_u64(tid, &thread_id) || !text_seconds(f[F_TIME], &time_ns)) return;
    struct text_field name = pthread_name(f);
    int64_t start_ns = call_time(r, time_ns);
    if (name.len && !text_is(name, "pthread_once")) add_call(r, start_ns, dur_ns, name, (uint32_t)thread_id);
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

static void list_threads(struct host_calls *c)
{
    struct map seen = {0};
    for (size_t i = 0; i < c->calls.n; i++) {
        bool fresh;
        map_put(&seen, c->calls.at[i].thread_id, 0, &fresh);
        if (fresh) array_push(&c->threads, c->calls.at[i].thread_id);
    }
    map_free(&seen);
    if (c->threads.n) qsort(c->threads.at, c->threads.n, sizeof *c->threads.at, by_number);
}

static void host_calls_free(void *data)
{
    struct host_calls *c = data;
    array_free(&c->calls);
    array_free(&c->threads);
    free(c);
}

static void *load(const struct metric_source *from)
{
    struct host_calls *c = mem_zalloc(1, sizeof *c);
    struct reader pthreads = {.calls = c, .from = from}, system = pthreads;
    lines_each(prof_dir_files(from->dir, INPUT_HOST_PTHREADCALL), from->diag, from->progress, visit_pthread_call,
               &pthreads);
    lines_each(prof_dir_files(from->dir, INPUT_HOST_SYSCALL), from->diag, from->progress, visit_system_call, &system);
    list_threads(c);
    return c;
}

static int64_t end_of(const struct call *k)
{
    int64_t end;
    return k->dur_ns > INT64_MAX || __builtin_add_overflow(k->start_ns, (int64_t)k->dur_ns, &end) ? INT64_MAX : end;
}

static void show(struct trace *t, uint32_t pid, const struct prof_dir *dir, const void *data)
{
    const struct host_calls *c = data;
    for (size_t i = 0; i < c->calls.n; i++) {
        const struct call *k = &c->calls.at[i];
        if (sample_too_early(dir, k->start_ns)) continue;
        trace_begin(t);
        trace_text(t, k->name);
        trace_slice(t, pid, (int32_t)k->thread_id, k->start_ns, end_of(k), NULL);
        trace_end(t);
    }
    for (size_t i = 0; i < c->threads.n; i++) {
        char name[7 + FORMAT_U64 + 1] = "Thread ";
        *format_u64(name + 7, c->threads.at[i]) = '\0';
        if (t->model->session->script_timeline) trace_thread(t, pid, (int32_t)c->threads.at[i], name, c->threads.at[i]);
        else trace_thread_name(t, pid, (int32_t)c->threads.at[i], name);
    }
}

/* All calls of one name by one thread. */
struct total {
    str_id name;
    uint32_t thread_id;
    uint64_t count, sum_ns, max_ns, min_ns;
};

typedef ARRAY(struct total) totals;

static totals collect(const struct host_calls *c)
{
    totals all = {0};
    struct map at = {0};
    for (size_t i = 0; i < c->calls.n; i++) {
        const struct call *k = &c->calls.at[i];
        bool fresh;
        uint32_t row = *map_put(&at, (uint64_t)k->name << 32 | k->thread_id, (uint32_t)all.n, &fresh);
        if (fresh) array_push(&all, ((struct total){k->name, k->thread_id, 0, 0, 0, UINT64_MAX}));
        struct total *t = &all.at[row];
        t->count++;
        t->sum_ns += k->dur_ns;
        if (k->dur_ns > t->max_ns) t->max_ns = k->dur_ns;
        if (k->dur_ns < t->min_ns) t->min_ns = k->dur_ns;
    }
    map_free(&at);
    return all;
}

static uint64_t report_rows(const struct prof_dir *dir, const void *data)
{
    (void)dir;
    totals all = collect(data);
    uint64_t n = all.n;
    array_free(&all);
    return n;
}

/* Rows by total time, largest first; equal ones in order of their first call. */
static struct sort_key *by_sum(const totals *all)
{
    struct sort_key *order = mem_alloc(all->n * sizeof *order);
    for (size_t i = 0; i < all->n; i++) order[i] = (struct sort_key){~all->at[i].sum_ns, (uint32_t)i};
    sort_keys(order, all->n);
    return order;
}

static void report_fill(struct table *t, const struct prof_dir *dir, const void *data)
{
    totals all = collect(data);
    struct sort_key *order = by_sum(&all);
    double grand = 0;
    for (size_t i = 0; i < all.n; i++) grand += (double)all.at[i].sum_ns;
    for (size_t i = 0; i < all.n; i++) {
        const struct total *k = &all.at[order[i].index];
        report_row(t, dir);
        table_u64(t, dir->meta.pid);
        table_u64(t, k->thread_id);
        table_string(t, k->name);
        table_shortest(t, grand > 0 ? (double)k->sum_ns / grand : 0);
        table_shortest(t, (double)k->sum_ns / 1000);
        table_u64(t, k->count);
        table_shortest(t, (double)k->sum_ns / (double)k->count / 1000);
        table_shortest(t, (double)k->max_ns / 1000);
        table_shortest(t, (double)k->min_ns / 1000);
        if (!report_row_end(t)) break;
    }
    free(order);
    array_free(&all);
}

static void table_fill(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data)
{
    const struct host_calls *c = data;
    for (size_t i = 0; i < c->calls.n; i++) {
        const struct call *k = &c->calls.at[i];
        if (sample_too_early(dir, k->start_ns)) continue;
        db_string(run, t, k->name);
        db_u64(t, (uint64_t)dir->meta.pid << 32 | k->thread_id);
        db_int(t, k->start_ns);
        db_int(t, end_of(k));
        db_row(t);
    }
}

const struct metric metric_host_calls = {
    .name = "calls of the operating system",
    METRIC_INPUTS(INPUT_HOST_SYSCALL, INPUT_HOST_PTHREADCALL),
    .load = load,
    .free = host_calls_free,
    .layers = (const struct layer[]){{.key = "os_runtime_api",
                                      .name = "OS Runtime API",
                                      .sort_index = 13,
                                      .script_index = 13,
                                      .files = IN_MSPROF,
                                      .show = show},
                                     {.key = NULL}},
    .reports =
        (const struct report[]){
            {.stem = "os_runtime_statistic",
             .about = "System and pthread calls of the process, per thread and call: how often and how\n"
                      "long. Time(%) is a fraction of all of them, 0 to 1.",
             .columns = (const char *const[]){"Process ID", "Thread ID", "Name", "Time(%)", "Time(us)", "Count",
                                              "Avg(us)", "Max(us)", "Min(us)", NULL},
             .rows = report_rows,
             .fill = report_fill},
            {.stem = NULL}},
    .tables = (const struct db_table_kind[]){{.definition = {"OSRT_API",
                                                             {{"name", DB_NUMERIC},
                                                              {"globalTid", DB_NUMERIC},
                                                              {"startNs", DB_NUMERIC},
                                                              {"endNs", DB_NUMERIC}}},
                                              .fill = table_fill},
                                             {.fill = NULL}},
};
