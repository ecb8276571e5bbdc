/* pass_blocks.c: threads that pass blocks to each other through an allocator that reuses the
 * last freed block first, so that an address goes from one thread to the next within
 * nanoseconds.
 *
 *     pass_blocks THREADS BLOCKS
 *
 * Each thread takes blocks from the pool, and frees them or mails them to its neighbour, which
 * frees them. The mailbox is a plain load and store, so the processor may read its clock early.
 * Addresses are made up. How a block is reported is up to passed_blocks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "passed_blocks.h"

#define THREADS_MAX 128
#define POOL_BLOCKS (THREADS_MAX + 2)

static int threads;
static long blocks;

/* A stack of free blocks behind a spin lock: as many as mailboxes can hold, and
 * two more. */
static int pool_lock;
static uintptr_t pool[POOL_BLOCKS];
static int pool_len;

static uintptr_t mailboxes[THREADS_MAX][8]; /* [0] is used, one a cache line */
static uint64_t allocations, frees;

void lock_pool(void)
{
    for (int tries = 1; __atomic_exchange_n(&pool_lock, 1, __ATOMIC_ACQUIRE); tries++) {
        if (tries % 1000 == 0)
            sched_yield();
    }
}

void unlock_pool(void)
{
    __atomic_store_n(&pool_lock, 0, __ATOMIC_RELEASE);
}

uintptr_t pop_block(void)
{
    return pool_len ? pool[--pool_len] : 0;
}

void push_block(uintptr_t block)
{
    pool[pool_len++] = block;
}

uintptr_t take_from_pool(void)
{
    uintptr_t block;

    lock_pool();
    block = pop_block();
    unlock_pool();
    return block;
}

void put_into_pool(uintptr_t block)
{
    lock_pool();
    push_block(block);
    unlock_pool();
}

static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    uintptr_t *mine = mailboxes[me];
    uintptr_t *next = mailboxes[(me + 1) % threads];
    uint64_t taken = 0, given = 0;

    while ((long)taken < blocks || __atomic_load_n(mine, __ATOMIC_RELAXED)) {
        uintptr_t mail = __atomic_load_n(mine, __ATOMIC_ACQUIRE);
        uintptr_t block;
        if (mail) {
            give_block_back(mail);
            given++;
            __atomic_store_n(mine, 0, __ATOMIC_RELEASE);
        }
        block = (long)taken < blocks ? take_block() : 0;
        if (!block)
            continue;
        taken++;
        if (taken % 4 == 0 && !__atomic_load_n(next, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(next, block, __ATOMIC_RELEASE);
            continue;
        }
        give_block_back(block);
        given++;
    }
    __atomic_fetch_add(&allocations, taken, __ATOMIC_RELAXED);
    __atomic_fetch_add(&frees, given, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS_MAX];

    if (argc < 3)
        return 2;
    threads = atoi(argv[1]);
    blocks = atol(argv[2]);
    begin_blocks();
    for (pool_len = 0; pool_len < threads + 2; pool_len++)
        pool[pool_len] = 0x10000 + (uintptr_t)pool_len * 64;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    /* A neighbour that was done before its last mail came. */
    for (int i = 0; i < threads; i++) {
        if (mailboxes[i][0]) {
            give_block_back(mailboxes[i][0]);
            frees++;
        }
    }
    printf("%lu %lu\n", (unsigned long)allocations, (unsigned long)frees);
    return 0;
}
