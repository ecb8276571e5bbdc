/* pipeline.c: one thread allocates, the next one frees right after it.
 *
 *     pipeline BLOCKS
 *
 * A queue of plain loads and stores, mostly not empty: the free is a few instructions behind
 * the allocation, on another processor, and only the recorder's clock keeps the two in order.
 * Addresses are reused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "memledger/memledger.h"

#define SLOTS 1024
#define ADDRESSES 8192

static struct {
    uintptr_t block;
    char rest_of_line[64 - sizeof(uintptr_t)];
} queue[SLOTS];

static memledger_space space;
static long blocks;

static void *allocate(void *arg)
{
    (void)arg;
    for (long i = 0; i < blocks; i++) {
        uintptr_t block = 0x100000 + (uintptr_t)(i % ADDRESSES) * 64;
        while (__atomic_load_n(&queue[i % SLOTS].block, __ATOMIC_ACQUIRE))
            sched_yield();
        memledger_alloc(space, (void *)block, 64);
        __atomic_store_n(&queue[i % SLOTS].block, block, __ATOMIC_RELEASE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    blocks = argc > 1 ? atol(argv[1]) : 1000;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "pipeline");
    if (pthread_create(&thread, NULL, allocate, NULL))
        return 2;
    for (long i = 0; i < blocks; i++) {
        uintptr_t block;
        while (!(block = __atomic_load_n(&queue[i % SLOTS].block, __ATOMIC_ACQUIRE)))
            continue;
        memledger_free(space, (void *)block);
        __atomic_store_n(&queue[i % SLOTS].block, 0, __ATOMIC_RELEASE);
    }
    pthread_join(thread, NULL);
    return 0;
}
