/* file_user.c: see file_user.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "file_user.h"

#include <errno.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <unistd.h>

struct ml_file_user ml_file_user_of(pid_t pid)
{
    struct ml_file_user user = {false, geteuid(), getegid()};
    unsigned uid = user.uid, gid = user.gid;
    char path[64], line[256];
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = geteuid() == 0 ? fopen(path, "re") : NULL;
    while (status && fgets(line, sizeof(line), status)) {
        sscanf(line, "Uid: %*u %*u %*u %u", &uid);
        sscanf(line, "Gid: %*u %*u %*u %u", &gid);
    }
    if (status)
        fclose(status);
    user.other = uid != user.uid || gid != user.gid;
    user.uid = uid;
    user.gid = gid;
    return user;
}

void ml_file_user_begin(const struct ml_file_user *user)
{
    int saved_errno = errno;

    if (user->other) {
        setfsgid(user->gid);
        setfsuid(user->uid); /* gives up root's rights to files */
    }
    errno = saved_errno;
}

void ml_file_user_end(const struct ml_file_user *user)
{
    int saved_errno = errno;

    if (user->other) {
        setfsuid(geteuid());
        setfsgid(getegid());
    }
    errno = saved_errno;
}

uid_t ml_file_user_now(void)
{
    return (uid_t)setfsuid((uid_t)-1); /* an invalid one changes nothing */
}
