/* lent_file.h: a library in the memory of a process that may execute no file it can write.
 *
 * Containers with a read-only root often forbid to execute files in the folders that can be
 * written. There the process opens a file in memory, which gets the library's contents, and the
 * folder has a symbolic link to the descriptor (/proc/self/fd/N). The descriptor is closed as soon
 * as the library is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_LENT_FILE_H
#define ML_CLI_LENT_FILE_H

#include <sys/types.h>

#include "error.h"
#include "file_user.h"

/* Makes the process open a file in memory with the contents of `from`, which is read.
 * @user  that of the process, with whose rights the file is written
 * @return its number in the process, or negative errno with an explanation */
int ml_lent_file_make(pid_t pid, const struct ml_file_user *user, int from, struct ml_error *err);

/* Closes all of them, also those that a killed command has left. */
void ml_lent_files_close(pid_t pid);

#endif
