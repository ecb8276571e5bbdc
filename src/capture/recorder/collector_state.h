/* collector_state.h: the state of the collector process according to the kernel.
 *
 * A collector that shows no sign of life may be stopped or gone, or an overloaded machine may give
 * it no processor. Only the kernel knows. Makes a handful of system calls and no others: usable
 * wherever a record is made.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_STATE_H
#define ML_COLLECTOR_STATE_H

#include <stdint.h>

#include "ring.h"

enum ml_collector_state {
    ML_COLLECTOR_UNKNOWN, /* it waits for a disk, or we cannot see it: another pid namespace, no
                             /proc, no descriptor left */
    ML_COLLECTOR_READY,   /* it runs or waits for a processor */
    ML_COLLECTOR_BLOCKED, /* it is stopped, asleep or gone */
};

/* *ret_cpu_ticks: the processor time used so far by the threads that we could see, in hundredths of
 * a second. Changes errno. */
enum ml_collector_state ml_collector_state(const struct ml_collector_id *id,
                                           uint64_t *ret_cpu_ticks);

#endif
