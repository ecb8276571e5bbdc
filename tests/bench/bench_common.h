/* bench_common.h: shared by the benchmark programs: clocks, a cheap random number, work that
 * the compiler cannot remove, arguments.
 *
 * Each program prints one line of JSON. `end_ns` in it is CLOCK_MONOTONIC just
 * before it returns from main and `self_cpu_ns` what its process used until
 * then, so that bench.py can tell the program from the tools around it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_SLOTS 4096u

static inline uint64_t bench_clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* 16 to 1039, from the bits that do not choose the slot. */
static inline size_t bench_size(uint64_t random)
{
    return 16 + (random >> 20) % 1024;
}

/* A chain of dependent multiplications: its time depends on `rounds` alone. */
static inline uint64_t bench_work(uint64_t x, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

/* The number after `name` among the arguments, else `otherwise`. */
static inline uint64_t bench_argument(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return strtoull(argv[i + 1], NULL, 10);
    return otherwise;
}

/* The members that end the line, and the line. */
static inline void bench_print_end(void)
{
    printf("\"self_cpu_ns\": %llu, \"end_ns\": %llu}\n",
           (unsigned long long)bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
           (unsigned long long)bench_clock_ns(CLOCK_MONOTONIC));
    fflush(stdout);
}

#endif
