/* Every metric, by name: what registry.c lists. */
#ifndef METRICS_ALL_H
#define METRICS_ALL_H

#include "metrics/metric.h"

extern const struct metric metric_hbm, metric_ddr, metric_pcie, metric_hccs, metric_llc, metric_npu_mem;

#endif
