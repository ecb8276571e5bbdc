/* needed_glibc.c: see needed_glibc.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "needed_glibc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regular_file.h"

#define VERSION "GLIBC_2."

/* The number behind the last point of the newest version that the file names; 0: none. */
static unsigned newest_in(const char *bytes, size_t size)
{
    const char *end = bytes + size, *at = bytes;
    unsigned newest = 0;

    while ((at = memmem(at, (size_t)(end - at), VERSION, strlen(VERSION)))) {
        unsigned number = 0;

        for (at += strlen(VERSION); at < end && *at >= '0' && *at <= '9' && number < 1000; at++)
            number = 10 * number + (unsigned)(*at - '0');
        if (number > newest)
            newest = number;
    }
    return newest;
}

static unsigned newest_of(const char *library)
{
    int fd = ml_regular_file_open(open(library, O_PATH | O_CLOEXEC), O_RDONLY);
    char *bytes = MAP_FAILED;
    unsigned newest = 0;
    struct stat st;

    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        newest = newest_in(bytes, (size_t)st.st_size);
        munmap(bytes, (size_t)st.st_size);
    }
    if (fd >= 0)
        close(fd);
    return newest;
}

void ml_explain_glibc(pid_t pid, const char *library, struct ml_error *err)
{
    unsigned newest = strstr(err->text, "version `GLIBC_") ? newest_of(library) : 0;

    if (newest)
        ml_error_set(
            err, err->code,
            "process %d has an older glibc than 2.%u, which this build of memledger needs; "
            "attach with the memledger of the release tarball, which needs 2.28",
            (int)pid, newest);
}
