/* stack_join.h: one stack of native and Python frames, in the order of their calls.
 *
 * The interpreter's loop is a native function that runs Python frames: one, or several that call
 * each other. Its native frame is replaced by those that it runs. From Python 3.11 on, the
 * outermost of these leads to a structure in the memory of the native frame; before, every native
 * frame of the loop runs one Python frame. Pure functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_JOIN_H
#define ML_STACK_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "libraries.h"

/* All frames are innermost first. */
struct ml_join {
    const uint64_t *pcs; /* native frames, and their stack pointers */
    const uintptr_t *sps;
    uint32_t native;
    bool is_cut;              /* there are more native frames than these */
    const uint32_t *numbers;  /* Python frames; 0: one to leave out */
    const uintptr_t *runners; /* as in struct ml_python_walk */
    uint32_t python;
    struct ml_address_range loop; /* the code of runners that are ML_PYTHON_ANY_RUNNER */
};

/* Up to ML_STACK_MAX_FRAMES words as in ML_REC_RING_STACK: the innermost frames. Python frames
 * whose native frame is not among those given come last, the outermost ones.
 * @return how many */
uint32_t ml_stack_join(const struct ml_join *in, uint64_t *ret);

#endif
