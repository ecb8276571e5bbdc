/* file_user.c: see file_user.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "file_user.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUPS "Groups:"

/* Adds the numbers of a line. The last one may be cut off, and be that of another group: only
 * numbers with a blank behind them count. */
static void add_groups(const char *at, struct ml_file_groups *ret)
{
    unsigned gid;
    int len;

    while (ret->count < ML_FILE_GROUPS_MAX && sscanf(at, "%u%n", &gid, &len) == 1 &&
           isspace((unsigned char)at[len])) {
        ret->all[ret->count++] = gid;
        at += len;
    }
}

/* Of this thread only; libc's function sets those of all. A group that this user namespace does not
 * know makes the call fail. */
static void set_groups(const struct ml_file_groups *groups)
{
    if (syscall(SYS_setgroups, (size_t)groups->count, groups->all))
        (void)syscall(SYS_setgroups, (size_t)0, NULL);
}

struct ml_file_user ml_file_user_of(pid_t pid)
{
    struct ml_file_user user = {.uid = geteuid(), .gid = getegid()};
    int own_count = getgroups(ML_FILE_GROUPS_MAX, user.ours.all);
    unsigned uid = user.uid, gid = user.gid;
    char path[64], line[1024];
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = geteuid() == 0 ? fopen(path, "re") : NULL;
    while (status && fgets(line, sizeof(line), status)) {
        sscanf(line, "Uid: %*u %*u %*u %u", &uid);
        sscanf(line, "Gid: %*u %*u %*u %u", &gid);
        if (!strncmp(line, GROUPS, strlen(GROUPS)))
            add_groups(line + strlen(GROUPS), &user.theirs);
    }
    if (status)
        fclose(status);
    user.ours.count = own_count > 0 ? own_count : 0;
    user.other = uid != user.uid || gid != user.gid;
    user.uid = uid;
    user.gid = gid;
    return user;
}

void ml_file_user_begin(const struct ml_file_user *user)
{
    int saved_errno = errno;

    if (user->other) {
        set_groups(&user->theirs);
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
        set_groups(&user->ours);
    }
    errno = saved_errno;
}

uid_t ml_file_user_now(void)
{
    return (uid_t)setfsuid((uid_t)-1); /* an invalid one changes nothing */
}
