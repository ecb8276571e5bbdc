/* test_inject.c: loading a library into another process, and being killed with SIGKILL after any of
 * the steps: the process goes on with its work.
 *
 * ptrace is wrapped, to count its calls and to die after one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"

#define STEPS_MAX 500
#define PATIENCE_MS 60000
#define ROUNDS 100000

/* Shared with the processes of the test. */
struct shared {
    atomic_int calls;     /* of ptrace */
    int die_after;        /* 0: never */
    atomic_int turns;     /* of the work */
    atomic_int different; /* results */
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

struct target {
    pid_t pid;
    int in, out; /* of the test's side */
    bool computes;
};

static struct target start(bool computes)
{
    struct target t = {.computes = computes};
    int to[2], from[2];

    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    t.pid = fork();
    if (t.pid == 0) {
        close(to[1]);
        close(from[0]);
        (computes ? compute : echo)(to[0], from[1]);
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
static bool inject(const struct target *t, int die_after)
{
    const struct ml_injection what = {"libc.so.6", "atoi", "42", .patience_ns = 10000000000};
    int status;
    pid_t child;

    shared->calls = 0;
    shared->value = 0;
    shared->die_after = die_after;
    child = fork();
    if (child == 0)
        _exit(ml_inject(t->pid, &what, &shared->value, &shared->err) ? 1 : 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && shared->err.code == -EPERM)
        skip(); /* ptrace is not allowed here */
    return WIFEXITED(status);
}

static void killed_after_any_step(bool computes)
{
    struct target t = start(computes);
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
    killed_after_any_step(false);
}

static void a_computing_program_goes_on(void **state)
{
    (void)state;
    killed_after_any_step(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_program_goes_on),
        cmocka_unit_test(a_computing_program_goes_on),
    };

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
