/* python_asks.c: a library for Python that asks for memory as PyTorch's CUDA allocator
 * does: it reports blocks to the function that the recorder stands in front of. Where
 * nobody records there is none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))
#define CUDA_0 1 /* c10::Device: type CUDA, index 0 */

__attribute__((weak)) extern void
report(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved,
       uint16_t device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");

EXPORTED int ask(uintptr_t address, int64_t bytes);
EXPORTED double ask_often(uintptr_t address, unsigned times);

int ask(uintptr_t address, int64_t bytes)
{
    if (!report)
        return 0;
    report((void *)address, bytes, 0, 0, CUDA_0);
    return 1;
}

/* Nanoseconds for each of so many blocks, with its free. */
double ask_often(uintptr_t address, unsigned times)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < times; i++) {
        ask(address, 512);
        ask(address, -512);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
           times;
}
