/* crowd.c: threads or children that all report at once, more than their rings can store.
 *
 *     crowd threads | forks COUNT PAIRS
 *
 * Prints "ready" and waits for a line. Then each of COUNT threads or children reports PAIRS
 * allocations and frees. At the end "done SWITCHES SECONDS": how often threads of this process
 * gave the processor up, and how long all of it took.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memledger/memledger.h"

#define COUNT_MAX 1024

static memledger_space space;
static uintptr_t pairs;
static pthread_barrier_t start_line;

static void report(uintptr_t number)
{
    for (uintptr_t i = 0; i < pairs; i++) {
        void *block = (void *)((number + 1) << 32 | i << 4);

        memledger_alloc(space, block, 16);
        memledger_free(space, block);
    }
}

static void *run_thread(void *arg)
{
    pthread_barrier_wait(&start_line);
    report((uintptr_t)arg);
    return NULL;
}

static int start_threads(unsigned count)
{
    static pthread_t ids[COUNT_MAX];

    pthread_barrier_init(&start_line, NULL, count);
    for (uintptr_t i = 0; i < count; i++) {
        if (pthread_create(&ids[i], NULL, run_thread, (void *)i))
            return 3;
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(ids[i], NULL);
    return 0;
}

static int start_children(unsigned count)
{
    int status, failed = 0;

    for (uintptr_t i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            report(i);
            _exit(0);
        }
        failed |= child < 0;
    }
    for (unsigned i = 0; i < count; i++)
        failed |= wait(&status) < 0 || status;
    return failed ? 4 : 0;
}

int main(int argc, char **argv)
{
    unsigned count = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
    struct rusage usage;
    char line[16];
    time_t start;
    int r;

    if (!count || count > COUNT_MAX)
        return 2;
    pairs = (uintptr_t)atol(argv[3]);
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "crowd");
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 2;
    start = time(NULL);
    r = strcmp(argv[1], "forks") ? start_threads(count) : start_children(count);
    getrusage(RUSAGE_SELF, &usage);
    printf("done %ld %ld\n", usage.ru_nvcsw, (long)(time(NULL) - start));
    return r;
}
