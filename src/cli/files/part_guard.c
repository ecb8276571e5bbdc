/* part_guard.c: see part_guard.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "part_guard.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
static char guarded[PATH_MAX];

static void set_mask(int how)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ML_ARRAY_SIZE(endings); i++)
        sigaddset(&set, endings[i]);
    sigprocmask(how, &set, NULL);
}

static void on_signal(int number)
{
    unlink(guarded);
    signal(number, SIG_DFL);
    raise(number);
}

void ml_part_hold(const char *path)
{
    struct stat st;

    /* A limit on file sizes makes a write fail, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        set_mask(SIG_BLOCK);
}

void ml_part_guard(const char *path)
{
    struct sigaction action = {.sa_handler = path ? on_signal : SIG_DFL};

    if (path)
        snprintf(guarded, sizeof(guarded), "%s", path);
    for (size_t i = 0; i < ML_ARRAY_SIZE(endings); i++) {
        struct sigaction now;

        if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
    }
    set_mask(SIG_UNBLOCK);
}
