/* python_asks.c: a library for Python that allocates like PyTorch's CUDA allocator: it reports
 * blocks to the function that the recorder hooks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "c10_double.h"

#define EXPORTED __attribute__((visibility("default")))
#define CUDA_0 1 /* c10::Device: type CUDA, index 0 */

EXPORTED void ask(uintptr_t address, int64_t bytes);
EXPORTED int ask_elsewhere(uintptr_t address);
EXPORTED double ask_often(uintptr_t address, unsigned times);

void ask(uintptr_t address, int64_t bytes)
{
    report((void *)address, bytes, 0, 0, CUDA_0);
}

static void *ask_as_thread(void *address)
{
    ask((uintptr_t)address, 512);
    return NULL;
}

/* The same from a thread that Python did not create. */
int ask_elsewhere(uintptr_t address)
{
    pthread_t thread;
    int r = pthread_create(&thread, NULL, ask_as_thread, (void *)address);

    return r ? r : pthread_join(thread, NULL);
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
