/* Turns of fused operators: the steps of communication that the AI CPU went through, and what the cores did meanwhile.
 */
#include "base/map.h"
#include "model/comm.h"

static void add_turns(struct device_model *d, const struct map *stream_of, bool compute)
{
    const struct aicpu_comm *c = &d->data.aicpu;
    size_t n_points = compute ? AICPU_COMPUTE_POINTS : AICPU_COMM_POINTS;
    for (size_t i = 0; i < c->turns.n; i++) {
        const struct aicpu_turn *from = &c->turns.at[i];
        if (from->compute != compute) continue;
        struct comm_turn turn = {.stream_id = from->stream_id, .task_id = from->task_id, .turn = from->turn};
        turn.compute = compute;
        if (turn.stream_id == AICPU_STREAM_OPEN) turn.stream_id = map_get(stream_of, turn.task_id, UINT16_MAX);
        for (size_t k = 0; k < n_points; k++) turn.points[k] = clock_device_ns(&d->dir->clock, from->points[k]);
        array_push(&d->comm_turns, turn);
    }
}

void comm_turns_build(const struct model *m, struct device_model *d)
{
    struct map stream_of = {0};
    if (!d->data.aicpu.turns.n) return;
    if (d->dir->chip->unique_task_ids) model_streams(m, d, &stream_of);
    add_turns(d, &stream_of, true);
    add_turns(d, &stream_of, false);
    map_free(&stream_of);
}
