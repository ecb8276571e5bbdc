/* session_peek.h: what a process must know of the session before the recorder may start in it:
 * whether it was started in a sandbox. Makes only calls that the dynamic loader makes too, so
 * that a program that could be started survives them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SESSION_PEEK_H
#define ML_SESSION_PEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "seccomp_state.h"

/* The filters that do not matter: those that `memledger run` itself runs under, and those
 * that this process or its ancestors added and that leave the recorder alone, which are also
 * counted in *ret_spared. None where the page cannot be read.
 * @return whether that is known */
bool ml_session_harmless_filters(const char *dir, struct ml_seccomp_state *ret,
                                 uint32_t *ret_spared);

/* Counts this process among those that began in a sandbox. */
void ml_session_count_sandboxed(const char *dir);

/* Leaves word, for the program that this process may become, of how many filters were
 * added that leave the recorder alone. */
void ml_session_tell_spared(uint32_t filters);

#endif
