/* threads.c: many threads, each with a few events.
 *
 *     threads TOTAL AT_ONCE [detached]
 *
 * Thread i is called "worker i" and does 10 allocations and 10 frees, the last
 * free in a destructor of its own. AT_ONCE of them are alive together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "memledger/memledger.h"

#define AT_ONCE_MAX 1024

static memledger_space space;
static pthread_key_t key;
static pthread_barrier_t all_here;

static void free_last(void *block)
{
    memledger_free(space, block);
}

static void *work(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    char name[16];

    snprintf(name, sizeof(name), "worker %u", (unsigned)me);
    pthread_setname_np(pthread_self(), name);
    for (uintptr_t i = 0; i < 10; i++) {
        void *block = (void *)(((me + 1) << 16) + (i << 4));
        memledger_alloc(space, block, 16);
        if (i == 9)
            pthread_setspecific(key, block);
        else
            memledger_free(space, block);
    }
    pthread_barrier_wait(&all_here);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned total = argc > 2 ? (unsigned)atoi(argv[1]) : 1;
    unsigned at_once = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    static pthread_t ids[AT_ONCE_MAX];
    pthread_attr_t attributes;

    if (at_once > AT_ONCE_MAX || total % at_once)
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "threads");
    pthread_key_create(&key, free_last);
    pthread_barrier_init(&all_here, NULL, at_once);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (unsigned first = 0; first < total; first += at_once) {
        for (unsigned i = 0; i < at_once; i++) {
            uintptr_t number = first + i;
            if (pthread_create(&ids[i], &attributes, work, (void *)number))
                return 3;
        }
        for (unsigned i = 0; i < at_once; i++)
            pthread_join(ids[i], NULL);
    }
    return 0;
}
