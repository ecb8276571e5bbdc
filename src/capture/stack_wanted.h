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
    if (ml_stacks_mode == ML_STACKS_PYTHON)
        return ml_python_stack_here();
    return ml_stacks_mode == ML_STACKS_NATIVE ? ml_stack_here() : 0;
}

#endif
