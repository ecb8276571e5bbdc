/* test_turns.c: the table of a pause against a plain model of it, when a signal handler leaves its
 * changes by siglongjmp. The processor's trap flag raises a signal after each instruction, so that
 * every one of them is interrupted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "record.h"
#include "ring.h"
#include "turns.h"

#define BLOCKS 700000 /* two thirds of the table: most entries are not at home */
#define TRAP_FLAG 0x100u
#define SPACE 7
/* AddressSanitizer's checks multiply the instructions, each of which is a signal: they see each
 * kind of change twice, and other builds make all rounds. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 4
#else
#define ROUNDS 16
#endif

static struct ml_session page;
static bool is_live[BLOCKS];

/* Addresses at equal distances would have few neighbours in the table. */
static uint64_t address_of(unsigned block)
{
    uint64_t x = (block + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (x ^ x >> 27) << 4;
}

static enum ml_turns_fate take(unsigned kind, unsigned block)
{
    uint64_t words[] = {ml_record_word(kind, SPACE, 0), address_of(block), 64};

    return ml_turns_take(words, kind == ML_FREE ? 2 : 3);
}

/* ---- A jump out of the nth instruction -------------------------------------------- */

static sigjmp_buf back;
static volatile unsigned steps_left;

static void step(int number)
{
    (void)number;
    if (--steps_left == 0)
        siglongjmp(back, 1);
}

/* @return whether the change was left */
static bool take_in_part(unsigned kind, unsigned block, unsigned steps)
{
    if (sigsetjmp(back, 1))
        return true;
    steps_left = steps;
    __writeeflags(__readeflags() | TRAP_FLAG);
    take(kind, block);
    __writeeflags(__readeflags() & ~(uint64_t)TRAP_FLAG);
    return false;
}

/* ---- Tests ------------------------------------------------------------------------ */

static int set_up(void **state)
{
    struct sigaction action = {.sa_handler = step};

    (void)state;
    atomic_store(&page.turn, 1);
    ml_turns_begin(&page);
    return sigaction(SIGTRAP, &action, NULL);
}

static void fill(unsigned first)
{
    for (unsigned i = first; i < BLOCKS; i++) {
        assert_int_equal(take(ML_ALLOC, i), ML_TURNS_KEPT);
        is_live[i] = true;
    }
}

/* Each block of the model is there once, and no other; empties the table. */
static void check_all(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (is_live[i])
            assert_int_equal(take(ML_FREE, i), ML_TURNS_KEPT);
        assert_int_equal(take(ML_FREE, i), ML_TURNS_RECORD);
        is_live[i] = false;
    }
}

static void keeps_blocks(void **state)
{
    (void)state;
    fill(0);
    for (unsigned i = 0; i < BLOCKS; i += 3) {
        assert_int_equal(take(ML_FREE, i), ML_TURNS_KEPT);
        is_live[i] = false;
    }
    check_all();
}

/* The change that was left may be made or not; it is made again, or undone. */
static void settle(unsigned block)
{
    assert_int_equal(take(ML_ALLOC, block), ML_TURNS_KEPT);
    is_live[block] = true;
}

/* Each instruction of many changes in turn, up to the first that a change has not. */
__attribute__((unused)) static void survives_jumps(void **state)
{
    unsigned left = 0;

    (void)state;
    fill(0);
    srand(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned kind = round % 2 ? ML_ALLOC : ML_FREE;
        bool is_left = true;
        for (unsigned steps = 1; is_left; steps++) {
            unsigned block = (unsigned)rand() % BLOCKS;
            if (kind == ML_ALLOC)
                assert_int_equal(take(ML_FREE, block), ML_TURNS_KEPT);
            is_left = take_in_part(kind, block, steps);
            settle(block);
            left += is_left;
        }
    }
    assert_true(left > ROUNDS * 50);
    check_all();
}

static void *take_one(void *ret)
{
    *(enum ml_turns_fate *)ret = take(ML_FREE, 0);
    return NULL;
}

/* The thread that was left inside has the table again at its next record, and gives it back. */
__attribute__((unused)) static void lets_others_in(void **state)
{
    (void)state;
    for (unsigned steps = 1; steps < 60; steps++) {
        enum ml_turns_fate fate;
        pthread_t thread;

        assert_int_equal(take(ML_ALLOC, 0), ML_TURNS_KEPT);
        take_in_part(ML_ALLOC, 1, steps);
        settle(1);
        assert_int_equal(pthread_create(&thread, NULL, take_one, &fate), 0);
        pthread_join(thread, NULL);
        assert_int_equal(fate, ML_TURNS_KEPT);
    }
    check_all();
}

/* A thread that was about to record may come after the end, and take it for the end of a pause. */
static void stays_ended(void **state)
{
    (void)state;
    for (unsigned turn = 2; turn <= 3; turn++) {
        atomic_store(&page.turn, turn);
        ml_turns_begin(&page);
        assert_int_equal(ml_turn_is_current(), turn == 2);
        ml_turns_end();
        for (unsigned later = turn; later <= turn + 2; later++) {
            atomic_store(&page.turn, later);
            ml_turns_resume();
            assert_false(ml_turn_is_current());
        }
    }
    set_up(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_blocks),
        cmocka_unit_test(stays_ended),
/* A jump out of ThreadSanitizer's own code would leave its locks taken. */
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(survives_jumps),
        cmocka_unit_test(lets_others_in),
#endif
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
