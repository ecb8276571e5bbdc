/* stack_wanted.h: the stack that a block of a framework gets, as `memledger run
 * --stacks` says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_WANTED_H
#define ML_STACK_WANTED_H

#include <stdint.h>

#include "python_stack.h"
#include "recorder.h"
#include "stack.h"

/* Who asked, as far as that is wanted; 0: nobody is known. */
static inline uint32_t ml_stack_wanted(void)
{
    switch (ml_stacks_mode) {
    case ML_STACKS_PYTHON: return ml_python_stack_here();
    case ML_STACKS_NATIVE: return ml_stack_here();
    case ML_STACKS_ALL: return ml_stack_here_in_python();
    default: return 0;
    }
}

/* For a framework whose own threads do what others asked for, and were handed their
 * stack: there that one counts, and this is 0. */
static inline uint32_t ml_stack_wanted_of_asker(void)
{
    return ml_stacks_mode == ML_STACKS_ALL && ml_python_is_elsewhere() ? 0 : ml_stack_wanted();
}

#endif
