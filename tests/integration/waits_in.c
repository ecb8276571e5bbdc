/* waits_in.c: waits in a call that memledger attach treats in its own way.
 *
 *     waits_in sigsuspend   with another signal mask, until SIGUSR1 comes; prints what it returned,
 *                           whether the signal was handled, and whether it is blocked again
 *     waits_in vfork        which no signal and no tracer interrupts, until standard input ends;
 *                           prints "ok" then
 *
 * Prints "ready" first. For test_attach.py.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled = 1;
}

static int wait_in_sigsuspend(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked, none;
    int result;

    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    if (sigaction(SIGUSR1, &action, NULL) || sigprocmask(SIG_BLOCK, &blocked, NULL))
        return 2;
    puts("ready");
    fflush(stdout);
    result = sigsuspend(&none);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("%d %s %s\n", result, handled ? "handled" : "not handled",
           sigismember(&blocked, SIGUSR1) ? "blocked" : "not blocked");
    return 0;
}

/* The child uses this memory and stack until it ends, and the parent stands still. */
static int wait_in_vfork(void)
{
    static char rest[64];
    pid_t child = vfork();

    if (child < 0)
        return 2;
    if (child == 0) {
        if (write(STDOUT_FILENO, "ready\n", 6) != 6)
            _exit(2);
        while (read(STDIN_FILENO, rest, sizeof(rest)) > 0)
            continue;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    puts("ok");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "sigsuspend"))
        return wait_in_sigsuspend();
    if (argc == 2 && !strcmp(argv[1], "vfork"))
        return wait_in_vfork();
    return 2;
}
