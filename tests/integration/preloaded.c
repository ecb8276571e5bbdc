/* preloaded.c: a library for LD_PRELOAD that reports that it is loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <unistd.h>

__attribute__((constructor)) static void hello(void)
{
    if (write(STDOUT_FILENO, "preloaded\n", 10) < 0)
        _exit(9);
}
