/* stack_callers.cc: allocations whose callers are known, in the ways that programs allocate.
 *
 *     stack_callers CASE [ARGUMENT]...
 *
 * Each allocation that a test looks for has a size of its own. The functions that a test names are
 * visible, and no call is the last thing that they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOT_LAST __asm__ volatile("" ::: "memory")

extern "C" {

void *kept[4096];
unsigned kept_count;

__attribute__((noinline)) void keep(void *p)
{
    kept[kept_count++ % 4096] = p;
}

/* ---- Each function of the family ------------------------------------------------- */

__attribute__((noinline)) void calls_the_family(void)
{
    void *p = malloc(10001);
    keep(p);
    keep(calloc(1, 10002));
    keep(realloc(nullptr, 10003));
    keep(realloc(p, 10004));
    keep(aligned_alloc(64, 10048));
    keep(operator new(10006));
    keep(new char[10007]);
    keep(strdup("12345678"));
    keep(mmap(nullptr, 40960, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    NOT_LAST;
}

/* ---- Stacks that begin alike ------------------------------------------------------- */

__attribute__((noinline)) void innermost(size_t bytes)
{
    keep(malloc(bytes));
    NOT_LAST;
}

__attribute__((noinline)) void left(int depth, size_t bytes);

__attribute__((noinline)) void right(int depth, size_t bytes)
{
    if (depth)
        left(depth - 1, bytes);
    else
        innermost(bytes);
    NOT_LAST;
}

__attribute__((noinline)) void left(int depth, size_t bytes)
{
    if (depth)
        right(depth - 1, bytes);
    else
        innermost(bytes);
    NOT_LAST;
}

/* The frame of innermost is in the same place each time, with the same return address, but has
 * another caller further out. */
__attribute__((noinline)) void changes_callers(void)
{
    for (int i = 0; i < 4; i++) {
        left(4, 20000 + (size_t)i);
        right(4, 21000 + (size_t)i);
        left(3, 22000 + (size_t)i);
    }
    NOT_LAST;
}

__attribute__((noinline)) void goes_deep(void)
{
    left(200, 23000);
    right(201, 23001);
    left(2, 23002);
    NOT_LAST;
}

/* ---- Signals ------------------------------------------------------------------------- */

__attribute__((noinline)) void handler(int)
{
    innermost(30001);
    NOT_LAST;
}

static sigjmp_buf elsewhere;

__attribute__((noinline)) void leaving_handler(int)
{
    innermost(30002);
    siglongjmp(elsewhere, 1);
}

__attribute__((noinline)) void interrupted(void)
{
    raise(SIGUSR1);
    NOT_LAST;
    if (!sigsetjmp(elsewhere, 1))
        raise(SIGUSR2);
    innermost(30003);
    NOT_LAST;
}

/* ---- Other stacks ---------------------------------------------------------------------- */

__attribute__((noinline)) void *thread_function(void *)
{
    left(2, 40001);
    NOT_LAST;
    return nullptr;
}

static ucontext_t back, coroutine;

__attribute__((noinline)) void coroutine_function(void)
{
    right(2, 40002);
    swapcontext(&coroutine, &back);
}

__attribute__((noinline)) void switches_stacks(void)
{
    static char memory[1 << 16];
    pthread_t thread;

    pthread_create(&thread, nullptr, thread_function, nullptr);
    pthread_join(thread, nullptr);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = memory;
    coroutine.uc_stack.ss_size = sizeof(memory);
    makecontext(&coroutine, coroutine_function, 0);
    swapcontext(&back, &coroutine);
    innermost(40003);
    NOT_LAST;
}

/* ---- Generated code ---------------------------------------------------------------------- */

__attribute__((noinline)) void called_by_generated(void)
{
    innermost(50001);
    NOT_LAST;
}

/* push %rbp; call *%rdi; pop %rbp; ret */
__attribute__((noinline)) void generates_code(void)
{
    static const unsigned char code[] = {0x55, 0xff, 0xd7, 0x5d, 0xc3};
    void *at =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(at, code, sizeof(code));
    reinterpret_cast<void (*)(void (*)(void))>(at)(called_by_generated);
    NOT_LAST;
}

/* ---- Libraries and children ---------------------------------------------------------------- */

__attribute__((noinline)) void loads_plugins(char **plugins, int times)
{
    for (int i = 0; i < times; i++) {
        void *library = dlopen(plugins[i % 2], RTLD_NOW);
        void (*allocate)(size_t);

        *reinterpret_cast<void **>(&allocate) = dlsym(library, "plugin_allocates");
        allocate(60000 + (size_t)i);
        dlclose(library);
    }
    NOT_LAST;
}

__attribute__((noinline)) void forks(void)
{
    innermost(70001);
    if (!fork()) {
        innermost(70002);
        left(2, 70003);
        _exit(0);
    }
    wait(nullptr);
    if (!vfork())
        _exit(0);
    wait(nullptr);
    innermost(70004);
    NOT_LAST;
}

} // extern "C"

static void throws(int depth)
{
    if (depth)
        throws(depth - 1);
    else
        throw depth;
    NOT_LAST;
}

extern "C" __attribute__((noinline)) void catches(void)
{
    try {
        throws(5);
    } catch (int) {
        innermost(80001);
    }
    NOT_LAST;
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, handler);
    signal(SIGUSR2, leaving_handler);
    if (argc > 3)
        loads_plugins(argv + 1, atoi(argv[3]));
    calls_the_family();
    changes_callers();
    goes_deep();
    interrupted();
    switches_stacks();
    generates_code();
    forks();
    catches();
    puts("done");
    return 0;
}
