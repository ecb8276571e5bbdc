/* nvml.c: see nvml.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvml.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "nvml_abi.h"

#define GPUS_MAX 64
#define PROCESSES_MAX 4096

enum result { SUCCESS = 0, TOO_SMALL = 7 };

/* ---- Looking up --------------------------------------------------------- */

enum function {
    INIT,
    COUNT,
    HANDLE,
    MEMORY_2,
    MEMORY_1,
    LIST_2,
    LIST_1,
    NAME,
    UUID,
    DRIVER_VERSION,
    ERROR_TEXT,
    FUNCTIONS,
};

/* The newest first. Of two that do the same with other structs the second is
 * looked for as well: it may work where the first refuses. */
static const struct {
    const char *names[3];
    bool needed;
} table[FUNCTIONS] = {
    [INIT] = {{"nvmlInit_v2", "nvmlInit"}, true},
    [COUNT] = {{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, true},
    [HANDLE] = {{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, true},
    [MEMORY_2] = {{"nvmlDeviceGetMemoryInfo_v2"}, false},
    [MEMORY_1] = {{"nvmlDeviceGetMemoryInfo"}, true},
    [LIST_2] = {{"nvmlDeviceGetComputeRunningProcesses_v3",
                 "nvmlDeviceGetComputeRunningProcesses_v2"},
                false},
    [LIST_1] = {{"nvmlDeviceGetComputeRunningProcesses"}, false},
    [NAME] = {{"nvmlDeviceGetName"}, false},
    [UUID] = {{"nvmlDeviceGetUUID"}, false},
    [DRIVER_VERSION] = {{"nvmlSystemGetDriverVersion"}, false},
    [ERROR_TEXT] = {{"nvmlErrorString"}, false},
};
static_assert(FUNCTIONS <= ML_ARRAY_SIZE(((struct ml_nvml *)0)->functions), "room for all");

/* The function in the form it has; a data pointer cannot be cast to it. */
#define CALL(n, which, type, ...)                                                                  \
    ({                                                                                             \
        type called_;                                                                              \
        memcpy(&called_, &(n)->functions[which], sizeof(called_));                                 \
        called_(__VA_ARGS__);                                                                      \
    })

typedef int init_fn(void);
typedef int count_fn(unsigned *);
typedef int handle_fn(unsigned, void **);
typedef int memory_fn(void *, void *);
typedef int list_fn(void *, unsigned *, void *);
typedef int text_fn(void *, char *, unsigned);
typedef int version_fn(char *, unsigned);
typedef const char *error_fn(int);

static const char *look_up(struct ml_nvml *n)
{
    const char *missing = NULL;

    for (int i = 0; i < FUNCTIONS; i++) {
        for (size_t k = 0; k < ML_ARRAY_SIZE(table[i].names) && table[i].names[k]; k++)
            if (!n->functions[i])
                n->functions[i] = dlsym(n->library, table[i].names[k]);
        if (!n->functions[i] && table[i].needed && !missing)
            missing = table[i].names[0];
    }
    return missing;
}

/* ---- Opening ------------------------------------------------------------ */

static void say_refusal(struct ml_nvml *n, int result, char *why)
{
    const char *text = NULL;

    if (n->functions[ERROR_TEXT])
        text = CALL(n, ERROR_TEXT, error_fn *, result);
    if (text)
        snprintf(why, ML_NVML_WHY_BYTES, "the NVIDIA driver refuses: %s", text);
    else
        snprintf(why, ML_NVML_WHY_BYTES, "the NVIDIA driver refuses: NVML error %d", result);
}

static int add_gpu(struct ml_nvml *n, unsigned index)
{
    struct ml_nvml_gpu gpu = {0};

    /* One that may not be seen keeps its place: the others' numbers count it. */
    if (CALL(n, HANDLE, handle_fn *, index, &gpu.handle) != SUCCESS)
        gpu.handle = NULL;
    if (gpu.handle && n->functions[NAME] &&
        CALL(n, NAME, text_fn *, gpu.handle, gpu.name, sizeof(gpu.name)) != SUCCESS)
        gpu.name[0] = '\0';
    if (gpu.handle && n->functions[UUID] &&
        CALL(n, UUID, text_fn *, gpu.handle, gpu.uuid, sizeof(gpu.uuid)) != SUCCESS)
        gpu.uuid[0] = '\0';
    return ml_vec_push(&n->gpus, gpu);
}

/* Whether the newer call is not only there but works. */
static void choose_memory_call(struct ml_nvml *n)
{
    struct ml_nvml_memory_v2 memory = {.version = ML_NVML_MEMORY_V2};

    for (size_t i = 0; n->functions[MEMORY_2] && i < n->gpus.len; i++)
        if (n->gpus.items[i].handle &&
            CALL(n, MEMORY_2, memory_fn *, n->gpus.items[i].handle, &memory) == SUCCESS)
            return;
    n->functions[MEMORY_2] = NULL;
    n->reserve_in_used = true;
}

static int find_gpus(struct ml_nvml *n, char *why)
{
    unsigned count = 0;
    int result = CALL(n, INIT, init_fn *);

    if (result == SUCCESS)
        result = CALL(n, COUNT, count_fn *, &count);
    if (result != SUCCESS) {
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
    if (n->functions[DRIVER_VERSION] && CALL(n, DRIVER_VERSION, version_fn *, n->driver_version,
                                             sizeof(n->driver_version)) != SUCCESS)
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
    missing = look_up(n);
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
    struct ml_nvml_memory_v2 newer = {.version = ML_NVML_MEMORY_V2};
    struct ml_nvml_memory older = {0};
    void *handle = n->gpus.items[gpu].handle;

    if (handle && n->functions[MEMORY_2] &&
        CALL(n, MEMORY_2, memory_fn *, handle, &newer) == SUCCESS)
        return (struct ml_gpu_memory){all, newer.used, newer.free, newer.total};
    /* Not where the newer works for others: their values could not be compared. */
    if (handle && !n->functions[MEMORY_2] &&
        CALL(n, MEMORY_1, memory_fn *, handle, &older) == SUCCESS)
        return (struct ml_gpu_memory){all, older.used, older.free, older.total};
    return (struct ml_gpu_memory){0};
}

/* Asks into `scratch`, with more room when it was too little. */
static bool ask_processes(struct ml_nvml *n, size_t gpu, enum function which, size_t bytes,
                          unsigned *ret_count)
{
    unsigned room = 64;

    while (room <= PROCESSES_MAX) {
        unsigned count = room;
        int result;

        ml_buf_clear(&n->scratch);
        if (ml_buf_reserve(&n->scratch, room * bytes))
            return false;
        result = CALL(n, which, list_fn *, n->gpus.items[gpu].handle, &count, n->scratch.data);
        if (result == SUCCESS) {
            *ret_count = count < room ? count : room;
            return true;
        }
        if (result != TOO_SMALL)
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
    bool newer = n->functions[LIST_2];
    size_t bytes = newer ? sizeof(struct ml_nvml_process_v2) : sizeof(struct ml_nvml_process);
    unsigned count;

    ml_vec_clear(&n->processes);
    if (!n->gpus.items[gpu].handle || (!newer && !n->functions[LIST_1]) ||
        !ask_processes(n, gpu, newer ? LIST_2 : LIST_1, bytes, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct ml_nvml_process p; /* both begin alike */

        memcpy(&p, n->scratch.data + i * bytes, sizeof(p));
        if (add_process(n, p.pid, p.used))
            return false;
    }
    return true;
}
