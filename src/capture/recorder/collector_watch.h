/* collector_watch.h: whether to keep waiting for the collector.
 *
 * A thread does not wait for a collector that is gone, stopped or hanging: finding out costs a
 * program one to three seconds, once. It waits for one that works, however little processor time it
 * gets, for up to a minute without a sign of life. A thread that delays a signal to the program
 * gives up after a second.
 *
 * For slow paths only: a thread that has to wait, or is about to. System calls only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_WATCH_H
#define ML_COLLECTOR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* How often a waiting thread should call ml_collector_alive. */
#define ML_LOOK_NS 100000000

/* One wait. Starts zeroed. */
struct ml_collector_watch {
    uint64_t heartbeat;
    uint64_t begun_ns;  /* when the thread first checked; 0: never */
    uint64_t last_ns;   /* when it last checked */
    uint64_t waited_ns; /* without a heartbeat; see ml_collector_alive */
    uint64_t silent_ns; /* likewise, and since the collector was last known to work or to wait for
                           a processor */
    uint64_t cpu_ticks; /* the processor time that the collector had used when the thread first
                           asked the kernel … */
    bool asked;         /* … if it has asked */
};

/* Whether to keep waiting, judged from all calls with the same `watch`; false in a sandbox. Changes
 * errno. */
bool ml_collector_alive(struct ml_collector_watch *watch);

/* Whether a thread found that the collector is gone or stuck, or this thread gave up because of a
 * signal, and the collector has made no progress since. */
bool ml_collector_stuck(void);

/* Makes the collector begin another round, and wakes it if it sleeps. */
void ml_ring_doorbell(void);

#endif
