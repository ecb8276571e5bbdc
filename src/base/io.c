/* io.c: see io.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#define COPY_BYTES 16384 /* on the stack */

int ml_write_all(int fd, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;

    while (len > 0) {
        ssize_t n = write(fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -EIO; /* no progress, no reason: do not spin */
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int ml_pread_all(int fd, void *ret_bytes, size_t len, uint64_t offset)
{
    uint8_t *at = ret_bytes;

    if (offset > INT64_MAX || len > INT64_MAX - offset)
        return -EOVERFLOW;
    while (len > 0) {
        ssize_t n = pread(fd, at, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -ENODATA;
        at += n;
        len -= (size_t)n;
        offset += (size_t)n;
    }
    return 0;
}

int ml_copy_all(int from, int to)
{
    char bytes[COPY_BYTES];
    ssize_t n;
    int r = 0;

    while (!r && (n = read(from, bytes, sizeof(bytes))) != 0) {
        if (n > 0)
            r = ml_write_all(to, bytes, (size_t)n);
        else if (errno != EINTR)
            r = -errno;
    }
    return r;
}
