/* churn.c: see churn.h. Linked into bench_malloc, and also a library that churn.py calls, so
 * that memray and heaptrack measure the same work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "churn.h"

#include "bench_common.h"

uint64_t bench_churn(uint64_t events)
{
    void *slots[BENCH_SLOTS] = {0};
    uint64_t random = 88172645463325252u;
    uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
    uint64_t end_ns;

    for (uint64_t i = 0; i < events; i++) {
        void **slot = &slots[bench_random(&random) % BENCH_SLOTS];

        if (*slot) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = malloc(bench_size(random));
        }
    }
    end_ns = bench_clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < BENCH_SLOTS; i++)
        free(slots[i]);
    return end_ns - start_ns;
}
