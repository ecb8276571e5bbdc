/* cuda_absent.c: looks for a driver where there is none, for PyTorch where there is none, and
 * for other things. Its output must be the same with and without the recorder.
 *
 * usage: cuda_absent PLUGIN
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int cuda_of_the_program(void);

/* Begins like the driver's names and is the program's own. */
__attribute__((visibility("default"))) int cuda_of_the_program(void)
{
    return 1;
}

/* Without the library that the search began in. */
static const char *words(const char *error)
{
    const char *colon = strstr(error, ": undefined");

    return colon ? colon + 2 : error;
}

static void look(const char *where, void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    const char *error = dlerror();
    Dl_info info;

    printf("%s %s: ", where, name);
    if (found && dladdr(found, &info))
        printf("%s\n",
               strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname);
    else
        printf("%s\n", error ? words(error) : "nothing");
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"cuInit",
                                        "cuMemAlloc_v2",
                                        "cuGetProcAddress_v2",
                                        "cuNope",
                                        "cu",
                                        "c",
                                        "",
                                        "strlen",
                                        "cuda_of_the_program",
                                        "nowhere",
                                        "dlclose",
                                        "_ZN3c109alloc_cpuEm",
                                        "_ZN3c1022memoryProfilingEnabledEv",
                                        "_Znope",
                                        "_"};
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*look_from_plugin)(const char *);

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        look("default", RTLD_DEFAULT, names[i]);
        look("next", RTLD_NEXT, names[i]);
        look("program", dlopen(NULL, RTLD_NOW), names[i]);
        if (plugin)
            look("plugin", plugin, names[i]);
    }
    if (!plugin)
        return 2;
    *(void **)&look_from_plugin = dlsym(plugin, "look_from_plugin");
    look_from_plugin("malloc");
    look_from_plugin("strlen");
    look_from_plugin("cuInit");
    look_from_plugin("cuda_of_the_program");
    look_from_plugin("_ZN3c109alloc_cpuEm");
    return 0;
}
