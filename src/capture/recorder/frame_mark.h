/* frame_mark.h: whether an interrupted function of this thread will continue.
 *
 * A function that must not be entered twice leaves a mark on its stack and publishes its address. A
 * signal handler that calls the recorder again finds the mark. After a handler has left the
 * function by longjmp, the frame is gone and the mark overwritten, and the thread must be able to
 * record again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FRAME_MARK_H
#define ML_FRAME_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* A function stores this value in a local variable that it set to 0 before, and publishes the
 * variable's address. */
static ML_ALWAYS_INLINE uint64_t ml_frame_mark(const volatile uint64_t *at)
{
    return (uintptr_t)at ^ 0x6d61726b65640000;
}

/* Whether the function that left its mark there is still running on this thread. In doubt, yes: on
 * a signal stack the order of frames says nothing, and in a sandbox the mark cannot be read. A
 * handler on a signal stack with SS_AUTODISARM, less than a MiB above the function, is not
 * recognised. For rare paths, in functions that are not inlined. Keeps errno. */
#define ml_frame_stands(at) ml_frame_stands_above(at, (uintptr_t)__builtin_frame_address(0))
bool ml_frame_stands_above(const volatile uint64_t *at, uintptr_t here);

#endif
