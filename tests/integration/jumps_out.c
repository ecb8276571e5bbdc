/* jumps_out.c: a signal handler that leaves whatever it interrupts by siglongjmp, at a high rate,
 * while the program records at changing depths of its stack.
 *
 *     jumps_out MILLISECONDS [altstack]
 *
 * Prints how many events were surely made, and how many jumps there were: an event that was
 * jumped out of may or may not be made. Pushes and pops are left unbalanced by the jumps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "memledger/memledger.h"

#define EVERY_US 100
#define DEPTH_MAX 8

static memledger_space space;
static volatile unsigned long made, jumps;
static volatile uintptr_t next_block = 16;
static volatile sig_atomic_t may_jump;
static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    if (!may_jump)
        return;
    jumps++;
    siglongjmp(back, 1);
}

static __attribute__((noinline)) void record(unsigned depth)
{
    volatile char room[100];

    room[0] = (char)depth;
    if (depth) {
        record(depth - 1);
    } else {
        memledger_alloc(space, (void *)(next_block += 16), 16);
        made++;
    }
    room[1] = room[0];
}

static void handle_by_jump(int with_altstack)
{
    static char stack[65536];
    struct sigaction action = {.sa_handler = jump, .sa_flags = with_altstack ? SA_ONSTACK : 0};
    struct itimerval often = {{0, EVERY_US}, {0, EVERY_US}};

    if (with_altstack)
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    uint64_t end_ms = now_ms() + (argc > 1 ? (uint64_t)atoi(argv[1]) : 500);

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "jumps out");
    record(0);
    handle_by_jump(argc > 2 && !strcmp(argv[2], "altstack"));
    sigsetjmp(back, 1);
    while (now_ms() < end_ms) {
        may_jump = 1;
        for (unsigned i = 0; i < 1000; i++)
            record(i % DEPTH_MAX);
        may_jump = 0;
    }
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    printf("%lu %lu\n", made, jumps);
    return 0;
}
