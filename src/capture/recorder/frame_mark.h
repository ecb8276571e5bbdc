/* frame_mark.h: whether a function of this thread that was interrupted will go on.
 *
 * A function that must not be entered twice leaves a mark on its stack and says where. A signal
 * handler that comes back into the recorder finds the mark. So does a thread whose handler left
 * the function by longjmp, and which must not be silent from then on: there the frame is gone,
 * and the mark overwritten.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FRAME_MARK_H
#define ML_FRAME_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* What a function stores in a variable of its own, whose address it then gives to others: 0 at
 * first, and this once it goes on. */
static ML_ALWAYS_INLINE uint64_t ml_frame_mark(const volatile uint64_t *at)
{
    return (uintptr_t)at ^ 0x6d61726b65640000;
}

/* Whether the function that has its mark there is still under way on this thread. In doubt it
 * is: on a signal stack the order of frames says nothing, and in a sandbox the place cannot be
 * looked at. For rare paths, in functions that are not inlined. Keeps errno. */
#define ml_frame_stands(at) ml_frame_stands_above(at, (uintptr_t)__builtin_frame_address(0))
bool ml_frame_stands_above(const volatile uint64_t *at, uintptr_t here);

#endif
