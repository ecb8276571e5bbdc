/* descendants.h: the processes that a program has started, found from outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DESCENDANTS_H
#define ML_DESCENDANTS_H

#include <stdint.h>

/* Calls `visit` for each current child of the process; there are none if the kernel does not
 * list them (no CONFIG_PROC_CHILDREN) or the process is gone. */
void ml_children_of(uint32_t pid, void (*visit)(void *ctx, uint32_t child), void *ctx);

/* Calls `visit` with each process that began with this "NAME=VALUE" in its environment, as far as
 * we may look. This finds those whose parent has ended, too. */
void ml_processes_with(const char *variable, void (*visit)(void *ctx, uint32_t pid), void *ctx);

#endif
