/* opens_plugin.c: opens, uses and closes a library again and again.
 *
 *     opens_plugin LIBRARY TIMES
 *
 * The program itself does not use memledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[2]) : 0;
    int active = 0;

    for (int i = 0; i < times; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*record)(int) = library ? (int (*)(int))dlsym(library, "plugin_record") : NULL;
        if (!record) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        active += record(i);
        dlclose(library);
    }
    printf("%d\n", active);
    return 0;
}
