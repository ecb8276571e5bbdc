/* no_thread_pointer.c: a child without thread-local storage that calls _exit, as Chromium's zygote
 * makes one to change its root. Prints how the child ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Called through a pointer: the dynamic linker, which binds a call at its first use, needs
 * thread-local storage too. */
static void (*volatile leave)(int) = _exit;

static int child(void *unused)
{
    (void)unused;
    leave(7);
    return 0;
}

int main(void)
{
    static char stack[64 << 10] __attribute__((aligned(16)));
    int status = 0;
    pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD,
                      NULL, NULL, NULL);

    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    printf("exit %d, signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}
