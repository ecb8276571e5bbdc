/* ends.c: records two events and ends in the given way.
 *
 *     ends exit CODE | signal NUMBER | _exit CODE | quick_exit CODE | abort
 *     ends thread-exit CODE | main-leaves CODE
 *     ends wait           prints "ready", waits for SIGINT or SIGTERM, exits 40 + number
 *     ends wait-default   the same, but the signal kills it
 *     ends holds HOW CODE   ends by exit or _exit, with 100 MiB more
 *     ends parent HOW CODE  the same in a forked child, then allocates 100 MiB itself
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

static memledger_space space;
static int code;

static void *leave(void *arg)
{
    (void)arg;
    memledger_alloc(space, (void *)0x3000, 30);
    exit(code);
}

/* The main thread is gone, the process goes on. */
static void *outlive(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    memledger_alloc(space, (void *)0x3000, 30);
    exit(code);
}

static int wait_for_signal(int handled)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (handled)
        sigprocmask(SIG_BLOCK, &set, NULL);
    puts("ready");
    fflush(stdout);
    while (!handled)
        pause();
    sigwait(&set, &number);
    return 40 + number;
}

/* By address, so that no compiler can see what comes. */
static void raise_segv(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
}

/* Does not return. */
static void end_with_more(const char *how)
{
    memledger_alloc(space, (void *)0x10000000, 100u << 20);
    if (!strcmp(how, "_exit"))
        _exit(code);
    exit(code);
}

static void outlive_child(const char *how)
{
    pid_t child = fork();

    if (!child)
        end_with_more(how);
    waitpid(child, NULL, 0);
    memledger_alloc(space, (void *)0x20000000, 100u << 20);
}

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    const char *how = argc > 1 ? argv[1] : "exit";
    static pthread_t self;
    pthread_t thread;

    code = argc > 2 ? atoi(argv[2]) : 0;
    setrlimit(RLIMIT_CORE, &no_core);
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "ends");
    memledger_alloc(space, (void *)0x1000, 10);
    memledger_alloc(space, (void *)0x2000, 20);
    if (!strcmp(how, "exit"))
        return code;
    if (!strcmp(how, "_exit"))
        _exit(code);
    if (!strcmp(how, "quick_exit"))
        quick_exit(code);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "signal")) {
        signal(code, SIG_DFL);
        raise(code);
    }
    if (!strcmp(how, "segv"))
        raise_segv();
    if (!strcmp(how, "thread-exit")) {
        pthread_create(&thread, NULL, leave, NULL);
        pause();
    }
    if (!strcmp(how, "main-leaves")) {
        self = pthread_self();
        pthread_create(&thread, NULL, outlive, &self);
        pthread_exit(NULL);
    }
    if (!strcmp(how, "wait"))
        return wait_for_signal(1);
    if (!strcmp(how, "wait-default"))
        return wait_for_signal(0);
    if (!strcmp(how, "holds") && argc > 3) {
        code = atoi(argv[3]);
        end_with_more(argv[2]);
    }
    if (!strcmp(how, "parent") && argc > 3) {
        code = atoi(argv[3]);
        outlive_child(argv[2]);
    }
    return 0;
}
