/* The texts that ids of the other tables stand for. */
#include "export/db/tables.h"

static void write_string_ids(struct db_run *run, struct db_table *t)
{
    for (size_t id = 0; id < run->ids.string.used.n; id++) {
        str_id text = run->ids.string.used.at[id];
        db_int(t, (int64_t)id);
        db_text(t, strpool_text(run->ids.strings, text), strpool_length(run->ids.strings, text));
        db_row(t);
    }
}

const struct db_table_kind table_string_ids = {
    .definition = {"STRING_IDS", {{"id", DB_KEY}, {"value", DB_TEXT}}},
    .write = write_string_ids,
};
