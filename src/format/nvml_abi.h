/* nvml_abi.h: the few types of NVML that memledger uses, as NVML's binary
 * interface has them. NVML itself is only ever found at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVML_ABI_H
#define ML_NVML_ABI_H

#include <stdint.h>

#define ML_NVML_LIBRARY "libnvidia-ml.so.1"
#define ML_NVML_UUID_BYTES 96

typedef void *ml_nvml_device;

/* nvmlDeviceGetMemoryInfo: here `used` includes what driver and firmware keep. */
struct ml_nvml_memory {
    unsigned long long total, free, used;
};

/* nvmlDeviceGetMemoryInfo_v2: here it does not. */
struct ml_nvml_memory_v2 {
    unsigned version; /* ML_NVML_MEMORY_V2 */
    unsigned long long total, reserved, free, used;
};
#define ML_NVML_MEMORY_V2 (sizeof(struct ml_nvml_memory_v2) | 2u << 24)

/* nvmlDeviceGetComputeRunningProcesses; `used` is all ones where it is not known. */
struct ml_nvml_process {
    unsigned pid;
    unsigned long long used;
};

/* Its _v2 and _v3, which tell the parts of a divided GPU. */
struct ml_nvml_process_v2 {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

#define ML_NVML_NOT_AVAILABLE UINT64_MAX

#endif
