/* mount_type.h: the type of the file system that an open file is on.
 *
 * From the kernel's tables alone. statfs and stat ask the file system, and one that a process
 * serves (FUSE) may never answer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MOUNT_TYPE_H
#define ML_MOUNT_TYPE_H

#include <stdbool.h>

#define ML_MOUNT_TYPE_ROOM 64

/* As in /proc/mounts: "ext4", "fuse.sshfs".
 * @return whether it is known: not for files of another mount namespace, and without /proc */
bool ml_mount_type(int fd, char ret_type[ML_MOUNT_TYPE_ROOM]);

#endif
