/* hanging_disk.c: a test double of a file system that hangs: preloaded into memledger, it never
 * returns from opening "hanging.mled", and is slow to create "slow.mled". It creates the file
 * "opening" when it gets there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define SLOW_US 300000

typedef int open_function(const char *path, int flags, ...);

/* With files of any size, as everything here is built, this is open64. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    open_function *real = (open_function *)dlsym(RTLD_NEXT, "open64");
    va_list rest;
    int mode;

    va_start(rest, flags);
    mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    if (strcmp(path, "hanging.mled") == 0) {
        close(real("opening", O_WRONLY | O_CREAT, 0600));
        for (;;)
            pause();
    }
    if (strcmp(path, "slow.mled") == 0) {
        int fd = real(path, flags, mode);
        close(real("opening", O_WRONLY | O_CREAT, 0600));
        usleep(SLOW_US);
        return fd;
    }
    return real(path, flags, mode);
}
