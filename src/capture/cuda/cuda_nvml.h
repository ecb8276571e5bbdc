/* cuda_nvml.h: the driver's figures for each device, read inside the target.
 *
 * NVML is opened when the program itself starts the CUDA driver, never before: it costs a program
 * without CUDA nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_NVML_H
#define ML_CUDA_NVML_H

#include <stdbool.h>
#include <stdint.h>

#define ML_CUDA_DEVICES_MAX 32

struct ml_cuda_reading {
    uint64_t used, free, total;
};

/* Opens NVML; once per program. @return the number of devices, 0 without NVML */
unsigned ml_cuda_nvml_open(void);

/* The number that it returned; 0 before. */
unsigned ml_cuda_nvml_count(void);

/* Whether opening was tried: the number does not change any more. */
bool ml_cuda_nvml_is_settled(void);

/* The device's index, by the UUID that CUDA reports for it; -1: there is none. */
int ml_cuda_nvml_find(const uint8_t uuid[16]);

/* False when NVML is missing or does not answer. If it hangs, that costs two seconds once.
 * Precondition: the book's lock is held. */
bool ml_cuda_nvml_read(unsigned device, struct ml_cuda_reading *ret);

/* The processes that NVML lists on a device. */
struct ml_cuda_users {
    bool has_own;       /* this process is one of them */
    bool has_own_bytes; /* and NVML says how much memory it has */
    uint64_t own, others;
};

/* The same for them; false also if it does not say how much memory another process has. */
bool ml_cuda_nvml_users(unsigned device, struct ml_cuda_users *ret);

#endif
