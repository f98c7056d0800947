/* lpmFreqConv and lpmInfoConv: what the low power management changed, in records of 888 bytes with up to 55 changes of
 * one kind (docs/formats/device-records.md). */
#ifndef DECODE_LPM_H
#define DECODE_LPM_H

#include "decode/records.h"

/* Of a record of lpmInfoConv; lpmFreqConv has frequencies only, and something else in this place. */
enum lpm_type { LPM_FREQUENCY = 0, LPM_CORE_VOLTAGE = 1, LPM_BUS_VOLTAGE = 2 };

/* A change at a count of the device, to MHz or mV. */
typedef void (*lpm_visit)(uint32_t type, uint64_t time, uint32_t value, void *context);

/* Visit every change, in the order of the files. Of several readers of the same files only one should be given `diag`
 * and progress, the others NULL. */
void lpm_each(const struct input_files *files, struct diag *diag, struct progress *progress, lpm_visit visit,
              void *context);

#endif
