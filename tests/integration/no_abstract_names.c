/* no_abstract_names.c: a test double of a security policy: preloaded into memledger, it lets no
 * socket have a name in the abstract namespace. With NO_SOCKET_NAMES in the environment no socket
 * can have a name at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef int bind_function(int fd, const struct sockaddr *at, socklen_t bytes);

__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr *at, socklen_t bytes)
{
    const struct sockaddr_un *name = (const struct sockaddr_un *)(const void *)at;

    if (at->sa_family == AF_UNIX && (!name->sun_path[0] || getenv("NO_SOCKET_NAMES"))) {
        errno = EACCES;
        return -1;
    }
    return ((bind_function *)dlsym(RTLD_NEXT, "bind"))(fd, at, bytes);
}
