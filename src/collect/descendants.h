/* descendants.h: the processes that a program has started, found from outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DESCENDANTS_H
#define ML_DESCENDANTS_H

#include <stdint.h>

/* Calls `visit` with each child that the process has now; a kernel that does not
 * tell (no CONFIG_PROC_CHILDREN), and a process that is gone, have none. */
void ml_children_of(uint32_t pid, void (*visit)(void *ctx, uint32_t child), void *ctx);

#endif
