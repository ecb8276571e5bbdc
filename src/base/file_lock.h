/* file_lock.h: one process at a time writes a file, and others learn which one.
 *
 *     fd = open(path, ...);
 *     if (ml_file_lock(fd))
 *         return ml_file_lock_busy(path, fd, err);
 *     ... fork ...
 *     ml_file_lock_sign(fd);        in the process that writes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_FILE_LOCK_H
#define ML_BASE_FILE_LOCK_H

#include <stdbool.h>

#include "error.h"

/* Locks a file or folder that was opened by that path, until the last descriptor of this
 * opening is closed, in this process or in one forked from it.
 * @return 0, also where the file system has no locks; -EBUSY: another has it; -EAGAIN: the path
 *         leads to another by now, or nowhere, so open it again */
int ml_file_lock(int fd, const char *path);

/* Tells others who ask that this process writes the file. Holds until the process
 * closes any descriptor of it. */
void ml_file_lock_sign(int fd);

/* Whether a process has signed the file, and so writes it now. */
bool ml_file_lock_is_signed(int fd);

/* "PATH is being written by process N (COMMAND); ...". @return -EBUSY */
int ml_file_lock_busy(const char *path, int fd, struct ml_error *err);

/* Whether a process has signed a file that is to be replaced or was found in the way.
 * @return 0, also when there is no such file; -EBUSY with the words above */
int ml_file_lock_check(const char *path, struct ml_error *err);

#endif
