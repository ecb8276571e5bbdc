/* stack_none.c: no stacks yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack.h"

uint32_t ml_stack_here(void)
{
    return 0;
}
