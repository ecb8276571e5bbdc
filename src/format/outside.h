/* outside.h: lets a process with the recorder report that it cannot reach the session's folder,
 * because it runs as another user or in a sandbox. The socket is in the abstract namespace,
 * which has no folders and no permissions. Any process can send to it, so a message only adds a
 * closing note.
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

/* Makes the abstract address with this name, which is shorter than sun_path, and returns its
 * length. The socket for messages is named after the session's folder. */
static inline socklen_t ml_abstract_address(struct sockaddr_un *ret, const char *name)
{
    size_t len = strlen(name);

    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->sun_path + 1, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

#endif
