/* test_inject.c: loading a library into another process, and being killed with SIGKILL after any of
 * the steps, or waiting in vain for the process: it goes on with its work.
 *
 * ptrace is wrapped, to count its calls and to die after one of them. So is the search for the
 * functions of the process, which is a fork of the test: it calls a function of the test instead of
 * pthread_create.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "target_symbols.h"

#define STEPS_MAX 500
#define PATIENCE_MS 60000
#define ROUNDS 100000

/* Shared with the processes of the test. */
struct shared {
    atomic_int calls;     /* of ptrace */
    int die_after;        /* 0: never */
    atomic_int turns;     /* of the work */
    atomic_int different; /* results */
    atomic_int creating;  /* threads that are in slow_create */
    atomic_int created;   /* threads that have left it */
    atomic_int release;   /* they may leave it */
    bool is_slow;         /* whether slow_create is called */
    int32_t value;        /* of the injected call */
    struct ml_error err;
};
static struct shared *shared;

long __real_ptrace(int request, pid_t pid, void *addr, void *data);
long __wrap_ptrace(int request, pid_t pid, void *addr, void *data);

long __wrap_ptrace(int request, pid_t pid, void *addr, void *data)
{
    long r = __real_ptrace(request, pid, addr, data);
    int saved = errno;

    if (atomic_fetch_add(&shared->calls, 1) + 1 == shared->die_after)
        raise(SIGKILL);
    errno = saved;
    return r;
}

/* In the process: needs a lock of the program, and waits. */
static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;

static int slow_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
                       void *arg)
{
    int r;

    shared->creating++;
    pthread_mutex_lock(&program_lock);
    while (!shared->release)
        poll(NULL, 0, 1);
    r = pthread_create(thread, attr, function, arg);
    pthread_mutex_unlock(&program_lock);
    shared->created++;
    return r;
}

int __real_ml_target_symbols_find(pid_t pid, struct ml_target_symbols *ret, struct ml_error *err);
int __wrap_ml_target_symbols_find(pid_t pid, struct ml_target_symbols *ret, struct ml_error *err);

int __wrap_ml_target_symbols_find(pid_t pid, struct ml_target_symbols *ret, struct ml_error *err)
{
    int r = __real_ml_target_symbols_find(pid, ret, err);

    if (!r && shared->is_slow)
        ret->at[ML_TARGET_PTHREAD_CREATE] = (uint64_t)(uintptr_t)slow_create;
    return r;
}

/* ---- Programs --------------------------------------------------------------------- */

/* Waits in a system call most of the time. */
static void echo(int in, int out)
{
    char byte;
    ssize_t n;

    while ((n = read(in, &byte, 1)) == 1)
        if (write(out, &byte, 1) != 1)
            _exit(2);
    _exit(n == 0 ? 0 : 3);
}

static double series(void)
{
    volatile double start = 1;
    double sum = start, other = start;

    for (int i = 0; i < ROUNDS; i++) {
        sum = sum * 1.0000001 + 0.5;
        other += sum / (other + 1);
    }
    return sum + other;
}

/* Computes with all registers, and the same each time. */
static void compute(int in, int out)
{
    double first = series();

    (void)in;
    (void)out;
    for (;;) {
        double now = series();

        shared->different += memcmp(&now, &first, sizeof(now)) != 0;
        shared->turns++;
    }
}

struct streams {
    int in, out;
};

static void *echo_thread(void *arg)
{
    const struct streams *s = arg;

    echo(s->in, s->out);
    return NULL;
}

/* Its first thread is in a call that cannot be interrupted until a borrowed thread wants the lock
 * that it has; another thread answers. */
static void block(int in, int out)
{
    struct streams streams = {in, out};
    pthread_t thread;

    pthread_mutex_lock(&program_lock);
    if (pthread_create(&thread, NULL, echo_thread, &streams))
        _exit(4);
    if (vfork() == 0) {
        while (!shared->creating)
            poll(NULL, 0, 1);
        _exit(0);
    }
    pthread_mutex_unlock(&program_lock);
    pthread_join(thread, NULL);
}

struct target {
    pid_t pid;
    int in, out; /* of the test's side */
    bool computes;
};

static struct target start(void (*program)(int, int))
{
    struct target t = {.computes = program == compute};
    int to[2], from[2];

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    t.pid = fork();
    if (t.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test leaves nothing behind */
        close(to[1]);
        close(from[0]);
        program(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    t.in = to[1];
    t.out = from[0];
    return t;
}

static bool wait_for_turns(int turns)
{
    for (int waited = 0; waited < PATIENCE_MS; waited++) {
        if (shared->turns >= turns)
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

static void assert_works(const struct target *t, const char *when)
{
    struct pollfd answer = {.fd = t->out, .events = POLLIN};
    char byte = 'x';
    int status;

    if (waitpid(t->pid, &status, WNOHANG) != 0)
        fail_msg("the program has ended with status %d %s", status, when);
    if (t->computes) {
        if (!wait_for_turns(shared->turns + 2) || shared->different)
            fail_msg("the program computes something else %s", when);
        return;
    }
    assert_int_equal(write(t->in, &byte, 1), 1);
    if (poll(&answer, 1, PATIENCE_MS) != 1 || read(t->out, &byte, 1) != 1 || byte != 'x')
        fail_msg("the program does not answer %s", when);
}

static void stop(struct target *t)
{
    close(t->in);
    close(t->out);
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
}

/* ---- Tests ------------------------------------------------------------------------- */

/* @return whether the process that injects was not killed */
static bool inject_call(const struct target *t, const char *function, const char *argument,
                        int die_after)
{
    const struct ml_injection what = {"libc.so.6", function, argument,
                                      .patience_ns = 10000000000};
    int status;
    pid_t child;

    shared->calls = 0;
    shared->value = 0;
    shared->err = (struct ml_error){0};
    shared->die_after = die_after;
    child = fork();
    if (child == 0)
        _exit(ml_inject(t->pid, &what, &shared->value, &shared->err) ? 1 : 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && shared->err.code == -EPERM)
        skip(); /* ptrace is not allowed here */
    return WIFEXITED(status);
}

static bool inject(const struct target *t, int die_after)
{
    return inject_call(t, "atoi", "42", die_after);
}

static void killed_after_any_step(void (*program)(int, int))
{
    struct target t = start(program);
    char when[64];
    int killed = 0;

    assert_works(&t, "at first");
    assert_true(inject(&t, 0));
    assert_string_equal(shared->err.text, "");
    assert_int_equal(shared->value, 42);
    assert_works(&t, "after an injection");
    for (int step = 1; step < STEPS_MAX && !inject(&t, step); step++) {
        snprintf(when, sizeof(when), "after step %d", step);
        assert_works(&t, when);
        killed++;
    }
    assert_works(&t, "at last");
    assert_true(killed > 20);
    stop(&t);
}

static void a_waiting_program_goes_on(void **state)
{
    (void)state;
    killed_after_any_step(echo);
}

static void a_computing_program_goes_on(void **state)
{
    (void)state;
    killed_after_any_step(compute);
}

static int threads_of(pid_t pid)
{
    char path[64];
    struct dirent *entry;
    DIR *tasks;
    int n = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        n += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

static bool wait_until_created(pid_t pid)
{
    for (int waited = 0; waited < PATIENCE_MS; waited++) {
        if (shared->created && threads_of(pid) == 1)
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

static void be_slow(bool release)
{
    shared->is_slow = true;
    shared->release = release;
    shared->creating = shared->created = 0;
}

/* The borrowed thread has a lock of the program when the time is over: it must leave its call by
 * itself. The thread that it makes then has nothing to do. */
static void a_slow_call_is_finished(void **state)
{
    char path[] = "/tmp/memledger-inject-XXXXXX";
    int fd = mkstemp(path);
    struct target t;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    be_slow(false);
    t = start(echo);
    assert_true(inject_call(&t, "remove", path, 0));
    assert_int_equal(shared->err.code, -ETIMEDOUT);
    assert_int_equal(shared->creating, 1);
    shared->release = true;
    assert_true(wait_until_created(t.pid));
    assert_works(&t, "after a slow call");
    assert_int_equal(access(path, F_OK), 0);
    stop(&t);
    unlink(path);
    shared->is_slow = false;
}

/* A thread that could not be stopped at once stops later, with a lock that the call needs. */
static void a_held_thread_goes_on(void **state)
{
    struct target t;

    (void)state;
    be_slow(true);
    t = start(block);
    assert_works(&t, "at first");
    assert_true(inject(&t, 0));
    assert_string_equal(shared->err.text, "");
    assert_int_equal(shared->value, 42);
    assert_works(&t, "after an injection");
    stop(&t);
    shared->is_slow = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_program_goes_on),
        cmocka_unit_test(a_computing_program_goes_on),
        cmocka_unit_test(a_slow_call_is_finished),
        cmocka_unit_test(a_held_thread_goes_on),
    };

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
