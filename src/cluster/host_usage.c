#include "cluster/parts.h"

int answer_host_usage(struct asking *q)
{
    return answer_fail(q, NPUPROF_OK, "not there yet");
}
