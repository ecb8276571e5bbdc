/* second_history.h: a number for each of the last seconds, for sparklines and growth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SECOND_HISTORY_H
#define ML_ANALYZE_SECOND_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ML_HISTORY_SECONDS 300
#define ML_NS_PER_SECOND 1000000000u

/* All zero bytes is an empty one. */
struct ml_second_history {
    uint64_t values[ML_HISTORY_SECONDS]; /* by second, modulo their number */
    uint64_t first, last;                /* seconds; nothing is known before the first */
    bool begun;
};

/* The number has this value from that time on. Times must not fall; seconds in between keep the
 * value before them. */
void ml_second_history_put(struct ml_second_history *h, uint64_t time_ns, uint64_t value);

/* The value that many seconds before the last one, or the oldest known.
 * @ret_seconds  how many seconds before the last one that is
 * @return 0 if nothing is known */
uint64_t ml_second_history_ago(const struct ml_second_history *h, uint64_t seconds,
                               uint64_t *ret_seconds);

#endif
