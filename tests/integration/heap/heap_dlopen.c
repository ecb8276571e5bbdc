/* heap_dlopen.c: opens and closes the library named on the command line a
 * hundred times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>

#include "heap_expect.h"

#define TIMES 100

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK(!dlerror()); /* nothing of the recorder's is left there */
    for (int i = 0; i < TIMES; i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        CHECK(library);
        CHECK(!dlclose(library));
    }
    expect(74001, TIMES, TIMES);
    expect(74002, TIMES, 0);
    expect(74003, TIMES, TIMES);
    return 0;
}
