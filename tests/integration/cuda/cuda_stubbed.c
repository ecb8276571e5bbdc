/* cuda_stubbed.c: opens a library whose functions have the driver's names.
 *
 * usage: cuda_stubbed LIBRARY local|global
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *library;
    void (*work)(void) = NULL;

    if (argc != 3)
        return 2;
    library = dlopen(argv[1], RTLD_NOW | (strcmp(argv[2], "local") ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library)
        *(void **)&work = dlsym(library, "work_of_stubs");
    if (!work)
        return 2;
    work();
    return 0;
}
