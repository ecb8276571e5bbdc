/* cuda_nvml.c: NVML, opened with dlopen.
 *
 * Calls run on a separate thread, because NVML may hang with the driver. It is loaded on the
 * caller's thread, which may hold the loader's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "limited_call.h"
#include "nvml_abi.h"
#include "recorder.h"
#include "sys.h"

/* If no process keeps the driver awake, it takes seconds to start for each device. */
#define OPEN_LIMIT_MS 15000
#define READ_LIMIT_MS 2000
#define USERS_MAX 512 /* processes on a device */

static struct ml_nvml_functions nvml;
static struct {
    ml_nvml_device handle;
    uint8_t uuid[16];
} devices[ML_CUDA_DEVICES_MAX];
static unsigned device_count;
static bool settled;

static bool find_functions(void)
{
    void *library = dlopen(ML_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    return library && !ml_nvml_look_up(library, &nvml);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "GPU-bd1b00ee-a383-…", also preceded by "MIG-". */
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

static void find_device(unsigned index)
{
    char uuid[ML_NVML_TEXT_BYTES] = "";
    ml_nvml_device handle = NULL;

    if (ML_NVML_CALL(&nvml, ML_NVML_HANDLE, ml_nvml_handle_fn, index, &handle) != ML_NVML_SUCCESS)
        return; /* keeps its place, because the other devices' numbers count it */
    devices[index].handle = handle;
    if (nvml.at[ML_NVML_UUID] && ML_NVML_CALL(&nvml, ML_NVML_UUID, ml_nvml_text_fn, handle, uuid,
                                              sizeof(uuid)) == ML_NVML_SUCCESS)
        parse_uuid(uuid, devices[index].uuid);
}

static void choose_memory_call(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (devices[i].handle && ml_nvml_has_newer_memory(&nvml, devices[i].handle))
            return;
    nvml.at[ML_NVML_MEMORY_NEWER] = NULL;
}

/* ---- On the separate thread -------------------------------------------------- */

static unsigned found;
static struct {
    unsigned device;
    struct ml_nvml_memory memory;
    bool ok;
} reading;

static void open_devices(void)
{
    unsigned count = 0;

    if (ML_NVML_CALL(&nvml, ML_NVML_INIT, ml_nvml_init_fn) != ML_NVML_SUCCESS ||
        ML_NVML_CALL(&nvml, ML_NVML_COUNT, ml_nvml_count_fn, &count) != ML_NVML_SUCCESS)
        return;
    count = count < ML_CUDA_DEVICES_MAX ? count : ML_CUDA_DEVICES_MAX;
    for (unsigned i = 0; i < count; i++)
        find_device(i);
    choose_memory_call(count);
    found = count;
}

static void read_memory(void)
{
    reading.ok = ml_nvml_read_memory(&nvml, devices[reading.device].handle, &reading.memory);
}

static struct {
    unsigned device, pid;
    struct ml_cuda_users users;
    bool ok;
} listing;

static bool list(void *ret, unsigned *count)
{
    bool newer = nvml.at[ML_NVML_LIST_NEWER];

    if (!newer && !nvml.at[ML_NVML_LIST_OLDER])
        return false;
    return ML_NVML_CALL(&nvml, newer ? ML_NVML_LIST_NEWER : ML_NVML_LIST_OLDER, ml_nvml_list_fn,
                        devices[listing.device].handle, count, ret) == ML_NVML_SUCCESS;
}

static void add_own(struct ml_cuda_users *users, uint64_t used)
{
    users->has_own = true;
    users->has_own_bytes = used != ML_NVML_NOT_AVAILABLE;
    users->own = users->has_own_bytes ? used : 0;
}

static void read_users(void)
{
    static struct ml_nvml_process_v2 newer[USERS_MAX];
    static struct ml_nvml_process older[USERS_MAX];
    bool is_newer = nvml.at[ML_NVML_LIST_NEWER];
    unsigned count = USERS_MAX;

    listing.users = (struct ml_cuda_users){0};
    listing.ok = list(is_newer ? (void *)newer : (void *)older, &count);
    for (unsigned i = 0; listing.ok && i < count && i < USERS_MAX; i++) {
        unsigned pid = is_newer ? newer[i].pid : older[i].pid;
        uint64_t used = is_newer ? newer[i].used : older[i].used;

        if (pid == listing.pid)
            add_own(&listing.users, used);
        else if (used == ML_NVML_NOT_AVAILABLE)
            listing.ok = false;
        else
            listing.users.others += used;
    }
}

/* ---- On the program's thread ------------------------------------------------- */

static void say_once(const char *text)
{
    if (ml_session && ml_session_tells(ml_session, ML_NOTICE_NVML))
        ml_sys_say(text);
}

static bool call(void (*function)(void), uint32_t limit_ms)
{
    if (ml_limited_call_hangs())
        return false;
    if (ml_limited_call(function, limit_ms))
        return true;
    if (ml_limited_call_hangs())
        say_once("memledger: NVML does not answer; memory that the CUDA driver takes for itself is "
                 "no longer recorded\n");
    return false;
}

static bool open_in_time(void)
{
    if (call(open_devices, OPEN_LIMIT_MS))
        return true;
    if (!ml_limited_call_hangs())
        say_once("memledger: cannot start a thread for NVML; memory that the CUDA driver takes for "
                 "itself is not recorded\n");
    return false;
}

unsigned ml_cuda_nvml_open(void)
{
    unsigned count = find_functions() && open_in_time() ? found : 0;

    /* Pairs with the acquire load below: all counted devices are filled in. */
    __atomic_store_n(&device_count, count, __ATOMIC_RELEASE);
    __atomic_store_n(&settled, true, __ATOMIC_RELEASE);
    return count;
}

bool ml_cuda_nvml_is_settled(void)
{
    return __atomic_load_n(&settled, __ATOMIC_ACQUIRE);
}

unsigned ml_cuda_nvml_count(void)
{
    return __atomic_load_n(&device_count, __ATOMIC_ACQUIRE);
}

int ml_cuda_nvml_find(const uint8_t uuid[16])
{
    for (unsigned i = 0; i < ml_cuda_nvml_count(); i++) {
        if (!memcmp(devices[i].uuid, uuid, sizeof(devices[i].uuid)))
            return (int)i;
    }
    return -1;
}

bool ml_cuda_nvml_read(unsigned device, struct ml_cuda_reading *ret)
{
    if (device >= ml_cuda_nvml_count() || !devices[device].handle)
        return false;
    reading.device = device;
    if (!call(read_memory, READ_LIMIT_MS) || !reading.ok)
        return false;
    *ret = (struct ml_cuda_reading){reading.memory.used, reading.memory.free, reading.memory.total};
    return true;
}

bool ml_cuda_nvml_users(unsigned device, struct ml_cuda_users *ret)
{
    if (device >= ml_cuda_nvml_count() || !devices[device].handle)
        return false;
    listing.device = device;
    listing.pid = (unsigned)getpid();
    if (!call(read_users, READ_LIMIT_MS) || !listing.ok)
        return false;
    *ret = listing.users;
    return true;
}
