/* Names of numbers in host records that only the host room needs. NULL = the number has no name. */
#ifndef HOST_NAMES_H
#define HOST_NAMES_H

#include <stdint.h>

/* Task types of the graph engine that rules speak of. */
enum ge_task_type {
    GE_AI_CORE = 0,
    GE_AI_CPU = 1,
    GE_AI_VECTOR_CORE = 2,
    GE_MIX_AIC = 4,
    GE_MIX_AIV = 5,
    GE_FFTS_PLUS = 6,
    GE_COMMUNICATION = 9,
    GE_HCCL_AI_CPU = 256,
};

/* Numbers that all communication enums share, as in the database. */
enum { COMM_RESERVED = 255, COMM_NA = 65534, COMM_INVALID = 65535 };

const char *ge_task_type_name(uint32_t type);
const char *ge_data_type_name(uint32_t type);
const char *ge_format_name(uint32_t base); /* the low 8 bits of a format */

/* A communication enum of a record as the database counts: what does not fit into 16 bits is COMM_INVALID. */
uint16_t comm_number(uint32_t value);

#endif
