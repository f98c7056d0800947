/* Walking along a plane: single tasks become copies, waits, and RDMA transfers of several tasks.
 *
 *     Notify_Wait | Memcpy | RDMASend payload, payload, notify, wait, notify, wait | Notify_Wait
 *     wait          copy     one transfer: p payloads and what closes it             wait
 *
 * An RDMA transfer is over when its closing tasks are: its time is from the start of the first payload to the end of
 * the last closing task. When the plane ends before that, the payloads count for nothing. */
#include <string.h>

#include "analyze/parts.h"
#include "base/sort.h"

/* ENUM_HCCL_TRANSPORT_TYPE, ENUM_HCCL_RDMA_TYPE */
enum { TRANSPORT_SDMA = 0, TRANSPORT_RDMA = 1, RDMA_SEND_PAYLOAD = 1 };

/* By ENUM_HCCL_LINK_TYPE; all other links count as SDMA. */
static const struct {
    enum comm_step_kind kind;
    enum traffic traffic;
    const char *transport;
} links[] = {
    {STEP_LOCAL, TRAFFIC_SDMA, "LOCAL"}, /* ON_CHIP */
    {STEP_COPY, TRAFFIC_HCCS, "HCCS"},   {STEP_COPY, TRAFFIC_PCIE, "PCIE"}, {STEP_COPY, TRAFFIC_SDMA, NULL}, /* ROCE */
    {STEP_COPY, TRAFFIC_SIO, "SIO"},     {STEP_COPY, TRAFFIC_HCCS, "HCCS"}, /* HCCS_SW */
    {STEP_COPY, TRAFFIC_SDMA, NULL},
};

#define N_LINKS (sizeof links / sizeof *links)

unsigned plane_closing(const char *op_name)
{
    return strcasestr(op_name, "send") || strcasestr(op_name, "receive") ? 3 : 5;
}

static const struct comm_task *task_at(const struct plane *p, size_t i)
{
    return &p->tasks[p->order[i].index];
}

static int64_t size_of(const struct comm_task *t)
{
    return t->size > 0 ? t->size : 0;
}

static bool is_copy(const struct plane *p, const struct comm_task *t)
{
    return t->transport_type == TRANSPORT_SDMA && (t->name == p->copy || t->name == p->reduce);
}

static struct comm_step copy_step(const struct comm_task *t)
{
    size_t link = t->link_type < N_LINKS ? t->link_type : N_LINKS - 1;
    return (struct comm_step){
        .kind = links[link].kind,
        .first = t,
        .bytes = size_of(t),
        .ns = difference(t->end_ns, t->start_ns),
        .traffic = links[link].traffic,
        .transport = links[link].transport,
    };
}

/* The transfer that begins at p->at; false when it is not complete. */
static bool take_transfer(struct plane *p, struct comm_step *s)
{
    const struct comm_task *first = task_at(p, p->at);
    size_t payloads = 0;
    int64_t bytes = 0;
    while (p->at + payloads < p->n && task_at(p, p->at + payloads)->rdma_type == RDMA_SEND_PAYLOAD)
        bytes = sum_of(bytes, size_of(task_at(p, p->at + payloads++)));
    size_t last = p->at + payloads + p->closing - 2;
    p->at = last < p->n ? last + 1 : p->at + payloads;
    if (last >= p->n) return false;
    *s = (struct comm_step){
        .kind = STEP_RDMA,
        .first = first,
        .bytes = bytes,
        .ns = difference(task_at(p, last)->end_ns, first->start_ns),
        .traffic = first->transport_type == TRANSPORT_SDMA ? TRAFFIC_SDMA : TRAFFIC_RDMA,
        .transport = first->transport_type == TRANSPORT_RDMA ? "RDMA" : NULL,
    };
    return true;
}

bool plane_next(struct plane *p, struct comm_step *s)
{
    while (p->at < p->n) {
        const struct comm_task *t = task_at(p, p->at);
        if (is_copy(p, t)) {
            p->at++;
            *s = copy_step(t);
            return true;
        }
        if (t->rdma_type == RDMA_SEND_PAYLOAD) {
            if (take_transfer(p, s)) return true;
            continue;
        }
        p->at++;
        if (t->name != p->notify_wait) continue;
        *s = (struct comm_step){.kind = STEP_WAIT, .first = t, .ns = difference(t->end_ns, t->start_ns)};
        return true;
    }
    return false;
}
