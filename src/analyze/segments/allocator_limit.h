/* allocator_limit.h: a limit below what the device has, which an allocator was given and
 * nobody recorded: PyTorch's set_per_process_memory_fraction.
 *
 * It shows when the allocator refuses a request although the driver has more free than a
 * segment for it takes, and was not even asked. The allocator may then have no more
 * than its segments and that one; and it may have as much as it ever had.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ALLOCATOR_LIMIT_H
#define ML_ANALYZE_ALLOCATOR_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

struct ml_allocator_limit {
    bool known;
    uint64_t at_least, below; /* bytes of segments */
};

/* Of PyTorch's CUDA allocator in one process on one device, from the whole run.
 * @return 0 or negative errno */
int ml_allocator_limit(const struct ml_trace *trace, const char *device, uint32_t pid,
                       struct ml_allocator_limit *ret, struct ml_error *err);

#endif
