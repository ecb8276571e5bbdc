/* churn.c: see churn.h. Linked into bench_malloc, and also a library that churn.py calls, so
 * that memray and heaptrack measure the same work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "churn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench_common.h"

#define SLICES 100 /* in a second */

static void wait_until(uint64_t ns)
{
    const struct timespec at = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static inline __attribute__((always_inline)) uint64_t churn(void **slots, uint64_t count,
                                                            uint64_t events, uint64_t slice)
{
    uint64_t random = 88172645463325252u;
    uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
    uint64_t end_ns;

    for (uint64_t i = 0; i < events; i++) {
        void **slot = &slots[bench_random(&random) % count];

        if (slice && i % slice == 0)
            wait_until(start_ns + i / slice * (1000000000u / SLICES));

        if (*slot) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = malloc(bench_size(random));
        }
    }
    end_ns = bench_clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < count; i++)
        free(slots[i]);
    return end_ns - start_ns;
}

uint64_t bench_churn(uint64_t events)
{
    void *slots[BENCH_SLOTS] = {0};

    return churn(slots, BENCH_SLOTS, events, 0);
}

uint64_t bench_wide_churn(uint64_t events, uint64_t slots, uint64_t per_second)
{
    /* Not from malloc, which is recorded. */
    void **table = mmap(NULL, slots * sizeof(*table), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t loop_ns;

    if (table == MAP_FAILED) {
        perror("bench_malloc: --slots");
        exit(1);
    }
    loop_ns = churn(table, slots, events, per_second / SLICES);
    munmap(table, slots * sizeof(*table));
    return loop_ns;
}
