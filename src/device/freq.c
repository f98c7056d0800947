/* The AI core clock over time: lpmFreqConv and lpmInfoConv (decode/lpm.h).
 *
 * A change from before the reference count of the device clock tells the frequency at the reference; without one it is
 * the frequency of info.json. lpmInfoConv also holds voltages (metrics/voltage.c). */
#include "decode/lpm.h"
#include "device/parts.h"

struct reader {
    freq_changes *changes;
    uint64_t reference;
    bool typed; /* the record says what it holds */
    bool twice; /* as in struct freq_point */
    bool any;   /* some change was read */
};

static void add_change(uint32_t type, uint64_t time, uint32_t mhz, void *context)
{
    struct reader *r = context;
    if (r->typed && type != LPM_FREQUENCY) return;
    r->any = true;
    if (time < r->reference) r->changes->at[0].mhz = mhz;
    else array_push(r->changes, ((struct freq_change){time, mhz, r->twice}));
}

static void sort_changes(freq_changes *changes)
{
    struct sort_key *order = mem_alloc(changes->n * sizeof *order);
    for (size_t i = 0; i < changes->n; i++) order[i] = (struct sort_key){changes->at[i].time, (uint32_t)i};
    sort_keys(order, changes->n);
    sort_permute(changes->at, sizeof *changes->at, order, changes->n);
    free(order);
}

static uint32_t default_mhz(const struct prof_dir *dir)
{
    return dir->meta.aic_mhz > 0 && dir->meta.aic_mhz < UINT32_MAX ? (uint32_t)dir->meta.aic_mhz : 0;
}

void freq_load(freq_changes *changes, const struct device_source *from, enum input_id id)
{
    uint64_t reference = from->dir->clock.device_ref;
    bool typed = id == INPUT_LPM_INFO_CONV;
    bool twice = !typed && from->dir->chip->native_tasks; /* read by the native part and by a script */
    array_push(changes, ((struct freq_change){reference, default_mhz(from->dir), twice}));
    struct reader r = {changes, reference, typed, twice, false};
    lpm_each(prof_dir_files(from->dir, id), from->diag, from->progress, add_change, &r);
    if (!r.any) changes->n = 0;
    sort_changes(changes);
}

void freq_merge(freq_changes *into, const freq_changes *other)
{
    size_t n = into->n, kept = 0;
    for (size_t i = 0; i < other->n; i++) array_push(into, other->at[i]);
    if (!n || !other->n) return; /* repetitions within one input are shown as they are */
    sort_changes(into);
    for (size_t i = 0; i < into->n; i++) {
        if (kept && into->at[i].time == into->at[kept - 1].time && into->at[i].mhz == into->at[kept - 1].mhz) continue;
        into->at[kept++] = into->at[i];
    }
    into->n = kept;
}

static void keep_recorded(struct device_data *d, const freq_changes *changes, const struct device_source *from)
{
    const struct clock *clock = &from->dir->clock;
    if (!changes->n)
        array_push(&d->recorded_freqs, ((struct freq_point){.time_ns = clock_device_ns(clock, clock->device_ref),
                                                            .mhz = default_mhz(from->dir)}));
    for (size_t i = 0; i < changes->n; i++)
        array_push(&d->recorded_freqs, ((struct freq_point){.time_ns = clock_device_ns(clock, changes->at[i].time),
                                                            .mhz = changes->at[i].mhz}));
}

void freq_export(struct device_data *d, const freq_changes *changes, const struct device_source *from)
{
    if (from->dir->chip->freq_in_timeline) keep_recorded(d, changes, from);
    if (!from->dir->chip->freq_in_db) return;
    /* The device's own begin and end, which are a little later and earlier than the host's. */
    const struct metadata *m = from->dir->meta.has_start ? &from->dir->meta : from->session->meta;
    array_push(&d->freqs, ((struct freq_point){m->start_ns, default_mhz(from->dir), false, 0}));
    for (size_t i = 0; i < changes->n; i++) {
        int64_t time_ns = clock_device_ns(&from->dir->clock, changes->at[i].time);
        if (time_ns < m->start_ns) d->freqs.at[0].mhz = changes->at[i].mhz;
        else array_push(&d->freqs, ((struct freq_point){time_ns, changes->at[i].mhz, changes->at[i].twice, 0}));
    }
    if (!m->has_end) return;
    struct freq_point end = {m->end_ns, d->freqs.at[d->freqs.n - 1].mhz, false, 0};
    size_t at = d->freqs.n;
    (void)array_add(&d->freqs);
    for (; at && d->freqs.at[at - 1].time_ns > end.time_ns; at--) d->freqs.at[at] = d->freqs.at[at - 1];
    d->freqs.at[at] = end;
}

bool freq_trusted(const freq_changes *changes)
{
    for (size_t i = 0; i < changes->n; i++)
        if (!changes->at[i].mhz) return false;
    return true;
}

double freq_at(const freq_changes *changes, uint64_t time, double fallback)
{
    size_t low = 0, high = changes->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (changes->at[mid].time <= time) low = mid + 1;
        else high = mid;
    }
    return low ? changes->at[low - 1].mhz : fallback;
}
