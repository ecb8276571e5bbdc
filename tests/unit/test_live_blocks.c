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

#include <pthread.h>
#include <stdlib.h>
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

static int switch_on(void **state)
{
    (void)state;
    return ml_live_switch_on() ? 0 : -1;
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
        assert_int_equal(ml_live_bytes(CUDA_1, ML_LIVE_PHASES), live);
    }
    assert_int_equal(ml_live_peak(CUDA_1), peak);
    for (unsigned i = 0; i < BLOCKS; i++) {
        assert_int_equal(ml_live_block_find(address_of(i), &found), sizes[i] != 0);
        if (sizes[i])
            assert_int_equal(found.bytes, sizes[i]);
        ml_live_remove(at(address_of(i)));
    }
    assert_int_equal(ml_live_bytes(CUDA_1, ML_LIVE_PHASES), 0);
    ml_live_reset_peak(CUDA_1);
    assert_int_equal(ml_live_peak(CUDA_1), 0);
}

static void counts_by_phase(void **state)
{
    struct ml_live_block found;

    (void)state;
    ml_thread_phase = ML_LIVE_FORWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 10);
    ml_thread_phase = ML_LIVE_OTHER;
    ml_process_phase = ML_LIVE_BACKWARD;
    ml_live_add(0, ML_LIVE_HOST, at(0x200), 20);
    ml_process_phase = ML_LIVE_OTHER;
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_FORWARD), 10);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_BACKWARD), 20);
    ml_live_rephase(0x100, ML_LIVE_OTHER);
    ml_live_rephase(0x300, ML_LIVE_OTHER);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_FORWARD), 0);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_OTHER), 10);
    assert_int_equal(ml_live_peak(ML_LIVE_HOST), 30);
    assert_true(ml_live_block_find(0x200, &found));
    assert_int_equal(found.phase, ML_LIVE_BACKWARD);
    ml_live_remove(at(0x100));
    ml_live_remove(at(0x200));
}

/* Seeds are for what is not known; a block where one is live replaces it. */
static void seeds_and_replaces(void **state)
{
    (void)state;
    assert_true(ml_live_seed(ML_LIVE_HOST, 0x100, 8));
    assert_false(ml_live_seed(ML_LIVE_HOST, 0x100, 16));
    assert_false(ml_live_seed(ML_LIVE_DEVICES, 0x200, 16));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_PHASES), 8);
    ml_live_add(0, ML_LIVE_HOST, at(0x100), 32);
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_PHASES), 32);
    ml_live_remove(at(0x100));
    ml_live_remove(at(0x100));
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_PHASES), 0);
}

/* A gradient grows while intermediates come and go: 100 + 50 + 60 - 50 + 70, of which
 * the 100 and a block at an address used before are no intermediates. */
static void tells_the_peak_of_intermediates(void **state)
{
    uint64_t gradients[] = {0x100, 0x200};
    uint64_t peak = 0;

    (void)state;
    ml_thread_phase = ML_LIVE_BACKWARD;
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
    ml_thread_phase = ML_LIVE_OTHER;
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_PHASES), 0);
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
    return ml_live_bytes(CUDA_1, ML_LIVE_PHASES) == 1000 ? 0 : 2;
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
    assert_int_equal(ml_live_bytes(ML_LIVE_HOST, ML_LIVE_PHASES), 0);
    assert_int_equal(ml_live_missed(), 0);
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
        cmocka_unit_test(agrees_with_a_model), cmocka_unit_test(counts_by_phase),
        cmocka_unit_test(seeds_and_replaces),  cmocka_unit_test(tells_the_peak_of_intermediates),
        cmocka_unit_test(forks_among_threads), cmocka_unit_test(says_what_an_event_costs),
    };

    return cmocka_run_group_tests(tests, switch_on, NULL);
}
