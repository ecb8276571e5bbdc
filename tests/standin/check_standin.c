/* check_standin.c: does the stand-in behave as an H200 with driver 580 was seen to?
 *
 * The same calls in the same order, and what NVML said after each. Sizes that the
 * two graph and array calls were made with are not part of what was noted; here
 * they are sizes that fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_api.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((int64_t)1 << 20)

struct memory {
    unsigned long long total, free, used;
};

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret_device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret_device);
int nvmlDeviceGetIndex(void *device, unsigned *ret_index);
int nvmlDeviceGetUUID(void *device, char *ret_text, unsigned room);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret_memory);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *ret_memory);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret);
int cuGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *name, void **ret_function, int version, uint64_t flags,
                        int *ret_status);

static void *device;
static int64_t used_before;

static int64_t used_now(void)
{
    struct memory memory;
    assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 0);
    return (int64_t)memory.used;
}

static void check(const char *call, int result, int expected, int64_t delta)
{
    int64_t used = used_now();
    if (result != expected || used - used_before != delta)
        fail_msg("%s: result %d, expected %d; NVML %+lld, expected %+lld", call, result, expected,
                 (long long)(used - used_before), (long long)delta);
    used_before = used;
}

#define STEP(call, expected, delta) check(#call, cuda.call, expected, delta)

static void test_nvml_before(void **state)
{
    (void)state;
    struct memory_v2 now = {.version = sizeof now | 2u << 24};
    assert_int_equal(nvmlInit_v2(), 0);
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(0, &device), 0);
    assert_int_equal(nvmlDeviceGetMemoryInfo_v2(device, &now), 0);
    assert_int_equal(now.reserved, 644939776);
    assert_int_equal(now.used, 0);
    assert_int_equal(now.free, now.total - now.reserved);
    assert_int_equal(used_now(), 644939776);
    used_before = used_now();
    now.version = 1;
    assert_int_equal(nvmlDeviceGetMemoryInfo_v2(device, &now), 25);
}

static void check_process(uint64_t bytes)
{
    struct process list[8];
    unsigned count = 8;
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, list), 0);
    assert_int_equal(count, bytes ? 1 : 0);
    if (!bytes)
        return;
    assert_int_equal(list[0].pid, getpid());
    assert_int_equal(list[0].bytes, bytes);
    count = 0;
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), 7);
    assert_int_equal(count, 1);
}

static void test_contexts(void **state)
{
    void *context;
    cuda_address address;
    size_t left, total;
    (void)state;
    STEP(cuMemAlloc(&address, 512), 3, 0);
    STEP(cuInit(0), 0, 3407872);
    check_process(0);
    STEP(cuMemAlloc(&address, 512), 201, 0);
    STEP(cuDevicePrimaryCtxRetain(&context, 0), 0, 548995072);
    STEP(cuCtxSetCurrent(context), 0, 0);
    check_process(543162368);
    STEP(cuMemGetInfo(&left, &total), 0, 0);
    struct memory memory;
    assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 0);
    assert_int_equal(left, memory.free);
    assert_int_equal(total, memory.total - 644939776);
}

static cuda_address p[12];

static void test_memory(void **state)
{
    (void)state;
    STEP(cuMemAlloc(&p[0], 512), 0, 2097152);
    STEP(cuMemAlloc(&p[1], 512), 0, 0);
    STEP(cuMemAlloc(&p[2], 1 << 20), 0, 0);
    STEP(cuMemAlloc(&p[3], 1 << 20), 0, 2097152);
    STEP(cuMemAlloc(&p[4], 2 << 20), 0, 2097152);
    STEP(cuMemAlloc(&p[5], 3 << 20), 0, 4194304);
    STEP(cuMemAlloc(&p[6], 100 << 20), 0, 104857600);
    STEP(cuMemAlloc(&p[7], (100 << 20) + 1), 0, 106954752);
    STEP(cuMemFree(p[6]), 0, -104857600);
    STEP(cuMemFree(p[0]), 0, 0);
    STEP(cuMemFree(p[2]), 0, 0);
    STEP(cuMemFree(p[1]), 0, -2097152);
    STEP(cuMemFree(p[3]), 0, -2097152);
    STEP(cuMemAlloc(&p[0], (size_t)1 << 40), 2, 0);
    STEP(cuMemAlloc(&p[0], 0), 1, 0);
    STEP(cuMemFree(0), 0, 0);
}

static void test_host_and_managed(void **state)
{
    static char registered[1 << 20];
    void *host;
    size_t pitch;
    (void)state;
    STEP(cuMemAllocHost(&host, 64 << 20), 0, 0);
    STEP(cuMemAllocManaged(&p[8], 64 << 20, 1), 0, 0);
    STEP(cuMemsetD8(p[8], 1, 64 << 20), 0, 134217728);
    STEP(cuMemFree(p[8]), 0, -67108864);
    STEP(cuMemAllocManaged(&p[8], 3 << 20, 1), 0, 0);
    STEP(cuMemPrefetchAsync(p[8], 3 << 20, 0, NULL), 0, 4 * MIB);
    STEP(cuMemPrefetchAsync(p[8], 3 << 20, -1, NULL), 0, -4 * MIB);
    STEP(cuMemFree(p[8]), 0, 0);
    STEP(cuMemHostRegister(registered, sizeof registered, 0), 0, 0);
    STEP(cuMemHostRegister(registered, sizeof registered, 0), 712, 0);
    STEP(cuMemHostUnregister(registered), 0, 0);
    STEP(cuMemHostUnregister(registered), 713, 0);
    STEP(cuMemAllocPitch(&p[9], &pitch, 1000, 1000, 4), 0, 2097152);
    assert_int_equal(pitch, 1024);
    STEP(cuMemFreeHost(host), 0, 0);
    STEP(cuMemFreeHost(host), 1, 0);
}

static void test_arrays(void **state)
{
    void *array;
    struct cuda_array_descriptor shape = {2048, 2048, 0, 0x20, 1, 0};
    (void)state;
    STEP(cuArray3DCreate(&array, &shape), 0, 16777216);
    STEP(cuArrayDestroy(array), 0, -16777216);
}

static uint64_t pool_reserved(void)
{
    void *pool;
    uint64_t reserved;
    assert_int_equal(cuda.cuDeviceGetDefaultMemPool(&pool, 0), 0);
    assert_int_equal(cuda.cuMemPoolGetAttribute(pool, 5, &reserved), 0);
    return reserved;
}

static void *stream;

static void test_pools(void **state)
{
    (void)state;
    STEP(cuStreamCreate(&stream, 0), 0, 0);
    STEP(cuMemAllocAsync(&p[10], 10 << 20, stream), 0, 33554432);
    assert_int_equal(pool_reserved(), 33554432);
    STEP(cuMemAllocAsync(&p[11], 40 << 20, stream), 0, 33554432);
    assert_int_equal(pool_reserved(), 67108864);
    STEP(cuMemFreeAsync(p[10], stream), 0, 0);
    STEP(cuMemFreeAsync(p[11], stream), 0, 0);
    assert_int_equal(pool_reserved(), 67108864);
    STEP(cuStreamSynchronize(stream), 0, -67108864);
    assert_int_equal(pool_reserved(), 0);
    STEP(cuMemFreeAsync(p[11], stream), 1, 0);
}

static void test_pool_threshold(void **state)
{
    void *pool;
    uint64_t keep = 64 * MIB;
    struct cuda_pool_properties properties = {.type = 1, .place = {1, 0}};
    (void)state;
    STEP(cuMemPoolCreate(&pool, &properties), 0, 0);
    STEP(cuMemPoolSetAttribute(pool, 4, &keep), 0, 0);
    STEP(cuMemAllocFromPoolAsync(&p[10], 100 << 20, pool, stream), 0, 128 * MIB);
    STEP(cuMemFreeAsync(p[10], stream), 0, 0);
    STEP(cuStreamSynchronize(stream), 0, -64 * MIB);
    STEP(cuMemPoolTrimTo(pool, 0), 0, -64 * MIB);
    STEP(cuMemPoolDestroy(pool), 0, 0);
    STEP(cuMemPoolDestroy(pool), 1, 0);
}

static void test_virtual(void **state)
{
    uint64_t handle, again;
    cuda_address range;
    struct cuda_allocation_properties properties = {.type = 1, .place = {1, 0}};
    struct cuda_access access = {{1, 0}, 3};
    (void)state;
    STEP(cuMemCreate(&handle, 20 << 20, &properties, 0), 0, 20971520);
    STEP(cuMemRelease(handle), 0, -20971520);
    STEP(cuMemRelease(handle), 1, 0);
    STEP(cuMemCreate(&handle, 3 << 20, &properties, 0), 1, 0);
    STEP(cuMemCreate(&handle, 20 << 20, &properties, 0), 0, 20971520);
    STEP(cuMemAddressReserve(&range, 40 << 20, 0, 0, 0), 0, 0);
    STEP(cuMemMap(range, 20 << 20, 0, handle, 0), 0, 0);
    STEP(cuMemSetAccess(range, 20 << 20, &access, 1), 0, 0);
    STEP(cuMemRelease(handle), 0, 0);
    STEP(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range), 0, 0);
    assert_int_equal(again, handle);
    STEP(cuMemUnmap(range, 20 << 20), 0, 0);
    STEP(cuMemUnmap(range, 20 << 20), 1, 0);
    STEP(cuMemRelease(again), 0, -20971520);
    STEP(cuMemAddressFree(range, 40 << 20), 0, 0);
}

static void test_limits(void **state)
{
    (void)state;
    STEP(cuCtxSetLimit(1, 64 << 20), 0, 0);
    STEP(cuCtxSetLimit(2, 128 << 20), 0, 0);
    STEP(cuCtxSetLimit(0, 16384), 0, 4152360960);
}

static void test_graphs(void **state)
{
    void *graph, *node, *exec;
    uint64_t reserved;
    struct cuda_alloc_node params = {.properties = {.type = 1, .place = {1, 0}}, .bytes = 64 << 20};
    (void)state;
    STEP(cuGraphCreate(&graph, 0), 0, 0);
    STEP(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), 0, 0);
    STEP(cuGraphInstantiateWithFlags(&exec, graph, 0), 0, 0);
    STEP(cuMemFree(params.address), 1, 0);
    STEP(cuGraphLaunch(exec, stream), 0, 67108864);
    STEP(cuGraphLaunch(exec, stream), 1, 0);
    STEP(cuStreamSynchronize(stream), 0, 0);
    STEP(cuDeviceGetGraphMemAttribute(0, 2, &reserved), 0, 0);
    assert_int_equal(reserved, 67108864);
    STEP(cuMemFree(params.address), 0, 0);
    STEP(cuGraphExecDestroy(exec), 0, 0);
    STEP(cuDeviceGraphMemTrim(0), 0, -67108864);
    STEP(cuGraphDestroy(graph), 0, 0);
}

/* What a stream is told while it captures happens at the launch. */
static void test_capture(void **state)
{
    void *graph, *exec;
    cuda_address address;
    (void)state;
    STEP(cuStreamBeginCapture(stream, 0), 0, 0);
    STEP(cuMemAllocAsync(&address, 10 << 20, stream), 0, 0);
    STEP(cuStreamEndCapture(stream, &graph), 0, 0);
    STEP(cuGraphInstantiateWithFlags(&exec, graph, 0), 0, 0);
    STEP(cuGraphLaunch(exec, stream), 0, 32 * MIB);
    STEP(cuMemFreeAsync(address, stream), 0, 0);
    STEP(cuGraphLaunch(exec, stream), 0, 0);
    STEP(cuMemFree(address), 0, 0);
    STEP(cuDeviceGraphMemTrim(0), 0, -32 * MIB);
    STEP(cuGraphExecDestroy(exec), 0, 0);
    STEP(cuGraphDestroy(graph), 0, 0);
}

static int launch(void *function)
{
    return cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void test_code(void **state)
{
    void *module, *function;
    (void)state;
    STEP(cuModuleLoadData(&module, "nothing"), 200, 0);
    STEP(cuModuleLoadData(&module, "STANDIN 5000000 first second"), 0, 0);
    STEP(cuModuleGetFunction(&function, module, "third"), 500, 0);
    STEP(cuModuleGetFunction(&function, module, "second"), 0, 0);
    check("launch", launch(function), 0, 6 * MIB);
    check("launch", launch(function), 0, 0);
    STEP(cuModuleUnload(module), 0, -6 * MIB);
}

static void test_the_end(void **state)
{
    (void)state;
    STEP(cuMemFree(0xdead000), 1, 0);
    STEP(cuMemFree(p[7]), 0, -106954752);
    STEP(cuMemFree(p[7]), 1, 0);
    STEP(cuStreamDestroy(stream), 0, 0);
    STEP(cuDevicePrimaryCtxRelease(0), 0, -4709744640);
    STEP(cuDevicePrimaryCtxReset(0), 0, 0);
    STEP(cuMemAlloc(&p[0], 512), 709, 0);
    assert_int_equal(used_now(), 715456512);
}

/* ---- What was not measured ----------------------------------------------------------- */

static void test_lookup(void **state)
{
    void *function, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int status;
    (void)state;
    assert_non_null(library);
#define FOUND(name, symbol, per_thread, version, params)                                           \
    assert_int_equal(cuGetProcAddress_v2(#name, &function, version, 0, &status), 0);               \
    assert_ptr_equal(function, dlsym(library, #symbol));                                           \
    assert_int_equal(status, 0);                                                                   \
    assert_int_equal(cuGetProcAddress_v2(#name, &function, version, 2, NULL), 0);                  \
    assert_ptr_equal(function, dlsym(library, #per_thread));                                       \
    assert_int_equal(cuGetProcAddress(#name, &function, 13000, 0), 0);
    CUDA_API(FOUND)
    assert_int_equal(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status), 500);
    assert_null(function);
    assert_int_equal(status, 1);
    assert_int_equal(cuGetProcAddress_v2("cuMemCreate", &function, 9000, 0, &status), 500);
    assert_int_equal(status, 2);
    assert_ptr_not_equal(dlsym(library, "cuMemAllocAsync"), dlsym(library, "cuMemAllocAsync_ptsz"));
    assert_int_equal(cuGetProcAddress("cuCtxCreate", &function, 13000, 0), 0);
    assert_ptr_equal(function, dlsym(library, "cuCtxCreate_v4"));
    dlclose(library);
}

static void test_uuids(void **state)
{
    unsigned char uuid[16];
    char text[64];
    unsigned index;
    void *found;
    (void)state;
    assert_int_equal(cuda.cuDeviceGetUuid(uuid, 1), 0);
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &found), 0);
    assert_int_equal(nvmlDeviceGetUUID(found, text, sizeof text), 0);
    char begin[16];
    snprintf(begin, sizeof begin, "GPU-%02x%02x%02x%02x-", uuid[0], uuid[1], uuid[2], uuid[3]);
    assert_memory_equal(text, begin, strlen(begin));
    assert_int_equal(nvmlDeviceGetHandleByUUID(text, &found), 0);
    assert_int_equal(nvmlDeviceGetIndex(found, &index), 0);
    assert_int_equal(index, 1);
}

/* Another process is this program again, told to hold a context until it is killed. */
static void test_processes(void **state)
{
    int ready[2];
    char byte;
    void *first = device;
    (void)state;
    assert_int_equal(nvmlDeviceGetHandleByIndex_v2(1, &device), 0);
    int64_t before = used_now();
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ready[1], STDOUT_FILENO);
        execl("/proc/self/exe", "check_standin", "hold", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(used_now() - before, 3407872 + 548995072);
    assert_int_equal(kill(child, SIGKILL), 0);
    siginfo_t end;
    assert_int_equal(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
    assert_int_equal(used_now(), before); /* not waited for yet, but dead */
    assert_int_equal(waitpid(child, NULL, 0), child);
    device = first;
    close(ready[0]);
    close(ready[1]);
}

/* Uses NVML's device 1, which CUDA calls 0. */
static int hold(void)
{
    void *context;
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    if (cuda.cuInit(0) || cuda.cuDevicePrimaryCtxRetain(&context, 0) || write(1, "x", 1) != 1)
        return 1;
    for (;;)
        pause();
}

static void test_faults(void **state)
{
    struct memory memory;
    unsigned count = 0;
    (void)state;
    setenv("STANDIN_NVML_FAIL", "memory", 1);
    assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 15);
    setenv("STANDIN_NVML_FAIL", "init", 1);
    assert_int_equal(nvmlInit_v2(), 9);
    unsetenv("STANDIN_NVML_FAIL");
    setenv("STANDIN_NVML_NO_PROCESSES", "1", 1);
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL), 3);
    unsetenv("STANDIN_NVML_NO_PROCESSES");
    assert_int_equal(nvmlShutdown(), 0);
    assert_int_equal(nvmlDeviceGetMemoryInfo(device, &memory), 1);
}

int main(int argc, char **argv)
{
    cuda_api_load(false);
    if (argc > 1 && strcmp(argv[1], "hold") == 0)
        return hold();
    char path[] = "/tmp/check-standin-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    setenv("STANDIN_STATE", path, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvml_before),    cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_host_and_managed),
        cmocka_unit_test(test_arrays),         cmocka_unit_test(test_pools),
        cmocka_unit_test(test_pool_threshold), cmocka_unit_test(test_virtual),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_capture),        cmocka_unit_test(test_code),
        cmocka_unit_test(test_the_end),        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_uuids),          cmocka_unit_test(test_processes),
        cmocka_unit_test(test_faults),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
