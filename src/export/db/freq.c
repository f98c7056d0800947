/* The AI core clock over time. */
#include "export/db/tables.h"

static void write_aicore_freq(struct db_run *run, struct db_table *t)
{
    for (size_t d = 0; d < run->model->n_devices; d++) {
        const struct device_model *device = run->model->by_number[d];
        if (!device->dir->chip->freq_in_db) continue;
        for (size_t i = 0; i < device->data.freqs.n; i++) {
            const struct freq_point *p = &device->data.freqs.at[i];
            for (int rows = p->twice ? 2 : 1; rows; rows--) {
                db_int(t, device->device_id);
                db_int(t, p->time_ns);
                db_int(t, p->mhz);
                db_int(t, (int64_t)p->of_die - 1); /* -1 = of the chip */
                db_row(t);
            }
        }
    }
}

const struct db_table_kind table_aicore_freq = {
    .definition =
        {"AICORE_FREQ",
         {{"deviceId", DB_INTEGER}, {"timestampNs", DB_NUMERIC}, {"freq", DB_INTEGER}, {"dieId", DB_NUMERIC}}},
    .write = write_aicore_freq,
};
