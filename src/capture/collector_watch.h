/* collector_watch.h: whether to go on waiting for the collector.
 *
 * A collector that is gone, stopped or hangs is not waited for: that costs a program a second or
 * three, once. One that works is waited for, however little of the processor it gets, for a minute
 * without a sign of life; but after a second not by a thread that keeps a signal from the program.
 *
 * All of this is for slow paths: a thread that has to wait, or is about to. System calls only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_WATCH_H
#define ML_COLLECTOR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* How often somebody who waits should call ml_collector_alive. */
#define ML_LOOK_NS 100000000

/* One wait. Starts zeroed. */
struct ml_collector_watch {
    uint64_t heartbeat;
    uint64_t begun_ns;  /* when it was first looked at; 0: never */
    uint64_t last_ns;   /* when it was last looked at */
    uint64_t waited_ns; /* without a heartbeat; see ml_collector_alive */
    uint64_t cpu_ticks; /* that the collector had used when the kernel was first asked … */
    bool asked;         /* … if it was */
};

/* Whether to wait on, judged by calls with the same `watch`; never in a sandbox. Changes errno. */
bool ml_collector_alive(struct ml_collector_watch *watch);

/* Whether somebody found out that it is gone or stuck, or this thread gave up for a signal, and it
 * has not moved since. */
bool ml_collector_stuck(void);

/* Has the collector begin another round, and wakes it if it sleeps. */
void ml_ring_doorbell(void);

#endif
