/* session.h: finds the run's session and talks to its collector. System calls
 * only: usable in a signal handler and in a forked child.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_H
#define ML_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ring.h"
#include "set_shape.h"

/* Maps the session page named by the environment. NULL if there is none or it belongs to another
 * build; the latter is reported on stderr. */
struct ml_session *ml_session_open(uint32_t *ret_ring_bytes, uint32_t *ret_ring_count);

/* The same for the session in that directory, without a report.
 * @return 0; -EPROTO: it belongs to another build; -EIO: it cannot be opened */
int ml_session_join(const char *dir, uint32_t *ret_ring_bytes, uint32_t *ret_ring_count,
                    struct ml_session **ret);

/* Whether the session page's file is long enough to be mapped. */
bool ml_session_is_whole(int fd);

/* Creates a ring set of that shape and passes it to the collector; NULL when either fails.
 * @ret_unreached  errno if the session's folder can no longer be reached, as after
 *                 a change of user or root; 0: there was another reason */
struct ml_ringset *ml_session_new_set(uint32_t how, uint32_t set, const struct ml_set_shape *shape,
                                      int *ret_unreached);

/* The path of a file in the session's directory. False if there is no session. */
bool ml_session_path(char *out, size_t room, const char *file);

/* The same for a given directory. False if the path is too long or `dir` is empty. */
bool ml_session_path_in(const char *dir, char *out, size_t room, const char *file);

/* The user who created the session, read when it was opened. */
uid_t ml_session_user(void);

/* Sends bytes and a descriptor. Waits for a place in the collector's queue as long as the collector
 * makes progress. `to` may be NULL if the socket is connected. */
bool ml_session_send(int socket, struct sockaddr_un *to, const void *body, size_t bytes, int fd);

#endif
