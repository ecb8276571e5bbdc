/* replay_net.h: feeds the net of an events block (net_events.h) to a live table. Totals, peaks,
 * counts and live blocks are then those that all its events would have given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLAY_NET_H
#define ML_ANALYZE_REPLAY_NET_H

#include "net_events.h"
#include "replay.h"

/* Whether the table can take a net instead of the events. It cannot if blocks are cut from others,
 * are estimates, or have owners that want to see each one. */
bool ml_replay_takes_net(const struct ml_replay *r, const struct ml_net *net);

/* @return 0 or -ENOMEM */
int ml_replay_feed_net(struct ml_replay *r, const struct ml_net *net);

#endif
