/* net_board.h: nets of the last events blocks, from the collector to followers on the same machine.
 *
 * A file in memory (memfd) that the collector keeps open: a follower of the same user finds it by
 * its name among the collector's descriptors. The trace stays the only truth: a net belongs to one
 * block in it, and a follower that does not find it reads the trace. So nothing is synchronised: an
 * entry may be half written or overwritten, and its checksum tells. Both sides use pread and
 * pwrite, so that neither can be harmed by the other.
 *
 *     0                  struct ml_net_board
 *     ML_NET_BOARD_DATA  nets, one after the other, each ml_net_head, steps, kept events, groups,
 *                        given blocks, visits; a net that does not fit before the end is put at the
 *                        beginning
 *
 * Followers say that they want nets by the time at which they last looked. Without one in the last
 * seconds, the collector makes none. A follower that is in no series asks for one: the collector
 * ends the present series for the others, and all begin the next one together. It has classes (see
 * net_events.h) if any follower wants them; the others can use such a series, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NET_BOARD_H
#define ML_NET_BOARD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "net_events.h"

#define ML_NET_BOARD_NAME "memledger-nets"
#define ML_NET_BOARD_MAGIC 0x54454e4d /* "MNET" */
#define ML_NET_BOARD_VERSION 4
#define ML_NET_BOARD_ENTRIES 1024 /* more than blocks in ML_NET_WANTED_NS */
#define ML_NET_BOARD_DATA (UINT64_C(128) << 10)
#define ML_NET_BOARD_END (ML_NET_BOARD_DATA + (UINT64_C(32) << 20))
#define ML_NET_WANTED_NS UINT64_C(5000000000)

/* The block of the trace that a net belongs to. */
struct ml_net_key {
    uint64_t inode; /* of the trace */
    uint64_t offset;
    uint64_t first_ns, last_ns;
    uint32_t events;
    uint32_t stored_bytes;
};

struct ml_net_entry {
    struct ml_net_key key;
    uint64_t position, bytes; /* in the file; 0 bytes: the entry is empty */
    uint64_t sum;             /* XXH3 of them */
};
static_assert(sizeof(struct ml_net_entry) == 64, "entries are passed to other processes");

struct ml_net_board {
    uint32_t magic, version;
    /* Followers write these three (times are CLOCK_MONOTONIC), the collector writes the rest. */
    uint64_t wanted_ns;         /* the last look */
    uint64_t wanted_classes_ns; /* of a follower that wants classes */
    uint64_t asked_ns;          /* for a new series */
    struct ml_net_entry entries[ML_NET_BOARD_ENTRIES];
};
static_assert(sizeof(struct ml_net_board) <= ML_NET_BOARD_DATA, "nets follow it");
static_assert(offsetof(struct ml_net_board, wanted_ns) == 8 &&
                  offsetof(struct ml_net_board, wanted_classes_ns) == 16 &&
                  offsetof(struct ml_net_board, asked_ns) == 24,
              "followers write them alone");

#endif
