/* sample_lane.h: a thread of the collector that takes samples at a steady pace
 * and writes them to a ring, as a recorded thread does, so that merging and
 * translation treat both alike.
 *
 * The collector never waits for a lane: it notifies a lane through a
 * list, and leaves a lane that hangs in a call behind at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLE_LANE_H
#define ML_SAMPLE_LANE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sample_pace.h"
#include "target.h"

/* A recorded process starts or ends. */
struct ml_process_watch {
    uint32_t pid;
    uint32_t process; /* number in the trace */
    bool gone;
};

typedef ML_VEC(struct ml_process_watch) ml_process_watch_list;

struct ml_sample_lane;

/* The work of a lane. `begin` and `end` may be slow; all run in its thread. */
struct ml_lane_work {
    const char *name; /* of the thread */
    /* @return false when there is nothing to read: the thread ends */
    bool (*begin)(struct ml_sample_lane *lane);
    void (*watch)(struct ml_sample_lane *lane, const struct ml_process_watch *watch);
    void (*tick)(struct ml_sample_lane *lane, uint64_t now_ns);
    void (*end)(struct ml_sample_lane *lane);
};

struct ml_sample_lane {
    const struct ml_lane_work *work;
    void *context; /* the work's own */
    struct ml_ticks clock;
    struct ml_pace pace;
    bool at_rest;     /* set by the work: nothing changes, one tick in ten will do */
    uint32_t strings; /* numbers given so far */

    /* For the collector: the ring as a source to merge. */
    struct ml_ring ring;
    struct ml_target target;
    struct ml_source source;
    uint64_t *words;

    pthread_t thread;
    bool started;
    _Atomic uint32_t stop;  /* a futex: set by the collector */
    _Atomic uint32_t ready; /* begin has returned */
    _Atomic uint32_t ended; /* a futex: set by the thread, and all below can be read */
    uint64_t cpu_ns;

    pthread_mutex_t lock; /* for `news`; the collector only tries to take it */
    ml_process_watch_list news;
    ml_process_watch_list waiting; /* the collector's: not yet among the news */
};

/* Starts the thread. `lane` is zeroed memory that is aligned as its type is.
 * @return 0 or negative errno; release it in both cases */
int ml_lane_start(struct ml_sample_lane *lane, const struct ml_lane_work *work, void *context,
                  uint32_t hz, const struct ml_ticks *clock);

/* Asks the thread to end. Does not wait. */
void ml_lane_stop(struct ml_sample_lane *lane);

/* Waits until `until_ns` of CLOCK_MONOTONIC at most. @return whether it has ended */
bool ml_lane_await(struct ml_sample_lane *lane, uint64_t until_ns);

/* Only when it has ended, or was never started. */
void ml_lane_release(struct ml_sample_lane *lane);

/* Announces a process; in the collector's thread. Never waits: the next ml_lane_deliver
 * hands over what could not be handed over at once. */
void ml_lane_watch(struct ml_sample_lane *lane, const struct ml_process_watch *watch);
void ml_lane_deliver(struct ml_sample_lane *lane);

/* ---- For the work, in the lane's thread --------------------------------- */

/* Announces a string. @return its number, 0 when there is no room */
uint32_t ml_lane_string(struct ml_sample_lane *lane, const char *text);

/* Writes the sample if it has changed or is due. */
void ml_lane_send(struct ml_sample_lane *lane, struct ml_sample_last *last,
                  const struct ml_sample *sample, uint64_t now_ns);

#endif
