/* Every metric, by name: what registry.c lists. */
#ifndef METRICS_ALL_H
#define METRICS_ALL_H

#include "metrics/metric.h"

extern const struct metric metric_hbm, metric_ddr, metric_pcie, metric_hccs, metric_llc, metric_nic, metric_roce,
    metric_npu_mem, metric_netdev, metric_dvpp;
extern const struct metric metric_ub, metric_ccu, metric_biu_perf, metric_dpu;

#endif
