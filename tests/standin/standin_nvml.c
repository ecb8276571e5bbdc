/* standin_nvml.c: libnvidia-ml.so.1 of the stand-in: what the devices hold, as
 * NVML says it, and the ways in which NVML may fail:
 *
 *     STANDIN_NVML_FAIL=init|memory   that call fails
 *     STANDIN_NVML_NO_PROCESSES=1     no numbers by process, as in virtual machines
 *     STANDIN_NVML_HANG_MS=N          memory queries take that long, and are noted in a file
 *     STANDIN_NVML_HANG_AFTER=N       but not the first N of a process
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NVML_ENTRY(name, ...)                                                                      \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    int name(__VA_ARGS__)

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999,
};

struct device; /* a handle: NVML's number plus one, never read */

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct process_v1 {
    unsigned pid;
    unsigned long long bytes;
};

struct process_v2 {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

#define MEMORY_V2_VERSION ((unsigned)sizeof(struct memory_v2) | 2u << 24)
#define NO_INSTANCE 0xffffffffu

static atomic_int references;

static bool fails(const char *what)
{
    const char *fault = getenv("STANDIN_NVML_FAIL");
    return fault && strcmp(fault, what) == 0;
}

static void hang(void)
{
    static atomic_long queries;
    const char *text = getenv("STANDIN_NVML_HANG_MS");
    const char *after = getenv("STANDIN_NVML_HANG_AFTER");
    long ms = text ? atol(text) : 0;
    if (ms <= 0 || atomic_fetch_add(&queries, 1) < (after ? atol(after) : 0))
        return;
    standin_state_note(".hung");
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static int number_of(const struct device *device, int *ret_number)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    uintptr_t handle = (uintptr_t)device;
    if (handle < 1 || handle > (uintptr_t)standin_device_count())
        return NVML_ERROR_INVALID_ARGUMENT;
    *ret_number = (int)handle - 1;
    return NVML_SUCCESS;
}

/* ---- Start and end ----------------------------------------------------------- */

NVML_ENTRY(nvmlInit_v2, void)
{
    if (fails("init"))
        return NVML_ERROR_DRIVER_NOT_LOADED;
    atomic_fetch_add(&references, 1);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlInitWithFlags, unsigned flags)
{
    (void)flags;
    return nvmlInit_v2();
}

NVML_ENTRY(nvmlShutdown, void)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    atomic_fetch_sub(&references, 1);
    return NVML_SUCCESS;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return "Argument version mismatch";
    default: return "Unknown Error";
    }
}

static int put_text(char *ret_text, unsigned room, const char *text)
{
    if (strlen(text) >= room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(ret_text, text);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlSystemGetDriverVersion, char *ret_text, unsigned room)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    return put_text(ret_text, room, "580.0-stand-in");
}

/* ---- Devices -------------------------------------------------------------------- */

NVML_ENTRY(nvmlDeviceGetCount_v2, unsigned *ret_count)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    *ret_count = (unsigned)standin_device_count();
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetHandleByIndex_v2, unsigned index, struct device **ret_device)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    if (index >= (unsigned)standin_device_count())
        return NVML_ERROR_INVALID_ARGUMENT;
    *ret_device = (struct device *)(uintptr_t)(index + 1);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetHandleByUUID, const char *uuid, struct device **ret_device)
{
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    for (int i = 0; i < standin_device_count(); i++) {
        char text[STANDIN_UUID_TEXT];
        standin_uuid_text(i, text);
        if (strcmp(text, uuid) == 0)
            return nvmlDeviceGetHandleByIndex_v2((unsigned)i, ret_device);
    }
    return NVML_ERROR_NOT_FOUND;
}

NVML_ENTRY(nvmlDeviceGetHandleByPciBusId_v2, const char *text, struct device **ret_device)
{
    unsigned domain, bus;
    if (!atomic_load(&references))
        return NVML_ERROR_UNINITIALIZED;
    if (sscanf(text, "%x:%x:", &domain, &bus) != 2)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < standin_device_count(); i++) {
        if (standin_pci_bus(i) == (int)bus)
            return nvmlDeviceGetHandleByIndex_v2((unsigned)i, ret_device);
    }
    return NVML_ERROR_NOT_FOUND;
}

NVML_ENTRY(nvmlDeviceGetIndex, struct device *device, unsigned *ret_index)
{
    int number;
    int status = number_of(device, &number);
    if (status == NVML_SUCCESS)
        *ret_index = (unsigned)number;
    return status;
}

NVML_ENTRY(nvmlDeviceGetUUID, struct device *device, char *ret_text, unsigned room)
{
    int number;
    char text[STANDIN_UUID_TEXT];
    int status = number_of(device, &number);
    if (status)
        return status;
    standin_uuid_text(number, text);
    return put_text(ret_text, room, text);
}

NVML_ENTRY(nvmlDeviceGetName, struct device *device, char *ret_text, unsigned room)
{
    int number;
    int status = number_of(device, &number);
    return status ? status : put_text(ret_text, room, "Stand-in GPU");
}

/* ---- Memory ------------------------------------------------------------------------ */

static int read_memory(const struct device *device, struct memory_v2 *ret)
{
    int number;
    int status = number_of(device, &number);
    if (status)
        return status;
    if (fails("memory"))
        return NVML_ERROR_GPU_IS_LOST;
    hang();
    ret->total = standin_total_bytes();
    ret->reserved = STANDIN_RESERVED_BYTES;
    ret->used = standin_state_used(number);
    ret->free = standin_state_free(number);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetMemoryInfo, struct device *device, struct memory *ret_memory)
{
    struct memory_v2 now;
    int status = read_memory(device, &now);
    if (status == NVML_SUCCESS)
        *ret_memory = (struct memory){now.total, now.free, now.used + now.reserved};
    return status;
}

NVML_ENTRY(nvmlDeviceGetMemoryInfo_v2, struct device *device, struct memory_v2 *ret_memory)
{
    if (ret_memory->version != MEMORY_V2_VERSION)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return read_memory(device, ret_memory);
}

/* ---- Processes ------------------------------------------------------------------------ */

#define PROCESSES_MAX 256

static int read_processes(const struct device *device, unsigned *count,
                          struct standin_process list[PROCESSES_MAX])
{
    int number;
    int status = number_of(device, &number);
    if (status)
        return status;
    const char *none = getenv("STANDIN_NVML_NO_PROCESSES");
    if (none && *none && strcmp(none, "0") != 0)
        return NVML_ERROR_NOT_SUPPORTED;
    unsigned room = *count;
    *count = standin_state_processes(number, list, PROCESSES_MAX);
    return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses, struct device *device, unsigned *count,
           struct process_v1 *ret_list)
{
    struct standin_process list[PROCESSES_MAX];
    int status = read_processes(device, count, list);
    for (unsigned i = 0; status == NVML_SUCCESS && i < *count; i++)
        ret_list[i] = (struct process_v1){(unsigned)list[i].pid, list[i].bytes};
    return status;
}

NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses_v2, struct device *device, unsigned *count,
           struct process_v2 *ret_list)
{
    struct standin_process list[PROCESSES_MAX];
    int status = read_processes(device, count, list);
    for (unsigned i = 0; status == NVML_SUCCESS && i < *count; i++)
        ret_list[i] =
            (struct process_v2){(unsigned)list[i].pid, list[i].bytes, NO_INSTANCE, NO_INSTANCE};
    return status;
}

NVML_ENTRY(nvmlDeviceGetComputeRunningProcesses_v3, struct device *device, unsigned *count,
           struct process_v2 *ret_list)
{
    return nvmlDeviceGetComputeRunningProcesses_v2(device, count, ret_list);
}
