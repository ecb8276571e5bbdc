/* collector_state.h: what the kernel says of the collector.
 *
 * A collector that shows no sign of life may be stopped or gone, or it may have work and get no
 * processor, because the machine has more to do than it can. Only the kernel can tell. System
 * calls only, and a handful of them: usable wherever a record is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_STATE_H
#define ML_COLLECTOR_STATE_H

#include <stdint.h>

#include "ring.h"

enum ml_collector_state {
    ML_COLLECTOR_UNKNOWN, /* it waits for a disk, or we cannot see it: another pid namespace,
                             no /proc, no descriptor left */
    ML_COLLECTOR_READY,   /* it has a processor or waits for one */
    ML_COLLECTOR_BLOCKED, /* it is stopped, asleep or gone */
};

/* *ret_cpu_ticks: the processor time that the threads we could see have used so far, in hundredths
 * of a second. Changes errno. */
enum ml_collector_state ml_collector_state(const struct ml_collector_id *id,
                                           uint64_t *ret_cpu_ticks);

#endif
