/* net_events.h: an events block as sums, for a live table.
 *
 * A live view beside a program that calls malloc a million times a second need not book each block
 * of memory. The nets of successive events blocks are a *series*. In a series most blocks of the
 * busiest space are *carried*: the collector knows which group each belongs to (thread, scope,
 * stack), and the follower knows only the sums of the groups. A net says:
 *
 *   - what was allocated and freed in each group;
 *   - all other events, in order: they are *kept*;
 *   - between kept events, by how much the carried bytes changed, and the *crest*: how far they
 *     rose above where they began. With these a live table has the same totals and peaks as after
 *     all events;
 *   - the addresses that carried blocks *touched* first: a block that the table has there was freed
 *     unseen;
 *   - carried blocks that are *given* to the table, because a kept event names them.
 *
 * In a training with modules the category of a block depends on the scopes of its thread and on its
 * lifetime. A series *with classes* has what a classification needs besides the kept events:
 *
 *   - a block of a space that is classified is carried only within one net, if the passes that
 * begin in its lifetime cannot decide anything; all others are kept;
 *   - a push and its pop are left out if no allocation in between is kept. The others may come
 *     later than in the trace, but before the first kept allocation of their thread;
 *   - *visits*: the scopes in which the thread's carried blocks were allocated and freed, one for
 *     each change, and whether the thread has entered or left a scope.
 *
 * A series ends with a net that gives all carried blocks. Its block's events are read from the
 * trace, as are those of blocks outside of a series.
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

#define ML_NET_GROUPS_MAX 65536u  /* in a series */
#define ML_NET_BLOCKS_MAX 524288u /* carried at once */
#define ML_NET_STEPS_MAX (2 * ML_BLOCK_MAX_EVENTS + 1)

enum ml_net_kind {
    ML_NET_GOES_ON = 1, /* also the first of a series, number 0 */
    ML_NET_ENDS = 2,
};

/* What followers that classify blocks can take. */
enum ml_net_classes {
    ML_NET_NO_CLASSES = 0,
    ML_NET_PLAIN = 1, /* a series with classes, if the space of carried blocks is not classified */
    ML_NET_PAIRS = 2, /* … whether it is or not: each block is carried within one net */
};

enum ml_net_step_kind {
    ML_NET_KEPT = 1,  /* the next of the kept events */
    ML_NET_TOUCH = 2, /* the address of a carried allocation */
    ML_NET_GIVE = 3,  /* the next of the given blocks */
    ML_NET_LAST = 4,  /* nothing: what carried blocks did after the last kept event */
};

/* Where a thread was since the step before, in order. */
struct ml_net_visit {
    uint32_t thread;
    uint32_t scope; /* ML_NET_TURN: the thread entered or left a scope */
};
static_assert(sizeof(struct ml_net_visit) == 8, "visits are passed to other processes");
#define ML_NET_TURN UINT32_MAX

/* What carried blocks did since the step before, and then one of the above. Numbers of events count
 * from 0 at the start of the block. */
struct ml_net_step {
    uint64_t addr; /* ML_NET_TOUCH */
    uint64_t time_ns;
    int64_t change_bytes;
    uint64_t crest_bytes; /* 0: they did not rise */
    uint64_t crest_ns;
    uint64_t alloc_ns; /* of the last allocation */
    uint32_t crest_event;
    uint32_t event;
    uint32_t allocations, frees;
    uint32_t kind;
    uint32_t crest_is_last; /* 1: no other event of carried blocks came after the crest */
    uint32_t visits;        /* the next of them are of this step */
    uint32_t reserved;
};
static_assert(sizeof(struct ml_net_step) == 80, "steps are passed to other processes");

struct ml_net_group {
    uint32_t number; /* in the series */
    uint32_t thread, scope, stack;
    uint64_t allocations, allocated_bytes;
    uint64_t frees, freed_bytes;
};
static_assert(sizeof(struct ml_net_group) == 48, "groups are passed to other processes");

struct ml_net_block {
    uint64_t addr, size;
    uint64_t time_ns;
    uint32_t group;
    uint32_t reserved;
};
static_assert(sizeof(struct ml_net_block) == 32, "blocks are passed to other processes");

struct ml_net_head {
    uint64_t series;
    uint32_t number; /* in the series */
    uint32_t kind;
    uint32_t events; /* of the block */
    uint32_t space;  /* of the carried blocks */
    uint32_t steps, kept, groups, given, visits;
    uint32_t classes; /* enum ml_net_classes */
};
static_assert(sizeof(struct ml_net_head) == 48, "heads are passed to other processes");

struct ml_net {
    struct ml_net_head head;
    const struct ml_net_step *steps;
    const struct ml_event *kept;
    const struct ml_net_group *groups; /* those in which something changed */
    const struct ml_net_block *given;
    const struct ml_net_visit *visits;
};

/* The bytes of a net with this head, which counts may make too large: 0. */
uint64_t ml_net_bytes(const struct ml_net_head *head);

/* Whether counts and kinds are possible, for a net from another process. */
bool ml_net_check(const struct ml_net *net);

#endif
