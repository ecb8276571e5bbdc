/* outside.h: how a process that has the recorder, but cannot reach the session's folder,
 * says so: it runs as another user, or in a sandbox. The socket's name is in the kernel's
 * own name space, which has no folders and no permissions. Anybody can send there, so
 * what comes makes a closing note and nothing more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OUTSIDE_H
#define ML_OUTSIDE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

struct ml_unreached {
    uint32_t magic; /* ML_SHARED_MAGIC */
    uint32_t error; /* errno of opening the page */
};

/* The socket of the session in `dir`, which is shorter than sun_path; returns the
 * address's length. */
static inline socklen_t ml_session_outside(struct sockaddr_un *ret, const char *dir)
{
    size_t len = strlen(dir);

    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->sun_path + 1, dir, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

#endif
