/* file_lock.h: one process at a time writes a file, and others can find out which one.
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
#include <sys/types.h>

#include "error.h"

/* Locks a file or folder that was opened by that path, until the last descriptor of this
 * opening is closed, in this process or in one forked from it.
 * @return 0, also where the file system has no locks; -EBUSY: another process holds it;
 *         -EAGAIN: the path now names another file or none, so open it again */
int ml_file_lock(int fd, const char *path);

/* Marks this process as the writer of the file, for ml_file_lock_busy in others. Holds until
 * the process closes any descriptor of the file. */
void ml_file_lock_sign(int fd);

/* Whether a process has signed the file, and so writes it now. */
bool ml_file_lock_is_signed(int fd);

/* That process; 0: none has, or one of another pid namespace. */
pid_t ml_file_lock_signer(int fd);

/* "PATH is being written by process N (COMMAND); ...". @return -EBUSY */
int ml_file_lock_busy(const char *path, int fd, struct ml_error *err);

/* Checks whether a process has signed a file that is about to be replaced.
 * @return 0, also when there is no such file; -EBUSY with the message above */
int ml_file_lock_check(const char *path, struct ml_error *err);

#endif
