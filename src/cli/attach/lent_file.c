/* lent_file.c: see lent_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lent_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injected_call.h"
#include "io.h"
#include "regular_file.h"

#define NAME "memledger-recorder"
#define CLOSE_ON_EXEC 1u
#define EXECUTABLE 16u /* MFD_EXEC, which Linux before 6.3 does not know */

/* @return its number or negative errno */
static int32_t make_empty(pid_t pid, unsigned flags, struct ml_error *err)
{
    struct ml_injected_syscall call = {
        .number = SYS_memfd_create, .args = {0, flags}, .text = NAME};
    int32_t number;
    int r = ml_injected_syscall(pid, &call, &number, err);

    return r ? r : number;
}

/* The process goes on meanwhile, and can put any other file in the place of its new one. */
static int fill(pid_t pid, const struct ml_file_user *user, int number, int from)
{
    char path[64];
    int found, to, r;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
    found = open(path, O_PATH | O_CLOEXEC);
    if (found < 0)
        return -errno;
    ml_file_user_begin(user);
    to = ml_memory_file_open(found, O_WRONLY);
    ml_file_user_end(user);
    if (to < 0)
        return to;
    r = ml_copy_all(from, to);
    close(to);
    return r;
}

int ml_lent_file_make(pid_t pid, const struct ml_file_user *user, int from, struct ml_error *err)
{
    int number = make_empty(pid, CLOSE_ON_EXEC | EXECUTABLE, err);
    int r;

    if (number == -EINVAL)
        number = make_empty(pid, CLOSE_ON_EXEC, err);
    if (number < 0)
        return err->code ? number
                         : ml_error_set(err, number,
                                        "process %d can execute no file that it can write, and "
                                        "cannot make one in memory: %s; start its container with "
                                        "--tmpfs /tmp:exec",
                                        (int)pid, strerror(-number));
    r = fill(pid, user, number, from);
    return r ? ml_error_set(err, r, "cannot copy the recorder into process %d: %s", (int)pid,
                            strerror(-r))
             : number;
}

static bool is_ours(int folder, const char *number)
{
    char target[64];
    ssize_t n = readlinkat(folder, number, target, sizeof(target) - 1);

    target[n > 0 ? n : 0] = '\0';
    return strstr(target, "memfd:" NAME);
}

void ml_lent_files_close(pid_t pid)
{
    struct ml_injected_syscall call = {.number = SYS_close};
    struct ml_error ignored = {0};
    struct dirent *entry;
    char path[64];
    int32_t value;
    DIR *all;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    all = opendir(path);
    while (all && (entry = readdir(all))) {
        if (!is_ours(dirfd(all), entry->d_name))
            continue;
        call.args[0] = (uint64_t)atoi(entry->d_name);
        (void)ml_injected_syscall(pid, &call, &value, &ignored);
    }
    if (all)
        closedir(all);
}
