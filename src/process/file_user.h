/* file_user.h: makes files as another process would: with its user and groups, and their rights.
 *
 * Root makes files for a process of another user in this way, so that the process can use them, and
 * so that a folder that it controls leads to no file that it could not reach itself. It is also the
 * only way in a file system of a user namespace, where files cannot belong to this root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROCESS_FILE_USER_H
#define ML_PROCESS_FILE_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* Further groups of a process are dropped, which gives fewer rights. Root with more loses them all,
 * and needs none. */
#define ML_FILE_GROUPS_MAX 64

struct ml_file_groups {
    int count;
    gid_t all[ML_FILE_GROUPS_MAX];
};

struct ml_file_user {
    bool other; /* than this process, which is root and can act for it */
    uid_t uid;
    gid_t gid;
    struct ml_file_groups theirs, ours; /* further groups */
};

/* That of a process; of this one if the process is gone, or if this process is not root. */
struct ml_file_user ml_file_user_of(pid_t pid);

/* Until the end, this thread opens, makes and removes files as that user. Keep errno. */
void ml_file_user_begin(const struct ml_file_user *user);
void ml_file_user_end(const struct ml_file_user *user);

/* Whose files this thread makes now. */
uid_t ml_file_user_now(void);

#endif
