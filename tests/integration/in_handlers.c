/* in_handlers.c: signal handlers that record, at a high rate, while the program
 * does the same; handlers interrupt handlers.
 *
 *     in_handlers MILLISECONDS THREADS [altstack|sandbox]
 *
 * Each thread has its own timer with one of two signals; their handlers raise the next signal
 * of three, so handlers run in handlers. A handler pushes, allocates, labels and frees, under
 * new names now and then. Prints the number of events made, and of handlers run. With "sandbox"
 * it would be killed for system calls that only the recorder makes, so that the recorder cannot
 * hold signals off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memledger/memledger.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static memledger_space space;
static long milliseconds;
static int with_altstack;
static unsigned long events;   /* made */
static unsigned long handlers; /* run */
static int errno_changed;

static __thread uintptr_t next_block;

static void some_events(const char *name)
{
    void *block = (void *)__atomic_fetch_add(&next_block, 64, __ATOMIC_RELAXED);

    memledger_push(name);
    memledger_alloc(space, block, 32);
    memledger_label(space, block, name, MEMLEDGER_TEMPORARY);
    memledger_free(space, block);
    memledger_pop();
    __atomic_fetch_add(&events, 5, __ATOMIC_RELAXED);
}

static void handle(int number)
{
    unsigned long n = __atomic_add_fetch(&handlers, 1, __ATOMIC_RELAXED);
    char name[32] = "in a handler";

    errno = 12345;
    if (n % 16 == 0) {
        /* Not snprintf, which a handler must not call. */
        for (int i = 0; i < 8; i++)
            name[i] = (char)('a' + (n >> (4 * i) & 15));
    }
    some_events(name);
    if (number == SIGUSR1)
        raise(SIGUSR2);
    else if (number == SIGUSR2)
        raise(SIGRTMIN);
    some_events(name);
    if (errno != 12345)
        errno_changed = 1;
}

static int timer_for_this_thread(int number, timer_t *ret)
{
    struct sigevent how;
    const struct itimerspec often = {{0, 50000}, {0, 50000}};

    memset(&how, 0, sizeof(how));
    how.sigev_notify = SIGEV_THREAD_ID;
    how.sigev_signo = number;
    how.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &how, ret) || timer_settime(*ret, 0, &often, NULL);
}

static long now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void *work(void *arg)
{
    uintptr_t me = (uintptr_t)arg;
    long end = now_ms() + milliseconds;
    stack_t stack = {.ss_size = 65536};
    timer_t timer;
    char name[32];

    next_block = (me + 1) << 40;
    if (with_altstack) {
        stack.ss_sp = malloc(stack.ss_size);
        sigaltstack(&stack, NULL);
    }
    if (timer_for_this_thread(me % 2 ? SIGUSR1 : SIGUSR2, &timer))
        exit(3);
    for (unsigned i = 0; now_ms() < end; i++) {
        snprintf(name, sizeof(name), "thread %u name %u", (unsigned)me, i % 4096);
        for (int k = 0; k < 20; k++)
            some_events(k ? "between" : name);
    }
    timer_delete(timer);
    return NULL;
}

static int enter_sandbox(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv)
{
    struct sigaction action;
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t ids[64];

    milliseconds = argc > 1 ? atol(argv[1]) : 100;
    with_altstack = argc > 3 && !strcmp(argv[3], "altstack");
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART | (with_altstack ? SA_ONSTACK : 0);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGRTMIN, &action, NULL);
    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "handlers");
    if (argc > 3 && !strcmp(argv[3], "sandbox") && enter_sandbox())
        return 5;
    for (intptr_t i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)i);
    work(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%lu %lu\n", events, handlers);
    return errno_changed ? 4 : 0;
}
