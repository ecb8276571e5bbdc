/* churn.h: random malloc and free, the work that the heap recorders are compared
 * on: sizes 16 to 1039, 4,096 slots, each event a malloc or a free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_CHURN_H
#define BENCH_CHURN_H

#include <stdint.h>

/* Exported, for churn.py. Frees what it still holds afterwards.
 * @return how long the events took */
__attribute__((visibility("default"))) uint64_t bench_churn(uint64_t events);

/* The same with that many slots: half as many blocks are live.
 * @per_second  events, a hundredth of them at a time; 0: as quickly as possible */
uint64_t bench_wide_churn(uint64_t events, uint64_t slots, uint64_t per_second);

#endif
