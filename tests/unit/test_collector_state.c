/* test_collector_state.c: how the recorder judges a silent collector: it waits for one that is
 * runnable, but not for one that is stopped, asleep or gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector_state.h"
#include "collector_watch.h"
#include "nanoseconds.h"
#include "proc_stat.h"
#include "recorder.h"
#include "sys.h"

#define SECOND_NS UINT64_C(1000000000)

/* ---- The kernel's line --------------------------------------------------- */

static void test_line(void **state)
{
    struct ml_proc_stat stat;

    (void)state;
    assert_true(ml_proc_stat_parse("7 (a) R (b) ) S 1 7 7 0 -1 4194304 1 2 3 4 31 11 0 0 20 0 1 0 "
                                   "320834 16949248\n",
                                   &stat));
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.cpu_ticks, 42);
    assert_int_equal(stat.start_ticks, 320834);
}

static void test_line_cut_short(void **state)
{
    struct ml_proc_stat stat;

    (void)state;
    assert_false(ml_proc_stat_parse("", &stat));
    assert_false(ml_proc_stat_parse("7 (a", &stat));
    assert_false(ml_proc_stat_parse("7 (a)", &stat));
    assert_false(ml_proc_stat_parse("7 (a) R", &stat));
    assert_false(
        ml_proc_stat_parse("7 (a) R 1 7 7 0 -1 4194304 1 2 3 4 31 11 0 0 20 0 1 0", &stat));
    assert_false(
        ml_proc_stat_parse("7 (a) R 1 7 7 0 -1 4194304 1 2 3 4 31 11 0 0 20 0 1 0 ", &stat));
}

static void test_own_line(void **state)
{
    uint32_t pid = (uint32_t)getpid();
    struct ml_proc_stat stat;

    (void)state;
    assert_true(ml_proc_stat_read(pid, pid, &stat));
    assert_int_equal(stat.state, 'R');
    assert_false(ml_proc_stat_read(pid, UINT32_MAX, &stat));
}

/* ---- A collector --------------------------------------------------------- */

/* A process that takes the collector's place: it runs for ever, or sleeps. */
static pid_t start_process(bool runs)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* an assertion may end the test before us */
    while (pid == 0) {
        if (!runs)
            pause();
    }
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void introduce(struct ml_collector_id *id, pid_t pid)
{
    struct ml_proc_stat stat;

    assert_true(ml_proc_stat_read((uint32_t)pid, (uint32_t)pid, &stat));
    *id = (struct ml_collector_id){.pid = (uint32_t)pid,
                                   .threads = {(uint32_t)pid},
                                   .pid_namespace = ml_proc_pid_namespace(),
                                   .start_ticks = stat.start_ticks};
}

/* Until the kernel shows it in that state, whatever else the machine does. */
static void await_state(pid_t pid, char wanted)
{
    struct ml_proc_stat stat = {0};

    while (stat.state != wanted) {
        assert_true(ml_proc_stat_read((uint32_t)pid, (uint32_t)pid, &stat));
        usleep(1000);
    }
}

static enum ml_collector_state state_of(const struct ml_collector_id *id)
{
    uint64_t cpu_ticks;

    return ml_collector_state(id, &cpu_ticks);
}

static void test_states(void **state)
{
    pid_t pid = start_process(true);
    struct ml_collector_id id;

    (void)state;
    introduce(&id, pid);
    await_state(pid, 'R');
    assert_int_equal(state_of(&id), ML_COLLECTOR_READY);
    kill(pid, SIGSTOP);
    await_state(pid, 'T');
    assert_int_equal(state_of(&id), ML_COLLECTOR_BLOCKED);
    end_process(pid);
    assert_int_equal(state_of(&id), ML_COLLECTOR_BLOCKED);
}

static void test_asleep(void **state)
{
    pid_t sleeper = start_process(false);
    struct ml_collector_id id;

    (void)state;
    introduce(&id, sleeper);
    await_state(sleeper, 'S');
    assert_int_equal(state_of(&id), ML_COLLECTOR_BLOCKED);
    end_process(sleeper);
}

static void test_not_to_be_seen(void **state)
{
    pid_t pid = start_process(true);
    struct ml_collector_id id = {0};

    (void)state;
    assert_int_equal(state_of(&id), ML_COLLECTOR_UNKNOWN);
    introduce(&id, pid);
    id.start_ticks++; /* the number is another's by now */
    assert_int_equal(state_of(&id), ML_COLLECTOR_BLOCKED);
    id.pid_namespace++;
    assert_int_equal(state_of(&id), ML_COLLECTOR_UNKNOWN);
    end_process(pid);
}

/* ---- Waiting for it ------------------------------------------------------ */

/* A watch that has gone on for that long without a sign of life. */
static bool alive_after(uint64_t waited_ns)
{
    struct ml_collector_watch watch = {.heartbeat = ml_session->heartbeat,
                                       .last_ns = 1,
                                       .waited_ns = waited_ns,
                                       .silent_ns = waited_ns};

    return ml_collector_alive(&watch);
}

static void test_patience(void **state)
{
    static struct ml_session page;
    pid_t pid = start_process(true);

    (void)state;
    introduce(&page.collector, pid);
    await_state(pid, 'R');
    ml_session = &page;
    assert_true(alive_after(50 * SECOND_NS));
    assert_true(page.vouched_ns);
    assert_false(ml_collector_stuck());

    page.vouched_ns = 0;
    kill(pid, SIGSTOP);
    await_state(pid, 'T');
    assert_true(alive_after(0));
    assert_false(alive_after(SECOND_NS));
    assert_true(ml_collector_stuck());

    /* A sign of life, and all wait again. */
    page.heartbeat++;
    assert_false(ml_collector_stuck());
    assert_true(alive_after(0));
    ml_session = NULL;
    end_process(pid);
}

/* It waited for a processor for long, and waits for something else when it is asked about next. */
static void test_not_ready_for_a_moment(void **state)
{
    static struct ml_session page;
    pid_t pid = start_process(true);
    struct ml_collector_watch watch = {
        .last_ns = 1, .waited_ns = 5 * SECOND_NS, .silent_ns = SECOND_NS / 2};

    (void)state;
    introduce(&page.collector, pid);
    await_state(pid, 'R');
    ml_session = &page;
    assert_true(ml_collector_alive(&watch));

    kill(pid, SIGSTOP);
    await_state(pid, 'T');
    watch.silent_ns += SECOND_NS / 2;
    page.vouched_ns = 0;
    assert_true(ml_collector_alive(&watch));
    assert_false(ml_collector_stuck());

    /* It stays so. */
    watch.silent_ns = SECOND_NS;
    assert_false(ml_collector_alive(&watch));
    assert_true(ml_collector_stuck());
    ml_session = NULL;
    end_process(pid);
}

static void test_patience_ends(void **state)
{
    static struct ml_session page;
    pid_t pid = start_process(true);

    (void)state;
    ml_session = &page;
    assert_true(alive_after(2 * SECOND_NS));
    assert_false(alive_after(3 * SECOND_NS));

    introduce(&page.collector, pid);
    await_state(pid, 'R');
    page.heartbeat++;
    assert_true(alive_after(50 * SECOND_NS));
    assert_true(page.vouched_ns); /* which does not make an old wait longer */
    assert_false(alive_after(61 * SECOND_NS));
    ml_session = NULL;
    end_process(pid);
}

/* It has used three seconds of processor time and got nothing done. */
static void test_runs_in_circles(void **state)
{
    static struct ml_session page;
    pid_t pid = start_process(true);
    struct ml_collector_watch watch = {.last_ns = 1,
                                       .waited_ns = 2 * SECOND_NS,
                                       .silent_ns = 2 * SECOND_NS,
                                       .asked = true,
                                       .cpu_ticks = (uint64_t)0 - 300};

    (void)state;
    introduce(&page.collector, pid);
    await_state(pid, 'R');
    ml_session = &page;
    assert_false(ml_collector_alive(&watch));
    assert_true(ml_collector_stuck());
    ml_session = NULL;
    end_process(pid);
}

/* ---- Signals ------------------------------------------------------------- */

/* Between block and restore, as a thread that waits for room: a wait that began so long ago. */
static bool waits_on_after(uint64_t ns)
{
    struct ml_collector_watch watch = {.begun_ns = ml_clock_ns(CLOCK_MONOTONIC) - ns};

    return ml_collector_alive(&watch);
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

static void test_signal_ends_wait(void **state)
{
    static struct ml_session page;
    uint64_t outer, inner;

    (void)state;
    ml_session = &page;
    signal(SIGTERM, handle);
    outer = ml_sys_block_signals();
    inner = ml_sys_block_signals();
    assert_true(waits_on_after(2 * SECOND_NS));
    raise(SIGCHLD);
    assert_true(waits_on_after(2 * SECOND_NS));
    raise(SIGTERM);
    assert_true(waits_on_after(SECOND_NS / 2));
    assert_false(waits_on_after(2 * SECOND_NS));
    assert_true(ml_collector_stuck()); /* for this thread, until it moves */
    assert_int_equal(page.stuck_at, 0);
    ml_sys_restore_signals(inner);
    assert_false(waits_on_after(2 * SECOND_NS));
    assert_false(handled);
    ml_sys_restore_signals(outer);
    assert_int_equal(handled, SIGTERM);
    page.heartbeat++;
    assert_false(ml_collector_stuck());
    ml_session = NULL;
}

static void test_signal_that_the_program_blocks(void **state)
{
    static struct ml_session page;
    sigset_t terminate;
    uint64_t signals;

    (void)state;
    ml_session = &page;
    signal(SIGTERM, SIG_IGN);
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    sigprocmask(SIG_BLOCK, &terminate, NULL);
    signals = ml_sys_block_signals();
    raise(SIGTERM);
    assert_true(waits_on_after(2 * SECOND_NS));
    ml_sys_restore_signals(signals);
    sigprocmask(SIG_UNBLOCK, &terminate, NULL);
    ml_session = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_line_cut_short),
        cmocka_unit_test(test_own_line),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_asleep),
        cmocka_unit_test(test_not_to_be_seen),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_not_ready_for_a_moment),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_runs_in_circles),
        cmocka_unit_test(test_signal_ends_wait),
        cmocka_unit_test(test_signal_that_the_program_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
