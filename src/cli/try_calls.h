/* try_calls.h: the recorder's system calls, tried out in a process that may be lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRY_CALLS_H
#define ML_TRY_CALLS_H

/* Makes each of them once, without effect. Where a seccomp filter that this process inherited
 * kills for one, it is this process that is killed, and not the one to be recorded. */
void ml_try_recorder_calls(void);

#endif
