/* Descriptions of the tensors of an operator, as outputs show them. */
#ifndef HOST_TENSORS_H
#define HOST_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strpool.h"
#include "decode/host_records.h"

enum tensor_side { TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_SIDES };

struct tensor_texts {
    struct {
        str_id formats, types, shapes; /* "N/A" when there is no tensor on that side */
    } side[TENSOR_SIDES];
    uint32_t count;             /* tensors of any kind */
    bool present[TENSOR_SIDES]; /* there are tensors on that side */
};

/* The two ways in which tensors are shown. */
enum tensor_style {
    TENSORS_LAUNCHED, /* a shape ends at its first 0; unknown types and formats are numbers */
    TENSORS_CAPTURED, /* zeros are left out of a shape; unknown types are UNDEFINED, an unknown format is the whole word
                       */
};

/* Describe tensors[n] (not aligned). */
struct tensor_texts tensors_describe(struct strpool *strings, const void *tensors, size_t n, enum tensor_style style);

/* What an operator without tensors shows. */
struct tensor_texts tensors_none(void);

#endif
