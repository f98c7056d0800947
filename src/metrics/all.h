/* Every metric, by name: what registry.c lists. */
#ifndef METRICS_ALL_H
#define METRICS_ALL_H

#include "metrics/metric.h"

extern const struct metric metric_hbm, metric_ddr, metric_pcie, metric_hccs, metric_llc, metric_nic, metric_roce,
    metric_npu_mem, metric_netdev, metric_dvpp, metric_llc_text, metric_npu_module_mem;
extern const struct metric metric_ub, metric_ccu, metric_biu_perf, metric_biu_monitor, metric_dpu;
extern const struct metric metric_host_cpu, metric_host_mem, metric_host_disk, metric_host_network, metric_host_calls;
extern const struct metric metric_system_cpu, metric_process_cpu, metric_system_mem, metric_process_mem;
extern const struct metric metric_op_memory, metric_static_op_mem, metric_msproftx;
extern const struct metric metric_sio, metric_acc_pmu, metric_soc_info, metric_qos, metric_chip_trans, metric_l2_cache,
    metric_soc_pmu, metric_voltage;
extern const struct metric metric_core_usage, metric_aicpu;
extern const struct metric metric_ai_cpu, metric_ctrl_cpu, metric_ts_cpu;

#endif
