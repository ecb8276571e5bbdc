/* deep_churn.h: random malloc and free below many callers, as programs do it: the outer callers
 * stay, while the innermost ones change from one call to the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_DEEP_CHURN_H
#define BENCH_DEEP_CHURN_H

#include <stdint.h>

/* Exported, for churn.py. Sizes and slots as in churn.h. Each malloc has `depth` frames of this
 * file above it, at least 3. The innermost three are one of eight paths if `varies`, otherwise the
 * same each time. @return how long the events took */
__attribute__((visibility("default"))) uint64_t bench_deep_churn(uint64_t events, unsigned depth,
                                                                 unsigned varies);

/* The same in several threads at once, which share the events. @return how long the slowest took,
 * 0: a thread could not be started */
#define BENCH_CHURN_THREADS 64u
__attribute__((visibility("default"))) uint64_t
bench_thread_churn(uint64_t events, unsigned depth, unsigned varies, unsigned threads);

#endif
