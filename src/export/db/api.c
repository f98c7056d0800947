/* The API calls of the host. */
#include "export/db/tables.h"

#define TYPE_UNKNOWN UINT16_MAX

/* Levels of frameworks and of user marks have no number in the database. */
static uint16_t api_type(uint16_t level)
{
    return level == LEVEL_PYTORCH || level == LEVEL_PTA || level == LEVEL_TX ? TYPE_UNKNOWN : level;
}

static void write_cann_api(struct db_run *run, struct db_table *t)
{
    uint64_t process = (uint64_t)run->model->session->meta->pid << 32;
    for (size_t i = 0; i < run->model->host.apis.n; i++) {
        const struct api *a = &run->model->host.apis.at[i];
        if (!(a->flags & API_EXPORTED)) continue;
        db_int(t, a->start_ns);
        db_int(t, a->end_ns);
        db_int(t, api_type(a->level));
        db_u64(t, process | a->thread_id);
        db_int(t, (int64_t)i + 1); /* its connection id */
        db_string(run, t, a->level == LEVEL_COMMUNICATION ? a->item : a->name);
        db_row(t);
    }
}

const struct db_table_kind table_cann_api = {
    .definition = {"CANN_API",
                   {{"startNs", DB_INTEGER},
                    {"endNs", DB_INTEGER},
                    {"type", DB_INTEGER},
                    {"globalTid", DB_INTEGER},
                    {"connectionId", DB_KEY},
                    {"name", DB_INTEGER}}},
    .write = write_cann_api,
};
