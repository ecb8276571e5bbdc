/* heap_processes.c: every way of creating children: fork, fork in a thread, fork in a child
 * with the environment cleared, vfork and exec, posix_spawn, exec without fork, ends by _exit
 * and by a signal.
 *
 * A child's copy of its parent's blocks is not the child's to account for: each
 * process counts what it allocates itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap_expect.h"

extern char **environ;

static char *self;

static void wait_for(pid_t pid)
{
    int status = 0;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
}

static void forked(void *parents_block)
{
    pid_t pid = fork();

    if (pid == 0) {
        free(parents_block);
        free(used(malloc(72001)));
        clearenv();
        pid = fork();
        if (pid == 0) {
            free(used(malloc(72002)));
            used(malloc(72003));
            kill(getpid(), SIGKILL);
        }
        wait_for(pid);
        _exit(0);
    }
    wait_for(pid);
}

static void *fork_here(void *block)
{
    forked(block);
    return NULL;
}

static void forked_in_thread(void)
{
    void *block = used(malloc(72004));
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, fork_here, block));
    pthread_join(thread, NULL);
    free(block);
}

static void vforked(void)
{
    pid_t pid = vfork();

    if (pid == 0) {
        execl(self, self, "child", (char *)NULL);
        _exit(1);
    }
    wait_for(pid);
    pid = vfork();
    if (pid == 0)
        _exit(0);
    wait_for(pid);
}

static void spawned(void)
{
    char *argv[] = {self, (char *)(size_t) "child", NULL};
    pid_t pid;

    CHECK(!posix_spawn(&pid, self, NULL, NULL, argv, environ));
    wait_for(pid);
}

int main(int argc, char **argv)
{
    void *block = used(malloc(72005));

    self = argv[0];
    if (argc > 1) {
        free(block);
        free(used(malloc(72006)));
        used(malloc(72007));
        _exit(0);
    }
    forked(block);
    forked_in_thread();
    vforked();
    spawned();
    /* This process, and the three that run this program again. */
    expect(72001, 2, 2);
    expect(72002, 2, 2);
    expect(72003, 2, 0);
    expect(72004, 1, 1);
    expect(72005, 4, 3);
    expect(72006, 3, 3);
    expect(72007, 3, 0);
    fflush(stdout);
    execl(self, self, "child", (char *)NULL);
    return 1;
}
