/* fills_room.c: allocates up to a limit on its address space.
 *
 *     fills_room all THREADS      as much as it gets; says how many KiB that was
 *     fills_room KIB THREADS      so much, or says that it cannot
 *
 * The threads, which are there meanwhile, allocate a block each and report one to memledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"

#define BLOCK_BYTES (64u << 10)
#define STACK_BYTES (128u << 10)
#define THREADS_MAX 64

static pthread_barrier_t begun, ended;
static memledger_space space;

static void *work(void *failed)
{
    void *block = malloc(1000);

    memledger_alloc(space, (void *)((uintptr_t)failed * 4096), 77);
    if (!block)
        *(int *)failed = 1;
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&ended);
    free(block);
    return NULL;
}

static void start(pthread_t *threads, int *failed, unsigned n)
{
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (unsigned i = 0; i < n; i++) {
        if (pthread_create(&threads[i], &small, work, &failed[i])) {
            puts("no thread");
            exit(2);
        }
    }
    pthread_attr_destroy(&small);
}

static size_t fill(size_t wanted_bytes)
{
    size_t bytes = 0;

    while (bytes < wanted_bytes && malloc(BLOCK_BYTES))
        bytes += BLOCK_BYTES;
    return bytes;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    bool all = argc > 1 && !strcmp(argv[1], "all");
    size_t wanted_bytes = all || argc < 2 ? SIZE_MAX : strtoul(argv[1], NULL, 10) << 10;
    pthread_t threads[THREADS_MAX];
    int failed[THREADS_MAX] = {0};
    size_t bytes;

    if (n > THREADS_MAX)
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "room");
    memledger_alloc(space, (void *)0x1000, 77);
    pthread_barrier_init(&begun, NULL, n + 1);
    pthread_barrier_init(&ended, NULL, n + 1);
    start(threads, failed, n);
    pthread_barrier_wait(&begun);
    bytes = fill(wanted_bytes);
    pthread_barrier_wait(&ended);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        if (failed[i])
            puts("a thread got nothing");
    }
    if (all)
        printf("%zu\n", bytes >> 10);
    else
        puts(bytes >= wanted_bytes ? "enough" : "not enough");
    return bytes >= wanted_bytes || all ? 0 : 1;
}
