/* many_stacks.c: programs that would fill a recorder's tables.
 *
 *   many_stacks N ROUNDS      N different stacks, each in every round: the bits of a number say
 *                             which functions a path of calls goes through
 *   many_stacks N LIB LIB     loads and unloads two plugins in turn, N times
 *
 * With OLD_KERNEL it runs as on a kernel without MADV_WIPEONFORK, and forks a child that allocates.
 *
 * At the end it prints, as JSON, the resident memory that it had before and after.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEVELS 20

static void *volatile kept;

static void descend(unsigned path, unsigned level, size_t bytes);

#define NOINLINE __attribute__((noinline, noipa))

static NOINLINE void allocates(size_t bytes)
{
    kept = malloc(bytes);
    free(kept);
}

static NOINLINE void left(unsigned path, unsigned level, size_t bytes)
{
    descend(path, level, bytes);
    __asm__ volatile(""); /* no tail call */
}

static NOINLINE void right(unsigned path, unsigned level, size_t bytes)
{
    descend(path, level, bytes);
    __asm__ volatile("");
}

static NOINLINE void descend(unsigned path, unsigned level, size_t bytes)
{
    if (!level)
        allocates(bytes);
    else if (path >> (level - 1) & 1)
        left(path, level - 1, bytes);
    else
        right(path, level - 1, bytes);
    __asm__ volatile("");
}

static long resident_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f)) {
        if (!strncmp(line, "VmRSS:", 6))
            kib = strtol(line + 6, NULL, 10);
    }
    if (f)
        fclose(f);
    return kib;
}

static void run_paths(unsigned long stacks, unsigned long rounds)
{
    for (unsigned long round = 0; round < rounds; round++) {
        for (unsigned long i = 0; i < stacks; i++)
            descend((unsigned)i, LEVELS, 1000 + i % 100);
    }
}

/* For the plugins, which find it in the program. */
__attribute__((visibility("default"))) void keep(void *p);

void keep(void *p)
{
    kept = p;
    free(kept);
}

static int load_plugins(unsigned long times, char **plugins)
{
    for (unsigned long i = 0; i < times; i++) {
        void *library = dlopen(plugins[i % 2], RTLD_NOW);
        void (*allocate)(size_t) = NULL;

        if (library)
            *(void **)(void *)&allocate = dlsym(library, "plugin_allocates");
        if (!allocate)
            return 1;
        allocate(1000 + i % 100);
        dlclose(library);
    }
    return 0;
}

#ifdef OLD_KERNEL
/* The recorder finds this one instead of libc's. */
__attribute__((visibility("default"))) int madvise(void *at, size_t bytes, int advice)
{
    if (advice != MADV_WIPEONFORK)
        return (int)syscall(SYS_madvise, at, bytes, advice);
    errno = EINVAL;
    return -1;
}

static int fork_child(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        run_paths(100, 1);
        _exit(0);
    }
    return waitpid(child, &status, 0) != child || status;
}
#else
static int fork_child(void)
{
    return 0;
}
#endif

int main(int argc, char **argv)
{
    unsigned long count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    long before = resident_kib();
    int failed = 0;

    if (argc > 3)
        failed = load_plugins(count, argv + 2);
    else if (argc > 2)
        run_paths(count, strtoul(argv[2], NULL, 10));
    failed |= fork_child();
    printf("{\"before_kib\": %ld, \"after_kib\": %ld}\n", before, resident_kib());
    return failed;
}
