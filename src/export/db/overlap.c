/* When a device computed, communicated, only communicated, or was idle. */
#include "export/db/tables.h"

static void write_overlap_analysis(struct db_run *run, struct db_table *t)
{
    int64_t id = 0;
    for (size_t d = 0; d < run->model->n_devices; d++) {
        const struct device_model *device = run->model->by_number[d];
        if (!device->has_tasks) continue;
        for (int kind = 0; kind < OVERLAP_KINDS; kind++) {
            for (size_t i = 0; i < device->overlap[kind].n; i++) {
                const struct section *s = &device->overlap[kind].at[i];
                if (s->start_ns == s->end_ns) continue;
                db_int(t, id++);
                db_int(t, device->device_id);
                db_int(t, s->start_ns);
                db_int(t, s->end_ns);
                db_int(t, kind);
                db_row(t);
            }
        }
    }
}

const struct db_table_kind table_overlap_analysis = {
    .definition = {"OVERLAP_ANALYSIS",
                   {{"id", DB_KEY},
                    {"deviceId", DB_INTEGER},
                    {"startNs", DB_NUMERIC},
                    {"endNs", DB_NUMERIC},
                    {"type", DB_INTEGER}}},
    .write = write_overlap_analysis,
};
