/* hanging_disk.c: a test double of a file system that hangs: preloaded into memledger, it never
 * returns from opening "hanging.mled", is slow to create "slow.mled", and opens "waiting.mled" once
 * there is a file "go". It creates the file "opening" when it gets there. It never returns from
 * writing the last bytes of "endless.mled", before which it creates the file "ending".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SLOW_US 300000
#define LOOK_US 1000
#define END_MAGIC "mledend\n" /* a trace ends with it */

typedef int open_function(const char *path, int flags, ...);
typedef ssize_t write_function(int fd, const void *bytes, size_t len);

static void report(const char *path)
{
    open_function *real = (open_function *)dlsym(RTLD_NEXT, "open64");

    close(real(path, O_WRONLY | O_CREAT, 0600));
}

static bool is_open_as(int fd, const char *name)
{
    char link[64], path[4096];
    const char *last;
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    last = strrchr(path, '/');
    return last && strcmp(last + 1, name) == 0;
}

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
        report("opening");
        for (;;)
            pause();
    }
    if (strcmp(path, "waiting.mled") == 0) {
        report("opening");
        while (access("go", F_OK))
            usleep(LOOK_US);
    }
    if (strcmp(path, "slow.mled") == 0) {
        int fd = real(path, flags, mode);
        report("opening");
        usleep(SLOW_US);
        return fd;
    }
    return real(path, flags, mode);
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t len)
{
    write_function *real = (write_function *)dlsym(RTLD_NEXT, "write");
    size_t magic = strlen(END_MAGIC);

    if (len >= magic && !memcmp((const char *)bytes + len - magic, END_MAGIC, magic) &&
        is_open_as(fd, "endless.mled")) {
        report("ending");
        for (;;)
            pause();
    }
    return real(fd, bytes, len);
}
