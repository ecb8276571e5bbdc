/* bench_forks.c: forks children that allocate and end.
 *
 *     bench_forks [--children N] [--at-once N] [--mallocs N]
 *
 * Each child allocates and frees N blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sys/wait.h>
#include <unistd.h>

#include "bench_common.h"

static void be_child(uint64_t mallocs)
{
    for (uint64_t i = 0; i < mallocs; i++)
        free(malloc(16 + i % 1024));
    _exit(0);
}

/* @return 1 if a child has failed */
static int wait_for_one(void)
{
    int status;

    return wait(&status) < 0 || status;
}

int main(int argc, char **argv)
{
    uint64_t children = bench_argument(argc, argv, "--children", 1);
    uint64_t at_once = bench_argument(argc, argv, "--at-once", 1);
    uint64_t mallocs = bench_argument(argc, argv, "--mallocs", 1000);
    int failed = 0;

    for (uint64_t i = 0; i < children; i++) {
        pid_t child = fork();
        if (child == 0)
            be_child(mallocs);
        failed |= child < 0;
        if (i + 1 >= at_once)
            failed |= wait_for_one();
    }
    for (uint64_t i = 1; i < at_once && i < children; i++)
        failed |= wait_for_one();
    printf("{\"events\": %llu, ", (unsigned long long)(2 * children * mallocs));
    bench_print_end();
    return failed;
}
