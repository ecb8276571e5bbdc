/* nvml.c: see nvml.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

#define GPUS_MAX 64
#define PROCESSES_MAX 4096

/* ---- Opening ------------------------------------------------------------ */

static void say_refusal(struct ml_nvml *n, int result, char *why)
{
    const char *text = NULL;

    if (n->functions.at[ML_NVML_ERROR_TEXT])
        text = ML_NVML_CALL(&n->functions, ML_NVML_ERROR_TEXT, ml_nvml_error_fn, result);
    if (text)
        snprintf(why, ML_NVML_WHY_BYTES, "the NVIDIA driver refuses: %s", text);
    else
        snprintf(why, ML_NVML_WHY_BYTES, "the NVIDIA driver refuses: NVML error %d", result);
}

static int add_gpu(struct ml_nvml *n, unsigned index)
{
    struct ml_nvml_gpu gpu = {0};

    /* A GPU that may not be accessed keeps its index: the others' numbers count it. */
    if (ML_NVML_CALL(&n->functions, ML_NVML_HANDLE, ml_nvml_handle_fn, index, &gpu.handle) !=
        ML_NVML_SUCCESS)
        gpu.handle = NULL;
    if (gpu.handle && n->functions.at[ML_NVML_NAME] &&
        ML_NVML_CALL(&n->functions, ML_NVML_NAME, ml_nvml_text_fn, gpu.handle, gpu.name,
                     sizeof(gpu.name)) != ML_NVML_SUCCESS)
        gpu.name[0] = '\0';
    if (gpu.handle && n->functions.at[ML_NVML_UUID] &&
        ML_NVML_CALL(&n->functions, ML_NVML_UUID, ml_nvml_text_fn, gpu.handle, gpu.uuid,
                     sizeof(gpu.uuid)) != ML_NVML_SUCCESS)
        gpu.uuid[0] = '\0';
    return ml_vec_push(&n->gpus, gpu);
}

static void choose_memory_call(struct ml_nvml *n)
{
    for (size_t i = 0; i < n->gpus.len; i++)
        if (n->gpus.items[i].handle &&
            ml_nvml_has_newer_memory(&n->functions, n->gpus.items[i].handle))
            return;
    n->functions.at[ML_NVML_MEMORY_NEWER] = NULL;
    n->reserve_in_used = true;
}

static int find_gpus(struct ml_nvml *n, char *why)
{
    unsigned count = 0;
    int result = ML_NVML_CALL(&n->functions, ML_NVML_INIT, ml_nvml_init_fn);

    if (result == ML_NVML_SUCCESS)
        result = ML_NVML_CALL(&n->functions, ML_NVML_COUNT, ml_nvml_count_fn, &count);
    if (result != ML_NVML_SUCCESS) {
        say_refusal(n, result, why);
        return -ENOENT;
    }
    for (unsigned i = 0; i < count && i < GPUS_MAX; i++)
        if (add_gpu(n, i))
            return -ENOENT;
    if (!n->gpus.len) {
        snprintf(why, ML_NVML_WHY_BYTES, "the NVIDIA driver finds no GPU");
        return -ENOENT;
    }
    choose_memory_call(n);
    if (n->functions.at[ML_NVML_DRIVER_VERSION] &&
        ML_NVML_CALL(&n->functions, ML_NVML_DRIVER_VERSION, ml_nvml_version_fn, n->driver_version,
                     sizeof(n->driver_version)) != ML_NVML_SUCCESS)
        n->driver_version[0] = '\0';
    return 0;
}

int ml_nvml_open(struct ml_nvml *n, char why[ML_NVML_WHY_BYTES])
{
    const char *missing;

    *n = (struct ml_nvml){0};
    snprintf(why, ML_NVML_WHY_BYTES, "not enough memory");
    n->library = dlopen(ML_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!n->library) {
        snprintf(why, ML_NVML_WHY_BYTES, "no NVIDIA driver (" ML_NVML_LIBRARY ") here");
        return -ENOENT;
    }
    missing = ml_nvml_look_up(n->library, &n->functions);
    if (missing) {
        snprintf(why, ML_NVML_WHY_BYTES, ML_NVML_LIBRARY " has no %s; the driver is too old",
                 missing);
        return -ENOENT;
    }
    return find_gpus(n, why);
}

void ml_nvml_release(struct ml_nvml *n)
{
    ml_vec_release(&n->gpus);
    ml_vec_release(&n->processes);
    ml_buf_release(&n->scratch);
}

/* ---- Reading ------------------------------------------------------------ */

struct ml_gpu_memory ml_nvml_read(struct ml_nvml *n, size_t gpu)
{
    const uint32_t all = ML_SAMPLE_USED | ML_SAMPLE_FREE | ML_SAMPLE_TOTAL;
    struct ml_nvml_memory memory;
    void *handle = n->gpus.items[gpu].handle;

    if (!handle || !ml_nvml_read_memory(&n->functions, handle, &memory))
        return (struct ml_gpu_memory){0};
    return (struct ml_gpu_memory){all, memory.used, memory.free, memory.total};
}

/* Queries into `scratch`, again with more room if that was too small. */
static bool ask_processes(struct ml_nvml *n, size_t gpu, enum ml_nvml_function which, size_t bytes,
                          unsigned *ret_count)
{
    unsigned room = 64;

    while (room <= PROCESSES_MAX) {
        unsigned count = room;
        int result;

        ml_buf_clear(&n->scratch);
        if (ml_buf_reserve(&n->scratch, room * bytes))
            return false;
        result = ML_NVML_CALL(&n->functions, which, ml_nvml_list_fn, n->gpus.items[gpu].handle,
                              &count, n->scratch.data);
        if (result == ML_NVML_SUCCESS) {
            *ret_count = count < room ? count : room;
            return true;
        }
        if (result != ML_NVML_TOO_SMALL)
            return false;
        room = count > room ? count + 16 : 2 * room;
    }
    return false;
}

static int add_process(struct ml_nvml *n, unsigned pid, uint64_t used)
{
    return ml_vec_push(&n->processes,
                       (struct ml_gpu_process){pid, used != ML_NVML_NOT_AVAILABLE, used});
}

bool ml_nvml_list(struct ml_nvml *n, size_t gpu)
{
    bool newer = n->functions.at[ML_NVML_LIST_NEWER];
    size_t bytes = newer ? sizeof(struct ml_nvml_process_v2) : sizeof(struct ml_nvml_process);
    unsigned count;

    ml_vec_clear(&n->processes);
    if (!n->gpus.items[gpu].handle || (!newer && !n->functions.at[ML_NVML_LIST_OLDER]) ||
        !ask_processes(n, gpu, newer ? ML_NVML_LIST_NEWER : ML_NVML_LIST_OLDER, bytes, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct ml_nvml_process p; /* both begin alike */

        memcpy(&p, n->scratch.data + i * bytes, sizeof(p));
        if (add_process(n, p.pid, p.used))
            return false;
    }
    return true;
}
