/* following_state.h: the state behind following_classes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_FOLLOWING_STATE_H
#define ML_ANALYZE_FOLLOWING_STATE_H

#include "classifier.h"

struct ml_following_classes {
    struct ml_classifier classifier;
};

#endif
