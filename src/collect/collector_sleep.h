/* collector_sleep.h: how long the collector sleeps between two rounds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_SLEEP_H
#define ML_COLLECTOR_SLEEP_H

#include "collector_impl.h"

void ml_collector_sleep_init(struct ml_collector *c);

/* Sleeps until a ring fills, or for a time that grows while rounds find no records. */
void ml_collector_sleep(struct ml_collector *c, bool found_records);

#endif
