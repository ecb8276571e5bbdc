/* own_root.h: the files of a process that has its own: another root, or mounts of a container.
 *
 * A path of such a process is followed as it would follow it: an absolute symbolic link in a
 * container leads to a file of the container.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROCESS_OWN_ROOT_H
#define ML_PROCESS_OWN_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a path may denote another file in that process than in this one. In doubt true. */
bool ml_root_is_own(pid_t pid);

/* The root of the process. It stays valid when the process ends.
 * @return a descriptor (O_PATH) or negative errno */
int ml_root_open(pid_t pid);

/* The number of the mount that a file was opened through; -1: unknown. */
int ml_mount_of(int fd);

/* Opens a file below a root, however its path and the links on the way go up.
 * @how  flags of open, without O_CREAT
 * @return a descriptor; -ENOSYS: it is another root than ours, and the kernel (before 5.6) or a
 *         filter has no call that stays below it; another negative errno */
int ml_root_open_file(int root, const char *path, int how);

#endif
