/* limited_call.h: calls into a library that may hang, NVML, made by a thread of the recorder's
 * own, so that the program's thread waits for a limited time.
 *
 * The thread is made for the first call. It blocks the program's signals. Once a call was not
 * over in time there are no more: a library that hangs costs one wait in a process's life. A
 * forked child has no such thread and gets none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIMITED_CALL_H
#define ML_LIMITED_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* Calls `function` and waits until it is over. What it uses is static: it may still go on when
 * nobody waits for it any more. One call at a time; another that comes meanwhile is not made.
 * @return whether it was made and is over */
bool ml_limited_call(void (*function)(void), uint32_t limit_ms);

/* Whether a call was not over in time. */
bool ml_limited_call_hangs(void);

#endif
