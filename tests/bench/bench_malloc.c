/* bench_malloc.c: the random malloc and free of churn.h as a program.
 *
 *     bench_malloc [--events N] [--slots N [--rate EVENTS]] [--depth FRAMES [--varies 1] [--threads
 * N]]
 *
 * With a depth, that of deep_churn.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench_common.h"
#include "churn.h"
#include "deep_churn.h"

int main(int argc, char **argv)
{
    uint64_t events = bench_argument(argc, argv, "--events", 1000000);
    unsigned depth = (unsigned)bench_argument(argc, argv, "--depth", 0);
    unsigned varies = (unsigned)bench_argument(argc, argv, "--varies", 0);
    uint64_t slots = bench_argument(argc, argv, "--slots", 0);
    uint64_t rate = bench_argument(argc, argv, "--rate", 0);
    unsigned threads = (unsigned)bench_argument(argc, argv, "--threads", 1);
    uint64_t loop_ns = depth && threads > 1 ? bench_thread_churn(events, depth, varies, threads)
                       : depth              ? bench_deep_churn(events, depth, varies)
                       : slots              ? bench_wide_churn(events, slots, rate)
                                            : bench_churn(events);

    printf("{\"events\": %llu, \"loop_ns\": %llu, ", (unsigned long long)events,
           (unsigned long long)loop_ns);
    bench_print_end();
    return 0;
}
