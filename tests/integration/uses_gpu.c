/* uses_gpu.c: allocates memory of the first GPU through the CUDA driver, reports the block, and
 * frees it. After each step it prints where it is, and waits for a line.
 *
 *     uses_gpu MIB
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <memledger/memledger.h>
#include <stdio.h>
#include <stdlib.h>

static void *cuda;

/* Calls by name: there is no CUDA to link with. */
#define CALL(name, types, ...)                                                                     \
    do {                                                                                           \
        int(*call) types = (int(*) types)dlsym(cuda, name);                                        \
        int result = call ? call(__VA_ARGS__) : -1;                                                \
        if (result) {                                                                              \
            fprintf(stderr, "%s: %d\n", name, result);                                             \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static void wait_at(const char *where)
{
    char line[16];

    puts(where);
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        exit(1);
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t)strtoull(argc > 1 ? argv[1] : "64", NULL, 10) << 20;
    unsigned long long block;
    memledger_space space;
    void *context;

    cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda) {
        fprintf(stderr, "skipped: %s\n", dlerror());
        return 77;
    }
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (void **, int), &context, 0);
    CALL("cuCtxSetCurrent", (void *), context);
    wait_at("begun");
    CALL("cuMemAlloc_v2", (unsigned long long *, size_t), &block, bytes);
    space = memledger_space_open("cuda:0", MEMLEDGER_DRIVER, "test");
    memledger_alloc(space, (void *)block, bytes);
    wait_at("allocated");
    memledger_free(space, (void *)block);
    CALL("cuMemFree_v2", (unsigned long long), block);
    wait_at("freed");
    return 0;
}
