/* passed_descriptor.h: a descriptor that another process sent over a socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PASSED_DESCRIPTOR_H
#define ML_PASSED_DESCRIPTOR_H

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Puts the descriptor of a control message into *fd, which is -1 or an earlier one. Keeps
 * the last: there should be one, and the others would stay open. Ignores other messages. */
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

/* Both came with Linux 6.5: each message carries a pidfd of the sender, from Linux 6.16 on also
 * of a sender that has died and been waited for. */
#define ML_SO_PASSPIDFD 76
#define ML_SCM_PIDFD 4

/* The same for the sender's pidfd. Without one the kernel may send an error code instead. */
static inline void ml_passed_pidfd(struct cmsghdr *c, int *pidfd)
{
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != ML_SCM_PIDFD)
        return;
    memcpy(pidfd, CMSG_DATA(c), sizeof(int));
    if (*pidfd < 0)
        *pidfd = -1;
}

#endif
