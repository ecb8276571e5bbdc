/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_api.h"

#include <dlfcn.h>
#include <string.h>

struct cuda_api cuda;

#if CUDA_VIA == CUDA_LINKED

/* With one parameter list for the symbol and its variant. */
#define DECLARE(name, symbol, per_thread, version, params) int symbol params;
#define DECLARE_VARIANT(name, symbol, per_thread, version, params) int per_thread params;
CUDA_API(DECLARE)
CUDA_API(DECLARE_VARIANT)

const char *cuda_api_load(bool per_thread_wanted)
{
#define LINK(name, symbol, per_thread, version, params)                                            \
    cuda.name = per_thread_wanted ? per_thread : symbol;
    CUDA_API(LINK)
    return NULL;
}

#else

struct wanted {
    const char *name, *symbol, *per_thread;
    int version;
    void *pointer; /* into `cuda` */
};

#define WANTED(name, symbol, per_thread, version, params)                                          \
    {#name, #symbol, #per_thread, version, &cuda.name},
static const struct wanted table[] = {CUDA_API(WANTED)};

static void *find(void *library, const struct wanted *wanted, bool per_thread)
{
#if CUDA_VIA == CUDA_DLSYM
    return dlsym(library, per_thread ? wanted->per_thread : wanted->symbol);
#else
    int (*get)(const char *, void **, int, uint64_t, int *);
    void *found = NULL;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    if (get)
        get(wanted->name, &found, wanted->version, per_thread ? 2 : 0, NULL);
    return found;
#endif
}

const char *cuda_api_load(bool per_thread)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return "libcuda.so.1";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *found = find(library, &table[i], per_thread);
        if (!found)
            return table[i].name;
        memcpy(table[i].pointer, &found, sizeof found);
    }
    return NULL;
}

#endif
