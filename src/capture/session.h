/* session.h: finds the run's session and talks to its collector. System calls
 * only: usable in a signal handler and in a forked child.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_H
#define ML_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "seccomp_state.h"

/* Maps the session page named by the environment. NULL where there is none or
 * where it belongs to another build; the latter is said on stderr. */
struct ml_session *ml_session_open(uint32_t *ret_ring_bytes, uint32_t *ret_ring_count);

/* The same for the session in that directory. */
struct ml_session *ml_session_join(const char *dir, uint32_t *ret_ring_bytes,
                                   uint32_t *ret_ring_count);

/* How far `memledger run` itself was restricted, whose session is in that directory; not at
 * all where the page cannot be read. Makes only calls that the dynamic loader makes too.
 * @return whether that is known */
bool ml_session_seccomp(const char *dir, struct ml_seccomp_state *ret);

/* Counts this process among those that began in a sandbox, in the session of the
 * environment. With the loader's calls alone; for a process in which the recorder did not
 * start. */
void ml_session_count_sandboxed(void);

/* Makes a ring set and hands it to the collector; NULL when either fails. */
struct ml_ringset *ml_session_new_set(uint32_t how, uint32_t set);

#endif
