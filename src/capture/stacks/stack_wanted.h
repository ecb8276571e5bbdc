/* stack_wanted.h: the stack that a framework's block gets, as `memledger run --stacks` says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_WANTED_H
#define ML_STACK_WANTED_H

#include <stdint.h>

#include "python_stack.h"
#include "recorder.h"
#include "stack.h"

/* The stack of the calling thread, as far as the user wants it; 0: none. */
static inline uint32_t ml_stack_wanted(void)
{
    switch (ml_stacks_mode) {
    case ML_STACKS_PYTHON: return ml_python_stack_here();
    case ML_STACKS_NATIVE: return ml_stack_here();
    case ML_STACKS_ALL: return ml_stack_here_in_python();
    default: return 0;
    }
}

/* For a framework whose own threads work for others and were handed the others' stack: that one
 * counts, and this is 0. */
static inline uint32_t ml_stack_wanted_of_asker(void)
{
    return ml_stacks_mode == ML_STACKS_ALL && ml_python_is_elsewhere() ? 0 : ml_stack_wanted();
}

#endif
