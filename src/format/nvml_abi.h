/* nvml_abi.h: the part of NVML's binary interface that memledger uses. NVML is looked up at run
 * time only. The recorder reads it in the target, around driver calls; the collector reads it
 * in its own process, between them. The two sets of figures are compared, so both must read
 * them the same way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVML_ABI_H
#define ML_NVML_ABI_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ML_NVML_LIBRARY "libnvidia-ml.so.1"
#define ML_NVML_TEXT_BYTES 96 /* room for a UUID, a model, a version */

enum ml_nvml_result { ML_NVML_SUCCESS = 0, ML_NVML_TOO_SMALL = 7 };

/* ---- Types --------------------------------------------------------------- */

typedef void *ml_nvml_device;

/* nvmlDeviceGetMemoryInfo: `used` includes the memory that driver and firmware reserve. */
struct ml_nvml_memory {
    unsigned long long total, free, used;
};

/* nvmlDeviceGetMemoryInfo_v2: `used` excludes it. */
struct ml_nvml_memory_v2 {
    unsigned version; /* ML_NVML_MEMORY_V2 */
    unsigned long long total, reserved, free, used;
};
#define ML_NVML_MEMORY_V2 (sizeof(struct ml_nvml_memory_v2) | 2u << 24)

/* nvmlDeviceGetComputeRunningProcesses; `used` is all ones if unknown. */
struct ml_nvml_process {
    unsigned pid;
    unsigned long long used;
};

/* Its _v2 and _v3, which also identify the instance of a partitioned GPU (MIG). */
struct ml_nvml_process_v2 {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

#define ML_NVML_NOT_AVAILABLE UINT64_MAX

typedef int ml_nvml_init_fn(void);
typedef int ml_nvml_count_fn(unsigned *);
typedef int ml_nvml_handle_fn(unsigned, ml_nvml_device *);
typedef int ml_nvml_memory_fn(ml_nvml_device, void *);
typedef int ml_nvml_list_fn(ml_nvml_device, unsigned *, void *);
typedef int ml_nvml_text_fn(ml_nvml_device, char *, unsigned);
typedef int ml_nvml_version_fn(char *, unsigned);
typedef const char *ml_nvml_error_fn(int);

/* ---- Functions ----------------------------------------------------------- */

enum ml_nvml_function {
    ML_NVML_INIT,
    ML_NVML_COUNT,
    ML_NVML_HANDLE,
    ML_NVML_MEMORY_NEWER,
    ML_NVML_MEMORY_OLDER,
    ML_NVML_LIST_NEWER,
    ML_NVML_LIST_OLDER,
    ML_NVML_NAME,
    ML_NVML_UUID,
    ML_NVML_DRIVER_VERSION,
    ML_NVML_ERROR_TEXT,
    ML_NVML_FUNCTIONS,
};

struct ml_nvml_functions {
    void *at[ML_NVML_FUNCTIONS]; /* NULL: missing */
};

/* Looks all functions up, by their newest names first. Where two versions take different
 * structs, looks both up: the older may work where the newer fails. @return the name of a
 * required function that is missing; NULL: none is */
static inline const char *ml_nvml_look_up(void *library, struct ml_nvml_functions *ret)
{
    static const struct {
        const char *names[2];
        bool needed;
    } table[ML_NVML_FUNCTIONS] = {
        [ML_NVML_INIT] = {{"nvmlInit_v2", "nvmlInit"}, true},
        [ML_NVML_COUNT] = {{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, true},
        [ML_NVML_HANDLE] = {{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, true},
        [ML_NVML_MEMORY_NEWER] = {{"nvmlDeviceGetMemoryInfo_v2"}, false},
        [ML_NVML_MEMORY_OLDER] = {{"nvmlDeviceGetMemoryInfo"}, true},
        [ML_NVML_LIST_NEWER] = {{"nvmlDeviceGetComputeRunningProcesses_v3",
                                 "nvmlDeviceGetComputeRunningProcesses_v2"},
                                false},
        [ML_NVML_LIST_OLDER] = {{"nvmlDeviceGetComputeRunningProcesses"}, false},
        [ML_NVML_NAME] = {{"nvmlDeviceGetName"}, false},
        [ML_NVML_UUID] = {{"nvmlDeviceGetUUID"}, false},
        [ML_NVML_DRIVER_VERSION] = {{"nvmlSystemGetDriverVersion"}, false},
        [ML_NVML_ERROR_TEXT] = {{"nvmlErrorString"}, false},
    };
    const char *missing = NULL;

    for (int i = 0; i < ML_NVML_FUNCTIONS; i++) {
        ret->at[i] = dlsym(library, table[i].names[0]);
        if (!ret->at[i] && table[i].names[1])
            ret->at[i] = dlsym(library, table[i].names[1]);
        if (!ret->at[i] && table[i].needed && !missing)
            missing = table[i].names[0];
    }
    return missing;
}

/* Calls a function that was found. It goes through memcpy, since C does not allow the cast from
 * a data pointer. */
#define ML_NVML_CALL(functions, which, type, ...)                                                  \
    ({                                                                                             \
        type *called_;                                                                             \
        memcpy(&called_, &(functions)->at[which], sizeof(called_));                                \
        called_(__VA_ARGS__);                                                                      \
    })

/* Whether the newer memory call exists and works on this device. The caller clears its entry if
 * it works on none; see ml_nvml_read_memory. */
static inline bool ml_nvml_has_newer_memory(const struct ml_nvml_functions *f, ml_nvml_device d)
{
    struct ml_nvml_memory_v2 memory = {.version = ML_NVML_MEMORY_V2};

    return f->at[ML_NVML_MEMORY_NEWER] &&
           ML_NVML_CALL(f, ML_NVML_MEMORY_NEWER, ml_nvml_memory_fn, d, &memory) == ML_NVML_SUCCESS;
}

/* Uses the older call only if the newer works on no device, because figures with and without
 * the reserve are not comparable. */
static inline bool ml_nvml_read_memory(const struct ml_nvml_functions *f, ml_nvml_device d,
                                       struct ml_nvml_memory *ret)
{
    struct ml_nvml_memory_v2 newer = {.version = ML_NVML_MEMORY_V2};

    if (!f->at[ML_NVML_MEMORY_NEWER])
        return ML_NVML_CALL(f, ML_NVML_MEMORY_OLDER, ml_nvml_memory_fn, d, ret) == ML_NVML_SUCCESS;
    if (ML_NVML_CALL(f, ML_NVML_MEMORY_NEWER, ml_nvml_memory_fn, d, &newer) != ML_NVML_SUCCESS)
        return false;
    *ret = (struct ml_nvml_memory){newer.total, newer.free, newer.used};
    return true;
}

#endif
