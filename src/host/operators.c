/* A struct op is compared by its bytes: all of them are set, the ones behind the last field are zero. */
#include "host/operators.h"

#include <string.h>

#include "host/names.h"

struct op_words op_words(struct strpool *strings)
{
    struct op_words w = {
        .strings = strings,
        .is_static = strpool_add_z(strings, "static"),
        .is_dynamic = strpool_add_z(strings, "dynamic"),
        .yes = strpool_add_z(strings, "YES"),
        .no = strpool_add_z(strings, "NO"),
        .zero = strpool_add_z(strings, "0"),
        .hccl_ai_cpu = strpool_add_z(strings, ge_task_type_name(GE_HCCL_AI_CPU)),
    };
    for (uint32_t i = 0; i < GE_NAMED_TYPES; i++) w.ge_types[i] = strpool_add_z(strings, ge_task_type_name(i));
    return w;
}

void op_begin(struct op *o, str_id name, uint32_t model_id)
{
    memset(o, 0, sizeof *o);
    o->name = name;
    o->type = o->task_type = o->state = o->hf32 = o->grid_dim = o->block_dim = STR_NA;
    o->attr = NONE;
    o->model_id = model_id;
    struct tensor_texts none = tensors_none();
    op_set_tensors(o, &none);
}

void op_set_basic(struct op *o, const struct op_words *words, str_id type, bool hf32, bool dynamic, uint32_t blocks)
{
    o->type = type;
    o->hf32 = hf32 ? words->yes : words->no;
    o->state = dynamic ? words->is_dynamic : words->is_static;
    o->block_num = blocks & 0xFFFF;
    o->mix_block_num = (blocks & 0xFFFF) * (blocks >> 16);
}

void op_set_tensors(struct op *o, const struct tensor_texts *t)
{
    o->input_formats = t->side[TENSOR_INPUT].formats;
    o->input_types = t->side[TENSOR_INPUT].types;
    o->input_shapes = t->side[TENSOR_INPUT].shapes;
    o->output_formats = t->side[TENSOR_OUTPUT].formats;
    o->output_types = t->side[TENSOR_OUTPUT].types;
    o->output_shapes = t->side[TENSOR_OUTPUT].shapes;
    o->tensor_count = t->count;
    o->flags =
        (uint8_t)((t->present[TENSOR_INPUT] ? OP_HAS_INPUTS : 0) | (t->present[TENSOR_OUTPUT] ? OP_HAS_OUTPUTS : 0));
}

str_id op_ge_type(const struct op_words *words, uint32_t ge_type)
{
    if (ge_type < GE_NAMED_TYPES) return words->ge_types[ge_type];
    return ge_type == GE_HCCL_AI_CPU ? words->hccl_ai_cpu : strpool_add_u64(words->strings, ge_type);
}

void op_set_track(struct op *o, const struct track *t, bool dims)
{
    if (t->has_blocks) {
        o->block_num = t->block_num;
        o->mix_block_num = t->mix_block_num;
    }
    if (dims) {
        o->grid_dim = t->grid_dim;
        o->block_dim = t->block_dim;
    }
}

uint32_t op_intern(struct intern *ops, const struct op *o)
{
    return intern_put(ops, o, sizeof *o, NULL);
}

static bool ends_in(const struct strpool *strings, str_id text, const char *end)
{
    size_t n = strpool_length(strings, text), m = strlen(end);
    return n >= m && !memcmp(strpool_text(strings, text) + n - m, end, m);
}

void op_set_flags(struct op *ops, size_t n, struct strpool *strings)
{
    str_id communication = strpool_add_z(strings, "COMMUNICATION");
    const str_id no_compute[] = {strpool_add_z(strings, "WRITE_BACK"), strpool_add_z(strings, "INVALID"),
                                 strpool_add_z(strings, "HCCL_AI_CPU")};
    for (size_t i = 0; i < n; i++) {
        struct op *o = &ops[i];
        if (ends_in(strings, o->name, "AicpuKernel")) o->flags |= OP_AICPU_KERNEL;
        if (ends_in(strings, o->name, "AivKernel")) o->flags |= OP_AIV_KERNEL;
        else if (o->task_type == communication) o->flags |= OP_NOT_COMPUTE_TYPE;
        for (size_t k = 0; k < sizeof no_compute / sizeof *no_compute; k++)
            if (o->task_type == no_compute[k]) o->flags |= OP_NOT_COMPUTE_TYPE;
    }
}
