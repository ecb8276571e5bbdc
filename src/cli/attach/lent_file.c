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

static int fill(pid_t pid, int number, int from)
{
    char path[64];
    int to, r;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, number);
    to = open(path, O_WRONLY | O_CLOEXEC);
    r = to < 0 ? -errno : 0;
    if (!r)
        r = ml_copy_all(from, to);
    if (to >= 0)
        close(to);
    return r;
}

int ml_lent_file_make(pid_t pid, int from, struct ml_error *err)
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
    r = fill(pid, number, from);
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
