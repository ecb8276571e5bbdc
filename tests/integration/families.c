/* families.c: creates child processes in every possible way.
 *
 *     families fork | raw-fork | raw-clone    three generations, one after the other
 *     families vfork | spawn | exec PROGRAM ARGUMENT...
 *     families threads CHILDREN    forks while other threads record and name
 *     families orphan              the middle of three generations ends first
 *     families outlive             the child goes on after the parent, until a
 *                                  file named "end" appears; then 9 bytes more
 *     families storm CHILDREN      children that are all alive at once
 *
 * Each process prints "PID SIZE" and allocates SIZE bytes in the scope
 * "before" > "after N", of which only the first was named before any fork.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

extern char **environ;

static memledger_space space;
static int stop;

static void record(int size)
{
    char name[32];

    snprintf(name, sizeof(name), "after %d", size);
    memledger_push("before");
    memledger_push(name);
    memledger_alloc(space, (void *)(uintptr_t)(0x10000 + size * 0x1000), (size_t)size);
    memledger_pop();
    memledger_pop();
    dprintf(STDOUT_FILENO, "%d %d\n", (int)getpid(), size);
}

static void wait_for(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
        _exit(3);
}

/* libc's functions, and raw system calls, which libc does not see. */
static pid_t make_child(const char *how)
{
    if (!strcmp(how, "raw-fork"))
        return (pid_t)syscall(SYS_fork);
    if (!strcmp(how, "raw-clone"))
        return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    return fork();
}

static void generations(const char *how)
{
    pid_t child = make_child(how);

    if (child == 0) {
        pid_t grandchild;
        record(2);
        grandchild = make_child(how);
        if (grandchild == 0) {
            record(3);
            _exit(0);
        }
        wait_for(grandchild);
        record(4);
        _exit(0);
    }
    wait_for(child);
    record(5);
}

/* The middle one records nothing, and is gone when the last one does. */
static void orphan(void)
{
    int gate[2];
    pid_t child;
    char byte;

    if (pipe(gate))
        _exit(4);
    child = fork();
    if (child == 0) {
        if (fork() == 0) {
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0)
                _exit(5);
            record(2);
            _exit(0);
        }
        _exit(0);
    }
    wait_for(child);
    close(gate[0]);
    close(gate[1]); /* lets the grandchild go */
}

static void outlive(void)
{
    int done[2];
    char byte;

    if (pipe(done))
        _exit(4);
    if (fork() == 0) {
        record(2);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        close(done[0]);
        close(done[1]); /* lets the parent go */
        for (int i = 0; i < 60000 && access("end", F_OK); i++)
            usleep(1000);
        memledger_alloc(space, (void *)0x90000, 9);
        _exit(0);
    }
    close(done[1]);
    if (read(done[0], &byte, 1) != 0)
        _exit(5);
}

static void *keep_naming(void *arg)
{
    char name[32];

    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof(name), "%s %u", (char *)arg, i);
        memledger_push(name);
        memledger_pop();
        if (i % 4 == 0)
            usleep(50); /* each child hears of all names: not too many */
    }
    return NULL;
}

static void fork_among_threads(int children)
{
    pthread_t ids[3];
    char letters[3][2] = {"a", "b", "c"};

    for (int i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, keep_naming, letters[i]);
    for (int i = 0; i < children; i++) {
        pid_t child = fork();
        if (child == 0) {
            record(10 + i);
            _exit(0);
        }
        wait_for(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
}

static void storm(int children)
{
    int gate[2], done[2];
    char byte;

    if (pipe(gate) || pipe(done))
        _exit(4);
    for (int i = 0; i < children; i++) {
        pid_t child = fork();
        if (child == 0) {
            close(gate[1]);
            record(10 + i);
            _exit(write(done[1], "", 1) == 1 && read(gate[0], &byte, 1) == 0 ? 0 : 5);
        }
        if (child < 0)
            _exit(6);
    }
    for (int i = 0; i < children; i++) {
        if (read(done[0], &byte, 1) != 1)
            _exit(7);
    }
    close(gate[1]); /* lets them go */
    while (wait(NULL) > 0)
        continue;
}

static void start_program(const char *how, char **argv)
{
    pid_t child = -1;

    if (!strcmp(how, "spawn")) {
        if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ))
            _exit(7);
    } else if (!strcmp(how, "vfork")) {
        child = vfork();
        if (child == 0) {
            execvp(argv[0], argv);
            _exit(8);
        }
    } else {
        execvp(argv[0], argv);
        _exit(9);
    }
    wait_for(child);
    record(5);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fork";

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "family");
    record(1);
    if (!strcmp(how, "threads"))
        fork_among_threads(atoi(argv[2]));
    else if (!strcmp(how, "storm"))
        storm(atoi(argv[2]));
    else if (!strcmp(how, "orphan"))
        orphan();
    else if (!strcmp(how, "outlive"))
        outlive();
    else if (argc > 2)
        start_program(how, argv + 2);
    else
        generations(how);
    return 0;
}
