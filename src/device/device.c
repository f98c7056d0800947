/* Loading one device.
 *
 *     stars_soc ─┐
 *     ts_track ──┼─ side by side ─▶ log + flips ─▶ tasks ─▶ ffts_profile: counters find their tasks
 *     lpm… ──────┘                  step records ─▶ steps
 *                                   changes ─▶ freqs
 *
 * Chips without STARS have other files in these places (task_runs.h): hwts for the log, aicore for the counters; the
 * Ascend 310 has everything in ts_track.
 *
 * Counters come last because their block records are not kept: each is added to the run it belongs to as it is read. */
#include "device/device.h"

#include "base/jobs.h"
#include "device/parts.h"
#include "device/task_runs.h"

struct loading {
    struct device_source from;
    struct device_data *d;
    log_array log;
    run_array runs;
    struct ts_states states;
    fusion_array fusions;
    flip_array flips;
    step_records steps;
    freq_changes conv, info; /* of lpmFreqConv, lpmInfoConv */
};

static void load_log(struct loading *l)
{
    enum task_log kind = l->from.dir->chip->task_log;
    if (kind == TASK_LOG_HWTS) hwts_load(&l->runs, &l->from);
    else if (kind == TASK_LOG_STARS) stars_load(&l->log, &l->fusions, &l->from);
}

static void load_ts_track(struct loading *l)
{
    if (l->from.dir->chip->task_log == TASK_LOG_TIMELINE)
        ts_timeline_load(l->d, &l->runs, &l->steps, &l->states, &l->from);
    else ts_track_load(&l->flips, &l->steps, &l->from);
    marks_build(l->d, &l->steps, &l->from);
    steps_build(l->d, &l->steps, &l->from);
    array_free(&l->steps);
}

static void load_freq(struct loading *l)
{
    if (l->from.dir->chip->freq_of_dies) freq_load_dies(l->d, &l->from);
    freq_load(&l->conv, &l->from, INPUT_LPM_FREQ_CONV);
    freq_load(&l->info, &l->from, INPUT_LPM_INFO_CONV);
}

static void load_aicpu(struct loading *l)
{
    aicpu_comm_load(&l->d->aicpu, &l->from);
}

static void load_states(struct loading *l)
{
    if (l->from.dir->chip->task_log != TASK_LOG_TIMELINE) ts_states_load(&l->states, &l->from);
}

static void (*const inputs[])(struct loading *) = {load_log, load_ts_track, load_freq, load_aicpu, load_states};

static void load_input(size_t item, void *context)
{
    inputs[item](context);
}

bool batches_used(const struct device_source *from)
{
    return from->session->all_export && !from->dir->chip->unique_task_ids;
}

static void build_tasks(struct loading *l, struct strpool *strings)
{
    struct type_names names;
    stars_type_names(&names, l->from.dir->chip, strings);
    ts_aicpu_runs(&l->runs, &l->states, &l->from);
    l->d->has_tasks = l->log.n || l->runs.n;
    pair_tasks(l->d, &l->log, &l->flips, &names, &l->from);
    run_tasks(l->d, &l->runs, &l->flips, &names, &l->from);
    ts_schedules(l->d, &l->states, &l->flips, &l->from);
    ts_copies(l->d, &l->states, &l->from);
    ts_blocks(l->d, &l->states, &l->flips, &l->from);
    ts_states_free(&l->states);
    fusion_pair(l->d, &l->fusions, &names, &l->from);
}

/* The clock that counted: the reference's native part computes named metrics with lpmFreqConv alone, its scripts (and
 * Custom metrics are always theirs) with both kinds of files. */
static void build_counters(struct loading *l, const freq_changes *all)
{
    static const freq_changes none;
    if (l->from.dir->chip->task_log == TASK_LOG_HWTS) {
        pmu_whole_load(l->d, &l->from);
        return;
    }
    if (l->from.dir->chip->unique_task_ids) {
        pmu_load_unique(l->d, &l->from);
        return;
    }
    bool native = l->from.dir->chip->native_tasks && !l->from.session->script_tasks &&
                  strncmp(l->from.dir->meta.aic_metrics, "Custom", 6);
    const freq_changes *freq = native ? &l->conv : all;
    pmu_load(l->d, &l->flips, freq_trusted(freq) ? freq : &none, &l->from);
}

void device_load_steps(struct device_data *d, const struct session *s, const struct prof_dir *dir, bool expanded,
                       struct diag *diag)
{
    *d = (struct device_data){0};
    struct loading l = {.from = {s, dir, expanded, diag, NULL}, .d = d};
    load_ts_track(&l);
    array_free(&l.runs);
    array_free(&l.flips);
    ts_states_free(&l.states);
}

void device_load(struct device_data *d, const struct session *s, const struct prof_dir *dir, bool expanded,
                 struct strpool *strings, unsigned threads, struct diag *diag, struct progress *progress)
{
    *d = (struct device_data){0};
    struct loading l = {.from = {s, dir, expanded, diag, progress}, .d = d};
    jobs_each(threads, sizeof inputs / sizeof *inputs, load_input, &l);
    build_tasks(&l, strings);
    aicpu_comm_match(d, &l.flips, &l.from);

    freq_changes all = {0};
    freq_merge(&all, &l.conv);
    freq_merge(&all, &l.info);
    if (dir->chip->freq_in_timeline && !dir->chip->freq_of_dies) freq_export(d, &all, &l.from);
    build_counters(&l, &all);

    array_free(&all);
    array_free(&l.conv);
    array_free(&l.info);
    array_free(&l.flips);
}

void device_name_streams(struct device_data *d, const struct map *stream_of)
{
    for (size_t i = 0; i < d->tasks.n; i++)
        d->tasks.at[i].stream_id = map_get(stream_of, d->tasks.at[i].task_id, STREAM_UNKNOWN);
    for (size_t i = 0; i < d->pmu.orphans.n; i++)
        d->pmu.orphans.at[i].stream_id = map_get(stream_of, d->pmu.orphans.at[i].task_id, STREAM_UNKNOWN);
    for (size_t i = 0; i < d->blocks.n; i++)
        d->blocks.at[i].stream_id = (uint16_t)map_get(stream_of, d->blocks.at[i].task_id, STREAM_UNKNOWN);
}

void device_free(struct device_data *d)
{
    array_free(&d->tasks);
    array_free(&d->steps);
    array_free(&d->reduces);
    array_free(&d->get_nexts);
    array_free(&d->marks);
    array_free(&d->freqs);
    array_free(&d->recorded_freqs);
    array_free(&d->blocks);
    array_free(&d->fusions);
    array_free(&d->copies);
    array_free(&d->phases);
    array_free(&d->schedules);
    array_free(&d->blocks_logged);
    aicpu_comm_free(&d->aicpu);
    pmu_whole_free_pending(d);
    pmu_free(&d->pmu);
    pmu_free_pending(d);
}
