/* stand_still.c: threads, then forked children one after the other, each of which fills its own
 * ring and continues.
 *
 *     stand_still THREADS CHILDREN
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memledger/memledger.h"

static memledger_space space;

static void *fill(void *arg)
{
    (void)arg;
    for (uintptr_t i = 1; i < 100000; i++)
        memledger_alloc(space, (void *)(i * 16), 16);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[1]) : 1;
    int children = argc > 2 ? atoi(argv[2]) : 1;
    char line[16];
    pthread_t id;

    space = memledger_space_open("cpu", MEMLEDGER_BLOCK, "blocks");
    memledger_alloc(space, (void *)0x1000, 1);
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 2;
    for (int i = 0; i < threads; i++) {
        pthread_create(&id, NULL, fill, NULL);
        pthread_join(id, NULL);
    }
    for (int i = 0; i < children; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            fill(NULL);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    puts("done");
    return 0;
}
