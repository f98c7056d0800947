/* Marks of the user on a device: step records that the runtime put into a stream where the program set a mark (mstx).
 *
 * Before CANN 9.1 all records of one index are one mark: it lasts from the first to the last. Since then tag 11 is a
 * point in time, and records with tag 12 are the two ends of a range, by index and time. */
#include "base/sort.h"
#include "device/parts.h"

static void add_mark(struct device_data *d, const struct step_record *first, uint64_t end, const struct clock *clock)
{
    array_push(&d->marks, ((struct device_mark){
                              .start_ns = clock_device_ns(clock, first->time),
                              .end_ns = clock_device_ns(clock, end),
                              .index = first->index,
                              .stream_id = first->stream,
                              .task_id = first->task,
                              .model_id = first->model > UINT32_MAX ? UINT32_MAX : (uint32_t)first->model,
                          }));
}

/* The records with one of the tags, by (index, time). */
static size_t sorted(const step_records *records, bool points, struct sort_key **out)
{
    struct sort_key *order = mem_alloc(records->n * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < records->n; i++) {
        uint16_t tag = records->at[i].tag;
        if (tag == STEP_RANGE || (points && tag == STEP_MARK))
            order[n++] = (struct sort_key){records->at[i].time, (uint32_t)i};
    }
    sort_keys(order, n);
    for (size_t i = 0; i < n; i++) order[i].key = records->at[order[i].index].index;
    sort_keys(order, n);
    *out = order;
    return n;
}

static void merge_by_index(struct device_data *d, const step_records *records, const struct clock *clock)
{
    struct sort_key *order;
    size_t n = sorted(records, true, &order);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && order[end].key == order[i].key;) end++;
        add_mark(d, &records->at[order[i].index], records->at[order[end - 1].index].time, clock);
    }
    free(order);
}

static void points_and_ranges(struct device_data *d, const step_records *records, const struct device_source *from)
{
    const struct clock *clock = &from->dir->clock;
    for (size_t i = 0; i < records->n; i++)
        if (records->at[i].tag == STEP_MARK) add_mark(d, &records->at[i], records->at[i].time, clock);
    struct sort_key *order;
    size_t n = sorted(records, false, &order), i = 0, unpaired = 0;
    while (i < n) {
        bool pair = i + 1 < n && order[i + 1].key == order[i].key;
        if (pair) add_mark(d, &records->at[order[i].index], records->at[order[i + 1].index].time, clock);
        unpaired += !pair;
        i += pair ? 2 : 1;
    }
    free(order);
    diag_count(from->diag, DIAG_WARNING, from->dir->name, DIAG_NO_OFFSET, unpaired,
               "mark range with one end only left out");
}

void marks_build(struct device_data *d, const step_records *records, const struct device_source *from)
{
    const struct metadata *m = &from->dir->meta;
    bool ranges = m->cann_major > 9 || (m->cann_major == 9 && m->cann_minor >= 1);
    if (ranges) points_and_ranges(d, records, from);
    else merge_by_index(d, records, &from->dir->clock);
}
