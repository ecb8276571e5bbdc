/* stack_user.c: allocates memory in known functions and in plugins.
 *
 *     stack_user calls               two functions, one of them twice
 *     stack_user plugins A B ROUNDS  A is closed and B takes its place, again and again
 *     stack_user fork A B            the same, and then a child asks
 *     stack_user wait                asks, says so, waits to be killed
 *     stack_user threads             four threads ask and fork at once
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stack_probe.h"

#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static __attribute__((noinline)) uint32_t inner_function(uint64_t address)
{
    uint32_t stack = probe_alloc(address, 100);

    NO_TAIL_CALL();
    return stack;
}

static __attribute__((noinline)) uint32_t outer_function(uint64_t address)
{
    uint32_t stack = inner_function(address);

    NO_TAIL_CALL();
    return stack;
}

static __attribute__((noinline, noreturn)) void ask_and_exit(void)
{
    probe_alloc(0x9000, 900);
    _exit(0);
}

/* Nothing follows the call: it returns to where the next function begins. */
static __attribute__((noinline, noreturn)) void last_call_of_all(void)
{
    ask_and_exit();
}

static void check(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "stack_user: %s\n", what);
    exit(1);
}

static int calls(void)
{
    uint32_t first = 0;

    for (volatile int i = 0; i < 2; i++) { /* one call, not two copies of it */
        uint32_t stack = outer_function(0x1000 + 0x1000 * (uint64_t)i);
        check(stack && (!i || stack == first), "the same stack has two numbers");
        first = stack;
    }
    errno = 4711;
    check(inner_function(0x3000) != first, "two stacks have the same number");
    check(errno == 4711, "errno was changed");
    probe_sample(4096);
    last_call_of_all();
}

/* The base of the library that the function is in. */
static void *base_of(void *function)
{
    Dl_info info;

    check(dladdr(function, &info), "dladdr");
    return info.dli_fbase;
}

static void *use_plugin(const char *path, uint64_t address, void **ret_base)
{
    void *plugin = dlopen(path, RTLD_NOW);
    uint32_t (*run)(uint64_t);

    check(plugin != NULL, "a plugin does not load");
    *(void **)&run = dlsym(plugin, "plugin_run");
    check(run && run(address), "no stack in a plugin");
    *ret_base = base_of(*(void **)&run);
    return plugin;
}

/* Prints how often the second came to lie where the first one was: then all
 * addresses of the two stacks are the same, since one call serves for both. */
static void swap_plugins(char **paths, int rounds)
{
    void *bases[2] = {NULL};
    int same = 0;

    for (volatile int i = 0; i < 2 * rounds; i++) {
        uint64_t address = 0x10000 + 0x1000 * (uint64_t)i;

        check(!dlclose(use_plugin(paths[i % 2], address, &bases[i % 2])), "dlclose");
        same += i % 2 && bases[0] == bases[1];
    }
    printf("%d\n", same);
    fflush(stdout);
}

static int fork_and_ask(char **paths)
{
    void *base;
    void *plugin;
    int status;
    pid_t pid;

    swap_plugins(paths, 1);
    outer_function(0x1000);
    plugin = use_plugin(paths[1], 0x20000, &base);
    pid = fork();
    if (!pid) {
        outer_function(0x2000);
        dlclose(plugin);
        use_plugin(paths[0], 0x30000, &base);
        _exit(0);
    }
    check(waitpid(pid, &status, 0) == pid && !status, "the child failed");
    return 0;
}

static _Noreturn void ask_and_wait(void)
{
    outer_function(0x1000);
    puts("asked");
    fflush(stdout);
    for (;;)
        pause();
}

static void *ask_often(void *arg)
{
    uint64_t base = (uint64_t)(uintptr_t)arg << 32;

    for (uint64_t i = 1; i <= 2000; i++)
        check(i % 2 ? outer_function(base + i * 4096) : inner_function(base + i * 4096),
              "no stack in a thread");
    return NULL;
}

/* A child that hangs is a lock which it found taken. */
static void fork_often(void)
{
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t pid = fork();

        if (!pid) {
            check(outer_function(0x1000), "no stack in a child");
            check(dlopen("libm.so.6", RTLD_NOW) != NULL, "no library in a child");
            _exit(0);
        }
        check(waitpid(pid, &status, 0) == pid && !status, "a child failed");
    }
}

static int threads(void)
{
    pthread_t thread[4];

    for (size_t i = 0; i < 4; i++)
        check(!pthread_create(&thread[i], NULL, ask_often, (void *)(i + 1)), "no thread");
    fork_often();
    for (size_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "calls"))
        return calls();
    if (!strcmp(what, "plugins") && argc == 5)
        return swap_plugins(argv + 2, atoi(argv[4])), 0;
    if (!strcmp(what, "fork") && argc == 4)
        return fork_and_ask(argv + 2);
    if (!strcmp(what, "wait"))
        ask_and_wait();
    if (!strcmp(what, "threads"))
        return threads();
    return 2;
}
