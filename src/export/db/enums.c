/* What the numbers in columns mean: tables of (id, name), the same in every database. */
#include <string.h>

#include "export/db/tables.h"

struct name {
    uint16_t id;
    const char *name;
};

static void put(struct db_table *t, uint16_t id, const char *name)
{
    db_int(t, id);
    db_text(t, name, strlen(name));
    db_row(t);
}

static void put_names(struct db_table *t, const struct name *names, size_t n)
{
    for (size_t i = 0; i < n; i++) put(t, names[i].id, names[i].name);
}

/* Names that the host room knows: numbers of a byte, and the two that stand for "no value" and "unknown". */
static void put_known(struct db_table *t, const char *(*name_of)(uint16_t))
{
    for (uint32_t id = 0; id <= UINT16_MAX; id = id == UINT8_MAX ? UINT16_MAX - 1 : id + 1)
        if (name_of((uint16_t)id)) put(t, (uint16_t)id, name_of((uint16_t)id));
}

#define ENUM_TABLE(variable, table, rows)                                                                              \
    static void write_##variable(struct db_run *run, struct db_table *t)                                               \
    {                                                                                                                  \
        (void)run;                                                                                                     \
        rows;                                                                                                          \
    }                                                                                                                  \
    const struct db_table_kind table_##variable = {                                                                    \
        .definition = {table, {{"id", DB_KEY}, {"name", DB_TEXT}}},                                                    \
        .write = write_##variable,                                                                                     \
    }

#define NAMES(array) put_names(t, array, sizeof(array) / sizeof *(array))

static const struct name api_types[] = {
    {LEVEL_RUNTIME, "runtime"}, {LEVEL_COMMUNICATION, "communication"}, {LEVEL_NODE, "node"}, {LEVEL_MODEL, "model"},
    {LEVEL_ACL, "acl"},
};
ENUM_TABLE(enum_api_type, "ENUM_API_TYPE", NAMES(api_types));

static const struct name modules[] = {
    {0, "SLOG"},        {1, "IDEDD"},     {2, "SCC"},
    {3, "HCCL"},        {4, "FMK"},       {5, "CCU"},
    {6, "DVPP"},        {7, "RUNTIME"},   {8, "CCE"},
    {9, "HDC"},         {10, "DRV"},      {11, "NET"},
    {22, "DEVMM"},      {23, "KERNEL"},   {24, "LIBMEDIA"},
    {25, "CCECPU"},     {27, "ROS"},      {28, "HCCP"},
    {29, "ROCE"},       {30, "TEFUSION"}, {31, "PROFILING"},
    {32, "DP"},         {33, "APP"},      {34, "TS"},
    {35, "TSDUMP"},     {36, "AICPU"},    {37, "LP"},
    {38, "TDT"},        {39, "FE"},       {40, "MD"},
    {41, "MB"},         {42, "ME"},       {43, "IMU"},
    {44, "IMP"},        {45, "GE"},       {47, "CAMERA"},
    {48, "ASCENDCL"},   {49, "TEEOS"},    {50, "ISP"},
    {51, "SIS"},        {52, "HSM"},      {53, "DSS"},
    {54, "PROCMGR"},    {55, "BBOX"},     {56, "AIVECTOR"},
    {57, "TBE"},        {58, "FV"},       {60, "TUNE"},
    {61, "HSS"},        {62, "FFTS"},     {63, "OP"},
    {64, "UDF"},        {65, "HICAID"},   {66, "TSYNC"},
    {67, "AUDIO"},      {68, "TPRT"},     {69, "ASCENDCKERNEL"},
    {70, "ASYS"},       {71, "ATRACE"},   {72, "RTC"},
    {73, "SYSMONITOR"}, {74, "AMP"},      {75, "ADETECT"},
    {76, "MBUFF"},      {77, "CUSTOM"},
};
ENUM_TABLE(enum_module, "ENUM_MODULE", NAMES(modules));

const char *db_module_name(uint32_t id)
{
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (modules[i].id == id) return modules[i].name;
    return NULL;
}

ENUM_TABLE(enum_hccl_data_type, "ENUM_HCCL_DATA_TYPE", put_known(t, comm_data_type_name));
ENUM_TABLE(enum_hccl_link_type, "ENUM_HCCL_LINK_TYPE", put_known(t, comm_link_type_name));
ENUM_TABLE(enum_hccl_transport_type, "ENUM_HCCL_TRANSPORT_TYPE", put_known(t, comm_transport_type_name));
ENUM_TABLE(enum_hccl_rdma_type, "ENUM_HCCL_RDMA_TYPE", put_known(t, comm_rdma_type_name));

static const struct name mark_types[] = {{0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}};
ENUM_TABLE(enum_mstx_event_type, "ENUM_MSTX_EVENT_TYPE", NAMES(mark_types));

#define MEMCPY_DIRECTIONS 8
#define MEMCPY_OTHER      UINT16_MAX

static void put_directions(struct db_table *t)
{
    for (uint16_t id = 0; id < MEMCPY_DIRECTIONS; id++) put(t, id, memcpy_direction_name(id));
    put(t, MEMCPY_OTHER, memcpy_direction_name(MEMCPY_OTHER));
}
ENUM_TABLE(enum_memcpy_operation, "ENUM_MEMCPY_OPERATION", put_directions(t));

static const struct name overlap_types[] = {
    {OVERLAP_COMPUTE, "COMPUTE"},
    {OVERLAP_COMMUNICATION, "COMMUNICATION"},
    {OVERLAP_NOT_OVERLAPPED, "COMM_NOT_OVERLAP_COMP"},
    {OVERLAP_FREE, "FREE"},
    {UINT16_MAX, "RESERVE"},
};
ENUM_TABLE(enum_overlap_analysis_type, "ENUM_OVERLAP_ANALYSIS_TYPE", NAMES(overlap_types));
