/* standin_device.c: cuInit, and queries about devices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "standin_driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As seen on an H200: 3.25 MiB, part of no process's number. */
#define INIT_BYTES ((int64_t)3407872)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized_pid; /* 0: not yet; another: this is a child of fork */
static int numbers[STANDIN_DEVICES_MAX];
static int visible;

uint64_t standin_round_up(uint64_t bytes, uint64_t step)
{
    return (bytes + step - 1) / step * step;
}

int standin_unlock(int status)
{
    pthread_mutex_unlock(&lock);
    return status;
}

int standin_unlock_late(int status)
{
    const char *busy = getenv("STANDIN_BUSY");
    char asked[4096];

    standin_unlock(status);
    if (!busy || access(busy, F_OK))
        return status;
    snprintf(asked, sizeof asked, "%s.asked", busy);
    close(open(asked, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    while (!access(busy, F_OK))
        usleep(1000);
    return status;
}

int standin_lock(void)
{
    pthread_mutex_lock(&lock);
    if (initialized_pid == getpid())
        return CUDA_SUCCESS;
    return standin_unlock(CUDA_ERROR_NOT_INITIALIZED);
}

int standin_lock_device(int ordinal)
{
    int status = standin_lock();
    if (status)
        return status;
    if (standin_nvml_number(ordinal) < 0)
        return standin_unlock(CUDA_ERROR_INVALID_DEVICE);
    return CUDA_SUCCESS;
}

int standin_visible_count(void)
{
    return visible;
}

int standin_nvml_number(int ordinal)
{
    return ordinal >= 0 && ordinal < visible ? numbers[ordinal] : -1;
}

int standin_take(int ordinal, uint64_t bytes)
{
    int number = standin_nvml_number(ordinal);
    if (bytes > standin_state_free(number))
        return CUDA_ERROR_OUT_OF_MEMORY;
    standin_state_charge(number, (int64_t)bytes, 0);
    return CUDA_SUCCESS;
}

void standin_give(int ordinal, uint64_t bytes)
{
    standin_state_charge(standin_nvml_number(ordinal), -(int64_t)bytes, 0);
}

STANDIN_ENTRY(standin_fade, int ordinal, unsigned ms)
{
    standin_state_fade(standin_nvml_number(ordinal), ms);
    return CUDA_SUCCESS;
}

/* One word of CUDA_VISIBLE_DEVICES: a number, or the beginning of a UUID. */
static int number_of(const char *word)
{
    int count = standin_device_count();
    if (strncmp(word, "GPU-", 4) != 0) {
        char *end;
        long number = strtol(word, &end, 10);
        return end != word && !*end && number >= 0 && number < count ? (int)number : -1;
    }
    for (int number = 0; number < count; number++) {
        char text[STANDIN_UUID_TEXT];
        standin_uuid_text(number, text);
        if (strncmp(text, word, strlen(word)) == 0)
            return number;
    }
    return -1;
}

/* As the real one: the list ends at the first word that names no device. */
static void choose_devices(void)
{
    const char *wanted = getenv("CUDA_VISIBLE_DEVICES");
    visible = 0;
    if (!wanted) {
        while (visible < standin_device_count()) {
            numbers[visible] = visible;
            visible++;
        }
        return;
    }
    char words[1024], *rest = words, *word;
    snprintf(words, sizeof words, "%s", wanted);
    while ((word = strsep(&rest, ",")) && visible < STANDIN_DEVICES_MAX) {
        int number = number_of(word);
        if (number < 0)
            break;
        numbers[visible++] = number;
    }
}

/* Outside the lock: what is injected may call the driver. */
static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (!path || !*path)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*begin)(void) = NULL;
    if (library)
        *(void **)&begin = dlsym(library, "InitializeInjection");
    if (begin)
        begin();
}

STANDIN_ENTRY(cuInit, unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (initialized_pid == getpid())
        return standin_unlock(CUDA_SUCCESS);
    if (initialized_pid) /* what the parent had is of no use here */
        return standin_unlock(CUDA_ERROR_NOT_INITIALIZED);
    choose_devices();
    if (!visible)
        return standin_unlock(CUDA_ERROR_NO_DEVICE);
    for (int i = 0; i < visible; i++)
        standin_state_charge(numbers[i], 0, INIT_BYTES);
    initialized_pid = getpid();
    standin_unlock(CUDA_SUCCESS);
    inject();
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuDriverGetVersion, int *ret_version)
{
    *ret_version = 13000;
    return CUDA_SUCCESS;
}

STANDIN_ENTRY(cuDeviceGetCount, int *ret_count)
{
    int status = standin_lock();
    if (status)
        return status;
    *ret_count = visible;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGet, int *ret_device, int ordinal)
{
    int status = standin_lock_device(ordinal);
    if (status)
        return status;
    *ret_device = ordinal;
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetName, char *ret_name, int room, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    snprintf(ret_name, (size_t)room, "Stand-in GPU");
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetUuid_v2, unsigned char *ret_uuid, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    standin_uuid(numbers[device], ret_uuid);
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetPCIBusId, char *ret_text, int room, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    snprintf(ret_text, (size_t)room, "0000:%02X:00.0", standin_pci_bus(numbers[device]));
    return standin_unlock(CUDA_SUCCESS);
}

STANDIN_ENTRY(cuDeviceGetByPCIBusId, int *ret_device, const char *text)
{
    unsigned domain, bus;
    int status = standin_lock();
    if (status)
        return status;
    status = CUDA_ERROR_INVALID_VALUE;
    if (sscanf(text, "%x:%x:", &domain, &bus) == 2) {
        for (int i = 0; i < visible; i++) {
            if (standin_pci_bus(numbers[i]) != (int)bus)
                continue;
            *ret_device = i;
            status = CUDA_SUCCESS;
        }
    }
    return standin_unlock(status);
}

STANDIN_ENTRY(cuDeviceTotalMem_v2, size_t *ret_bytes, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    *ret_bytes = standin_total_bytes() - STANDIN_RESERVED_BYTES;
    return standin_unlock(CUDA_SUCCESS);
}

static int attribute_value(int attribute, int number)
{
    switch (attribute) {
    case 1: return 1024;                     /* threads in a block */
    case 10: return 32;                      /* threads in a warp */
    case 16: return STANDIN_PROCESSORS;      /* multiprocessors */
    case 33: return standin_pci_bus(number); /* PCI bus */
    case 39: return STANDIN_THREADS;         /* threads on a multiprocessor */
    case 41:                                 /* one address space with the host */
    case 83:                                 /* managed memory */
    case 102:                                /* virtual memory management */
    case 115: return 1;                      /* pools */
    case 75: return 9;                       /* compute capability: 9.0 */
    default: return 0;
    }
}

STANDIN_ENTRY(cuDeviceGetAttribute, int *ret_value, int attribute, int device)
{
    int status = standin_lock_device(device);
    if (status)
        return status;
    *ret_value = attribute_value(attribute, numbers[device]);
    return standin_unlock(CUDA_SUCCESS);
}
