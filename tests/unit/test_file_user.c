/* test_file_user.c: root acts with the user and the groups of another process
 * (base/file_user.h), and then with its own again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_user.h"

enum { USER = 12345, THEIR_GROUP = 12346, OUR_GROUP = 12347 };

static char folder[] = "/tmp/test-file-user-XXXXXX";

/* A process of that user, in so many groups, the first of them THEIR_GROUP. */
static pid_t start_other(size_t groups)
{
    gid_t all[200];
    int ready[2];
    pid_t pid;
    char byte;

    for (size_t i = 0; i < groups; i++)
        all[i] = (gid_t)(THEIR_GROUP + 1000000000 * (i > 0) + i);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        if (!setgroups(groups, all) && !setgid(USER) && !setuid(USER) &&
            !prctl(PR_SET_PDEATHSIG, SIGKILL) && write(ready[1], "r", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end_other(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A file that only members of the group may read. */
static void put(const char *name, gid_t group, char ret[64])
{
    int fd;

    snprintf(ret, 64, "%s/%s", folder, name);
    fd = open(ret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0040);
    assert_true(fd >= 0);
    assert_int_equal(fchown(fd, 0, group), 0);
    assert_int_equal(fchmod(fd, 0040), 0);
    close(fd);
}

static bool can_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void check_groups(size_t groups, const char *theirs, const char *ours)
{
    gid_t before[4], after[4];
    pid_t pid = start_other(groups);
    struct ml_file_user user = ml_file_user_of(pid);
    int count = getgroups(4, before);

    assert_true(user.other);
    ml_file_user_begin(&user);
    assert_int_equal(ml_file_user_now(), USER);
    assert_true(can_read(theirs));
    assert_false(can_read(ours));
    ml_file_user_end(&user);
    assert_int_equal(ml_file_user_now(), 0);
    assert_true(can_read(ours));
    assert_int_equal(getgroups(4, after), count);
    assert_memory_equal(after, before, (size_t)count * sizeof(before[0]));
    end_other(pid);
}

static void groups_are_those_of_the_process(void **state)
{
    const gid_t own[] = {0, OUR_GROUP};
    char theirs[64], ours[64];

    (void)state;
    if (geteuid() != 0 || setgroups(2, own))
        skip();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0755), 0);
    put("theirs", THEIR_GROUP, theirs);
    put("ours", OUR_GROUP, ours);
    check_groups(1, theirs, ours);
    check_groups(200, theirs, ours); /* more than a line holds */
    unlink(theirs);
    unlink(ours);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_those_of_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
