/* heap_refused.c: calls of the malloc family that find no memory, and some that fail otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define HUGE ((size_t)1 << 46) /* more than a process can address */

static volatile size_t huge = HUGE; /* or the compiler knows better */

static void say(const char *what, const void *p)
{
    printf("%s: %s, errno %d\n", what, p ? "memory" : "none", p ? 0 : errno);
    errno = 0;
}

int main(void)
{
    void *block = malloc(100), *aligned = NULL, *more;
    int error;

    say("malloc", malloc(huge));
    say("calloc", calloc(huge, 2));
    say("calloc that overflows", calloc(huge, huge));
    say("realloc", more = realloc(block, huge + 1));
    say("aligned_alloc", aligned_alloc(64, huge + 64));
    error = posix_memalign(&aligned, 64, huge + 128);
    printf("posix_memalign: %d\n", error);
    error = posix_memalign(&aligned, 3, 64); /* no such alignment: nothing was refused */
    printf("posix_memalign: %d\n", error);
    free(more ? more : block);
    return 0;
}
