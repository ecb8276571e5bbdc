/* pager.c: see pager.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "report_command.h"

#define NOT_FOUND 127 /* a shell's exit code for a missing command */
#define DEFAULT_PAGER "if command -v less >/dev/null; then exec less -R; else exec cat; fi"

/* NULL: none is wanted. */
static const char *pager_command(void)
{
    static const char *const names[] = {"MANPAGER", "PAGER"};

    if (!isatty(STDOUT_FILENO))
        return NULL;
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        const char *value = getenv(names[i]);

        if (value)
            return *value && strcmp(value, "cat") != 0 ? value : NULL;
    }
    return DEFAULT_PAGER;
}

/* @return whether a pager has shown the text */
static bool run_pager(const char *command, const struct ml_buf *text)
{
    void (*old_interrupt)(int), (*old_broken_pipe)(int);
    int status;
    FILE *pipe;

    setenv("LESS", "FRX", 0); /* no pager for a text that fits on the screen */
    pipe = popen(command, "w");
    if (!pipe)
        return false;
    /* Ctrl-C is for the pager, and a pager that is quit early reads no more. Only from here on:
     * the pager would inherit it. */
    old_interrupt = signal(SIGINT, SIG_IGN);
    old_broken_pipe = signal(SIGPIPE, SIG_IGN);
    fwrite(text->data, 1, text->len, pipe);
    status = pclose(pipe);
    signal(SIGINT, old_interrupt);
    signal(SIGPIPE, old_broken_pipe);
    return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

int ml_pager_show(const struct ml_buf *text)
{
    const char *command = pager_command();

    if (command && run_pager(command, text))
        return ML_EXIT_OK;
    return ml_report_write(text);
}
