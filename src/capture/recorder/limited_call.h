/* limited_call.h: makes calls into a library that may hang (NVML) on a separate thread, so that the
 * program's thread waits for a limited time.
 *
 * The first call creates the thread, which blocks the program's signals. After a call that was not
 * over in time no more are made: a library that hangs costs one wait per process. A forked child
 * has no such thread and gets none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIMITED_CALL_H
#define ML_LIMITED_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* Calls `function` and waits until it returns. The function must use only static data: it may still
 * run after the caller has stopped waiting. One call at a time; a second, concurrent one is not
 * made.
 * @return whether the call was made and is over */
bool ml_limited_call(void (*function)(void), uint32_t limit_ms);

/* Whether a call was not over in time. */
bool ml_limited_call_hangs(void);

#endif
