/* cuda_nvml.h: what the driver charges on each device, read inside the target.
 *
 * NVML is opened when the program itself starts the CUDA driver, never before:
 * a program without CUDA has nothing of it.
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

/* The number it gave; 0 before. */
unsigned ml_cuda_nvml_count(void);

/* Whether it was tried: the number stays what it is. */
bool ml_cuda_nvml_is_settled(void);

/* The device's index, by the UUID that CUDA gives for it; -1: there is none. */
int ml_cuda_nvml_find(const uint8_t uuid[16]);

/* False when NVML is not there or does not answer. One that hangs costs two seconds once.
 * Precondition: the book's lock is held. */
bool ml_cuda_nvml_read(unsigned device, struct ml_cuda_reading *ret);

#endif
