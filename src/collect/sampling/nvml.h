/* nvml.h: memory figures from NVML, the NVIDIA driver's management library.
 *
 * The library is looked up at run time, as the loader would (so that
 * LD_LIBRARY_PATH counts). It may be missing, old or refuse; then one sentence says so. Its
 * calls may take long or never return: use it only in threads that no other thread waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVML_H
#define ML_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_abi.h"
#include "vec.h"

#define ML_NVML_WHY_BYTES 160

/* Memory of a device; enum ml_sample_bits says which values are known. */
struct ml_gpu_memory {
    uint32_t valid;
    uint64_t used, free, total;
};

struct ml_gpu_process {
    uint32_t pid;
    bool known; /* its usage */
    uint64_t used;
};

struct ml_nvml_gpu {
    void *handle;
    char name[ML_NVML_TEXT_BYTES]; /* "": unknown */
    char uuid[ML_NVML_TEXT_BYTES]; /* "GPU-…"; "": unknown */
};

struct ml_nvml {
    void *library;
    struct ml_nvml_functions functions;
    bool reserve_in_used;                    /* only the first form of the memory call exists */
    char driver_version[ML_NVML_TEXT_BYTES]; /* "": unknown */
    ML_VEC(struct ml_nvml_gpu) gpus;         /* by the driver's own numbers */
    ML_VEC(struct ml_gpu_process) processes; /* of the last ml_nvml_list */
    struct ml_buf scratch;
};

/* Loads the library and finds all GPUs.
 * @why    set on failure: one sentence, no capital, no full stop
 * @return 0 or -ENOENT; release it in both cases */
int ml_nvml_open(struct ml_nvml *n, char why[ML_NVML_WHY_BYTES]);

/* Forgets the library; it stays loaded, since it may have started threads. */
void ml_nvml_release(struct ml_nvml *n);

/* The GPU's memory now. `valid` is 0 if the driver does not report it. */
struct ml_gpu_memory ml_nvml_read(struct ml_nvml *n, size_t gpu);

/* Lists the processes that compute on a GPU into n->processes. Slower than the
 * call above.
 * @return whether the driver listed them */
bool ml_nvml_list(struct ml_nvml *n, size_t gpu);

#endif
