#include "cluster/parts.h"

bool parallel_is_told(const struct prof_dir *dir)
{
    return prof_dir_files(dir, INPUT_PARALLEL_STRATEGY)->n > 0;
}

void parallel_gather(struct cluster_device *d, const struct model *m, const struct device_model *device,
                     struct diag *diag)
{
    (void)d, (void)m, (void)device, (void)diag;
}

int answer_parallel_advice(struct asking *q)
{
    return answer_fail(q, NPUPROF_OK, "not there yet");
}

int answer_parallel(struct asking *q)
{
    return answer_fail(q, NPUPROF_OK, "not there yet");
}
