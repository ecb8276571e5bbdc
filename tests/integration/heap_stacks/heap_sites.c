/* heap_sites.c: four functions that allocate blocks of very different sizes, in two threads, free
 * some of them and resize others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define ROUNDS 20000

#define NOINLINE __attribute__((noinline, noipa))

static void *volatile kept[2][4][ROUNDS];

static unsigned next(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

/* 16 to 143 bytes, never freed. */
static NOINLINE void small(int thread, int i, unsigned *state)
{
    kept[thread][0][i] = malloc(16 + next(state) % 128);
    __asm__ volatile("");
}

/* 1,000 to 9,999 bytes; every other one is freed by the next call. */
static NOINLINE void medium(int thread, int i, unsigned *state)
{
    kept[thread][1][i] = calloc(1, 1000 + next(state) % 9000);
    if (i % 2)
        free(kept[thread][1][i - 1]);
    __asm__ volatile("");
}

/* 100 KB to 1 MB, one in twenty calls, all of them freed at once. */
static NOINLINE void large(int thread, int i, unsigned *state)
{
    if (i % 20)
        return;
    kept[thread][2][i] = malloc(100000 + next(state) % 900000);
    free(kept[thread][2][i]);
    __asm__ volatile("");
}

/* A buffer that grows. */
static NOINLINE void growing(int thread, int i)
{
    kept[thread][3][0] = realloc(kept[thread][3][0], 100 + 10 * (size_t)(i % 1000));
    __asm__ volatile("");
}

static void *run(void *argument)
{
    int thread = (int)(intptr_t)argument;
    unsigned state = (unsigned)thread + 1;

    for (int i = 0; i < ROUNDS; i++) {
        small(thread, i, &state);
        medium(thread, i, &state);
        large(thread, i, &state);
        growing(thread, i);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;

    if (pthread_create(&other, NULL, run, (void *)(intptr_t)1))
        return 1;
    run((void *)0);
    return pthread_join(other, NULL);
}
