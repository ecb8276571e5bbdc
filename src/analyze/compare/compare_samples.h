/* compare_samples.h: compares runs without allocations by their samples. Only the comparison
 * includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_SAMPLES_H
#define ML_ANALYZE_COMPARE_SAMPLES_H

#include "compare.h"

/* `value` and its change from the first run. */
struct ml_change ml_change_of(uint64_t value, uint64_t first);

/* Whether samples are all there is to compare.
 * @return 0, or -EINVAL if there are runs of both kinds */
int ml_compare_check(const struct ml_compare_input *inputs, size_t count, bool *ret_by_samples,
                     struct ml_error *err);

/* Fills in `sampled` and the worst increase, after the runs have been sorted.
 * @return 0 or -ENOMEM */
int ml_compare_samples(const struct ml_compare_input *inputs, struct ml_compare *ret);

#endif
