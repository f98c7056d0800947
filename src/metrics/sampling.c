/* What metrics have in common. */
#include "metrics/sampling.h"

#include <math.h>
#include <stdlib.h>

#include "base/sort.h"

bool sample_layout_2(const struct prof_dir *dir)
{
    const char *version = json_string_value(json_object_get(dir->meta.info, "version"));
    return version && !strcmp(version, "2.0");
}

int64_t sample_time(const struct prof_dir *dir, uint64_t device_mono_ns)
{
    return clock_sampled_ns(&dir->clock, device_mono_ns > INT64_MAX ? INT64_MAX : (int64_t)device_mono_ns);
}

uint64_t sample_device_ns(const struct prof_dir *dir, uint64_t us)
{
    uint64_t ns;
    bool over =
        __builtin_mul_overflow(us, 1000u, &ns) || __builtin_add_overflow(ns, (uint64_t)dir->clock.device_mono_ns, &ns);
    return over ? INT64_MAX : ns;
}

void sample_sort(void *samples, size_t n, size_t size, sample_key key)
{
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){key((const char *)samples + i * size), (uint32_t)i};
    sort_keys(order, n);
    sort_permute(samples, size, order, n);
    free(order);
}

static int64_t whole(double ns)
{
    return ns >= 0x1p63 ? INT64_MAX : ns < -0x1p63 ? INT64_MIN : (int64_t)ns;
}

int64_t sample_stored_time(const struct prof_dir *dir, uint64_t us)
{
    const struct clock *c = &dir->clock;
    double delta_s = c->mono_s - (double)c->device_mono_ns / 1e9;
    double epoch_offset_us = (double)((long double)c->epoch_offset_ns / 1000);
    return whole((double)sample_device_ns(dir, us) + delta_s * 1e9 + epoch_offset_us * 1000);
}

int64_t sample_stored_epoch(uint64_t ns)
{
    return whole((double)ns);
}

int64_t sample_bytes_per_s(double mb_per_s)
{
    return isnan(mb_per_s) ? 0 : whole(mb_per_s * BYTES_PER_MB);
}

void sample_skip_line(struct diag *diag, const struct record_place *place, size_t n_fields)
{
    if (!n_fields || !place->offset) return;
    diag_note(diag, DIAG_WARNING, place->file->shown, place->offset, "line not understood");
}

double sample_round(double value)
{
    return fabs(value) < 1e12 ? rint(value * 1000) / 1000 : value;
}

const char *sample_setting(const struct prof_dir *dir, const char *key)
{
    const char *text = json_string_value(json_object_get(dir->meta.sample, key));
    return text ? text : "";
}

static void series_key(struct trace *t, const char *name)
{
    if (t->has_args) out_char(&t->out, ',');
    t->has_args = true;
    out_char(&t->out, '"');
    out_text(&t->out, name);
    out_literal(&t->out, "\":");
}

void sample_series(struct trace *t, const char *name, double value)
{
    series_key(t, name);
    out_double(&t->out, value);
}

void sample_series_u64(struct trace *t, const char *name, uint64_t value)
{
    series_key(t, name);
    out_u64(&t->out, value);
}

bool device_core_listed(const struct prof_dir *dir, const char *key, uint64_t number)
{
    const json_t *device = json_array_get(json_object_get(dir->meta.info, "DeviceInfo"), 0);
    const char *list = json_string_value(json_object_get(device, key));
    for (const char *at = list; at && *at;) {
        char *end;
        unsigned long long listed = strtoull(at, &end, 10);
        if (end == at) break;
        if (listed == number) return true;
        at = end + strspn(end, ", ");
    }
    return false;
}
