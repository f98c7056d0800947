/* Memory copies: how much each asynchronous copy task moved. */
#ifndef HOST_COPIES_H
#define HOST_COPIES_H

#include "host/records.h"

/* Fill h->memcpys and mark the API calls of copies. copies[n]: sorted records; `type`: the type of copy tasks. */
void copies_assign(struct host_data *h, const struct copy *copies, size_t n, str_id type);

#endif
