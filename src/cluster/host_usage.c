/* Processors and memory of a rank's host, and of the process that was profiled: shares and sizes, sample by sample.
 *
 * What the collector sampled of /proc (metrics/proc_samples.h) are ticks since boot, or since the process began, and
 * sizes. Times are seconds since the first sample of a file. */
#include <stdlib.h>

#include "base/round.h"
#include "cluster/parts.h"
#include "metrics/proc_samples.h"
#include "session/metadata.h"

#define MAX_PARTS    4
#define PAGES_PER_MB 256

/* A sample: ticks of the parts of the time, kB, or pages. */
struct moment {
    uint64_t time_ns;
    double parts[MAX_PARTS];
};

typedef ARRAY(struct moment) moments;
typedef ARRAY(uint64_t) pid_list; /* each once, ascending */

enum { MEMORY_TOTAL, MEMORY_FREE }; /* parts of the memory */

struct usage {
    const struct prof_dir *host;
    uint64_t pid; /* that was profiled */
    moments cpu, process_cpu, memory, process_memory;
    pid_list cpu_pids, memory_pids;
};

/* ---- reading ---- */

static void take_cpu(const struct cpu_sample *s, void *context)
{
    struct usage *u = context;
    if (!text_is(s->name, "cpu")) return; /* one of them */
    array_push(&u->cpu,
               ((struct moment){s->time_ns,
                                {s->ticks[CPU_USER], s->ticks[CPU_SYS], s->ticks[CPU_IOWAIT], s->ticks[CPU_IDLE]}}));
}

static void take_process_cpu(const struct process_cpu_sample *s, void *context)
{
    struct usage *u = context;
    array_push(&u->cpu_pids, s->pid);
    if (s->pid == u->pid) array_push(&u->process_cpu, ((struct moment){s->time_ns, {(double)s->user, (double)s->sys}}));
}

static void take_memory(const struct mem_sample *s, void *context)
{
    struct usage *u = context;
    if (s->values[MEM_TOTAL])
        array_push(&u->memory,
                   ((struct moment){
                       s->time_ns,
                       {[MEMORY_TOTAL] = (double)s->values[MEM_TOTAL], [MEMORY_FREE] = (double)s->values[MEM_FREE]}}));
}

static void take_process_memory(const struct process_mem_sample *s, void *context)
{
    struct usage *u = context;
    array_push(&u->memory_pids, s->pid);
    if (s->pid == u->pid)
        array_push(&u->process_memory, ((struct moment){s->time_ns,
                                                        {(double)s->pages[PAGES_SIZE], (double)s->pages[PAGES_RESIDENT],
                                                         (double)s->pages[PAGES_SHARED]}}));
}

static int ascending(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static void tidy(pid_list *pids)
{
    size_t kept = 0;
    if (pids->n) qsort(pids->at, pids->n, sizeof *pids->at, ascending);
    for (size_t i = 0; i < pids->n; i++)
        if (!kept || pids->at[kept - 1] != pids->at[i]) pids->at[kept++] = pids->at[i];
    pids->n = kept;
}

static void usage_read(struct usage *u, const struct prof_dir *host, struct diag *diag)
{
    u->host = host;
    u->pid = host->meta.pid;
    cpu_samples_each(prof_dir_files(host, INPUT_HOST_SYS_CPU), diag, NULL, take_cpu, u);
    process_cpu_samples_each(prof_dir_files(host, INPUT_HOST_PROCESS_CPU), diag, NULL, take_process_cpu, u);
    mem_samples_each(prof_dir_files(host, INPUT_HOST_SYS_MEM), diag, NULL, take_memory, u);
    process_mem_samples_each(prof_dir_files(host, INPUT_HOST_PROCESS_MEM), diag, NULL, take_process_memory, u);
    tidy(&u->cpu_pids);
    tidy(&u->memory_pids);
}

static void usage_free(struct usage *u)
{
    array_free(&u->cpu);
    array_free(&u->process_cpu);
    array_free(&u->memory);
    array_free(&u->process_memory);
    array_free(&u->cpu_pids);
    array_free(&u->memory_pids);
}

/* ---- files ---- */

static const char *const part_keys[MAX_PARTS] = {"user_usage", "sys_usage", "io_usage", "idle_usage"};
static const char *const average_keys[MAX_PARTS] = {"average_user_usage", "average_sys_usage", "average_io_usage",
                                                    "average_idle_usage"};
static const char *const page_keys[PROCESS_PAGES] = {"size", "resident", "shared"};

/* Percent with two decimals; of nothing there are 0. */
static double percent(double part, double all)
{
    return all > 0 ? round_decimals(part / all * 100, 100) : 0;
}

static double sum(const double *parts, size_t n)
{
    double all = 0;
    for (size_t i = 0; i < n; i++) all += parts[i];
    return all;
}

static void put_shares(struct out *o, const char *const *keys, const double *parts, size_t n, bool first)
{
    for (size_t i = 0; i < n; i++) {
        json_key(o, keys[i], first && !i);
        json_number(o, percent(parts[i], sum(parts, n)));
    }
}

static void put_averages(struct out *o, const moments *of, size_t n)
{
    double all[MAX_PARTS] = {0};
    for (size_t i = 0; i < of->n; i++)
        for (size_t k = 0; k < n; k++) all[k] += of->at[i].parts[k];
    put_shares(o, average_keys, all, n, false);
}

static void put_interval(struct out *o, const struct usage *u, const char *key, bool first)
{
    json_key(o, "sampling_interval", first);
    out_i64(o, meta_i64(u->host->meta.sample, key, 0));
}

static void put_pids(struct out *o, const struct usage *u, const pid_list *all)
{
    json_key(o, "cur_pid", false);
    out_u64(o, u->pid);
    json_key(o, "all_pids", false);
    out_char(o, '[');
    for (size_t i = 0; i < all->n; i++) {
        if (i) out_literal(o, ", ");
        out_u64(o, all->at[i]);
    }
    out_char(o, ']');
}

#define CPU_INTERVAL    "host_cpu_profiling_sampling_interval"
#define MEMORY_INTERVAL "host_mem_profiling_sampling_interval"

static void cpu_info(struct out *o, const struct usage *u)
{
    json_key(o, "cpu_nums", true);
    out_i64(o, meta_i64(u->host->meta.info, "cpuNums", 0));
    put_interval(o, u, CPU_INTERVAL, false);
    put_averages(o, &u->cpu, 4);
}

static void cpu_moment(struct out *o, const struct moment *m)
{
    put_shares(o, part_keys, m->parts, 4, true);
}

static void process_cpu_info(struct out *o, const struct usage *u)
{
    put_interval(o, u, CPU_INTERVAL, true);
    put_pids(o, u, &u->cpu_pids);
    put_averages(o, &u->process_cpu, 2);
}

static void process_cpu_moment(struct out *o, const struct moment *m)
{
    put_shares(o, part_keys, m->parts, 2, true);
}

static double memory_used(const struct moment *m)
{
    return percent(m->parts[MEMORY_TOTAL] - m->parts[MEMORY_FREE], m->parts[MEMORY_TOTAL]);
}

static void memory_info(struct out *o, const struct usage *u)
{
    double used = 0, total = u->memory.at[0].parts[MEMORY_TOTAL];
    for (size_t i = 0; i < u->memory.n; i++) used += memory_used(&u->memory.at[i]);
    put_interval(o, u, MEMORY_INTERVAL, true);
    json_key(o, "total_mem", false);
    out_u64(o, total < 0x1p64 ? (uint64_t)total : UINT64_MAX);
    json_number_member(o, "average_mem_usage", round_decimals(used / (double)u->memory.n, 100));
}

static void memory_moment(struct out *o, const struct moment *m)
{
    json_key(o, "mem_usage", true);
    json_number(o, memory_used(m));
}

static void process_memory_info(struct out *o, const struct usage *u)
{
    put_interval(o, u, MEMORY_INTERVAL, true);
    put_pids(o, u, &u->memory_pids);
}

static void process_memory_moment(struct out *o, const struct moment *m)
{
    for (int i = 0; i < PROCESS_PAGES; i++) {
        json_key(o, page_keys[i], !i);
        out_u64(o, (uint64_t)(m->parts[i] / PAGES_PER_MB));
    }
}

static const struct usage_file {
    const char *stem;
    size_t moments; /* offset in struct usage */
    void (*info)(struct out *o, const struct usage *u);
    void (*moment)(struct out *o, const struct moment *m);
} usage_files[] = {
    {"host_sys_cpu_usage", offsetof(struct usage, cpu), cpu_info, cpu_moment},
    {"host_pid_cpu_usage", offsetof(struct usage, process_cpu), process_cpu_info, process_cpu_moment},
    {"host_sys_mem_usage", offsetof(struct usage, memory), memory_info, memory_moment},
    {"host_pid_mem_usage", offsetof(struct usage, process_memory), process_memory_info, process_memory_moment},
};

static void put_file(struct out *o, const struct usage_file *f, const struct usage *u, const moments *m)
{
    out_literal(o, "{\"info\": {");
    f->info(o, u);
    out_literal(o, "}, \"data\": [");
    for (size_t i = 0; i < m->n; i++) {
        int64_t since = (int64_t)(m->at[i].time_ns - m->at[0].time_ns);
        if (i) out_literal(o, ", ");
        out_char(o, '{');
        f->moment(o, &m->at[i]);
        json_number_member(o, "timestamp", round_decimals((double)since / 1e9, 100));
        out_char(o, '}');
    }
    out_literal(o, "]}");
}

static int answer_file(struct asking *q, const struct usage_file *f, const struct usage *u, bool *any)
{
    const moments *m = (const moments *)((const char *)u + f->moments);
    const struct npuprof_question *asked = q->question;
    struct out o;
    if (!m->n) return NPUPROF_OK;
    char *name = mem_printf("%s_%lld_%lld.json", f->stem, (long long)asked->id,
                            (long long)(asked->has_model_id ? asked->model_id : -1));
    int status = answer_begin(q, &o, name);
    if (!status) {
        put_file(&o, f, u, m);
        status = answer_end(q, &o, name);
    }
    *any = true;
    free(name);
    return status;
}

static int answer_usage(struct asking *q, const struct session *s)
{
    struct usage u = {0};
    bool any = false;
    int status = NPUPROF_OK;
    if (!s->host) return answer_fail(q, NPUPROF_OK, "%s has no data of its host", s->name);
    usage_read(&u, s->host, q->diag);
    for (size_t i = 0; i < sizeof usage_files / sizeof *usage_files && !status; i++)
        status = answer_file(q, &usage_files[i], &u, &any);
    if (!any)
        status = answer_fail(q, NPUPROF_OK, "neither processors nor memory of the host were sampled in %s", s->name);
    usage_free(&u);
    return status;
}

int answer_host_usage(struct asking *q)
{
    const struct npuprof_question *asked = q->question;
    const struct prof_dir *dir;
    if (!asked->has_id) return answer_fail(q, NPUPROF_FAILED, "--id must be given: a rank, or a device");
    const struct cluster_device *d = cluster_device(&q->cluster, asked->id);
    if (!d) return answer_fail(q, NPUPROF_OK, "there is no rank or device %lld", (long long)asked->id);
    struct session *s = answer_session(q, d, &dir);
    if (!s) return NPUPROF_OK;
    int status = answer_usage(q, s);
    session_close(s);
    return status;
}
