/* net_events.h: an events block without the blocks of memory that come and go within it.
 *
 * A program that calls malloc a million times a second frees most blocks within milliseconds. A
 * live view need not book these one by one. The net of an events block has all its other events in
 * order, and says of the pairs that were left out what a live table needs to have the same totals
 * and peaks as after all events:
 *
 *   - how many there were, with how many bytes;
 *   - the *crest* before each kept event: the most bytes that left-out blocks had at once since the
 *     kept event before. The totals were that much higher for a moment;
 *   - the addresses that left-out blocks *touched*: a block that the table still has there was
 *     freed unseen.
 *
 * Only pairs of an ML_ALLOC and an ML_FREE in one space, the busiest, are left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NET_EVENTS_H
#define ML_NET_EVENTS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "event.h"

struct ml_encoder;

/* More are not worth it: reading the events themselves is as quick. */
#define ML_NET_KEPT_MAX (ML_BLOCK_MAX_EVENTS / 2)
#define ML_NET_STEPS_MAX (ML_BLOCK_MAX_EVENTS / 4 * 3)

enum ml_net_step_kind {
    ML_NET_KEPT = 1,  /* the next of the kept events */
    ML_NET_TOUCH = 2, /* the address of a left-out allocation */
    ML_NET_END = 3,   /* nothing: the crest after the last kept event */
};

/* A crest, and then one of the above. Numbers of events count from 0 at the start of the block. */
struct ml_net_step {
    uint64_t addr; /* ML_NET_TOUCH */
    uint64_t time_ns;
    uint64_t crest_bytes; /* 0: none */
    uint64_t crest_ns;
    uint32_t crest_event;
    uint32_t event;
    uint32_t kind;
    uint32_t reserved;
};
static_assert(sizeof(struct ml_net_step) == 48, "steps are passed to other processes");

struct ml_net_head {
    uint32_t events; /* of the block */
    uint32_t space;  /* of the left-out pairs */
    uint64_t pairs, pair_bytes;
    uint32_t steps, kept;
};
static_assert(sizeof(struct ml_net_head) == 32, "heads are passed to other processes");

struct ml_net {
    struct ml_net_head head;
    const struct ml_net_step *steps;
    const struct ml_event *kept;
};

struct ml_net_maker; /* large: its owner allocates ml_net_maker_bytes() */
size_t ml_net_maker_bytes(void);

/* The net of the events that ml_encoder_write has just written. The result is valid until the next
 * call.
 * @return false if there is none: too many events would have to be kept, or some that a net cannot
 *         express */
bool ml_net_make(struct ml_net_maker *m, const struct ml_encoder *e, struct ml_net *ret);

/* Whether counts and kinds are possible, for a net from another process. */
bool ml_net_check(const struct ml_net *net);

#endif
