/* bench_crowd.c: how many blocks a crowd of threads allocates and frees in a given time.
 *
 *     bench_crowd [--threads N] [--ms N]
 *
 * `mallocs` are of all threads, `least` and `most` of one; `wall_ns` is from the moment when all
 * of them start to the moment when the last has stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench_common.h"

#define MAX_THREADS 1024u
#define KEPT 64u
#define STACK_BYTES (128u << 10)

struct worker {
    pthread_t thread;
    uint64_t mallocs;
};

static pthread_barrier_t start_line;
static atomic_bool over;

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    void *kept[KEPT] = {0};
    uint64_t random = 88172645463325252u + (uintptr_t)arg;
    uint64_t mallocs = 0;

    pthread_barrier_wait(&start_line);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        void **slot = &kept[bench_random(&random) % KEPT];

        free(*slot);
        *slot = malloc(bench_size(random));
        mallocs++;
    }
    for (unsigned i = 0; i < KEPT; i++)
        free(kept[i]);
    w->mallocs = mallocs;
    return NULL;
}

static void start(struct worker *workers, uint64_t threads)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (uint64_t i = 0; i < threads; i++) {
        if (pthread_create(&workers[i].thread, &attr, run_worker, &workers[i])) {
            fprintf(stderr, "bench_crowd: cannot start %llu threads\n",
                    (unsigned long long)threads);
            exit(1);
        }
    }
    pthread_attr_destroy(&attr);
}

static void print_mallocs(const struct worker *workers, uint64_t threads, uint64_t wall_ns)
{
    uint64_t mallocs = 0, least = UINT64_MAX, most = 0;

    for (uint64_t i = 0; i < threads; i++) {
        mallocs += workers[i].mallocs;
        least = workers[i].mallocs < least ? workers[i].mallocs : least;
        most = workers[i].mallocs > most ? workers[i].mallocs : most;
    }
    printf("{\"mallocs\": %llu, \"least\": %llu, \"most\": %llu, \"wall_ns\": %llu, ",
           (unsigned long long)mallocs, (unsigned long long)least, (unsigned long long)most,
           (unsigned long long)wall_ns);
}

int main(int argc, char **argv)
{
    static struct worker workers[MAX_THREADS];
    uint64_t threads = bench_argument(argc, argv, "--threads", 1);
    uint64_t ms = bench_argument(argc, argv, "--ms", 1000);
    uint64_t start_ns;

    if (!threads || threads > MAX_THREADS) {
        fprintf(stderr, "bench_crowd: --threads is 1 to %u\n", MAX_THREADS);
        return 2;
    }
    pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
    start(workers, threads);
    pthread_barrier_wait(&start_line);
    start_ns = bench_clock_ns(CLOCK_MONOTONIC);
    nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}, NULL);
    atomic_store(&over, true);
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    print_mallocs(workers, threads, bench_clock_ns(CLOCK_MONOTONIC) - start_ns);
    bench_print_end();
    return 0;
}
