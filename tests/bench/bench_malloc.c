/* bench_malloc.c: the random malloc and free of churn.h as a program.
 *
 *     bench_malloc [--events N]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_common.h"
#include "churn.h"

int main(int argc, char **argv)
{
    uint64_t events = bench_argument(argc, argv, "--events", 1000000);
    uint64_t loop_ns = bench_churn(events);

    printf("{\"events\": %llu, \"loop_ns\": %llu, ", (unsigned long long)events,
           (unsigned long long)loop_ns);
    bench_print_end();
    return 0;
}
