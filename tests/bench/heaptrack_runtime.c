/* heaptrack_runtime.c: the libraries that heaptrack loads into a process besides itself.
 *
 * heaptrack is C++: it loads libstdc++, which allocates a pool for exceptions
 * before main, and at the end it gives that pool back with __freeres. Both are
 * in its books. Preloaded together with libstdc++.so.6 this library does the
 * same, so that memledger watches the same process and the figures can be
 * compared as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

/* __gnu_cxx::__freeres(); weak, as heaptrack has it. */
extern void cxx_freeres(void) __asm__("_ZN9__gnu_cxx9__freeresEv") __attribute__((weak));

static void at_exit(void)
{
    if (cxx_freeres)
        cxx_freeres();
}

/* Early, so that it runs after what the program registers. */
__attribute__((constructor)) static void start(void)
{
    atexit(at_exit);
}
