/* net_publisher.h: the collector's side of net_board.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_PUBLISHER_H
#define ML_COLLECT_NET_PUBLISHER_H

#include "encode.h"
#include "net_board.h"
#include "net_maker.h"

struct ml_net_publisher {
    int fd;
    struct ml_net_maker *maker; /* NULL: no follower yet */
    uint64_t position;          /* of the next net */
    unsigned next_entry;
    bool has_nets;
    uint64_t put_ns;                       /* when the last net was put */
    struct ml_net_definitions definitions; /* the writer adds them, between two blocks */
    uint64_t served_ns;                    /* the last request that has its series */
    unsigned poor;                         /* successive nets that leave out little */
    uint64_t rest_to_ns;                   /* no series begins before, because nets were poor */
};

/* @return 0 or negative errno: there will be no nets, and followers read the trace */
int ml_net_publisher_init(struct ml_net_publisher *p);
void ml_net_publisher_release(struct ml_net_publisher *p);

/* Whether a series is under way: each block that stays in the trace needs a net. */
bool ml_net_publisher_is_on(const struct ml_net_publisher *p);

/* Gives the memory of old nets back, seconds after the last one. Cheap without any: call it from
 * time to time, while no net is made. */
void ml_net_publisher_rest(struct ml_net_publisher *p);

/* Publishes the net of the events that ml_encoder_write has just written, if there is one. Without
 * a follower in the last seconds it ends the series.
 * @may_begin  whether a series may begin with this block */
void ml_net_publish(struct ml_net_publisher *p, const struct ml_encoder *e,
                    const struct ml_net_key *key, bool may_begin);

/* Ends the series before this block, whose events followers are to read themselves. Precondition:
 * one is under way. */
void ml_net_publish_end(struct ml_net_publisher *p, const struct ml_net_key *key);

#endif
