/* smi_columns.h: the columns and times of nvidia-smi's tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SMI_COLUMNS_H
#define ML_SMI_COLUMNS_H

#include "slice.h"

#define ML_SMI_COLUMNS_MAX 64

enum ml_smi_column {
    ML_SMI_OTHER,
    ML_SMI_USED,
    ML_SMI_FREE,
    ML_SMI_TOTAL,
    ML_SMI_TIMESTAMP,
    ML_SMI_INDEX,
    ML_SMI_IDENTITY, /* uuid, pci.bus_id, serial */
    ML_SMI_NAME,
};

struct ml_smi_columns {
    enum ml_smi_column kinds[ML_SMI_COLUMNS_MAX];
    unsigned count;
};

/* "timestamp, memory.used [MiB]". @return whether it names a column of memory */
bool ml_smi_columns_named(struct ml_slice line, struct ml_smi_columns *ret);

/* "2024/01/31 23:59:59.999" as nanoseconds; the time zone is unknown. */
bool ml_smi_time(struct ml_slice text, uint64_t *ret_ns);

#endif
