/* API calls of the host: decoded, paired, sorted; later turned into what outputs show. */
#ifndef HOST_APIS_H
#define HOST_APIS_H

#include "host/records.h"

/* Names of API calls that rules speak of. */
struct api_names {
    str_id step_info;    /* level node */
    str_id model_load;   /* level model */
    str_id master;       /* level communication */
    str_id record_event; /* level acl */
    str_id wait_event;
};

struct api_names api_names(struct strpool *strings);

/* Fill host.apis with all calls in order, times as host counts. */
void apis_load(struct records *r);

/* Model id of a call of level model. */
uint32_t api_model_id(const struct strpool *strings, const struct api *a);

/* Once tasks and times are no longer needed as counts: times become epoch ns, flags and host.threads are set. */
void apis_finish(struct host_data *h, const struct session *s, const struct api_names *names, unsigned threads);

#endif
