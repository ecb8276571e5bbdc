/* net_publisher.h: the collector's side of net_board.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_PUBLISHER_H
#define ML_COLLECT_NET_PUBLISHER_H

#include "encode.h"
#include "net_board.h"

struct ml_net_publisher {
    int fd;
    struct ml_net_maker *maker; /* NULL: no follower yet */
    uint64_t position;          /* of the next net */
    unsigned next_entry;
    bool has_nets;
};

/* @return 0 or negative errno: there will be no nets, and followers read the trace */
int ml_net_publisher_init(struct ml_net_publisher *p);
void ml_net_publisher_release(struct ml_net_publisher *p);

/* Whether a follower has looked lately. If none has, gives the memory of old nets back. */
bool ml_net_publisher_is_wanted(struct ml_net_publisher *p);

/* Publishes the net of the events that ml_encoder_write has just written, if there is one. */
void ml_net_publish(struct ml_net_publisher *p, const struct ml_encoder *e,
                    const struct ml_net_key *key);

#endif
