/* deep_churn.c: see deep_churn.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deep_churn.h"

#include <pthread.h>
#include <stdatomic.h>

#include "bench_common.h"

#define INNER_FRAMES 3 /* churn, and two of its callees */

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
#define CALLER(name)                                                                               \
    static FRAME void *name(size_t bytes, unsigned way)                                            \
    {                                                                                              \
        void *p = way & 4 ? new_node(bytes) : new_text(bytes);                                     \
        KEEP_FRAME;                                                                                \
        return p;                                                                                  \
    }

INNERMOST(new_node)
INNERMOST(new_text)
CALLER(parse)
CALLER(build)
CALLER(load)
CALLER(copy)

static inline void *allocate(size_t bytes, unsigned way)
{
    switch (way & 3) {
    case 0: return parse(bytes, way);
    case 1: return build(bytes, way);
    case 2: return load(bytes, way);
    default: return copy(bytes, way);
    }
}

/* Threads that did the same would make a file that compresses well, unlike those of programs. */
static uint64_t seed_of_thread(void)
{
    static _Atomic uint64_t threads;

    return 88172645463325252u + atomic_fetch_add(&threads, 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static FRAME uint64_t churn(uint64_t events, unsigned ways)
{
    void *slots[BENCH_SLOTS] = {0};
    uint64_t random = seed_of_thread();
    uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
    uint64_t end_ns;

    for (uint64_t i = 0; i < events; i++) {
        void **slot = &slots[bench_random(&random) % BENCH_SLOTS];

        if (*slot) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = allocate(bench_size(random), (unsigned)(random >> 40) & ways);
        }
    }
    end_ns = bench_clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < BENCH_SLOTS; i++)
        free(slots[i]);
    return end_ns - start_ns;
}

static FRAME uint64_t descend(uint64_t events, unsigned ways, unsigned frames)
{
    uint64_t ns = frames > 1 ? descend(events, ways, frames - 1) : churn(events, ways);

    KEEP_FRAME;
    return ns;
}

uint64_t bench_deep_churn(uint64_t events, unsigned depth, unsigned varies)
{
    unsigned ways = varies ? 7 : 0;

    if (depth <= INNER_FRAMES)
        return churn(events, ways);
    return descend(events, ways, depth - INNER_FRAMES);
}

/* ---- Several threads ---------------------------------------------------------------- */

struct job {
    uint64_t events, ns;
    unsigned depth, varies;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    job->ns = bench_deep_churn(job->events, job->depth, job->varies);
    return NULL;
}

uint64_t bench_thread_churn(uint64_t events, unsigned depth, unsigned varies, unsigned threads)
{
    struct job jobs[BENCH_CHURN_THREADS];
    pthread_t ids[BENCH_CHURN_THREADS];
    uint64_t longest = 0;
    unsigned started = 0;

    threads = threads < BENCH_CHURN_THREADS ? threads : BENCH_CHURN_THREADS;
    for (; started < threads; started++) {
        jobs[started] = (struct job){events / threads, 0, depth, varies};
        if (pthread_create(&ids[started], NULL, run_job, &jobs[started]) != 0)
            break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        longest = jobs[i].ns > longest ? jobs[i].ns : longest;
    }
    return started == threads ? longest : 0;
}
