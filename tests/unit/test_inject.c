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
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
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
    sem_t asked;          /* posted when a program that waits for it is to answer */
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

/* The kernel repeats no call that waits with a timeout of the socket. */
static void echo_in_time(int in, int out)
{
    const struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};

    if (setsockopt(in, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
        _exit(4);
    echo(in, out);
}

/* Waits in a function that libc has no symbol for: the worker of a pool does. */
static void await_semaphore(int in, int out)
{
    (void)in;
    while (sem_wait(&shared->asked) == 0)
        if (write(out, "x", 1) != 1)
            _exit(2);
    _exit(3);
}

static void ignore(int number)
{
    (void)number;
}

/* Waits for events, and answers each signal. */
static void await_signal(int in, int out)
{
    struct sigaction answer = {.sa_handler = ignore};
    struct epoll_event event = {.events = EPOLLIN};
    int events = epoll_create1(0);

    if (events < 0 || epoll_ctl(events, EPOLL_CTL_ADD, in, &event) ||
        sigaction(SIGUSR1, &answer, NULL))
        _exit(4);
    while (epoll_wait(events, &event, 1, -1) < 0 && errno == EINTR)
        if (write(out, "x", 1) != 1)
            _exit(2);
    _exit(3);
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
    void (*program)(int, int);
};

static struct target start(void (*program)(int, int))
{
    struct target t = {.program = program};
    int to[2], from[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, to), 0);
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

static void wait_until_asleep(pid_t pid)
{
    char path[64], text[256] = "";
    const char *state = NULL;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int waited = 0; waited < PATIENCE_MS; waited++) {
        FILE *file = fopen(path, "r");

        if (file && fgets(text, sizeof(text), file))
            state = strrchr(text, ')');
        if (file)
            fclose(file);
        if (state && state[2] == 'S')
            return;
        poll(NULL, 0, 1);
    }
    fail_msg("the program does not wait");
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

static void ask(const struct target *t)
{
    if (t->program == await_semaphore)
        assert_int_equal(sem_post(&shared->asked), 0);
    else if (t->program == await_signal)
        assert_int_equal(kill(t->pid, SIGUSR1), 0);
    else
        assert_int_equal(write(t->in, "x", 1), 1);
}

static void assert_answers(const struct target *t, const char *when)
{
    struct pollfd answer = {.fd = t->out, .events = POLLIN};
    char byte = 0;

    if (poll(&answer, 1, PATIENCE_MS) != 1 || read(t->out, &byte, 1) != 1 || byte != 'x')
        fail_msg("the program does not answer %s", when);
}

static void assert_works(const struct target *t, const char *when)
{
    int status;

    if (waitpid(t->pid, &status, WNOHANG) != 0)
        fail_msg("the program has ended with status %d %s", status, when);
    if (t->program == compute) {
        if (!wait_for_turns(shared->turns + 2) || shared->different)
            fail_msg("the program computes something else %s", when);
        return;
    }
    ask(t);
    assert_answers(t, when);
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
    const struct ml_injection what = {"libc.so.6", function, argument, .patience_ns = 10000000000};
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

/* The call that it waits in returns neither too early nor with an error. */
static void keeps_waiting(void (*program)(int, int))
{
    struct target t = start(program);

    for (int i = 0; i < 3; i++) {
        assert_works(&t, "before an injection");
        wait_until_asleep(t.pid);
        assert_true(inject(&t, 0));
        assert_string_equal(shared->err.text, "");
        assert_int_equal(shared->value, 42);
    }
    assert_works(&t, "at last");
    stop(&t);
}

static void a_timeout_of_a_socket_is_kept(void **state)
{
    (void)state;
    keeps_waiting(echo_in_time);
}

static void a_semaphore_is_awaited(void **state)
{
    (void)state;
    keeps_waiting(await_semaphore);
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

/* A signal that comes while the thread is borrowed ends the wait, as it would have done. */
static void a_signal_ends_a_wait(void **state)
{
    struct target t;
    pid_t asking;

    (void)state;
    be_slow(false);
    t = start(await_signal);
    wait_until_asleep(t.pid);
    asking = fork();
    if (asking == 0) {
        while (!shared->creating)
            poll(NULL, 0, 1);
        kill(t.pid, SIGUSR1);
        shared->release = true;
        _exit(0);
    }
    assert_true(inject(&t, 0));
    waitpid(asking, NULL, 0);
    assert_string_equal(shared->err.text, "");
    assert_answers(&t, "after a signal");
    stop(&t);
    shared->is_slow = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_program_goes_on),
        cmocka_unit_test(a_computing_program_goes_on),
        cmocka_unit_test(a_timeout_of_a_socket_is_kept),
        cmocka_unit_test(a_semaphore_is_awaited),
        cmocka_unit_test(a_signal_ends_a_wait),
        cmocka_unit_test(a_slow_call_is_finished),
        cmocka_unit_test(a_held_thread_goes_on),
    };

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || sem_init(&shared->asked, 1, 0))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
