/* handed_check.h: whether the collector may write to a file that a target has passed to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HANDED_CHECK_H
#define ML_HANDED_CHECK_H

#include <stdbool.h>

#include "error.h"

/* Whether the collector may write to it for the target that opened it: it is a regular file,
 * opened for writing, writing only changes its contents, and no process can
 * delay the write.
 * @path  for the message
 * @return 0 or negative errno */
int ml_handed_check(int fd, const char *path, struct ml_error *err);

#define ML_MOUNT_TYPE_ROOM 64

/* The type of the file system that an open file is on, as in /proc/mounts: "ext4",
 * "fuse.sshfs". Read from the kernel's tables only: statfs and stat ask the file system, and one
 * that a process serves (FUSE) may never answer.
 * @return whether it is known: not for files of another mount namespace, and not without /proc */
bool ml_mount_type(int fd, char ret_type[ML_MOUNT_TYPE_ROOM]);

#endif
