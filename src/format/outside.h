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

/* That name there, which is shorter than sun_path; returns the address's length. The socket
 * for messages has the session's folder as its name. */
static inline socklen_t ml_abstract_address(struct sockaddr_un *ret, const char *name)
{
    size_t len = strlen(name);

    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->sun_path + 1, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

#endif
