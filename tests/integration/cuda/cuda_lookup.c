/* cuda_lookup.c: a program that looks the driver's functions up.
 *
 * usage: cuda_lookup HOW
 *   dlsym        in the driver
 *   default      in everything loaded, which has the driver
 *   program      the same, by the program's own handle
 *   proc         by cuGetProcAddress_v2, which is looked up in the driver
 *   proc_v1      by its first version
 *   proc_self    by the cuGetProcAddress that cuGetProcAddress_v2 gives
 *   static       by dlsym into static data, before cuInit is called
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "cuda_work.h"

#define DRIVER "libcuda.so.1"
#define VERSION 13000

typedef int lookup_v1(const char *, void **, int, uint64_t);
typedef int lookup_v2(const char *, void **, int, uint64_t, int *);

static struct driver found;

/* "cuMemAlloc_v2" is looked up by the name "cuMemAlloc". */
static const char *plain_name(const char *symbol)
{
    static char name[64];

    snprintf(name, sizeof(name), "%s", symbol);
    if (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, "_v2"))
        name[strlen(name) - 3] = '\0';
    return name;
}

static void *ask(const char *how, void *handle, const char *symbol)
{
    void *result = NULL;
    int status = -1;

    if (!strcmp(how, "proc_v1")) {
        lookup_v1 *look_up = (lookup_v1 *)dlsym(handle, "cuGetProcAddress");
        printf("%s %d\n", symbol, look_up(plain_name(symbol), &result, VERSION, 0));
    } else if (!strncmp(how, "proc", 4)) {
        lookup_v2 *look_up = (lookup_v2 *)dlsym(handle, "cuGetProcAddress_v2");
        if (!strcmp(how, "proc_self"))
            look_up("cuGetProcAddress", (void **)&look_up, VERSION, 0, NULL);
        printf("%s %d", symbol, look_up(plain_name(symbol), &result, VERSION, 0, &status));
        printf(" %d\n", status);
    } else {
        result = dlsym(handle, symbol);
    }
    return result;
}

static void ask_wrongly(void *handle)
{
    lookup_v2 *look_up = (lookup_v2 *)dlsym(handle, "cuGetProcAddress_v2");
    void *result = &result;
    int status = -1;

    printf("unknown %d", look_up("cuNoSuchThing", &result, VERSION, 0, &status));
    printf(" %p %d\n", result, status);
    printf("too old %d", look_up("cuMemAlloc", &result, 1, 0, &status));
    printf(" %p %d\n", result, status);
    printf("no place %d\n", look_up("cuMemAlloc", NULL, VERSION, 0, &status));
    printf("no such symbol %p\n", dlsym(handle, "cuNoSuchThing"));
    printf("error %d\n", dlerror() != NULL);
    printf("a symbol %d\n", dlsym(handle, "cuInit") != NULL);
    printf("error %d\n", dlerror() != NULL);
}

/* One name, several functions: by version and by the meaning of the default
 * stream. A hook has its function's symbol. */
static void ask_for_variants(void *handle)
{
    static const struct {
        const char *name;
        int version;
        uint64_t flags; /* 1: one default stream, 2: one for each thread */
    } wanted[] = {
        {"cuMemAllocAsync", VERSION, 0},  {"cuMemAllocAsync", VERSION, 1},
        {"cuMemAllocAsync", VERSION, 2},  {"cuLaunchKernel", VERSION, 2},
        {"cuGetProcAddress", 11030, 0},   {"cuGetProcAddress", VERSION, 0},
        {"cuCtxCreate", 3020, 0},         {"cuCtxCreate", VERSION, 0},
        {"cuStreamSynchronize", 7000, 2}, {"cuMemcpyHtoD", VERSION, 2},
    };
    lookup_v2 *look_up = (lookup_v2 *)dlsym(handle, "cuGetProcAddress_v2");

    for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        Dl_info info = {0};
        void *result = NULL;
        int error = look_up(wanted[i].name, &result, wanted[i].version, wanted[i].flags, NULL);
        dladdr(result, &info);
        printf("%s %d: %d %s\n", wanted[i].name, wanted[i].version, error, info.dli_sname);
        fprintf(stderr, "variant %s\n", owner(result));
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "dlsym";
    int visible = !strcmp(how, "default") || !strcmp(how, "program");
    void *driver = dlopen(DRIVER, RTLD_NOW | (visible ? RTLD_GLOBAL : RTLD_LOCAL));
    void *handle = driver;

    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    if (!strcmp(how, "default"))
        handle = RTLD_DEFAULT;
    if (!strcmp(how, "program"))
        handle = dlopen(NULL, RTLD_NOW);
    for (unsigned i = 0; i < sizeof(found) / sizeof(void *); i++)
        ((void **)&found)[i] = ask(how, handle, driver_symbols[i]);
    tell_owners("before", &found);
    printf("init %d\n", found.init(0));
    tell_owners("after", &found);
    work(&found);
    ask_for_variants(driver);
    ask_wrongly(driver);
    return 0;
}
