/* hellos.h: receives the hellos of processes that begin, and of those that need more
 * rings, and makes targets of their senders.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HELLOS_H
#define ML_HELLOS_H

#include "collector_impl.h"

/* Reads and answers all hellos. Processes that ended before a hello was sent are removed first, so
 * that their memory is not counted beside that of the new process. */
void ml_collector_accept_hellos(struct ml_collector *c);

/* Adds the sender. Takes over its pidfd. NULL: no memory. */
struct ml_target *ml_collector_add_target(struct ml_collector *c, struct ml_received_hello *got);

/* The newest target with that pid; NULL: none. */
struct ml_target *ml_collector_find_target(const struct ml_collector *c, uint32_t pid);

#endif
