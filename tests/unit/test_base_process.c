/* test_base_process.c: what is read of a process from /proc: proc_stat.h, seccomp_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_stat.h"
#include "seccomp_state.h"

#define FIELDS "S 77 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 "

static void test_key(void **state)
{
    struct ml_proc_stat stat;

    (void)state;
    assert_true(ml_proc_stat_parse("12 (cat) " FIELDS "34567 8 9\n", &stat));
    assert_int_equal(ml_proc_key(&stat), (uint64_t)34567 << 32 | 12);
    assert_int_equal(stat.parent, 77);
    /* A name may look like the rest of the line. */
    assert_true(ml_proc_stat_parse("12 (a) S 1 (b) " FIELDS "34567 8\n", &stat));
    assert_int_equal(ml_proc_key(&stat), (uint64_t)34567 << 32 | 12);
    assert_int_equal(stat.parent, 77);
}

static void test_own_key(void **state)
{
    struct ml_proc_stat own, again, other;
    char path[32];
    pid_t child;

    (void)state;
    assert_true(ml_proc_stat_read_file("/proc/self/stat", &own));
    assert_int_equal(own.pid, getpid());
    assert_int_equal(own.parent, getppid());
    assert_true(ml_proc_stat_read_file("/proc/self/stat", &again));
    assert_int_equal(ml_proc_key(&again), ml_proc_key(&own));
    assert_false(ml_proc_stat_read_file("/nowhere/stat", &other));
    child = fork();
    if (!child)
        _exit(0);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
    assert_true(ml_proc_stat_read_file(path, &other));
    assert_int_not_equal(ml_proc_key(&other), ml_proc_key(&own));
    assert_int_equal(other.parent, getpid());
    waitpid(child, NULL, 0);
}

/* What is read from a status file with that text. */
static bool read_text(const char *text, struct ml_seccomp_state *ret)
{
    char path[] = "/tmp/test_base_process.XXXXXX";
    int fd = mkstemp(path);
    bool known;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    known = ml_seccomp_read(path, ret);
    unlink(path);
    return known;
}

static void test_seccomp(void **state)
{
    struct ml_seccomp_state s = {9, 9, false};

    (void)state;
    assert_true(read_text("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t13\nThreads:\t1\n", &s));
    assert_int_equal(s.mode, 2);
    assert_int_equal(s.filters, 13);
    assert_true(s.counted);
    /* Kernels before 5.9 do not count. */
    assert_true(read_text("Seccomp:\t2\n", &s));
    assert_int_equal(s.filters, 1);
    assert_false(s.counted);
    assert_true(read_text("Seccomp:\t1\n", &s));
    assert_int_equal(s.filters, 0);
    s = (struct ml_seccomp_state){9, 9, true};
    assert_false(read_text("Name:\tSeccomp:\t2\n", &s));
    assert_int_equal(s.mode, 9);
    assert_false(ml_seccomp_read("/nowhere/status", &s));
}

static void test_more(void **state)
{
    const struct ml_seccomp_state none = {0}, strict = {1, 0, true};
    const struct ml_seccomp_state one = {2, 1, true}, two = {2, 2, true};
    struct ml_seccomp_state sum = none;

    (void)state;
    assert_false(ml_seccomp_is_more(&none, &none));
    assert_true(ml_seccomp_is_more(&one, &none));
    assert_true(ml_seccomp_is_more(&strict, &none));
    assert_false(ml_seccomp_is_more(&one, &one));
    assert_true(ml_seccomp_is_more(&two, &one));
    assert_false(ml_seccomp_is_more(&none, &one));
    ml_seccomp_add(&sum, 2);
    assert_false(ml_seccomp_is_more(&two, &sum));
}

/* A program that was started somewhere below `memledger run`. */
static void test_may_kill(void **state)
{
    const struct ml_seccomp_state none = {0, 0, true};
    const struct ml_seccomp_state one = {2, 1, true}, two = {2, 2, true};

    (void)state;
    assert_false(ml_seccomp_may_kill(&none, none, 0, false));
    assert_true(ml_seccomp_may_kill(&one, none, 0, false));
    assert_false(ml_seccomp_may_kill(&one, none, 1, false));
    assert_true(ml_seccomp_may_kill(&two, none, 1, false));
    assert_true(ml_seccomp_may_kill(&one, none, 1, true));
    assert_false(ml_seccomp_may_kill(&two, one, 1, false));
    assert_true(ml_seccomp_may_kill(&two, one, 1, true));
    /* It has not inherited the filter that restricts another thread. */
    assert_false(ml_seccomp_may_kill(&none, none, 0, true));
    assert_false(ml_seccomp_may_kill(&one, one, 0, true));
}

/* Where the kernel does not count, one filter looks like two. */
static void test_may_kill_uncounted(void **state)
{
    const struct ml_seccomp_state none = {0}, some = {2, 1, false};

    (void)state;
    assert_false(ml_seccomp_may_kill(&none, none, 0, true));
    assert_true(ml_seccomp_may_kill(&some, none, 0, false));
    assert_false(ml_seccomp_may_kill(&some, none, 1, false));
    assert_false(ml_seccomp_may_kill(&some, some, 0, false));
    assert_true(ml_seccomp_may_kill(&some, some, 0, true));
}

static void test_state_as_text(void **state)
{
    struct ml_seccomp_state s = {0};

    (void)state;
    ml_seccomp_parse("2:13", &s);
    assert_int_equal(s.mode, 2);
    assert_int_equal(s.filters, 13);
    ml_seccomp_parse("", &s);
    assert_int_equal(s.mode, 0);
    assert_int_equal(s.filters, 0);
    ml_seccomp_parse("2", &s);
    assert_int_equal(s.filters, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key),           cmocka_unit_test(test_own_key),
        cmocka_unit_test(test_seccomp),       cmocka_unit_test(test_more),
        cmocka_unit_test(test_may_kill),      cmocka_unit_test(test_may_kill_uncounted),
        cmocka_unit_test(test_state_as_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
