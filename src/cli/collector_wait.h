/* collector_wait.h: the end of a run: the program is over, the collector still writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_WAIT_H
#define ML_COLLECTOR_WAIT_H

#include "launch.h"
#include "ring.h"

/* Waits for the collector, which has been told to finish. When that takes seconds, says
 * on stderr what is waited for. A signal that asks us to end gives the collector one
 * second more, a second signal none. One that shows no sign of life, as when its disk hangs, is
 * waited for half a minute.
 * @ret_status  as waitpid() gave it
 * @return whether it has ended; if not, it goes on without us */
bool ml_collector_wait(struct ml_launch *l, pid_t collector, const char *trace,
                       const struct ml_session *page, int *ret_status);

#endif
