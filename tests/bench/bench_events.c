/* bench_events.c: reports allocations and frees through the public API, as fast
 * as it can or with work in between, on one thread or several.
 *
 *     bench_events [--events N] [--threads N] [--work ROUNDS] [--sleep MS]
 *
 * N events on each thread: a random one of 4,096 slots is filled if it is empty
 * and emptied if it is not. Nothing is really allocated, so the difference
 * between a run with the recorder and one without is the recorder. --sleep waits
 * at the end, for the collector that has nothing to do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <unistd.h>

#include "bench_common.h"
#include "memledger/memledger.h"

#define MAX_THREADS 1024u
#define SLOT_BYTES 1280u /* room for the largest block at any of 16 places */

struct worker {
    pthread_t thread;
    uint64_t number;
    uint64_t wall_ns, cpu_ns;
    uint64_t result; /* of the work, so that there must be work */
};

static uint64_t events, work_rounds;
static memledger_space space;
static pthread_barrier_t start_line;

/* One address for each slot and use, as from an allocator: in reach of each
 * other, aligned to 16. */
static const char *address(uint64_t worker, unsigned slot, unsigned use)
{
    uintptr_t base = 0x7f0000000000u + worker * 0x10000000u;

    return (const char *)(base + slot * SLOT_BYTES + (use & 15) * 16);
}

static void toggle(uint64_t worker, const char **slot, unsigned index, unsigned *uses,
                   uint64_t random)
{
    if (*slot) {
        memledger_free(space, *slot);
        *slot = NULL;
        return;
    }
    *slot = address(worker, index, (*uses)++);
    memledger_alloc(space, *slot, bench_size(random));
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    const char *slots[BENCH_SLOTS] = {0};
    uint64_t random = 88172645463325252u + w->number;
    uint64_t result = random;
    unsigned uses = 0;

    pthread_barrier_wait(&start_line);
    w->wall_ns = bench_clock_ns(CLOCK_MONOTONIC);
    w->cpu_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < events; i++) {
        unsigned index = bench_random(&random) % BENCH_SLOTS;

        toggle(w->number, &slots[index], index, &uses, random);
        result = bench_work(result, work_rounds);
    }
    w->cpu_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->cpu_ns;
    w->wall_ns = bench_clock_ns(CLOCK_MONOTONIC) - w->wall_ns;
    w->result = result;
    return NULL;
}

static void print_times(const struct worker *workers, uint64_t threads)
{
    uint64_t wall_ns = 0, cpu_ns = 0;

    for (uint64_t i = 0; i < threads; i++) {
        wall_ns += workers[i].wall_ns;
        cpu_ns += workers[i].cpu_ns;
    }
    printf("{\"recorded\": %d, \"threads\": %llu, \"events\": %llu, ", memledger_active(),
           (unsigned long long)threads, (unsigned long long)(events * threads));
    printf("\"thread_wall_ns\": %llu, \"thread_cpu_ns\": %llu, ",
           (unsigned long long)(wall_ns / threads), (unsigned long long)(cpu_ns / threads));
}

int main(int argc, char **argv)
{
    static struct worker workers[MAX_THREADS];
    uint64_t threads = bench_argument(argc, argv, "--threads", 1);
    uint64_t sleep_ms = bench_argument(argc, argv, "--sleep", 0);

    events = bench_argument(argc, argv, "--events", 1000000);
    work_rounds = bench_argument(argc, argv, "--work", 0);
    if (!threads || threads > MAX_THREADS)
        return 2;
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "bench");
    pthread_barrier_init(&start_line, NULL, (unsigned)threads);
    for (uint64_t i = 0; i < threads; i++) {
        workers[i].number = i;
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]))
            return 1;
    }
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    usleep((useconds_t)sleep_ms * 1000);
    print_times(workers, threads);
    bench_print_end();
    return 0;
}
