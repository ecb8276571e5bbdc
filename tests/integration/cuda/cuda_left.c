/* cuda_left.c: leaves a driver call that blocks, and goes on.
 *
 *     cuda_left jump | cancel | asynchronous | beside-allocs | beside-frees
 *
 * "jump": by siglongjmp out of a signal handler. The others: the thread that is in the call is
 * cancelled; "beside-": after the main thread has allocated or freed BESIDE blocks. Then takes
 * memory in three ways on the main thread: for itself, for stacks (a limit of the driver's), and
 * for itself again, and gives the first back. STANDIN_BLOCKS names the size that blocks. The call
 * is left when the stand-in has written that it blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define BESIDE 8
#define STACK_LIMIT 0 /* CU_LIMIT_STACK_SIZE */

typedef unsigned long long address;

static void *cuda;
static char blocked_file[4096];
static sigjmp_buf back;
static void *context;

#define CALL(name, types, ...) ((int(*) types)dlsym(cuda, name))(__VA_ARGS__)

static int alloc(address *ret, size_t bytes)
{
    return CALL("cuMemAlloc_v2", (address *, size_t), ret, bytes);
}

static int is_blocked(void)
{
    return !access(blocked_file, F_OK);
}

static void jump(int number)
{
    (void)number;
    if (is_blocked())
        siglongjmp(back, 1);
}

static void send_alarms(suseconds_t every_us)
{
    struct itimerval timer = {{0, every_us}, {0, every_us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void *block(void *arg)
{
    address never;

    if (arg)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    CALL("cuCtxSetCurrent", (void *), context);
    alloc(&never, strtoull(getenv("STANDIN_BLOCKS"), NULL, 10));
    return NULL;
}

static void leave_by_jump(void)
{
    signal(SIGALRM, jump);
    if (!sigsetjmp(back, 1)) {
        send_alarms(10000);
        block(NULL);
    }
    send_alarms(0);
}

static int alloc_all(address ret[BESIDE])
{
    int failed = 0;

    for (int i = 0; i < BESIDE; i++)
        failed |= alloc(&ret[i], 3 * MIB);
    return failed;
}

static int free_all(const address blocks[BESIDE])
{
    int failed = 0;

    for (int i = 0; i < BESIDE; i++)
        failed |= CALL("cuMemFree_v2", (address), blocks[i]);
    return failed;
}

static int leave_by_cancel(const char *way)
{
    int asynchronous = !strcmp(way, "asynchronous");
    int frees = !strcmp(way, "beside-frees"), allocs = !strcmp(way, "beside-allocs");
    address blocks[BESIDE];
    pthread_t thread;
    void *result;

    if ((frees && alloc_all(blocks)) ||
        pthread_create(&thread, NULL, block, asynchronous ? &thread : NULL))
        return 1;
    while (!is_blocked())
        usleep(1000);
    if ((frees && free_all(blocks)) || (allocs && alloc_all(blocks)))
        return 1;
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "jump";
    address first, second;

    snprintf(blocked_file, sizeof blocked_file, "%s.blocked", getenv("STANDIN_STATE"));
    cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda) {
        fprintf(stderr, "skipped: %s\n", dlerror());
        return 77;
    }
    if (CALL("cuInit", (unsigned), 0) ||
        CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, 0) ||
        CALL("cuCtxSetCurrent", (void *), context))
        return 2;
    if (!strcmp(way, "jump"))
        leave_by_jump();
    else if (leave_by_cancel(way))
        return 3;
    return alloc(&first, 2 * MIB) ||
                   CALL("cuCtxSetLimit", (int, size_t), STACK_LIMIT, (size_t)8192) ||
                   alloc(&second, 4 * MIB) || CALL("cuMemFree_v2", (address), first)
               ? 4
               : 0;
}
