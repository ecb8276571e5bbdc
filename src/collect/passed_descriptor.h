/* passed_descriptor.h: a descriptor that another process sent over a socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PASSED_DESCRIPTOR_H
#define ML_PASSED_DESCRIPTOR_H

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Puts the descriptor of a control message into *fd, which is -1 or one that came before. Keeps
 * the last: there should be one, and the others would stay open. Passes over other messages. */
static inline void ml_passed_descriptor(struct cmsghdr *c, int *fd)
{
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return;
    for (size_t i = 0; i < count; i++) {
        if (*fd >= 0)
            close(*fd);
        memcpy(fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
}

#endif
