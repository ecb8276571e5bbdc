/* browser.c: see browser.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool write_page(const char *path, const char *address)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return false;
    dprintf(fd,
            "<!doctype html><title>memledger</title>"
            "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
            address);
    return close(fd) == 0;
}

/* It must not inherit the signals that this process blocks. */
static void spawn_opener(char *const *argv, const posix_spawn_file_actions_t *actions)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;

    if (posix_spawnattr_init(&attributes))
        return;
    sigemptyset(&none);
    if (!posix_spawnattr_setsigmask(&attributes, &none) &&
        !posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK))
        posix_spawnp(&pid, argv[0], actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
}

void ml_browser_open(struct ml_private_folder *folder, const char *address)
{
    char page[PATH_MAX], *argv[] = {(char *)"xdg-open", page, NULL};
    posix_spawn_file_actions_t actions;

    if (ml_private_folder_place(folder, "open.html", page, NULL) < 0 || !write_page(page, address))
        return;
    if (posix_spawn_file_actions_init(&actions))
        return;
    if (!posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) &&
        !posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO))
        spawn_opener(argv, &actions);
    posix_spawn_file_actions_destroy(&actions);
}
