/* The tables of the database: each is one `struct db_table_kind` in a file of its group, and one line in tables.c. */
#ifndef EXPORT_DB_TABLES_H
#define EXPORT_DB_TABLES_H

#include <stddef.h>

#include "export/db/ids.h"
#include "export/db/writer.h"
#include "export/export.h"

/* One export: what every table gets. */
struct db_run {
    const struct model *model;
    struct db_ids ids;
    struct diag *diag;
};

struct db_table_kind {
    struct db_definition definition;
    void (*write)(struct db_run *run, struct db_table *t); /* gives the table its rows, if any */

    /* For the table of a metric (metrics/): the rows of what was loaded from a directory. */
    void (*fill)(struct db_run *run, struct db_table *t, const struct prof_dir *dir, const void *data);
};

/* In the order in which they are written, which is the order in which ids are given; the metrics' come before the last.
 */
extern const struct db_table_kind *const db_tables[];
extern const size_t db_n_tables;

/* A value of a column that refers to STRING_IDS. */
static inline void db_string(struct db_run *run, struct db_table *t, str_id text)
{
    db_int(t, ids_string(&run->ids, text));
}

/* The same for a text that is not in the model. */
static inline void db_string_z(struct db_run *run, struct db_table *t, const char *text)
{
    db_string(run, t, strpool_add_z(run->ids.strings, text));
}

/* Identity of a task that the host launched. */
static inline struct db_task_key db_host_task_key(const struct host_task *k)
{
    return (struct db_task_key){k->device_id, k->stream_id, k->task_id, k->context_id, k->batch_id};
}

/* An integer for each of the 64 bits patterns of an unsigned number: its two's complement. */
static inline void db_u64(struct db_table *t, uint64_t value)
{
    db_int(t, (int64_t)value);
}

/* A connection id: 0, "no host counterpart", is shown as -1. */
static inline void db_connection(struct db_table *t, uint32_t connection)
{
    db_int(t, connection ? (int64_t)connection : -1);
}

/* session.c */
extern const struct db_table_kind table_meta_data, table_session_time_info, table_host_info, table_npu_info,
    table_rank_device_map;
/* enums.c */
const char *db_module_name(uint32_t id); /* a component of the device's software, NULL = unknown */
extern const struct db_table_kind table_enum_api_type, table_enum_module, table_enum_hccl_data_type,
    table_enum_hccl_link_type, table_enum_hccl_transport_type, table_enum_hccl_rdma_type, table_enum_mstx_event_type,
    table_enum_memcpy_operation, table_enum_overlap_analysis_type;
/* tasks.c */
extern const struct db_table_kind table_task, table_memcpy_info;
/* operators.c */
extern const struct db_table_kind table_compute_task_info, table_communication_schedule_task_info;
/* overlap.c */
extern const struct db_table_kind table_overlap_analysis;
/* communication.c */
extern const struct db_table_kind table_communication_op, table_communication_task_info;
/* api.c */
extern const struct db_table_kind table_cann_api;
/* pmu.c */
extern const struct db_table_kind table_task_pmu_info;
/* freq.c */
extern const struct db_table_kind table_aicore_freq;
/* strings.c */
extern const struct db_table_kind table_string_ids;

#endif
