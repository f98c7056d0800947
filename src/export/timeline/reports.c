/* The object of switches is kept as it was read, once it is known to be sound. */
#include "export/timeline/reports.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "export/timeline/timeline.h"

/* What the reference tool's files may name, whether or not this program has such a layer. Layers of ours are known by
 * the keys they have. */
static const char *const known[] = {
    "acc_pmu",
    "ascend",
    "biu_perf",
    "block_detail",
    "cann",
    "ccu",
    "communication",
    "cpu_usage",
    "ddr",
    "device_tx",
    "disk_usage",
    "dpu",
    "freq",
    "fusion_task",
    "hbm",
    "hccs",
    "llc",
    "memory_usage",
    "msproftx",
    "network_usage",
    "nic",
    "npu_mem",
    "os_runtime_api",
    "overlap_analyse",
    "pcie",
    "qos",
    "roce",
    "sio",
    "stars_chip_trans",
    "stars_soc",
    "step_trace",
    "ub",
};

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], key)) return true;
    return timeline_has_layer(key);
}

static int check_file(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st)) return error_set(err, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return error_set(err, "%s is no regular file", path);
    if (st.st_size > REPORTS_MAX_BYTES) return error_set(err, "%s is larger than %u MB", path, REPORTS_MAX_BYTES >> 20);
    return 0;
}

/* Are these switches, all of them of layers that exist? */
static int check_switches(json_t *switches, struct error *complaint)
{
    const char *key;
    json_t *value;
    if (!json_is_object(switches) || !json_object_size(switches))
        return error_set(complaint, "it has no object json_process with switches in it");
    json_object_foreach(switches, key, value)
    {
        if (!is_known(key)) return error_set(complaint, "it names a part of the timeline that does not exist: %s", key);
        if (!json_is_boolean(value)) return error_set(complaint, "%s must be true or false", key);
    }
    return 0;
}

int reports_read(struct reports *r, const char *path, struct error *complaint, struct error *err)
{
    *r = (struct reports){0};
    if (check_file(path, err)) return -1;
    FILE *file = fopen(path, "r");
    if (!file) return error_set(err, "cannot read %s: %s", path, strerror(errno));
    json_error_t why;
    json_t *root = json_loadf(file, 0, &why);
    fclose(file);
    json_t *switches = json_object_get(root, "json_process");
    if (!root) error_set(complaint, "it is no JSON: line %d: %s", why.line, why.text);
    else if (!check_switches(switches, complaint)) r->switches = json_incref(switches);
    json_decref(root);
    return 0;
}

void reports_free(struct reports *r)
{
    json_decref(r->switches);
    r->switches = NULL;
}

bool reports_want(const struct reports *r, const char *key)
{
    return !r || !r->switches || json_is_true(json_object_get(r->switches, key));
}
