/* count_up.c: records numbered allocations until it is killed, and after each stores the number
 * in a file that outlives it.
 *
 *     count_up FILE THREADS
 *
 * Thread i counts in the i-th 64 bytes of the file; its n-th block has the
 * address ((i + 1) << 40) + 16 n and the size n. Every 1000th is followed by a
 * new name, and one in 64 is freed at once, so that all sorts of records are cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memledger/memledger.h"

static memledger_space space;
static volatile uint64_t *told; /* 8 words for each thread */

static void *count(void *arg)
{
    uintptr_t me = (uintptr_t)arg;

    for (uint64_t n = 1;; n++) {
        void *block = (void *)(((me + 1) << 40) + 16 * n);
        memledger_alloc(space, block, n);
        told[8 * me] = n;
        if (n % 64 == 0)
            memledger_free(space, block);
        if (n % 1000 == 0) {
            char name[32];
            snprintf(name, sizeof(name), "thread %u block %lu", (unsigned)me, (unsigned long)n);
            memledger_push(name);
            memledger_pop();
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
    pthread_t id;

    if (fd < 0)
        return 2;
    told = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (told == MAP_FAILED)
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "numbered");
    for (intptr_t i = 1; i < threads; i++)
        pthread_create(&id, NULL, count, (void *)i);
    count(NULL);
}
