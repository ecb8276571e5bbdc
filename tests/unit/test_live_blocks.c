/* test_live_blocks.c: the table of live blocks against a plain model of it, with
 * threads, forks and backward passes. What an event costs is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live_blocks.h"
#include "live_log.h"
#include "nanoseconds.h"
#include "recorder.h"

#define BLOCKS 5000
#define ROUNDS 200000
#define THREADS 4
#define CUDA_1 ML_LIVE_CUDA(1)

static const void *at(uint64_t address)
{
    return (const void *)(uintptr_t)address;
}

static uint64_t address_of(unsigned block)
{
    return 0x10000 + (uint64_t)block * 64;
}

/* What happens to blocks while the table is off is unknown, so it begins empty. */
static void forgets_while_off(void **state)
{
    struct ml_live_block found;

    (void)state;
    assert_true(ml_live_switch_on(ML_LIVE_ATTACH));
    ml_live_add(0, ML_LIVE_HOST, at(address_of(1)), 512);
    assert_true(ml_live_switch_off(ML_LIVE_ATTACH));
    assert_false(ml_live_on);
    assert_false(ml_live_switch_off(ML_LIVE_ATTACH));
    assert_true(ml_live_switch_on(ML_LIVE_ATTACH));
    assert_false(ml_live_block_find(address_of(1), &found));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 0);
    assert_true(ml_live_seed(ML_LIVE_HOST, address_of(1), 1024));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 1024);
    ml_live_remove(at(address_of(1)));
}

/* A block that another thread frees between the listing of all blocks and its own turn. */
static void skips_blocks_freed_during_seeding(void **state)
{
    enum { FREED = 3000 };
    struct ml_live_block found;

    (void)state;
    ml_live_seed_begin();
    for (unsigned i = 0; i < FREED; i++) {
        ml_live_remove(at(address_of(i)));
        ml_live_remove(at(address_of(i)));
    }
    assert_false(ml_live_block_find(address_of(1), &found));
    ml_live_add(0, ML_LIVE_HOST, at(address_of(0)), 512); /* allocated again */
    for (unsigned i = 0; i < FREED; i++)
        assert_false(ml_live_seed(ML_LIVE_HOST, address_of(i), 1024));
    assert_true(ml_live_seed(ML_LIVE_HOST, address_of(FREED), 1024));
    ml_live_seed_end();
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 512 + 1024);
    ml_live_remove(at(address_of(0)));
    ml_live_remove(at(address_of(FREED)));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 0);
    assert_true(ml_live_seed(ML_LIVE_HOST, address_of(1), 1024));
    ml_live_remove(at(address_of(1)));
    ml_live_reset_peak(ML_LIVE_HOST);
}

/* The program's questions are answered after the end of `memledger attach`, too. */
static void stays_on_for_the_program(void **state)
{
    (void)state;
    assert_true(ml_live_switch_on(ML_LIVE_PROGRAM));
    assert_false(ml_live_switch_off(ML_LIVE_ATTACH));
    assert_true(ml_live_on);
}

/* Adds and removes at random; every sum, size and phase is as the model's. */
static void agrees_with_a_model(void **state)
{
    static uint64_t sizes[BLOCKS];
    uint64_t live = 0, peak = 0;
    struct ml_live_block found;

    (void)state;
    srand(1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned block = (unsigned)rand() % BLOCKS;
        uint64_t bytes = 1 + (uint64_t)rand() % 1000;
        if (sizes[block]) {
            ml_live_remove(at(address_of(block)));
            live -= sizes[block];
            sizes[block] = 0;
        } else {
            ml_live_add(0, CUDA_1, at(address_of(block)), bytes);
            live += sizes[block] = bytes;
        }
        peak = live > peak ? live : peak;
        assert_int_equal(ml_live_bytes(CUDA_1, ML_PHASES), live);
    }
    assert_int_equal(ml_live_peak(CUDA_1), peak);
    for (unsigned i = 0; i < BLOCKS; i++) {
        assert_int_equal(ml_live_block_find(address_of(i), &found), sizes[i] != 0);
        if (sizes[i])
            assert_int_equal(found.bytes, sizes[i]);
        ml_live_remove(at(address_of(i)));
    }
    assert_int_equal(ml_live_bytes(CUDA_1, ML_PHASES), 0);
    ml_live_reset_peak(CUDA_1);
    assert_int_equal(ml_live_peak(CUDA_1), 0);
}

static void counts_by_phase(void **state)
{
    struct ml_live_block found;

    (void)state;
    ml_thread_phase = ML_PHASE_FORWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 10);
    ml_thread_phase = ML_PHASE_NONE;
    ml_process_phase = ML_PHASE_BACKWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x200), 20);
    ml_process_phase = ML_PHASE_NONE;
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASE_FORWARD), 10);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASE_BACKWARD), 20);
    ml_live_rephase(0x100, ML_PHASE_NONE);
    ml_live_rephase(0x300, ML_PHASE_NONE);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASE_FORWARD), 0);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASE_NONE), 10);
    assert_int_equal(ml_live_peak(ML_LIVE_HOST), 30);
    assert_true(ml_live_block_find(0x200, &found));
    assert_int_equal(found.phase, ML_PHASE_BACKWARD);
    ml_live_remove(at(0x100));
    ml_live_remove(at(0x200));
}

/* Blocks that forward allocates are taken layer by layer, also those that backward recomputes,
 * which are no intermediates. */
static void takes_the_blocks_of_forward(void **state)
{
    uint64_t taken[4] = {0}, peak = 0;

    (void)state;
    ml_live_log_forward(true);
    ml_thread_phase = ML_PHASE_FORWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 10);
    ml_live_add(0, ML_LIVE_HOST, at(0x200), 20);
    assert_int_equal(ml_live_log_take(taken, 1), 1);
    assert_int_equal(taken[0], 0x100);
    ml_live_remove(at(0x100));
    assert_int_equal(ml_live_log_take(taken, 4), 1);
    assert_int_equal(taken[0], 0x200);
    ml_live_log_begin();
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 1000);
    ml_thread_phase = ML_PHASE_BACKWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x300), 5);
    assert_int_equal(ml_live_log_take(taken, 4), 1);
    assert_int_equal(taken[0], 0x100);
    ml_live_log_forward(false);
    assert_true(ml_live_log_end(1 << ML_LIVE_HOST, NULL, 0, &peak));
    assert_int_equal(peak, 5);
    ml_thread_phase = ML_PHASE_FORWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x400), 1);
    assert_int_equal(ml_live_log_take(taken, 4), 0);
    for (uint64_t address = 0x100; address <= 0x400; address += 0x100)
        ml_live_remove(at(address));
    ml_thread_phase = ML_PHASE_NONE;
}

/* Seeds are for what is not known; a block where one is live replaces it. */
static void seeds_and_replaces(void **state)
{
    (void)state;
    assert_true(ml_live_seed(ML_LIVE_HOST, 0x100, 8));
    assert_false(ml_live_seed(ML_LIVE_HOST, 0x100, 16));
    assert_false(ml_live_seed(ML_LIVE_DEVICES, 0x200, 16));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 8);
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 32);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 32);
    ml_live_remove(at(0x100));
    ml_live_remove(at(0x100));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 0);
}

/* A gradient grows while intermediates come and go: 100 + 50 + 60 - 50 + 70, of which
 * the 100 and a block at an address used before are no intermediates. */
static void tells_the_peak_of_intermediates(void **state)
{
    uint64_t gradients[] = {0x100, 0x200};
    uint64_t peak = 0;

    (void)state;
    ml_thread_phase = ML_PHASE_BACKWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x500), 5); /* from before */
    ml_live_log_begin();
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 100);
    ml_live_add(0, ML_LIVE_HOST, at(0x200), 50);
    ml_live_add(0, ML_LIVE_HOST, at(0x300), 60);
    ml_live_add(0, CUDA_1, at(0x400), 1000);
    ml_live_remove(at(0x200));
    ml_live_add(0, ML_LIVE_HOST, at(0x200), 70);
    ml_live_remove(at(0x300));
    assert_true(ml_live_log_end(1 << ML_LIVE_HOST, gradients, 2, &peak));
    assert_int_equal(peak, 5 + 50 + 60);
    assert_false(ml_live_log_end(1 << ML_LIVE_HOST, gradients, 2, &peak));
    for (uint64_t address = 0x100; address <= 0x500; address += 0x100)
        ml_live_remove(at(address));
    ml_thread_phase = ML_PHASE_NONE;
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 0);
}

static _Atomic bool over;

static void *churn(void *number)
{
    uint64_t base = ((uintptr_t)number + 1) << 32;

    while (!over) {
        for (unsigned i = 0; i < 100; i++)
            ml_live_add(0, ML_LIVE_HOST, at(base + i * 64), 8);
        for (unsigned i = 0; i < 100; i++)
            ml_live_remove(at(base + i * 64));
    }
    return NULL;
}

/* In the child everything can be found, and locks are free. */
static int look_in_child(void)
{
    struct ml_live_block found;

    if (!ml_live_block_find(0x100, &found) || found.bytes != 16)
        return 1;
    for (unsigned i = 0; i < 1000; i++)
        ml_live_add(0, CUDA_1, at(address_of(i)), 1);
    return ml_live_bytes(CUDA_1, ML_PHASES) == 1000 ? 0 : 2;
}

static void forks_among_threads(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 16);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        int status;
        if (!child)
            _exit(look_in_child());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ml_live_remove(at(0x100));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 0);
    assert_int_equal(ml_live_missed(), 0);
}

/* ---- Locks that are not given back ---------------------------------------------- */

#define HELD ((uint64_t)0x7000) /* a block in the table that is held */
#define CLONES 300
#define HANGS_S 30

static sem_t holds, let_go;

static void hold(const struct ml_live_block *b)
{
    if (b->address != HELD)
        return;
    sem_post(&holds);
    sem_wait(&let_go);
}

static void *hold_table(void *arg)
{
    ml_live_tell(1, hold);
    return arg;
}

static pthread_t begin_holding(void)
{
    pthread_t thread;

    sem_init(&holds, 0, 0);
    sem_init(&let_go, 0, 0);
    assert_true(ml_live_seed(ML_LIVE_HOST, HELD, 16));
    assert_int_equal(pthread_create(&thread, NULL, hold_table, NULL), 0);
    sem_wait(&holds);
    return thread;
}

static void end_holding(pthread_t thread)
{
    sem_post(&let_go);
    pthread_join(thread, NULL);
    ml_live_remove(at(HELD));
}

/* One second is lost once, not with each event. */
static void gives_up_and_counts(void **state)
{
    uint64_t missed = ml_live_missed();
    uint64_t begin_ns = ml_clock_ns(CLOCK_MONOTONIC);
    pthread_t thread;

    (void)state;
    alarm(HANGS_S);
    thread = begin_holding();
    for (int i = 0; i < 100; i++)
        ml_live_rephase(HELD, ML_PHASE_FORWARD);
    assert_int_equal(ml_live_missed(), missed + 100);
    assert_in_range(ml_clock_ns(CLOCK_MONOTONIC) - begin_ns, 0, (uint64_t)10000000000);
    end_holding(thread);
    ml_live_add(0, ML_LIVE_HOST, at(HELD), 8);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_PHASES), 8);
    ml_live_remove(at(HELD));
    assert_int_equal(ml_live_missed(), missed + 100);
    alarm(0);
}

/* ThreadSanitizer takes a child's tables for those that its parent's threads still change. */
static void skip_under_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
    print_message("skipped: ThreadSanitizer takes a child's tables for its parent's\n");
    skip();
#endif
}

/* clone() behind libc's back: no fork handlers run. */
static pid_t raw_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int find_held(void)
{
    struct ml_live_block found;

    alarm(HANGS_S);
    if (!ml_live_block_find(HELD, &found) || found.bytes != 16)
        return 1;
    ml_live_remove(at(HELD));
    return ml_live_block_find(HELD, &found) ? 2 : 0;
}

static void forks_while_a_table_is_held(void **state)
{
    pid_t (*const ways[])(void) = {fork, raw_clone};
    pthread_t thread;

    (void)state;
    skip_under_thread_sanitizer();
    alarm(HANGS_S);
    thread = begin_holding();
    for (unsigned i = 0; i < 2; i++) {
        pid_t child = ways[i]();
        int status;
        if (!child)
            _exit(find_held());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    end_holding(thread);
    alarm(0);
}

static void *churn_backward(void *number)
{
    ml_thread_phase = ML_PHASE_BACKWARD;
    return churn(number);
}

static int log_in_child(void)
{
    uint64_t peak = 0;

    alarm(HANGS_S);
    ml_thread_phase = ML_PHASE_BACKWARD;
    ml_live_log_begin();
    ml_live_add(0, CUDA_1, at(0x100), 10);
    return ml_live_log_end(1 << CUDA_1, NULL, 0, &peak) && peak != 10;
}

/* The lock of the log may be taken in a child that was cloned. */
static void clones_while_threads_log(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    skip_under_thread_sanitizer();
    over = false;
    ml_live_log_begin();
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_backward, (void *)i), 0);
    for (int i = 0; i < CLONES; i++) {
        pid_t child = raw_clone();
        int status;
        if (!child)
            _exit(log_in_child());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static sigjmp_buf back;

static void jump(int number)
{
    siglongjmp(back, number);
}

static void interrupt(const struct ml_live_block *b)
{
    if (b->address == HELD)
        raise(SIGUSR1);
}

/* A handler that leaves a table by siglongjmp leaves nothing held: neither does this thread lose
 * its later events, nor another one. */
static void jumps_out_of_a_table(void **state)
{
    uint64_t missed = ml_live_missed();
    struct ml_live_block found;
    pthread_t thread;

    (void)state;
    alarm(HANGS_S);
    signal(SIGUSR1, jump);
    assert_true(ml_live_seed(ML_LIVE_HOST, HELD, 16));
    if (!sigsetjmp(back, 1))
        ml_live_tell(2, interrupt);
    for (int i = 0; i < 100; i++) {
        assert_true(ml_live_block_find(HELD, &found));
        assert_int_equal(found.bytes, 16);
    }
    assert_int_equal(ml_live_missed(), missed + 1);
    ml_live_remove(at(HELD));
    thread = begin_holding();
    end_holding(thread);
    assert_int_equal(ml_live_missed(), missed + 1);
    alarm(0);
}

/* Neither does one that leaves the log: the next one is complete. */
static void jumps_out_of_the_log(void **state)
{
    uint64_t *unreadable =
        mmap(NULL, sizeof(*unreadable), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t peak = 0;

    (void)state;
    assert_ptr_not_equal(unreadable, MAP_FAILED);
    alarm(HANGS_S);
    signal(SIGSEGV, jump);
    ml_thread_phase = ML_PHASE_BACKWARD;
    ml_live_log_begin();
    ml_live_add(0, CUDA_1, at(0x100), 10);
    if (!sigsetjmp(back, 1))
        ml_live_log_end(1 << CUDA_1, unreadable, 1, &peak);
    signal(SIGSEGV, SIG_DFL);
    ml_live_remove(at(0x100));
    ml_live_log_begin();
    ml_live_add(0, CUDA_1, at(0x100), 20);
    assert_true(ml_live_log_end(1 << CUDA_1, NULL, 0, &peak));
    assert_int_equal(peak, 20);
    ml_live_remove(at(0x100));
    ml_thread_phase = ML_PHASE_NONE;
    munmap(unreadable, sizeof(*unreadable));
    alarm(0);
}

static _Atomic bool one_waits;
static __thread bool jumps_at_wake;

/* Instead of libc's, for the calls that a lock makes. */
long syscall(long number, ...)
{
    static long (*_Atomic real)(long, ...);
    long a[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_futex && a[1] == FUTEX_WAIT_PRIVATE)
        one_waits = true;
    if (number == SYS_futex && a[1] == FUTEX_WAKE_PRIVATE && jumps_at_wake) {
        jumps_at_wake = false;
        raise(SIGUSR1);
    }
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static pthread_t next_holder;

static void let_another_wait(const struct ml_live_block *b)
{
    if (b->address != HELD)
        return;
    one_waits = false;
    pthread_create(&next_holder, NULL, hold_table, NULL);
    while (!one_waits)
        sched_yield();
    jumps_at_wake = true;
}

/* The lock is free again, and the next holder has it: this thread must not release it once more. */
static void jumps_out_of_a_release(void **state)
{
    uint64_t missed = ml_live_missed();
    struct ml_live_block found;

    (void)state;
    alarm(HANGS_S);
    signal(SIGUSR1, jump);
    sem_init(&holds, 0, 0);
    sem_init(&let_go, 0, 0);
    assert_true(ml_live_seed(ML_LIVE_HOST, HELD, 16));
    if (!sigsetjmp(back, 1))
        ml_live_tell(3, let_another_wait);
    sem_wait(&holds);
    assert_false(ml_live_block_find(HELD, &found));
    assert_int_equal(ml_live_missed(), missed + 1);
    sem_post(&let_go);
    pthread_join(next_holder, NULL);
    assert_true(ml_live_block_find(HELD, &found));
    ml_live_remove(at(HELD));
    assert_int_equal(ml_live_missed(), missed + 1);
    alarm(0);
}

static void says_what_an_event_costs(void **state)
{
    enum { EVENTS = 1000000 };
    uint64_t begin = ml_clock_ns(CLOCK_THREAD_CPUTIME_ID);

    (void)state;
    for (unsigned i = 0; i < EVENTS / 2; i++) {
        ml_live_add(0, ML_LIVE_HOST, at(address_of(i % BLOCKS)), 512);
        if (i >= BLOCKS / 2)
            ml_live_remove(at(address_of((i - BLOCKS / 2) % BLOCKS)));
    }
    printf("%.1f ns an event\n",
           (double)(ml_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgets_while_off),
        cmocka_unit_test(stays_on_for_the_program),
        cmocka_unit_test(skips_blocks_freed_during_seeding),
        cmocka_unit_test(agrees_with_a_model),
        cmocka_unit_test(counts_by_phase),
        cmocka_unit_test(seeds_and_replaces),
        cmocka_unit_test(tells_the_peak_of_intermediates),
        cmocka_unit_test(takes_the_blocks_of_forward),
        cmocka_unit_test(forks_among_threads),
        cmocka_unit_test(gives_up_and_counts),
        cmocka_unit_test(forks_while_a_table_is_held),
        cmocka_unit_test(clones_while_threads_log),
        cmocka_unit_test(jumps_out_of_a_table),
        cmocka_unit_test(jumps_out_of_the_log),
        cmocka_unit_test(jumps_out_of_a_release),
        cmocka_unit_test(says_what_an_event_costs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
