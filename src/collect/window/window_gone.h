/* window_gone.h: what a window need not repeat of processes that ended before it.
 *
 * A server that forks for ever must stay within its limit. Definitions cannot be left out, because
 * their numbers rise by one, but those of a process that is gone become blank: they then say as
 * much as an undefined number, and take next to no bytes. A process is gone if it ended before the
 * last window began, so that no event of it can be left; its notes are dropped when it has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_GONE_H
#define ML_WINDOW_GONE_H

#include "window_state.h"

/* Blanks the definitions of processes that are gone, of their threads and spaces, forgets their
 * notes, and all but the highest of their peaks. Call it before the state is written, after
 * ml_window_blocks_tidy. @return 0, -EBADMSG or -ENOMEM */
int ml_window_state_tidy(struct ml_window_state *s);

#endif
