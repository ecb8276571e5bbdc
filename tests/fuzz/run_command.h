/* run_command.h: commands of memledger in this process, with their output in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_RUN_COMMAND_H
#define ML_FUZZ_RUN_COMMAND_H

#include "vec.h"

/* A private folder for what commands read and write, in memory where the system has
 * that. Removed at exit. @return its path; ends the program on failure */
const char *fuzz_folder(void);

/* Write or read a file; a failure ends the program. */
void fuzz_write_file(const char *path, const void *bytes, size_t len);
void fuzz_read_file(const char *path, struct ml_buf *ret);

/* Run a command. Its messages go nowhere.
 * @argv  its name, then options and operands, then NULL; it may change their order
 * @out   cleared first; then what it prints
 * @return its exit code */
int fuzz_run_command(int argc, char **argv, struct ml_buf *out);

#endif
