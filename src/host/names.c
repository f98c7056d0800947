/* What the numbers in host records are called. Tables by number; NULL where a number has no name. */
#include "host/names.h"

#include <stddef.h>

#include "base/format.h"
#include "host/host.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *const acl_tags[] = {
    [1] = "ACL_OP",      [2] = "ACL_MODEL", [3] = "ACL_RTS",  [4] = "ACL_OTHERS", [5] = "ACL_NN",
    [6] = "ACL_ASCENDC", [7] = "HOST_HCCL", [9] = "ACL_DVPP", [10] = "ACL_GRAPH", [11] = "ACL_ATB",
};

struct level_name {
    uint16_t level;
    const char *name;
};

static const struct level_name levels[] = {
    {LEVEL_ACL, "acl"},         {LEVEL_MODEL, "model"}, {LEVEL_NODE, "node"}, {LEVEL_COMMUNICATION, "communication"},
    {LEVEL_RUNTIME, "runtime"},
};

static const char *const comm_data_types[] = {
    [0] = "INT8",    [1] = "INT16", [2] = "INT32",    [3] = "FP16",     [4] = "FP32",     [5] = "INT64",
    [6] = "UINT64",  [7] = "UINT8", [8] = "UINT16",   [9] = "UINT32",   [10] = "FP64",    [11] = "BFP16",
    [12] = "INT128", [14] = "HIF8", [15] = "FP8E4M3", [16] = "FP8E5M2", [17] = "FP8E8M0",
};

static const char *const comm_link_types[] = {
    "ON_CHIP", "HCCS", "PCIE", "ROCE", "SIO", "HCCS_SW", "STANDARD_ROCE", "UB", "UBoE",
};

static const char *const comm_transport_types[] = {"SDMA", "RDMA", "LOCAL", "UB", "ROCE"};

static const char *const comm_rdma_types[] = {"RDMA_SEND_NOTIFY", "RDMA_SEND_PAYLOAD"};

static const char *const memcpy_directions[] = {
    "host to host",   "host to device",        "device to host",    "device to device",
    "managed memory", "addr device to device", "host to device ex", "device to host ex",
};

static const char *const ge_task_types[] = {
    "AI_CORE",   "AI_CPU",  "AI_VECTOR_CORE", "WRITE_BACK",    "MIX_AIC", "MIX_AIV",
    "FFTS_PLUS", "DSA_SQE", "DVPP",           "COMMUNICATION", "FUSION",  "INVALID",
};

static const char *const data_types[] = {
    [0] = "FLOAT",
    [1] = "FLOAT16",
    [2] = "INT8",
    [3] = "INT32",
    [4] = "UINT8",
    [6] = "INT16",
    [7] = "UINT16",
    [8] = "UINT32",
    [9] = "INT64",
    [10] = "UINT64",
    [11] = "DOUBLE",
    [12] = "BOOL",
    [13] = "STRING",
    [14] = "DUAL_SUB_INT8",
    [15] = "DUAL_SUB_UINT8",
    [16] = "COMPLEX64",
    [17] = "COMPLEX128",
    [18] = "QINT8",
    [19] = "QINT16",
    [20] = "QINT32",
    [21] = "QUINT8",
    [22] = "QUINT16",
    [23] = "RESOURCE",
    [24] = "STRING_REF",
    [25] = "DUAL",
    [26] = "DT_VARIANT",
    [27] = "DT_BF16",
    [28] = "DT_UNDEFINED",
    [29] = "DT_INT4",
    [30] = "DT_UINT1",
    [31] = "DT_INT2",
    [32] = "DT_UINT2",
    [33] = "DT_COMPLEX32",
    [34] = "DT_HIFLOAT8",
    [35] = "DT_FLOAT8_E5M2",
    [36] = "DT_FLOAT8_E4M3FN",
    [37] = "DT_FLOAT8_E8M0",
    [38] = "DT_FLOAT6_E3M2",
    [39] = "DT_FLOAT6_E2M3",
    [40] = "DT_FLOAT4_E2M1",
    [41] = "DT_FLOAT4_E1M2",
    [42] = "DT_MAX",
    [229] = "NUMBER_TYPE_BEGIN_",
    [230] = "BOOL_",
    [231] = "INT_",
    [232] = "INT8_",
    [233] = "INT16_",
    [234] = "INT32_",
    [235] = "INT64_",
    [236] = "UINT_",
    [237] = "UINT8_",
    [238] = "UINT16_",
    [239] = "UINT32_",
    [240] = "UINT64_",
    [241] = "FLOAT_",
    [242] = "FLOAT16_",
    [243] = "FLOAT32_",
    [244] = "FLOAT64_",
    [245] = "COMPLEX_",
    [246] = "NUMBER_TYPE_END_",
};

static const char *const formats[256] = {
    [0] = "NCHW",
    [1] = "NHWC",
    [2] = "ND",
    [3] = "NC1HWC0",
    [4] = "FRACTAL_Z",
    [5] = "NC1C0HWPAD",
    [6] = "NHWC1C0",
    [7] = "FSR_NCHW",
    [8] = "FRACTAL_DECONV",
    [9] = "C1HWNC0",
    [10] = "FRACTAL_DECONV_TRANSPOSE",
    [11] = "FRACTAL_DECONV_SP_STRIDE_TRANS",
    [12] = "NC1HWC0_C04",
    [13] = "FRACTAL_Z_C04",
    [14] = "CHWN",
    [15] = "FRACTAL_DECONV_SP_STRIDE8_TRANS",
    [16] = "HWCN",
    [17] = "NC1KHKWHWC0",
    [18] = "BN_WEIGHT",
    [19] = "FILTER_HWCK",
    [20] = "HASHTABLE_LOOKUP_LOOKUPS",
    [21] = "HASHTABLE_LOOKUP_KEYS",
    [22] = "HASHTABLE_LOOKUP_VALUE",
    [23] = "HASHTABLE_LOOKUP_OUTPUT",
    [24] = "HASHTABLE_LOOKUP_HITS",
    [25] = "C1HWNCoC0",
    [26] = "MD",
    [27] = "NDHWC",
    [28] = "FRACTAL_ZZ",
    [29] = "FRACTAL_NZ",
    [30] = "NCDHW",
    [31] = "DHWCN",
    [32] = "NDC1HWC0",
    [33] = "FRACTAL_Z_3D",
    [34] = "CN",
    [35] = "NC",
    [36] = "DHWNC",
    [37] = "FRACTAL_Z_3D_TRANSPOSE",
    [38] = "FRACTAL_ZN_LSTM",
    [39] = "FRACTAL_Z_G",
    [40] = "RESERVED",
    [41] = "ALL",
    [42] = "NULL",
    [43] = "ND_RNN_BIAS",
    [44] = "FRACTAL_ZN_RNN",
    [45] = "END",
    [46] = "unknown",
    [47] = "NCL",
    [48] = "FRACTAL_Z_WINO",
    [49] = "C1HWC0",
    [50] = "FRACTAL_NZ_C0_16",
    [51] = "FRACTAL_NZ_C0_32",
    [52] = "FRACTAL_NZ_C0_2",
    [53] = "FRACTAL_NZ_C0_4",
    [54] = "FRACTAL_NZ_C0_8",
    [55] = "END",
    [200] = "UNKNOWN_",
    [201] = "DEFAULT_",
    [202] = "NC1KHKWHWC0_",
    [203] = "ND_",
    [204] = "NCHW_",
    [205] = "NHWC_",
    [206] = "HWCN_",
    [207] = "NC1HWC0_",
    [208] = "FRAC_Z_",
    [209] = "C1HWNCOC0_",
    [210] = "FRAC_NZ_",
    [211] = "NC1HWC0_C04_",
    [212] = "FRACTAL_Z_C04_",
    [213] = "NDHWC_",
    [214] = "FRACTAL_ZN_LSTM_",
    [215] = "FRACTAL_ZN_RNN_",
    [216] = "ND_RNN_BIAS_",
    [217] = "NDC1HWC0_",
    [218] = "NCDHW_",
    [219] = "FRACTAL_Z_3D_",
    [220] = "DHWNC_",
    [221] = "DHWCN_",
    [255] = "MAX",
};

const char *host_acl_tag_name(uint16_t tag, char buf[8])
{
    if (tag < COUNT(acl_tags) && acl_tags[tag]) return acl_tags[tag];
    *format_u64(buf, tag) = '\0';
    return buf;
}

const char *host_level_name(uint16_t level)
{
    for (size_t i = 0; i < COUNT(levels); i++)
        if (levels[i].level == level) return levels[i].name;
    return NULL;
}

const char *host_script_level_name(uint16_t level, char buf[8])
{
    static const struct level_name more[] = {{LEVEL_PYTORCH, "pytorch"}, {LEVEL_PTA, "pta"}, {LEVEL_TX, "msproftx"}};
    const char *name = host_level_name(level);
    for (size_t i = 0; i < COUNT(more) && !name; i++)
        if (more[i].level == level) name = more[i].name;
    if (!name) *format_u64(buf, level) = '\0';
    return name ? name : buf;
}

/* Names of a communication enum, with the three numbers that all of them share. */
static const char *comm_name(const char *const *names, size_t n, uint16_t value)
{
    static const struct {
        uint16_t value;
        const char *name;
    } shared[] = {{COMM_RESERVED, "RESERVED"}, {COMM_NA, "N/A"}, {COMM_INVALID, "INVALID_TYPE"}};
    if (value < n) return names[value];
    for (size_t i = 0; i < COUNT(shared); i++)
        if (shared[i].value == value) return shared[i].name;
    return NULL;
}

const char *comm_data_type_name(uint16_t value)
{
    return comm_name(comm_data_types, COUNT(comm_data_types), value);
}

const char *comm_link_type_name(uint16_t value)
{
    return comm_name(comm_link_types, COUNT(comm_link_types), value);
}

const char *comm_transport_type_name(uint16_t value)
{
    return comm_name(comm_transport_types, COUNT(comm_transport_types), value);
}

const char *comm_rdma_type_name(uint16_t value)
{
    return comm_name(comm_rdma_types, COUNT(comm_rdma_types), value);
}

uint16_t comm_number(uint32_t value)
{
    return value > UINT16_MAX ? COMM_INVALID : (uint16_t)value;
}

const char *memcpy_direction_name(uint16_t direction)
{
    return direction < COUNT(memcpy_directions) ? memcpy_directions[direction] : "other";
}

const char *ge_task_type_name(uint32_t type)
{
    if (type == GE_HCCL_AI_CPU) return "HCCL_AI_CPU";
    return type < COUNT(ge_task_types) ? ge_task_types[type] : NULL;
}

const char *ge_data_type_name(uint32_t type)
{
    if (type == UINT32_MAX) return "UNDEFINED";
    return type < COUNT(data_types) ? data_types[type] : NULL;
}

const char *ge_format_name(uint32_t base)
{
    return base < COUNT(formats) ? formats[base] : NULL;
}
