/* Operator descriptions (struct op), interned by content. */
#ifndef HOST_OPERATORS_H
#define HOST_OPERATORS_H

#include "host/records.h"

/* Texts that operator descriptions are made of. */
#define GE_NAMED_TYPES 12

struct op_words {
    struct strpool *strings;
    str_id is_static, is_dynamic, yes, no, zero;
    str_id ge_types[GE_NAMED_TYPES];
    str_id hccl_ai_cpu;
};

struct op_words op_words(struct strpool *strings);

/* An operator of which only the name is known: all texts "N/A". Sets every byte of *o. */
void op_begin(struct op *o, str_id name, uint32_t model_id);

/* Facts of its node_basic_info, tensors and attributes. */
void op_set_basic(struct op *o, const struct op_words *words, str_id type, bool hf32, bool dynamic, uint32_t blocks);
void op_set_tensors(struct op *o, const struct tensor_texts *t);

/* Text of a task type of the graph engine. */
str_id op_ge_type(const struct op_words *words, uint32_t ge_type);

/* What the task says itself: blocks and, if `dims`, grid and block dimensions. */
void op_set_track(struct op *o, const struct track *t, bool dims);

/* The number of an operator with this content. */
uint32_t op_intern(struct intern *ops, const struct op *o);

/* Set the flags that follow from name and type. */
void op_set_flags(struct op *ops, size_t n, struct strpool *strings);

#endif
