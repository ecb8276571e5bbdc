/* command_line.h: how a process was started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_COMMAND_LINE_H
#define ML_BASE_COMMAND_LINE_H

#include <stddef.h>
#include <stdint.h>

/* The command line, arguments separated by blanks, cut to the room; "" when the
 * process is gone. */
void ml_command_line_of(uint32_t pid, char *text, size_t room);

/* The short name that `ps` shows, of which the kernel keeps 15 bytes; "" if the process is gone. */
void ml_command_short_name(uint32_t pid, char *text, size_t room);

/* The program's name without its folder: "cc1" of "/usr/lib/gcc/cc1 -quiet x.c".
 * @ret  its start in `command`
 * @return its length */
size_t ml_command_line_program(const char *command, const char **ret);

#endif
