/* handed_check.h: whether the collector may write to a file that a target has handed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HANDED_CHECK_H
#define ML_HANDED_CHECK_H

#include <stdbool.h>

#include "error.h"

/* Whether the collector may write there for the target that opened it: it is a regular file,
 * opened for writing, nothing happens by writing but that its contents change, and no process can
 * hold up the writing.
 * @path  for the message
 * @return 0 or negative errno */
int ml_handed_check(int fd, const char *path, struct ml_error *err);

#define ML_MOUNT_TYPE_ROOM 64

/* The type of the file system that an open file is on, as in /proc/mounts: "ext4",
 * "fuse.sshfs". From the kernel's tables alone: statfs and stat ask the file system, and one
 * that a process serves (FUSE) may never answer.
 * @return whether it is known: not for files of another mount namespace, and without /proc */
bool ml_mount_type(int fd, char ret_type[ML_MOUNT_TYPE_ROOM]);

#endif
