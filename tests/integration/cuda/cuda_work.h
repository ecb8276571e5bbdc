/* cuda_work.h: the work that the programs here do with a driver, whichever way they reached it.
 * Results go to stdout, which must be the same with and without the recorder; whose functions
 * were called goes to stderr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_WORK_H
#define ML_CUDA_WORK_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORK_BYTES 12345678

struct driver {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*release)(int);
    int (*set_current)(void *);
    int (*alloc)(uint64_t *, size_t);
    int (*alloc_pitch)(uint64_t *, size_t *, size_t, size_t, unsigned);
    int (*free)(uint64_t);
};

/* The driver's symbols, in the order of the struct. */
static const char *const driver_symbols[] = {
    "cuInit",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuMemAlloc_v2",
    "cuMemAllocPitch_v2",
    "cuMemFree_v2",
};

static inline const char *owner(const void *function)
{
    Dl_info info;
    const char *slash;

    if (!function || !dladdr(function, &info))
        return "nobody";
    slash = strrchr(info.dli_fname, '/');
    slash = slash ? slash + 1 : info.dli_fname;
    if (!strncmp(slash, "libmemledger", 12))
        return "recorder";
    return strncmp(slash, "libcuda.so", 10) ? slash : "driver";
}

static inline void tell_owners(const char *when, const struct driver *d)
{
    fprintf(stderr, "%s init %s alloc %s free %s\n", when, owner((void *)d->init),
            owner((void *)d->alloc), owner((void *)d->free));
}

/* Right and wrong calls. */
static inline void work(const struct driver *d)
{
    void *context = NULL;
    uint64_t at = 0, pitched = 0;
    size_t pitch = 0;

    printf("retain %d\n", d->retain(&context, 0));
    printf("alloc without a context %d\n", d->alloc(&at, 1));
    printf("set %d\n", d->set_current(context));
    printf("alloc %d\n", d->alloc(&at, WORK_BYTES));
    printf("pitch %d %zu\n", d->alloc_pitch(&pitched, &pitch, 1000, 10, 4), pitch);
    printf("free %d\n", d->free(at));
    printf("free twice %d\n", d->free(at));
    printf("free of nothing %d\n", d->free(0));
    printf("free of rubbish %d\n", d->free(0xdead000));
    printf("too much %d\n", d->alloc(&at, (size_t)1 << 60));
    printf("nothing %d\n", d->alloc(&at, 0));
    printf("no place %d\n", d->alloc(NULL, 1));
    printf("free %d\n", d->free(pitched));
    printf("no such device %d\n", d->retain(&context, 1000));
    printf("release %d\n", d->release(0));
    printf("release twice %d\n", d->release(0));
    fflush(stdout);
}

#endif
