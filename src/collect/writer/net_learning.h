/* net_learning.h: hands the definitions that nets depend on over to the thread that makes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_LEARNING_H
#define ML_COLLECT_NET_LEARNING_H

#include "dict.h"
#include "net_definitions.h"

/* Adds those that are new. Call it while no net is made. Without memory nets have fewer blocks as
 * sums. */
void ml_net_definitions_learn(struct ml_net_definitions *d, const struct ml_dict *dict);

#endif
