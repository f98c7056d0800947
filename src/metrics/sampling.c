/* What metrics have in common. */
#include "metrics/sampling.h"

bool sample_layout_2(const struct prof_dir *dir)
{
    const char *version = json_string_value(json_object_get(dir->meta.info, "version"));
    return version && !strcmp(version, "2.0");
}

int64_t sample_time(const struct prof_dir *dir, uint64_t device_mono_ns)
{
    return clock_sampled_ns(&dir->clock, device_mono_ns > INT64_MAX ? INT64_MAX : (int64_t)device_mono_ns);
}

int64_t sample_time_since_start(const struct prof_dir *dir, uint64_t us)
{
    uint64_t start = (uint64_t)dir->clock.device_mono_ns, ns;
    if (__builtin_mul_overflow(us, 1000u, &ns) || __builtin_add_overflow(ns, start, &ns)) ns = INT64_MAX;
    return sample_time(dir, ns);
}

int64_t sample_bytes_per_s(double mb_per_s)
{
    double bytes = mb_per_s * BYTES_PER_MB;
    return bytes >= 0x1p63 ? INT64_MAX : bytes <= -0x1p63 ? INT64_MIN : bytes != bytes ? 0 : (int64_t)bytes;
}

const char *sample_setting(const struct prof_dir *dir, const char *key)
{
    const char *text = json_string_value(json_object_get(dir->meta.sample, key));
    return text ? text : "";
}
