/* oracle_signals.c STACKS: allocations in signal handlers, on the thread's stack and on another
 * one, which interrupt calls at many depths and faulting instructions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf after_fault;
static unsigned long handled;
static void *volatile kept;

static __attribute__((noinline)) void allocate(unsigned depth, size_t bytes)
{
    if (depth > 0)
        allocate(depth - 1, bytes + 1);
    else
        kept = malloc(bytes);
    free(kept);
    kept = NULL;
}

static void on_signal(int number)
{
    handled++;
    allocate(handled % 7, 16 + (size_t)number);
    if (number == SIGUSR1 && handled % 5 == 0)
        raise(SIGUSR2);
}

static void on_fault(int number)
{
    allocate(handled % 3, 64);
    siglongjmp(after_fault, number);
}

static __attribute__((noinline)) void fault(volatile int *nowhere)
{
    if (sigsetjmp(after_fault, 1) == 0)
        *nowhere = 1;
}

static __attribute__((noinline)) int descend(unsigned depth, unsigned long round)
{
    char text[64];

    snprintf(text, sizeof(text), "%lu", round);
    if (depth > 0)
        return descend(depth - 1, round) + (int)strlen(text);
    raise(round % 2 ? SIGUSR1 : SIGUSR2);
    if (round % 11 == 0)
        fault(NULL);
    allocate(1, 32);
    return text[0];
}

static int compare(const void *left, const void *right)
{
    raise(SIGUSR2);
    return *(const int *)left - *(const int *)right;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) / 3 : 1000;
    stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    int total = 0;

    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, NULL);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_ONSTACK}, NULL);
    for (unsigned long i = 0; i < rounds; i++) {
        total += descend(i % 30, i);
        if (i % 50 == 0)
            qsort((int[]){3, 1, 2, 5, 4}, 5, sizeof(int), compare);
    }
    printf("%lu handled, %d\n", handled, total > 0);
    return 0;
}
