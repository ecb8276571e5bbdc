/* net_maker.h: makes series of nets, see net_events.h, from the blocks that the collector writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_MAKER_H
#define ML_COLLECT_NET_MAKER_H

#include "net_definitions.h"
#include "net_events.h"

struct ml_encoder;
struct ml_net_maker;

/* @definitions  must outlive it, with all that its events need
 * @return NULL: out of memory */
struct ml_net_maker *ml_net_maker_new(const struct ml_net_definitions *definitions);
void ml_net_maker_free(struct ml_net_maker *m);

/* Whether a series is under way: the blocks after the last one need nets. */
bool ml_net_maker_is_on(const struct ml_net_maker *m);

/* A series that begins. */
struct ml_net_begin {
    uint64_t number;
    bool classes; /* with what a classification needs */
};

/* The net of the events that ml_encoder_write has just written: the next of the series, the last
 * one if a net cannot express the events, or the first of a new series. Results here are valid
 * until the next call.
 * @return  false if there is none: a series cannot begin with these events */
bool ml_net_make(struct ml_net_maker *m, const struct ml_encoder *e,
                 const struct ml_net_begin *begin, struct ml_net *ret);

/* Ends the series, before a block with that many events. Precondition: one is under way. */
void ml_net_end(struct ml_net_maker *m, uint32_t events, struct ml_net *ret);

#endif
