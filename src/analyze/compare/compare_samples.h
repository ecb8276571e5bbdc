/* compare_samples.h: runs without allocations, by what was sampled. Only the
 * comparison includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_SAMPLES_H
#define ML_ANALYZE_COMPARE_SAMPLES_H

#include "compare.h"

/* `value` beside the first run's. */
struct ml_change ml_change_of(uint64_t value, uint64_t first);

/* Whether samples are all there is to compare.
 * @return 0, or -EINVAL when runs of both sorts are given */
int ml_compare_check(const struct ml_compare_input *inputs, size_t count, bool *ret_by_samples,
                     struct ml_error *err);

/* Fills `sampled` and the worst increase, once the runs stand in their order.
 * @return 0 or -ENOMEM */
int ml_compare_samples(const struct ml_compare_input *inputs, struct ml_compare *ret);

#endif
