/* cuda_callers.c: allocates from many places of a program.
 *
 *     cuda_callers recursion DEPTH
 *         a block in each leaf of a binary recursion
 *     cuda_callers plugins ROOM_KIB PLUGIN...
 *         a block in each of the last ten plugins, after which one of the others is closed; before
 *         its first CUDA call the program limits its address space to that much more
 *
 * Prints the sum of the driver's results and the number of blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "cuda_work.h"

#define BLOCK_BYTES 4096
#define CALLED 10 /* plugins */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static struct driver d;
static int results;
static unsigned blocks;

static void allocate(void)
{
    uint64_t at;

    results += d.alloc(&at, BLOCK_BYTES);
    blocks++;
}

static __attribute__((noinline)) void divide(unsigned depth)
{
    if (!depth) {
        allocate();
        return;
    }
    divide(depth - 1);
    NO_TAIL_CALL();
    divide(depth - 1);
    NO_TAIL_CALL();
}

/* The mapped address space, in pages, is the first number in the file. */
static void leave_room(size_t bytes)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;
    struct rlimit limit;

    if (!file || fscanf(file, "%zu", &pages) != 1)
        exit(3);
    fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * 4096 + bytes;
    results += setrlimit(RLIMIT_AS, &limit);
}

typedef void plugin_function(void (*)(void));

/* @return their functions, to be freed */
static plugin_function **open_plugins(char **names, int count)
{
    plugin_function **ret = calloc((size_t)count, sizeof(*ret));

    if (!ret)
        exit(3);
    for (int i = 0; i < count; i++) {
        void *plugin = dlopen(names[i], RTLD_NOW);
        *(void **)&ret[i] = plugin ? dlsym(plugin, "run_plugin") : NULL;
        if (!ret[i])
            exit(4);
    }
    return ret;
}

/* Once for this look-up, once for open_plugins. */
static void close_plugin(const char *name)
{
    void *plugin = dlopen(name, RTLD_NOW);

    results += dlclose(plugin) + dlclose(plugin);
}

static void start_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;

    if (!driver)
        exit(2);
    for (unsigned i = 0; i < sizeof(d) / sizeof(void *); i++)
        ((void **)&d)[i] = dlsym(driver, driver_symbols[i]);
    results += d.init(0) + d.retain(&context, 0) + d.set_current(context);
}

static void run_plugins(size_t room_bytes, char **names, int count)
{
    plugin_function **functions = open_plugins(names, count);

    leave_room(room_bytes);
    start_driver();
    for (int i = count - CALLED; i < count; i++) {
        functions[i](allocate);
        close_plugin(names[i - CALLED]);
    }
    free(functions);
}

static void recurse(unsigned depth)
{
    start_driver();
    divide(depth);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (!strcmp(argv[1], "plugins") && argc >= 3 + 2 * CALLED)
        run_plugins(strtoul(argv[2], NULL, 10) << 10, argv + 3, argc - 3);
    else
        recurse((unsigned)atoi(argv[2]));
    printf("results %d, %u blocks\n", results, blocks);
    return 0;
}
