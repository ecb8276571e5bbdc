/* heap_signals.c: a timer's handler that allocates, while the program does nothing but record:
 * scopes, which take no memory. malloc itself must not be interrupted by a handler that calls
 * it, so the loop does not call it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "heap_expect.h"
#include "memledger/memledger.h"

#define HANDLED 500

static volatile sig_atomic_t handled;
static void *last;

static void handler(int signal_number)
{
    (void)signal_number;
    if (handled == HANDLED)
        return;
    free(last);
    last = malloc(73001);
    handled++;
}

static void set_timer(long us)
{
    struct itimerval every = {{0, us}, {0, us}};

    setitimer(ITIMER_REAL, &every, NULL);
}

int main(void)
{
    long scopes = 0;

    memledger_push("warm up");
    memledger_pop();
    signal(SIGALRM, handler);
    set_timer(200);
    while (handled < HANDLED) {
        memledger_push("loop");
        memledger_pop();
        scopes++;
        for (volatile int i = 0; i < 500; i++)
            continue; /* a trace of a readable size */
    }
    set_timer(0);
    expect(73001, HANDLED, HANDLED - 1);
    printf("scopes %ld\n", scopes + 1);
    return 0;
}
