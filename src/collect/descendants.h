/* descendants.h: the processes that a program has started, found from outside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_DESCENDANTS_H
#define ML_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>

/* Calls `visit` with each child that the process has now; a kernel that does not
 * tell (no CONFIG_PROC_CHILDREN), and a process that is gone, have none. */
void ml_children_of(uint32_t pid, void (*visit)(void *ctx, uint32_t child), void *ctx);

/* The command line, arguments separated by blanks, cut to the room; "" when the
 * process is gone. */
void ml_command_line_of(uint32_t pid, char *text, size_t room);

#endif
