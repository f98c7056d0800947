/* CANN: the API calls of the host, a thread of the trace per thread of the process; then the starts of the arrows to
 * what the calls launched on the devices. */
#include "export/timeline/timeline.h"

#include <ctype.h>
#include <stdio.h>

/* What a call is called: the level's prefix, and the text that names it there. */
static const struct level_prefix {
    uint16_t level;
    const char *prefix;
} prefixes[] = {
    {LEVEL_ACL, "AscendCL@"},    {LEVEL_MODEL, "Model@"},
    {LEVEL_NODE, "Node@"},       {LEVEL_COMMUNICATION, "Communication@"},
    {LEVEL_RUNTIME, "Runtime@"},
};

static const char *level_prefix(uint16_t level)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (prefixes[i].level == level) return prefixes[i].prefix;
    return "Api@";
}

/* At the acl level the mode is the kind of interface and the id names the call; elsewhere the mode names the call. */
static void mode_and_id(struct trace *t, const struct api *a, const char *level)
{
    char buf[8];
    if (a->level == LEVEL_ACL) trace_arg_text(t, "Mode", host_acl_tag_name(a->acl_tag, buf));
    else trace_arg_string(t, "Mode", a->name);
    trace_arg_text(t, "level", level);
    if (a->level == LEVEL_ACL) trace_arg_string(t, "id", a->name);
    else trace_arg_text(t, "id", "0");
}

/* The prefix of a call's name. The scripts know more levels; their prefix begins with a capital letter. */
static void prefix(struct trace *t, uint16_t level, const char *name)
{
    if (host_level_name(level) || !t->model->session->script_timeline) {
        out_text(&t->out, level_prefix(level));
        return;
    }
    out_char(&t->out, (char)toupper((unsigned char)*name));
    out_text(&t->out, name + 1);
    out_char(&t->out, '@');
}

static void call(struct trace *t, uint32_t pid, const struct api *a, uint32_t connection)
{
    char buf[8];
    const char *level = host_level_name(a->level);
    if (!level) level = t->model->session->script_timeline ? host_script_level_name(a->level, buf) : "";
    trace_begin(t);
    prefix(t, a->level, level);
    trace_text(t, a->level == LEVEL_COMMUNICATION ? a->item : a->name);
    trace_slice(t, pid, (int32_t)a->thread_id, a->start_ns, a->end_ns, NULL);
    trace_arg_u64(t, "Thread Id", a->thread_id);
    mode_and_id(t, a, level);
    trace_arg_string(t, "item_id", a->item);
    trace_arg_u64(t, "connection_id", connection);
    trace_end(t);
}

static void threads(struct trace *t, uint32_t pid)
{
    const struct host_data *h = &t->model->host;
    for (size_t i = 0; i < h->threads.n; i++) {
        uint32_t id = h->threads.at[i];
        char name[32];
        snprintf(name, sizeof name, "Thread %u", id);
        trace_thread(t, pid, (int32_t)id, name, id);
    }
}

void cann_write(struct trace *t, const struct layer *layer)
{
    const struct host_data *h = &t->model->host;
    const struct prof_dir *dir = t->model->session->host;
    if (!dir || !h->threads.n) return;
    uint32_t pid = layer_pid(layer, dir);
    bool scripts = t->model->session->script_timeline;
    layer_process(t, layer, dir);
    threads(t, pid);
    for (size_t i = 0; i < h->apis.n; i++)
        if (api_shown(&h->apis.at[i], scripts)) call(t, pid, &h->apis.at[i], (uint32_t)i + 1);
    if (scripts) return; /* there the arrows are drawn with what they lead to */
    for (size_t i = 0; i < h->apis.n; i++) {
        const struct api *a = &h->apis.at[i];
        if ((a->flags & (API_EXPORTED | API_FLOW_START)) == (API_EXPORTED | API_FLOW_START))
            trace_flow_start(t, pid, (int32_t)a->thread_id, (uint32_t)i + 1, a->start_ns);
    }
}
