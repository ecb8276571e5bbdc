/* nvtx_ranges.h: NVTX's push and pop as scopes of the calling thread.
 *
 * NVTX has a stack for each domain, the recorder one for each thread. A range
 * that is popped while ranges of other domains lie on it takes those down and
 * they are pushed again, so that what is allocated next is in them and no more
 * in the one that ended.
 *
 * A forked child goes on with its thread's open ranges: they count for levels
 * and may be popped. Its trace, as with all scopes, begins outside of them.
 *
 * Async-signal-safe, for handlers that pop what they push.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NVTX_RANGES_H
#define ML_NVTX_RANGES_H

#include <stdint.h>

/* Once per program, or more often. */
void ml_nvtx_ranges_init(void);

/* Opens a range of that name. @return its level within the domain, from 0;
 * negative when 16,384 are open, or there is no memory: it then is no scope */
int ml_nvtx_push(uint32_t domain, uint32_t name);

/* Ends the domain's innermost range. @return its level, or a negative number
 * when there is none */
int ml_nvtx_pop(uint32_t domain);

#endif
