/* net_training.h: a small recording whose events blocks have nets (net_events.h): a training on a
 * GPU, or the malloc of a program that trains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FUZZ_NET_TRAINING_H
#define ML_FUZZ_NET_TRAINING_H

#include "trace.h"

enum net_training {
    NET_TRAINING_GPU,
    NET_TRAINING_MALLOC,
    NET_TRAININGS,
};

#define NET_BLOCK_EVENTS 64u /* in each block but the last */
#define NET_FIRST_EVENTS 64u /* before the first net */

/* @return 0 or negative errno. The caller frees the trace. */
int net_training_open(enum net_training which, struct ml_trace **ret);

#endif
