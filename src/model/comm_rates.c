/* Rates of sub-tasks: bytes per time, and for RDMA transfers as a whole.
 *
 *     lane    payload payload | notify wait notify wait
 *             <---------- one rate ----------->           the tasks behind the payloads belong to the transfer */
#include <ctype.h>
#include <string.h>

#include "base/sort.h"
#include "model/comm.h"

struct rates {
    const struct model *m;
    struct transfer *t;
    bool by_scripts;
};

/* Tasks of an RDMA transfer from its last payload to the one that closes it. */
static size_t transfer_tail(const char *name)
{
    char lower[256];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof lower; n++) lower[n] = (char)tolower((unsigned char)name[n]);
    lower[n] = '\0';
    return strstr(lower, "send") || strstr(lower, "receive") ? 3 : 5;
}

/* The scripts divide GB by s, of several payloads MB by ms: that shows in the last digit. */
static double rate(const struct rates *r, double bytes, double ns, bool several)
{
    if (ns <= 0) return 0.0;
    if (!r->by_scripts) return bytes / ns;
    return several ? bytes / 1e6 / (ns / 1e6) : bytes * 1e-9 / (ns * 1e-9);
}

static void own_rate(const struct rates *r, struct transfer *t)
{
    t->rate = rate(r, t->bytes, t->end - t->start, false);
}

/* The tasks that close a transfer. The scripts do not look for payloads among them. */
static void closing_rates(const struct rates *r, const struct sort_key *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct transfer *t = &r->t[list[i].index];
        if (t->is_payload) t->rate = -1;
        else own_rate(r, t);
    }
}

/* list[n]: a lane. A run of payloads shares the rate from its start to the end of the transfer that closes it. */
static void lane_rates(const struct rates *r, const struct sort_key *list, size_t n)
{
    size_t tail = transfer_tail(model_text(r->m, r->t[list[0].index].name));
    for (size_t k = 0; k < n;) {
        struct transfer *first = &r->t[list[k].index];
        size_t run = 0;
        double bytes = 0;
        while (k + run < n && r->t[list[k + run].index].is_payload) bytes += r->t[list[k + run++].index].bytes;
        size_t close = k + run + tail - 2;
        if (run && close < n) {
            double shared = rate(r, bytes, r->t[list[close].index].end - first->start, true);
            for (size_t i = 0; i < run; i++) r->t[list[k + i].index].rate = shared;
            k += run;
            if (!r->by_scripts) continue;
            closing_rates(r, list + k, close + 1 - k);
            k = close + 1;
            continue;
        }
        if (!run) run = 1;
        for (size_t i = 0; i < run; i++, k++) own_rate(r, &r->t[list[k].index]); /* also of a transfer without end */
    }
}

void transfer_rates(const struct model *m, struct transfer *t, size_t n, bool by_scripts)
{
    struct rates r = {m, t, by_scripts};
    struct sort_key *order = mem_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++) order[i] = (struct sort_key){t[i].lane, (uint32_t)i};
    sort_keys(order, n);
    for (size_t from = 0, i = 0; i < n; i++) {
        if (i + 1 < n && order[i + 1].key == order[i].key) continue;
        lane_rates(&r, order + from, i + 1 - from);
        from = i + 1;
    }
    free(order);
}
