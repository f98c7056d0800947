/* Names of communication operators that ran. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "model/comm.h"

#define NAME_ROOM 1024 /* longer names are cut */

struct comm_group_text comm_group_text(str_id group, uint64_t group_key)
{
    struct comm_group_text t = {"N/A"};
    if (group != STR_NA) *format_u64(t.text, group_key) = '\0';
    return t;
}

static str_id add(const struct model *m, const char *text, int n)
{
    return strpool_add(m->strings, text, (size_t)n < NAME_ROOM ? (size_t)n : NAME_ROOM - 1);
}

str_id comm_name(const struct model *m, str_id op_name, const struct comm_group_text *group, int64_t index,
                 uint32_t iteration)
{
    char text[NAME_ROOM];
    size_t length = strlen(group->text);
    int n = snprintf(text, sizeof text, "%.900s_%s_%lld_%u", model_text(m, op_name),
                     group->text + (length > 3 ? length - 3 : 0), (long long)index, iteration);
    return add(m, text, n);
}

str_id comm_key(const struct model *m, str_id name, const struct comm_group_text *group, uint16_t device_id)
{
    char text[NAME_ROOM];
    int n = snprintf(text, sizeof text, "%.950s_%s_%u", model_text(m, name), group->text, device_id);
    return add(m, text, n);
}

uint64_t comm_counter(const struct model *m, str_id op_name, str_id group, uint64_t group_key)
{
    bool on_aicpu = strstr(model_text(m, op_name), "AicpuKernel") != NULL;
    return hash_u64(group == STR_NA ? 0 : group_key + 1) * 2 + on_aicpu;
}
