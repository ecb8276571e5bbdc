/* second_history.c: see second_history.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "second_history.h"

#include "compiler.h"
#include "vec.h"

void ml_second_history_put(struct ml_second_history *h, uint64_t time_ns, uint64_t value)
{
    uint64_t second = time_ns / ML_NS_PER_SECOND;

    if (!h->begun) {
        *h = (struct ml_second_history){.first = second, .last = second, .begun = true};
    } else if (second > h->last) {
        uint64_t before = h->values[h->last % ML_HISTORY_SECONDS];
        uint64_t gap = ml_min_u64(second - h->last, ML_HISTORY_SECONDS);

        for (uint64_t i = second - gap + 1; i <= second; i++)
            h->values[i % ML_HISTORY_SECONDS] = before;
        h->last = second;
    }
    h->values[h->last % ML_HISTORY_SECONDS] = value;
    if (h->last - h->first >= ML_HISTORY_SECONDS)
        h->first = h->last - ML_HISTORY_SECONDS + 1;
}

uint64_t ml_second_history_ago(const struct ml_second_history *h, uint64_t seconds,
                               uint64_t *ret_seconds)
{
    uint64_t known = h->last - h->first;

    *ret_seconds = 0;
    if (!h->begun)
        return 0;
    *ret_seconds = ml_min_u64(seconds, known);
    return h->values[(h->last - *ret_seconds) % ML_HISTORY_SECONDS];
}
