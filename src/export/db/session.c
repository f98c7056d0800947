/* What was collected, where and when: one row each, or one per device. */
#include <string.h>

#include "export/db/tables.h"

#define SCHEMA_MAJOR 1
#define SCHEMA_MINOR 2
#define SCHEMA_MICRO 0

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

static void put_text(struct db_table *t, const char *text)
{
    db_text(t, text, strlen(text));
}

static void write_meta_data(struct db_run *run, struct db_table *t)
{
    static const char *const rows[][2] = {
        {"SCHEMA_VERSION", TEXT(SCHEMA_MAJOR) "." TEXT(SCHEMA_MINOR) "." TEXT(SCHEMA_MICRO)},
        {"SCHEMA_VERSION_MAJOR", TEXT(SCHEMA_MAJOR)},
        {"SCHEMA_VERSION_MINOR", TEXT(SCHEMA_MINOR)},
        {"SCHEMA_VERSION_MICRO", TEXT(SCHEMA_MICRO)},
    };
    (void)run;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_text(t, rows[i][0]);
        put_text(t, rows[i][1]);
        db_row(t);
    }
}

const struct db_table_kind table_meta_data = {
    .definition = {"META_DATA", {{"name", DB_TEXT}, {"value", DB_TEXT}}},
    .write = write_meta_data,
};

static void write_session_time_info(struct db_run *run, struct db_table *t)
{
    db_int(t, run->model->session->start_ns);
    db_int(t, run->model->session->end_ns);
    db_row(t);
}

const struct db_table_kind table_session_time_info = {
    .definition = {"SESSION_TIME_INFO", {{"startTimeNs", DB_INTEGER}, {"endTimeNs", DB_INTEGER}}},
    .write = write_session_time_info,
};

static void write_host_info(struct db_run *run, struct db_table *t)
{
    put_text(t, run->model->session->meta->host_uid);
    put_text(t, run->model->session->meta->hostname);
    db_row(t);
}

const struct db_table_kind table_host_info = {
    .definition = {"HOST_INFO", {{"hostUid", DB_TEXT}, {"hostName", DB_TEXT}}},
    .write = write_host_info,
};

/* Readers need a row in the tables of devices even when there is no device. */
static void write_npu_info(struct db_run *run, struct db_table *t)
{
    const struct session *s = run->model->session;
    for (size_t i = 0; i < s->n_devices; i++) {
        db_int(t, s->devices[i].device_id);
        put_text(t, s->devices[i].chip->npu_name);
        db_row(t);
    }
    if (s->n_devices) return;
    db_int(t, -1);
    put_text(t, "UNKNOWN");
    db_row(t);
}

const struct db_table_kind table_npu_info = {
    .definition = {"NPU_INFO", {{"id", DB_INTEGER}, {"name", DB_TEXT}}},
    .write = write_npu_info,
};

static void write_rank_device_map(struct db_run *run, struct db_table *t)
{
    const struct session *s = run->model->session;
    for (size_t i = 0; i < s->n_devices; i++) {
        db_int(t, -1); /* frameworks know the rank and put it here */
        db_int(t, s->devices[i].device_id);
        db_row(t);
    }
    if (s->n_devices) return;
    db_int(t, -1);
    db_int(t, -1);
    db_row(t);
}

const struct db_table_kind table_rank_device_map = {
    .definition = {"RANK_DEVICE_MAP", {{"rankId", DB_INTEGER}, {"deviceId", DB_INTEGER}}},
    .write = write_rank_device_map,
};
