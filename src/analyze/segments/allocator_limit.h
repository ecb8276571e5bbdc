/* allocator_limit.h: finds an allocator limit below the size of the device that was not recorded:
 * PyTorch's set_per_process_memory_fraction.
 *
 * It shows when the allocator refuses a request without asking the driver, which has more free
 * memory than a segment for the request takes. The limit is then below the allocator's segments
 * plus that one, and not below the most it ever had.
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

/* For PyTorch's CUDA allocator in one process on one device, from the whole run.
 * @return 0 or negative errno */
int ml_allocator_limit(const struct ml_trace *trace, const char *device, uint32_t pid,
                       struct ml_allocator_limit *ret, struct ml_error *err);

#endif
