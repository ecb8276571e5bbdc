/* cancelled.c: threads that are cancelled while they record, at cancellation points and at any
 * instruction.
 *
 *     cancelled THREADS
 *     cancelled forked
 *
 * Half of them allow asynchronous cancellation. Prints how many events were
 * surely made: each thread counts up after an event. Or a forked child has been cancelled before
 * its first event, which is no cancellation point: the exit status is 0 if it comes to the next
 * one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

static memledger_space space;
static volatile unsigned long made;

static void *record(void *arg)
{
    uintptr_t me = (uintptr_t)arg;

    if (me % 2)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (uintptr_t i = 0;; i++) {
        memledger_alloc(space, (void *)(((me + 1) << 32) + (i << 4)), 16);
        made++;
        if (me % 2 == 0)
            pthread_testcancel();
    }
    return NULL;
}

static int record_in_child(void)
{
    pid_t child = fork();
    int status;

    if (!child) {
        pthread_cancel(pthread_self());
        memledger_alloc(space, (void *)16, 16);
        memledger_free(space, (void *)16);
        _exit(5);
    }
    return waitpid(child, &status, 0) != child || status != 5 << 8;
}

int main(int argc, char **argv)
{
    uintptr_t threads = argc > 1 ? (uintptr_t)atoi(argv[1]) : 1;

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "cancelled");
    if (argc > 1 && !strcmp(argv[1], "forked"))
        return record_in_child();
    for (uintptr_t i = 0; i < threads; i++) {
        pthread_t id;
        void *result;
        unsigned long before = made;
        pthread_create(&id, NULL, record, (void *)i);
        while (made < before + 10)
            usleep(10);
        pthread_cancel(id);
        pthread_join(id, &result);
        if (result != PTHREAD_CANCELED)
            return 2;
    }
    printf("%lu\n", made);
    return 0;
}
