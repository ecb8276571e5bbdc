/* cuda_many.c: a thousand threads that allocate, then a child that tries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_work.h"

#define THREADS 1000
#define EACH 2

static struct driver d;
static void *context;
static _Atomic int failures;

static void *use(void *argument)
{
    uint64_t at[EACH];

    (void)argument;
    failures += d.set_current(context) != 0;
    for (int i = 0; i < EACH; i++)
        failures += d.alloc(&at[i], 4096) != 0;
    for (int i = 0; i < EACH; i++)
        failures += d.free(at[i]) != 0;
    return NULL;
}

static int in_child(void)
{
    uint64_t at;
    pid_t pid = fork();
    int status = -1;

    if (!pid)
        _exit(10 + (d.init(0) == 3) + 2 * (d.alloc(&at, 1) != 0));
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    static pthread_t threads[THREADS];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    unsigned started = 0;

    if (!driver)
        return 2;
    for (unsigned i = 0; i < sizeof(d) / sizeof(void *); i++)
        ((void **)&d)[i] = dlsym(driver, driver_symbols[i]);
    printf("init %d\n", d.init(0));
    printf("retain %d\n", d.retain(&context, 0));
    while (started < THREADS && !pthread_create(&threads[started], NULL, use, NULL))
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    printf("%u threads, %d failures\n", started, failures);
    printf("child %d\n", in_child());
    printf("release %d\n", d.release(0));
    return 0;
}
