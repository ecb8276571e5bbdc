/* cuda_nvml.c: NVML by dlopen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "compiler.h"
#include "nvml_abi.h"

static struct {
    int (*init)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, ml_nvml_device *);
    int (*uuid)(ml_nvml_device, char *, unsigned);
    int (*memory)(ml_nvml_device, struct ml_nvml_memory *);
    int (*memory_v2)(ml_nvml_device, struct ml_nvml_memory_v2 *);
} nvml;

static const struct {
    const char *name;
    void **at;
    bool optional;
} functions[] = {
    {"nvmlInit_v2", (void **)&nvml.init, false},
    {"nvmlDeviceGetCount_v2", (void **)&nvml.count, false},
    {"nvmlDeviceGetHandleByIndex_v2", (void **)&nvml.by_index, false},
    {"nvmlDeviceGetUUID", (void **)&nvml.uuid, false},
    {"nvmlDeviceGetMemoryInfo", (void **)&nvml.memory, false},
    {"nvmlDeviceGetMemoryInfo_v2", (void **)&nvml.memory_v2, true},
};

static struct {
    ml_nvml_device handle;
    uint8_t uuid[16];
} devices[ML_CUDA_DEVICES_MAX];
static unsigned device_count;

static bool find_functions(void)
{
    void *library = dlopen(ML_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
    for (size_t i = 0; i < ML_ARRAY_SIZE(functions); i++) {
        *functions[i].at = dlsym(library, functions[i].name);
        if (!*functions[i].at && !functions[i].optional)
            return false;
    }
    return true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "GPU-bd1b00ee-a383-…", also with "MIG-" in front. */
static void parse_uuid(const char *text, uint8_t ret[16])
{
    unsigned n = 0;

    text += strcspn(text, "-");
    for (; *text && n < 32; text++) {
        int value = digit(*text);
        if (value < 0)
            continue;
        ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | value);
        n++;
    }
}

unsigned ml_cuda_nvml_open(void)
{
    unsigned count = 0;

    if (!find_functions() || nvml.init() || nvml.count(&count))
        return 0;
    for (unsigned i = 0; i < count && i < ML_CUDA_DEVICES_MAX; i++) {
        char uuid[ML_NVML_UUID_BYTES] = "";
        if (nvml.by_index(i, &devices[i].handle))
            devices[i].handle = NULL;
        else if (!nvml.uuid(devices[i].handle, uuid, sizeof(uuid)))
            parse_uuid(uuid, devices[i].uuid);
        device_count = i + 1;
    }
    return device_count;
}

int ml_cuda_nvml_find(const uint8_t uuid[16])
{
    for (unsigned i = 0; i < device_count; i++) {
        if (!memcmp(devices[i].uuid, uuid, sizeof(devices[i].uuid)))
            return (int)i;
    }
    return -1;
}

bool ml_cuda_nvml_read(unsigned device, struct ml_cuda_reading *ret)
{
    struct ml_nvml_memory_v2 v2 = {.version = ML_NVML_MEMORY_V2};
    struct ml_nvml_memory v1;

    if (device >= device_count || !devices[device].handle)
        return false;
    if (nvml.memory_v2 && !nvml.memory_v2(devices[device].handle, &v2)) {
        *ret = (struct ml_cuda_reading){v2.used, v2.free, v2.total};
        return true;
    }
    if (nvml.memory(devices[device].handle, &v1))
        return false;
    *ret = (struct ml_cuda_reading){v1.used, v1.free, v1.total};
    return true;
}
