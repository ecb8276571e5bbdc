/* deep_churn.c: see deep_churn.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deep_churn.h"

#include "bench_common.h"

#define PATH_FRAMES 3

/* No call may be the last instruction: it would leave no frame. */
#define FRAME __attribute__((noinline, noclone))
#define KEEP_FRAME __asm__ volatile("" ::: "memory")

#define INNERMOST(name)                                                                            \
    static FRAME void *name(size_t bytes)                                                          \
    {                                                                                              \
        void *p = malloc(bytes);                                                                   \
        KEEP_FRAME;                                                                                \
        return p;                                                                                  \
    }
#define CALLER(name, first, second)                                                                \
    static FRAME void *name(size_t bytes, unsigned way)                                            \
    {                                                                                              \
        void *p = way & 1 ? first : second;                                                        \
        KEEP_FRAME;                                                                                \
        return p;                                                                                  \
    }

INNERMOST(new_node)
INNERMOST(new_text)
CALLER(add_node, new_node(bytes), new_text(bytes))
CALLER(add_text, new_text(bytes), new_node(bytes))
CALLER(parse, add_node(bytes, way >> 1), add_text(bytes, way >> 1))
CALLER(build, add_text(bytes, way >> 1), add_node(bytes, way >> 1))

static FRAME uint64_t churn(uint64_t events)
{
    void *slots[BENCH_SLOTS] = {0};
    uint64_t random = 88172645463325252u;
    uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
    uint64_t end_ns;

    for (uint64_t i = 0; i < events; i++) {
        void **slot = &slots[bench_random(&random) % BENCH_SLOTS];
        unsigned way = (unsigned)(random >> 40);

        if (*slot) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = way & 4 ? parse(bench_size(random), way) : build(bench_size(random), way);
        }
    }
    end_ns = bench_clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < BENCH_SLOTS; i++)
        free(slots[i]);
    return end_ns - start_ns;
}

static FRAME uint64_t descend(uint64_t events, unsigned depth)
{
    uint64_t ns = depth ? descend(events, depth - 1) : churn(events);

    KEEP_FRAME;
    return ns;
}

uint64_t bench_deep_churn(uint64_t events, unsigned depth)
{
    unsigned below = PATH_FRAMES + 2; /* and churn, and descend itself */

    return descend(events, depth > below ? depth - below : 0);
}
