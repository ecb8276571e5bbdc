/* nvtx_ranges.h: NVTX's push and pop as scopes of the calling thread.
 *
 * NVTX has a stack for each domain, the recorder one for each thread. When a range is popped from
 * below ranges of other domains, those are popped too and pushed again, so that the next allocation
 * is inside them and no longer inside the one that ended.
 *
 * A forked child keeps its thread's open ranges: they count for levels and may be popped. Its
 * trace, as with all scopes, begins outside of them.
 *
 * Async-signal-safe, for handlers that pop every range that they push.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_RANGES_H
#define ML_NVTX_RANGES_H

#include <stdint.h>

/* May be called more than once. */
void ml_nvtx_ranges_init(void);

/* Opens a range of that name. @return its level within the domain, from 0; negative when 16,384 are
 * open or there is no memory: then it is not a scope */
int ml_nvtx_push(uint32_t domain, uint32_t name);

/* Ends the domain's innermost range. @return its level, or a negative number
 * when there is none */
int ml_nvtx_pop(uint32_t domain);

#endif
