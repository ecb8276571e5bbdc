/* heap_cxx_main.c: a C program that opens a C++ library, with RTLD_LOCAL or (with "global")
 * RTLD_GLOBAL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <string.h>

#include "heap_expect.h"

int main(int argc, char **argv)
{
    int global = argc > 2 && !strcmp(argv[2], "global");
    void *library;
    int (*run)(void);

    CHECK(argc > 1);
    library = dlopen(argv[1], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    CHECK(library);
    run = (int (*)(void))dlsym(library, "heap_new_delete");
    CHECK(run && !run());
    return 0;
}
