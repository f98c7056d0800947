/* What launched communication (communication.c) and communication on the AI CPU (comm_aicpu.c) have in common. Internal
 * to the room. */
#ifndef MODEL_COMM_H
#define MODEL_COMM_H

#include "base/format.h"
#include "model/parts.h"

#define RDMA_SEND_PAYLOAD 1 /* ENUM_HCCL_RDMA_TYPE */

/* ---- comm_names.c: names of operators that ran --------------------------------------------------------------------
 */

/* A group as it enters names: its decimal key, "N/A" when it is not known. */
struct comm_group_text {
    char text[FORMAT_U64 + 1];
};

struct comm_group_text comm_group_text(str_id group, uint64_t group_key);

/* "hcom_allReduce__538_0_1": the name of the operator, the last three characters of its group, which operator of the
 * group it was (-1 = it ran before the collection), which run of its launch. */
str_id comm_name(const struct model *m, str_id op_name, const struct comm_group_text *group, int64_t index,
                 uint32_t iteration);

/* What tells operators of all groups and devices apart. */
str_id comm_key(const struct model *m, str_id name, const struct comm_group_text *group, uint16_t device_id);

/* Which operators are numbered together: those of a group, in two kinds (name with and without AicpuKernel). */
uint64_t comm_counter(const struct model *m, str_id op_name, str_id group, uint64_t group_key);

/* ---- comm_rates.c: how fast sub-tasks moved their bytes ------------------------------------------------------------
 */

struct transfer {
    double start, end; /* raw ns */
    double bytes;
    uint64_t lane; /* what follows each other: operator and plane */
    str_id name;   /* tells how many tasks close an RDMA transfer */
    bool is_payload;
    double rate; /* GB/s: the result */
};

/* Fill in the rates of t[n], which are in order of execution. by_scripts: last digits as of the reference's scripts. */
void transfer_rates(const struct model *m, struct transfer *t, size_t n, bool by_scripts);

/* ---- comm_aicpu.c --------------------------------------------------------------------------------------------------
 */

/* A run of a launched operator. */
struct comm_run {
    uint32_t host_op, iteration;
    str_id name, key;
    str_id group;
    uint32_t op; /* index in device.comm_ops, NONE as in struct comm_task */
};

struct comm_runs {
    ARRAY(struct comm_run) runs;
    struct map index; /* comm_run_key -> index in runs */
};

static inline uint64_t comm_run_key(uint32_t host_op, uint32_t iteration)
{
    return (uint64_t)host_op << 32 | iteration;
}

/* Append the rows of what the AI CPU unfolded. `runs` are the launched operators, which some of it belongs to. */
void comm_aicpu_build(const struct model *m, struct device_model *d, const uint32_t *host_of,
                      const struct comm_runs *runs, struct diag *diag);

/* ---- comm_turns.c --------------------------------------------------------------------------------------------------
 */

/* Make comm_turns. */
void comm_turns_build(const struct model *m, struct device_model *d);

/* ---- comm_lanes.c: order and lanes ---------------------------------------------------------------------------------
 */

/* Put comm_ops and comm_tasks in their order, make comm_groups and fill in all lanes. */
void comm_finish(struct device_model *d);

#endif
